"""Building a .cu file that is not part of the course: in a cache folder of the build, with its
headers followed, so that nothing is written beside the file and a second run compiles nothing."""

import hashlib
import re
import shlex
from pathlib import Path

from course_cli.build import configuration, lock, ninja, ready
from course_cli.console import USAGE, CourseError
from course_cli.paths import BUILD, ROOT

EMULATOR = ROOT / "common" / "emulator"
RUNTIME = "common/emulator/libemulator.a"
INSPECTED_RUNTIME = "common/emulator/inspected_runtime.o"
COMMON = "common.emulator.o"


def in_command(text: str | Path) -> str:
    """A word of a Ninja file's command: quoted for the shell, then for Ninja."""
    return shlex.quote(str(text)).replace("$", "$$")


def in_path(path: Path) -> str:
    """A path of a Ninja file's build line."""
    return re.sub(r"([ :$])", r"$\1", str(path))


def build_file(source: Path, program: str, backend: str, settings: dict) -> str:
    """The Ninja file for one program."""
    flags = ["-O2" if backend == "gpu" else "-O1", "-std=c++17"]
    if backend == "gpu":
        name, compiler, depends = "nvcc", [settings["nvcc"]], []
        flags.append(f"-arch={settings['gpu_arch']}")
    else:
        runtime = (BUILD / RUNTIME).parent
        name, compiler = "emucc", [settings["python"], EMULATOR / "emucc", "--runtime", runtime]
        compiler += ["-include", BUILD / "common_once.cu", BUILD / COMMON]
        if settings["stb"] == "true":
            compiler += ["-DMEASURE_FIRST_LINK_STB", "-lstb"]
        depends = [EMULATOR / "emucc", EMULATOR / "rewrite.py", BUILD / RUNTIME, BUILD / COMMON]
        if backend == "inspected":
            compiler.append("--inspect")
            depends.append(BUILD / INSPECTED_RUNTIME)
    macro = f'-DMEASURE_FIRST_FLAGS="{name} {" ".join(flags)}"'
    command = [*compiler, *flags, "-I", ROOT / "common", macro]
    return (
        "rule compile\n"
        f"  command = {' '.join(map(in_command, command))}"
        f" -MD -MF $out.d -o $out {in_command(source)}\n"
        "  depfile = $out.d\n"
        "  deps = gcc\n"
        f"  description = compiling {source.name}\n"
        f"build {in_path(Path(program))}: compile {in_path(source)}"
        f" | {' '.join(map(in_path, depends))}\n"
    )


def build_foreign(source: Path, backend: str) -> Path:
    """Builds the file; returns the program. A file that does not exist is a usage error."""
    if not source.is_file():
        raise CourseError(f"no such file: {source}", USAGE)
    source = source.resolve()
    key = hashlib.sha256(f"{source} {backend}".encode()).hexdigest()[:12]
    folder = BUILD / "foreign" / f"{source.stem}-{key}"
    with lock():
        ready()
        if backend != "gpu":
            inspected = [INSPECTED_RUNTIME] if backend == "inspected" else []
            ninja(BUILD, [RUNTIME, COMMON, *inspected])
        folder.mkdir(parents=True, exist_ok=True)
        ninja_file = folder / "build.ninja"
        text = build_file(source, source.stem, backend, configuration())
        if not ninja_file.is_file() or ninja_file.read_text("utf-8") != text:
            ninja_file.write_text(text, "utf-8")
        ninja(folder, [])
    return folder / source.stem
