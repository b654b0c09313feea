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
    Place("shared_atomics_known_bin", "shared_atomic", ("wavefronts",)): (
        "nvcc sees that all lanes add to one place: it sums them in registers (REDUX), and one "
        "lane adds the sum."
    ),
    Place("shared_atomics_float", "shared_load", ("requests", "wavefronts")): (
        "A GPU adds floating-point numbers in shared memory by a loop of its own: it loads, then "
        "exchanges if nothing has changed (ATOMS.CAST)."
    ),
    Place("shared_atomics_float", "shared_atomic", ("wavefronts",)): (
        "Such an exchange (ATOMS.CAST) takes two wavefronts."
    ),
}
