"""Where the inspector's counts differ from Nsight Compute's on an H200, and why.

A key is the kernel, or run/kernel; the group of the inspector's report; its units. An entry that is
no longer needed fails the test.
"""

from typing import NamedTuple


class Place(NamedTuple):
    kernel: str
    group: str
    units: tuple[str, ...]


DIFFERENCES = {
    Place("reduce_interleaved_packed", "shared_load", ("requests", "wavefronts")): (
        "In the first step both elements are neighbours, and nvcc loads them by one instruction of "
        "8 bytes (LDS.64)."
    ),
    Place("histogram_block", "shared_atomic", ("wavefronts",)): (
        "An H200 serves all lanes at one address together when they add 1 (ATOMS.POPC.INC); the "
        "inspector lets them take turns."
    ),
}
