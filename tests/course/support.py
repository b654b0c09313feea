"""What the tests of the command line share."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def course(
    *arguments: str | Path, tree: Path = ROOT, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess:
    """Runs ./course of a tree to its end; further variables go into its environment."""
    return subprocess.run(
        [tree / "course", *arguments],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
    )


# An emulator that compiles plain C++: these trees test the command line, not the emulator.
STAND_IN = """\
import subprocess, sys
arguments = sys.argv[1:]
where = arguments.index("--runtime")
del arguments[where:where + 2]
source = [a for a in arguments if a.endswith(".cu")][-1]
arguments.reverse()
arguments.remove(source)
arguments.reverse()
sys.exit(subprocess.run(["g++", *arguments, "-x", "c++", source]).returncode)
"""

# Prints its arguments and the revision it was told; its first argument is its exit status.
PROGRAM = """\
#include "shared.hpp"
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
int main(int count, char** values) {
    const char* revision = std::getenv("MEASURE_FIRST_REVISION");
    std::printf("%s revision=%s", GREETING, revision ? revision : "none");
    for (int i = 1; i < count; ++i) std::printf(" [%s]", values[i]);
    std::printf("\\n");
    std::fflush(stdout);
    if (count > 1 && values[1][0] == 'w') sleep(60);
    if (count > 1 && values[1][0] == 'a') std::abort();
    return count > 1 ? std::atoi(values[1]) : 0;
}
"""


def small_tree(folder: Path) -> Path:
    """A tree with the real command line and build files, one chapter, and the stand-in emulator."""
    tree = folder / "a tree"
    for name in ("course_cli", "chapters/06_box_blur", "common/emulator", "tests"):
        (tree / name).mkdir(parents=True)
    for pattern in ("course", "meson.build", "meson_options.txt", "course_cli/*"):
        for path in ROOT.glob(pattern):
            if path.is_file():
                shutil.copy(path, tree / path.relative_to(ROOT))
    shutil.copy(ROOT / "chapters/meson.build", tree / "chapters")
    shutil.copy(ROOT / "tests/meson.build", tree / "tests")
    emulator = tree / "common/emulator"
    (emulator / "emucc").write_text(STAND_IN)
    (emulator / "rewrite.py").write_text("")
    (emulator / "runtime.cpp").write_text("int emulator_runtime() { return 0; }\n")
    (emulator / "meson.build").write_text(
        "emulator_library = static_library('emulator', 'runtime.cpp')\n"
        "inspected_runtime = static_library('inspector', 'runtime.cpp', build_by_default: false)\n"
    )
    (tree / "common/shared.hpp").write_text('#define GREETING "hello"\n')
    (tree / "chapters/06_box_blur/box_blur.cu").write_text(PROGRAM)
    (tree / "chapters/06_box_blur/README.md").write_text("# A box blur\n")
    return tree
