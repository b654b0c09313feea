"""Writes a file that lets the functions of common/ be compiled once for all programs.

    compile_once.py FOLDER_OF_HEADERS OUTPUT

A program that includes the headers would compile every inline function of them again: most of the
time between an edit and its result. GCC's `#pragma interface` in a header leaves functions that
are no templates to the one object file that says `#pragma implementation`. The pragma concerns
the file it stands in, and a line marker says which file that is; so the headers themselves stay
as they are, and a bare compiler line works without all this.

OUTPUT is included before a program; compiled by itself with -DCOMPILE_ONCE it is that object
file, whose symbols are weak. Compilers without the pragmas ignore them and compile as usual. So
does a build for debugging device code, where some of the functions differ.
"""

import json
import sys
from pathlib import Path


def text(folder: Path, output: Path) -> str:
    names = sorted(path.name for path in folder.glob("*.hpp"))
    lines = ["// Written by course_cli/compile_once.py, which says what for."]
    lines += ["#ifdef COMPILE_ONCE"]
    lines += [f'#pragma implementation "{name}"' for name in names]
    lines += ["#endif", "#ifndef __CUDACC_DEBUG__"]
    for name in names:
        lines += [f"#line 1 {json.dumps(str(folder / name))}", "#pragma interface"]
    lines += [f"#line {len(lines) + 2} {json.dumps(str(output))}", "#endif", "#ifdef COMPILE_ONCE"]
    lines += [f'#include "{name}"' for name in names]
    lines += ["#endif"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(text(Path(sys.argv[1]), Path(sys.argv[2])), "utf-8")
