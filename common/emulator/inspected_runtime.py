"""Makes one object file of libraries, in which inline functions and templates are its own.

    inspected_runtime.py OUTPUT LIBRARY…

An inspected program is compiled with call-backs to the inspector in every function. It has many
inline functions and templates in common with the inspector and the emulator (those of std::vector,
say), and of all copies a linker keeps one: the program's, so that the inspector would inspect
itself. The copies in OUTPUT have lost their names to the outside. Uses ld, nm and objcopy, which
come with the compiler.
"""

import subprocess
import sys
from pathlib import Path


def make(output: Path, libraries: list[str]) -> None:
    merged, names = output.with_suffix(".merged"), output.with_suffix(".names")
    # Groups are what the linker takes one of; merged into plain sections they stay.
    merge = ["ld", "-r", "--force-group-allocation", "--whole-archive", *libraries]
    subprocess.run([*merge, "-o", merged], check=True)
    listing = subprocess.run(
        ["nm", "--defined-only", "--format=posix", merged],
        check=True,
        capture_output=True,
        text=True,
    )
    symbols = [line.split() for line in listing.stdout.splitlines()]
    weak = {name for name, kind, *_ in symbols if kind in "WVu"}
    names.write_text("".join(f"{name}\n" for name in sorted(weak)), "utf-8")
    subprocess.run(["objcopy", f"--localize-symbols={names}", merged, output], check=True)
    merged.unlink()
    names.unlink()


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2:])
