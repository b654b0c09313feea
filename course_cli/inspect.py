"""./course inspect: runs a program on the emulator and reports its errors and what it counts."""

import os
from pathlib import Path

from course_cli.build import build_programs
from course_cli.console import USAGE, CourseError
from course_cli.foreign import build_foreign
from course_cli.run import execute, find_programs


def inspect(wanted: str, json: str | None, options: list[str]) -> int:
    """Returns the program's exit status, or 1 if it would be 0 and there is something to report."""
    programs = find_programs(wanted)
    if json:
        os.environ["INSPECTOR_JSON"] = json
    if isinstance(programs, Path):
        return execute(build_foreign(programs, "inspected"), options)
    if len(programs) != 1:
        raise CourseError("inspect takes one program at a time", USAGE)
    build_programs(programs, "inspected")
    return execute(programs[0].binary("inspected"), options)
