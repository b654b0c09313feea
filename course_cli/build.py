"""Configuring and building with Meson and Ninja, one at a time in a tree."""

import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from course_cli import gpu, packages
from course_cli.console import SETUP_LACKS, CourseError, Progress, notice
from course_cli.paths import BUILD, ROOT, Program

LOCK_FILE = "course.lock"


@contextlib.contextmanager
def lock() -> Iterator[None]:
    """Held while configuring and building: a second ./course in the same tree waits here."""
    try:
        BUILD.mkdir(parents=True, exist_ok=True)
        file = open(BUILD / LOCK_FILE, "w")
    except OSError as error:
        raise CourseError(
            f"the build folder cannot be written ({error.strerror}: {BUILD}); "
            "name another one: MEASURE_FIRST_BUILD=FOLDER ./course …",
            SETUP_LACKS,
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            notice("course: another ./course is building in this tree; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def configuration() -> dict | None:
    """What Meson wrote about the configured build; None if there is none for this tree."""
    try:
        settings = json.loads((BUILD / "course.json").read_text("utf-8"))
        complete = (BUILD / "build.ninja").is_file() and Path(settings["source"]) == ROOT
        return settings if complete else None
    except (OSError, ValueError, KeyError):
        return None


def meson(arguments: list[str]) -> None:
    """Runs Meson; its output is shown only if it fails."""
    result = subprocess.run(
        ["meson", *arguments], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if result.returncode != 0:
        lines = result.stdout.strip().splitlines()
        first = next((index for index, line in enumerate(lines) if "ERROR" in line), 0)
        notice("\n".join(lines[first:]))
        raise CourseError(
            f"meson {arguments[0]} failed: see above, and {BUILD}/meson-logs/meson-log.txt"
        )


def configure(werror: bool, again: bool, tests: bool) -> None:
    """Configures if that has not been done, or if the machine has changed since. Under the lock."""
    settings = configuration()
    options = []
    if settings is None:
        notice("course: configuring")
        for leftover in BUILD.iterdir():  # of a broken configuration, or of a tree since moved
            if leftover.name == LOCK_FILE:
                continue
            shutil.rmtree(leftover) if leftover.is_dir() else leftover.unlink()
        nvcc = gpu.find_nvcc()
        options = [f"-Dnvcc={nvcc}"] if nvcc else []
        meson(["setup", *options, f"-Dwerror={str(werror).lower()}", str(BUILD), str(ROOT)])
        return

    nvcc = gpu.find_nvcc()
    if settings["nvcc_option"] != "disabled" and nvcc and nvcc != settings["nvcc"]:
        options.append(f"-Dnvcc={nvcc}")
    if werror and settings["werror"] != "true":
        options.append("-Dwerror=true")
    if tests and settings["catch2"] != "true":  # it may have been installed since
        again = True
    if settings["nvcc"] and settings["gpu_arch_option"] == "auto":  # a GPU may have come or gone
        found = gpu.probe()
        again |= found.usable if settings["gpu_arch"] != "native" else not found.present
    if options or again:
        notice("course: configuring again")
        # Meson would remember the outcome of its earlier checks, also of those that failed.
        options = [*chosen_options(), *options]
        (BUILD / "meson-private" / "coredata.dat").unlink(missing_ok=True)
        meson(["setup", *options, str(BUILD), str(ROOT)])


def chosen_options() -> list[str]:
    """The project's own options and werror, as they are set in the configured build."""
    described = json.loads((BUILD / "meson-info" / "intro-buildoptions.json").read_text("utf-8"))
    kept = [option for option in described if option["section"] == "user"]
    kept += [option for option in described if option["name"] == "werror"]
    values = {True: "true", False: "false"}
    return [f"-D{option['name']}={values.get(option['value'], option['value'])}" for option in kept]


def ninja(folder: Path, arguments: list[str]) -> None:
    """Builds targets, silently if there is nothing to do. Compilers' messages go to stderr."""
    tool = shutil.which("ninja") or shutil.which("ninja-build")
    if not tool:
        raise CourseError("ninja is missing: ./course setup", SETUP_LACKS)
    progress, failed_command, unknown = Progress(), False, ""
    regenerating = False  # Meson talks a lot: of that, only an error and what follows it is shown
    environment = os.environ | {"NINJA_STATUS": "[%f/%t] "}
    with subprocess.Popen(
        [tool, "-C", str(folder), "-k", "0", *arguments],  # every error at once
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
    ) as process:
        for line in process.stdout:
            line = line.rstrip("\n")
            if failed_command:  # the line after FAILED: is the whole command; the log has it
                failed_command = False
            elif line.startswith("FAILED: "):
                failed_command = True
                progress.done()
                notice(line)
            elif re.match(r"\[\d+/\d+\] ", line):
                regenerating = "Regenerating build files" in line
                progress.step(re.sub(r"(Generating \S+) with a custom command", r"\1", line))
            elif line.startswith("ninja: "):
                unknown = line if "unknown target" in line else unknown
            elif not regenerating or "ERROR" in line:
                regenerating = False
                progress.done()
                notice(line)
        progress.done()
    if unknown:
        raise CourseError(
            f"{unknown.removeprefix('ninja: error: ')}: is it named in its meson.build?"
        )
    if process.returncode != 0:
        raise CourseError("the build failed: see above")


def ready(werror: bool = False, uses: tuple[str, ...] = ("build",), again: bool = False) -> None:
    """Installs what is missing and configures, so that Ninja can build. The lock is held."""
    lacking = packages.missing(uses) if configuration() is None or again or "test" in uses else []
    installed = packages.install(lacking)
    tests = "test" in uses
    configure(werror, again or installed, tests)
    if tests and (configuration() or {}).get("catch2") != "true":
        raise CourseError("Meson does not find Catch2: is pkg-config here?", SETUP_LACKS)


def build_programs(programs: list[Program], backend: str) -> None:
    with lock():
        ready()
        ninja(BUILD, [program.target(backend) for program in programs])
