"""The commands and their options."""

import argparse
import os
import sys

from course_cli.build import lock, ninja, ready
from course_cli.console import DONE, FAILED, INTERRUPTED, USAGE, CourseError, notice
from course_cli.doctor import doctor
from course_cli.gpu import probe
from course_cli.inspect import inspect
from course_cli.paths import BUILD, chapter_programs
from course_cli.run import run
from course_cli.testing import test

COMMANDS = ("setup", "doctor", "list", "run", "inspect", "test")
EXIT_STATUS = (
    "exit status: 0 done or passed, 1 failed, 2 usage, 3 the set-up lacks something, 77 skipped"
)


class Parser(argparse.ArgumentParser):
    """Usage errors in one line, with status 2."""

    def error(self, message: str):
        raise CourseError(f"{message} ({self.prog} --help)", USAGE)


def setup(tests: bool) -> int:
    """Installs, configures and builds the chapter programs for every back end that is usable; with
    `tests` also what the tests need."""
    backends = ["emulator", "gpu"] if probe().usable else ["emulator"]
    with lock():
        ready(uses=("build", "test") if tests else ("build",), again=True)
        programs = [program.target(end) for program in chapter_programs() for end in backends]
        ninja(BUILD, [] if tests else programs)
    print(f"ready: programs are built for {' and '.join(backends)}. Next: ./course run box_blur")
    return DONE


def list_chapters() -> int:
    """One line a program: number, name, for which back ends it is built, title."""
    for program in chapter_programs():
        states = []
        for backend in ("emulator", "gpu"):
            binary = program.binary(backend)
            if binary.is_file():
                stale = binary.stat().st_mtime < program.source.stat().st_mtime
                states.append(backend + (" (changed since)" if stale else ""))
        state = "built for " + ", ".join(states) if states else "not built"
        print(f"{program.number:02}  {program.name:<22} {program.title}  [{state}]")
    return DONE


def parser() -> Parser:
    top = Parser(
        prog="./course", description="Measure First, the command line.", epilog=EXIT_STATUS
    )
    commands = top.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)

    adding = commands.add_parser("setup", help="install what is missing, configure, build")
    adding.add_argument("--tests", action="store_true", help="also what the tests need")
    commands.add_parser("doctor", help="what is here, and what each missing piece costs")
    commands.add_parser("list", help="the chapters and their state")

    running = commands.add_parser("run", help="build and run a program")
    running.usage = "./course run PROGRAM [--backend gpu|emulator] [-- OPTIONS]"
    running.add_argument("program", metavar="PROGRAM",
                         help="a chapter's name or number, a path to a .cu, or all")  # fmt: skip
    running.add_argument("--backend", choices=["gpu", "emulator"],
                         help="default: gpu if one is usable")  # fmt: skip

    inspecting = commands.add_parser(
        "inspect", help="run a program on the emulator; report its errors and its memory accesses"
    )
    inspecting.usage = "./course inspect PROGRAM [--json FILE] [-- OPTIONS]"
    inspecting.add_argument("program", metavar="PROGRAM",
                            help="a chapter's name or number, or a path to a .cu")  # fmt: skip
    inspecting.add_argument("--json", metavar="FILE",
                            help="write the whole report there, too; -: to stdout")  # fmt: skip

    testing = commands.add_parser("test", help="build and run the project's tests")
    testing.add_argument("suite", nargs="*", metavar="SUITE", help="default: all of them")
    testing.add_argument("--backend", choices=["gpu", "emulator"],
                         help="only tests of this back end; default: what is usable")  # fmt: skip
    testing.add_argument(
        "--werror", action="store_true", help="compiler warnings are errors, as where CI is set"
    )
    return top


def dispatch(arguments: list[str]) -> int:
    own, options = arguments, []
    if "--" in arguments:  # what follows belongs to the program
        middle = arguments.index("--")
        own, options = arguments[:middle], arguments[middle + 1 :]
    top = parser()
    if own and own[0] not in COMMANDS and not own[0].startswith("-"):
        raise CourseError(f"no command called {own[0]}; commands: {', '.join(COMMANDS)}", USAGE)
    chosen, unknown = top.parse_known_args(own)
    if unknown and chosen.command in ("run", "inspect"):
        raise CourseError(
            f"unknown option {unknown[0]}; the program's own options follow a --: "
            f"./course {chosen.command} {chosen.program} -- {' '.join(unknown)}",
            USAGE,
        )
    if unknown:
        raise CourseError(f"unknown argument {unknown[0]} (./course --help)", USAGE)
    if options and chosen.command not in ("run", "inspect"):
        raise CourseError("only ./course run and inspect take options after --", USAGE)
    if chosen.command == "setup":
        return setup(chosen.tests)
    if chosen.command == "doctor":
        return doctor()
    if chosen.command == "list":
        return list_chapters()
    if chosen.command == "run":
        return run(chosen.program, chosen.backend, options)
    if chosen.command == "inspect":
        return inspect(chosen.program, chosen.json, options)
    if chosen.command == "test":
        return test(chosen.suite, chosen.backend, chosen.werror or "CI" in os.environ)
    raise CourseError(f"a command is missing: {', '.join(COMMANDS)} (./course --help)", USAGE)


def main(arguments: list[str]) -> int:
    try:
        return dispatch(arguments)
    except CourseError as error:
        notice(f"course: {error}")
        return error.status
    except KeyboardInterrupt:
        notice("course: interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has gone, as in ./course list | head -1
        sys.stderr.close()
        return FAILED
