"""What the course needs from the system: the one list, what is missing, and installing it."""

import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from course_cli.console import SETUP_LACKS, CourseError, Progress, notice

MESON_MINIMUM = (1, 0)


def command(*names: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(name) for name in names)


def header(*names: str) -> Callable[[], bool]:
    """Whether one of the headers is where the system's compiler looks."""
    folders = ["/usr/include", "/usr/local/include"]
    for variable in ("CPATH", "CPLUS_INCLUDE_PATH"):
        folders += filter(None, os.environ.get(variable, "").split(":"))
    return lambda: any(Path(folder, name).is_file() for folder in folders for name in names)


def meson() -> bool:
    if not shutil.which("meson"):
        return False
    version = subprocess.run(["meson", "--version"], capture_output=True, text=True).stdout
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return bool(numbers) and tuple(map(int, numbers.groups())) >= MESON_MINIMUM


def python_module(name: str) -> Callable[[], bool]:
    """Whether this interpreter or the system's has the module."""
    check = f"import importlib.util as u, sys; sys.exit(u.find_spec({name!r}) is None)"
    interpreters = [
        python for python in (sys.executable, "/usr/bin/python3") if os.path.exists(python)
    ]
    return lambda: any(
        subprocess.run([python, "-c", check]).returncode == 0 for python in interpreters
    )


@dataclass(frozen=True)
class Package:
    """A package by its name in Debian and Ubuntu. `present` looks for the thing it brings."""

    name: str
    what: str  # in words, for other distributions
    present: Callable[[], bool]
    use: str  # "build", "test"
    needed: bool  # False: its absence costs only what `cost` says
    cost: str


# On x86-64 the emulator switches between a block's threads by itself.
OTHER_PROCESSORS = [] if platform.machine() == "x86_64" else [
    Package("libboost-context-dev", "Boost.Context", header("boost/context/detail/fcontext.hpp"),
            "build", True, "no emulator"),
]  # fmt: skip

PACKAGES = [
    Package("g++", "a C++17 compiler (g++)", command(os.environ.get("CXX") or "g++"),
            "build", True, "nothing can be built"),
    Package("meson", "Meson 1.0 or newer", meson, "build", True, "nothing can be built"),
    Package("ninja-build", "Ninja", command("ninja", "ninja-build"),
            "build", True, "nothing can be built"),
    Package("libstb-dev", "the stb headers", header("stb/stb_image.h"),
            "build", False, "pictures only as PGM, no PNG or JPEG"),
    *OTHER_PROCESSORS,
    Package("catch2", "Catch2 3, or 2.13",
            header("catch2/catch.hpp", "catch2/catch_test_macros.hpp"),
            "test", True, "no unit or conformance tests"),
    Package("pkg-config", "pkg-config, by which Catch2 3 is found",
            lambda: header("catch2/catch.hpp")() or command("pkg-config", "pkgconf")(),
            "test", True, "no unit or conformance tests"),
    Package("python3-jsonschema", "Python's jsonschema", python_module("jsonschema"),
            "test", False, "records are not held against their schema"),
    Package("clang-format", "clang-format", command("clang-format"),
            "test", False, "the source's format is not checked"),
]  # fmt: skip


def missing(uses: tuple[str, ...]) -> list[Package]:
    return [package for package in PACKAGES if package.use in uses and not package.present()]


def install_line(packages: list[Package]) -> str:
    names = " ".join(package.name for package in packages)
    return f"apt-get update && apt-get install -y --no-install-recommends {names}"


def refuse(packages: list[Package], why: str) -> CourseError | None:
    """The error for packages that cannot be installed; only a notice if none is indispensable."""
    names = ", ".join(package.name for package in packages)
    if shutil.which("apt-get"):
        remedy = f"As root, type:\n    {install_line(packages)}"
    else:
        remedy = "Install: " + "; ".join(package.what for package in packages)
    if any(package.needed for package in packages):
        return CourseError(f"missing: {names}. {why} {remedy}", SETUP_LACKS)
    for package in packages:
        notice(f"course: without {package.name}: {package.cost}")
    notice(f"course: {why} {remedy}")
    return None


def apt(arguments: list[str], as_root: list[str]) -> tuple[int, str]:
    """Runs apt-get; shows its steps as they come, returns its status and its whole output."""
    line = [
        *as_root,
        "env",
        "DEBIAN_FRONTEND=noninteractive",
        "LC_ALL=C",
        "apt-get",
        "-q",
        *arguments,
    ]
    progress, output = Progress(), []
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        for text in process.stdout:
            output.append(text)
            if re.match(r"Get:|Setting up|Hit:", text):
                progress.step("  " + text.strip())
    progress.done()
    return process.returncode, "".join(output)


def install(packages: list[Package]) -> bool:
    """Installs packages on Debian and Ubuntu. Returns whether anything was installed; raises
    CourseError (status 3) if something indispensable cannot be."""
    if not packages:
        return False

    def give_up(why: str) -> bool:
        error = refuse(packages, why)
        if error:
            raise error
        return False

    if not shutil.which("apt-get"):
        return give_up("This is not Debian or Ubuntu, so nothing is installed by itself.")
    as_root: list[str] = []
    if os.geteuid() != 0:
        if not shutil.which("sudo"):
            return give_up("Installing needs root, and there is no sudo here.")
        # Without a terminal nobody can type a password: fail instead of waiting for ever.
        as_root = ["sudo"] if sys.stdin.isatty() else ["sudo", "-n"]
        if subprocess.run([*as_root, "true"]).returncode != 0:
            return give_up("Installing needs root, and sudo does not grant it.")

    names = [package.name for package in packages]
    notice(f"course: installing {', '.join(names)}")
    installing = ["install", "-y", "--no-install-recommends", *names]
    status, output = apt(installing, as_root)
    if status != 0:  # lists of packages that are empty, or older than the servers' state
        notice("course: the lists of packages are missing or old: updating them")
        _, updating = apt(["update"], as_root)
        status, output = apt(installing, as_root)
        output = updating + output
    if status == 0:
        return True

    offline = re.search(
        r"Could not resolve|Temporary failure|Could not connect|unable to connect", output, re.I
    )
    if offline:
        return give_up("The package servers cannot be reached: is this machine offline?")
    reasons = [
        text for text in output.splitlines() if text.startswith("E: ")
    ] or output.splitlines()
    return give_up(f"apt-get failed ({reasons[-1] if reasons else f'status {status}'}).")
