"""./course run: builds and runs chapter programs, or any .cu file."""

import difflib
import os
import signal
import subprocess
from pathlib import Path

from course_cli import gpu
from course_cli.build import build_programs
from course_cli.console import DONE, INTERRUPTED, SETUP_LACKS, SKIPPED, USAGE, CourseError, notice
from course_cli.foreign import build_foreign
from course_cli.paths import Program, chapter_programs, revision


def find_programs(wanted: str) -> list[Program] | Path:
    """What `wanted` means: `all`, a chapter's number, a program's name, or a path to a .cu file."""
    programs = chapter_programs()
    if wanted == "all":
        return programs
    if "/" in wanted or wanted.endswith(".cu"):
        path = Path(wanted)
        ours = [program for program in programs if path.is_file() and path.samefile(program.source)]
        return ours or path
    if wanted.isdecimal():
        found = [
            program for program in programs if program.number == int(wanted) and program.is_main
        ]
    else:
        found = [program for program in programs if wanted in (program.name, program.chapter)]
    if found:
        return found[:1]
    near = difflib.get_close_matches(wanted, [program.name for program in programs], 1, 0.4)
    hint = f"did you mean {near[0]}?" if near else "./course list shows them"
    raise CourseError(f"no program called {wanted}: {hint}", USAGE)


def choose_backend(wanted: str | None) -> str:
    """The back end to use. Default: the GPU if a program really runs on it, else the emulator, with
    one line that says why."""
    if wanted == "emulator":
        return wanted
    found = gpu.probe()
    if found.usable:
        return "gpu"
    if wanted == "gpu":
        # No device is a reason to skip; a device that cannot be used lacks something.
        status = SETUP_LACKS if found.present and not found.hidden else SKIPPED
        raise CourseError(f"no usable CUDA device: {found.reason}", status)
    if not found.hidden:  # hidden on purpose: the program says it, on either back end
        notice(f"no usable CUDA device: {found.reason}; using the emulator")
    return "emulator"


def execute(program: Path, options: list[str]) -> int:
    """Runs a program in the caller's folder; its exit status, as a shell would give it."""
    environment = os.environ | {"MEASURE_FIRST_REVISION": revision()}
    # Ctrl-C goes to the program too; it is waited for, and its end decides.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        status = subprocess.Popen(
            [program, *options],
            env=environment,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ).wait()
    finally:
        signal.signal(signal.SIGINT, before)
    if status == -signal.SIGINT:
        return INTERRUPTED
    if status < 0:
        notice(f"course: {program.name} died of signal {-status} ({signal.strsignal(-status)})")
        return 128 - status
    return status


def run(wanted: str, backend: str | None, options: list[str]) -> int:
    """Returns the program's exit status; of several programs, the first that is not 0. One that is
    skipped does not decide unless all are."""
    programs = find_programs(wanted)
    chosen = choose_backend(backend)
    if isinstance(programs, Path):
        return execute(build_foreign(programs, chosen), options)
    build_programs(programs, chosen)
    statuses = []
    for program in programs:
        if len(programs) > 1:
            print(f"== {program.name} ==", flush=True)
        status = execute(program.binary(chosen), options)
        if status == INTERRUPTED:
            return status
        statuses.append(status)
    ran = [status for status in statuses if status != SKIPPED]
    return next((status for status in ran if status != DONE), DONE if ran else SKIPPED)
