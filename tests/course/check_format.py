"""Every C++ and CUDA file is formatted as .clang-format says. Tied to one version of the tool:
others format the same file differently. Exit status 77 (skipped) where that version is missing."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VERSION = 14
FOLDERS = ["chapters", "common", "course_cli", "exercises", "solutions", "tests"]
SUFFIXES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}


def clang_format() -> str:
    for name in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(name)
        if path:
            text = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", text):
                return path
    print(f"clang-format {VERSION} is not here")
    sys.exit(77)


def main() -> int:
    tool = clang_format()
    files = [
        str(path.relative_to(ROOT))
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in SUFFIXES and path.is_file()
    ]
    result = subprocess.run(
        [tool, "--dry-run", "--Werror", *files], cwd=ROOT, capture_output=True, text=True
    )
    wrong = sorted(
        {line.partition(":")[0] for line in result.stderr.splitlines() if ": error:" in line}
    )
    for file in wrong:
        print(f"not formatted: {file}   remedy: clang-format -i {file}")
    if result.returncode != 0 and not wrong:
        print(result.stderr)
    print(f"{len(files)} files looked at")
    return 1 if result.returncode != 0 or not files else 0


if __name__ == "__main__":
    sys.exit(main())
