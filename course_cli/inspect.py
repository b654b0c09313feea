"""./course inspect: runs a program on the emulator and reports its errors and what it counts."""

import os
import sys
import tempfile
from pathlib import Path

from course_cli.build import build_programs
from course_cli.console import USAGE, CourseError
from course_cli.foreign import build_foreign
from course_cli.run import execute, find_programs


def inspect(wanted: str, json: str | None, options: list[str]) -> int:
    """Returns the program's exit status, or 1 if it would be 0 and there is something to report.
    `json`: the report's file; "-": the standard output, while all else goes to stderr."""
    if json != "-":
        return run_inspected(wanted, json, options)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        own = os.dup(sys.stdout.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            return run_inspected(wanted, str(report), options)
        finally:
            os.dup2(own, sys.stdout.fileno())
            if report.exists():
                print(report.read_text("utf-8"), end="", flush=True)


def run_inspected(wanted: str, json: str | None, options: list[str]) -> int:
    programs = find_programs(wanted)
    if json:
        os.environ["INSPECTOR_JSON"] = os.path.abspath(json)
    if isinstance(programs, Path):
        return execute(build_foreign(programs, "inspected"), options)
    if len(programs) != 1:
        raise CourseError("inspect takes one program at a time", USAGE)
    build_programs(programs, "inspected")
    return execute(programs[0].binary("inspected"), options)
