"""./course doctor: what is here, what each missing piece costs, and its remedy."""

import platform
import shutil
import subprocess
import sys
from pathlib import Path

from course_cli import gpu, packages
from course_cli.console import DONE, SETUP_LACKS
from course_cli.paths import BUILD, revision


def system_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform()


def first_line(*command: str) -> str:
    """The first line a command prints, such as its version; empty if it is not there."""
    if not shutil.which(command[0]):
        return ""
    result = subprocess.run(command, capture_output=True, text=True)
    return (result.stdout or result.stderr).strip().partition("\n")[0]


def driver_version() -> str:
    try:
        words = Path("/proc/driver/nvidia/version").read_text().split()
    except OSError:
        return ""
    return next((word for word in words if word[0].isdigit() and "." in word), "")


def row(name: str, text: str) -> None:
    print(f"{name:<14} {text}")


def doctor() -> int:
    """Status 3 if something indispensable is missing; a GPU never is."""
    row("system", f"{system_name()}, {platform.machine()}")
    row("course", f"revision {revision()}, build folder {BUILD}")
    row("Python", f"{platform.python_version()} ({sys.executable})")
    for name, command in {
        "compiler": ("g++", "--version"),
        "Meson": ("meson", "--version"),
        "Ninja": ("ninja", "--version"),
        "clang-format": ("clang-format", "--version"),
    }.items():
        row(name, first_line(*command) or "missing")

    found = gpu.examine()
    row("GPU", "; ".join(found.devices) or ("present, not usable" if found.present else "none"))
    version, supports = driver_version(), found.driver_cuda
    row("driver", f"{version or 'present'}, up to CUDA {supports}" if supports else "none")
    toolkit = f"{gpu.nvcc_version(found.nvcc)} ({found.nvcc})" if found.nvcc else "none"
    row("CUDA toolkit", toolkit)
    if found.usable:
        row("back end", "gpu: a probe program has run on it")
    else:
        row("back end", f"emulator, since {found.reason}")
        row(
            "",
            "it costs: times are those of this machine's cores, not a GPU's; results are the same",
        )

    lacking = packages.missing(("build", "test"))
    for package in packages.PACKAGES:
        if package in lacking:
            row(package.name, f"missing; it costs: {package.cost}")
        else:
            row(package.name, "here")
    if lacking:
        print("remedy: ./course setup --tests, or as root:")
        print(f"    {packages.install_line(lacking)}")
    return (
        SETUP_LACKS
        if any(package.needed for package in lacking if package.use == "build")
        else DONE
    )
