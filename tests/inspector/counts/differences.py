"""Where the inspector's counts differ from Nsight Compute's on an H200, and why.

A key is (kernel, or run/kernel; groups of the inspector's report; their units). Each is checked:
one that is no longer needed fails the test.
"""

DIFFERENCES: dict[tuple[str, tuple[str, ...], tuple[str, ...]], str] = {}
