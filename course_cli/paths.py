"""Where things are: the course's root, its build folder, its chapter programs, its revision."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# MEASURE_FIRST_BUILD names another build folder: for a second configuration, or a read-only tree.
BUILD = Path(os.environ.get("MEASURE_FIRST_BUILD") or ROOT / "build").resolve()


@dataclass(frozen=True)
class Program:
    """A chapter program: chapters/NN_chapter/name.cu."""

    name: str
    source: Path

    @property
    def chapter(self) -> str:
        return self.source.parent.name

    @property
    def number(self) -> int:
        return int(self.chapter.split("_", 1)[0])

    @property
    def is_main(self) -> bool:
        """Whether the chapter's number means this program: the one named like the chapter."""
        return self.chapter.split("_", 1)[1] == self.name

    @property
    def title(self) -> str:
        """The heading of the chapter's text."""
        text = self.source.parent / "README.md"
        if text.is_file():
            heading = re.search(r"^#\s+(.+?)\s*(\{#.*\})?$", text.read_text("utf-8"), re.MULTILINE)
            if heading:
                return heading.group(1)
        return self.name.replace("_", " ")

    def target(self, backend: str) -> str:
        """Ninja's name of the built program."""
        return f"chapters/{self.name}.{backend}"

    def binary(self, backend: str) -> Path:
        return BUILD / self.target(backend)


def chapter_programs() -> list[Program]:
    """Every program of every chapter, in teaching order."""
    sources = (ROOT / "chapters").glob("[0-9][0-9]_*/*.cu")
    return [Program(source.stem, source) for source in sorted(sources)]


def revision() -> str:
    """The commit this tree is at, `-modified` if it has been changed since; `unknown` without git,
    unless MEASURE_FIRST_REVISION says it, as for a copy of the tree without its history."""
    if given := os.environ.get("MEASURE_FIRST_REVISION"):
        return given
    if not shutil.which("git"):
        return "unknown"
    # A tree owned by somebody else (a container's mount) is read all the same: nothing is run.
    git = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "--no-optional-locks"]
    result = subprocess.run(
        [*git, "describe", "--always", "--exclude=*", "--abbrev=12", "--dirty=-modified"],
        capture_output=True,
        text=True,
    )
    return result.stdout.strip() if result.returncode == 0 else "unknown"
