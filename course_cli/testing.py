"""./course test: builds and runs the project's tests."""

import json
import subprocess
import sys
from collections import Counter

from course_cli import gpu
from course_cli.build import lock, ninja, ready
from course_cli.console import DONE, FAILED, SETUP_LACKS, SKIPPED, USAGE, CourseError, notice
from course_cli.paths import BUILD

GPU_SUITE = "gpu"


def described() -> list[dict]:
    """The tests of the configured build; their suites without the project's name."""
    tests = json.loads((BUILD / "meson-info" / "intro-tests.json").read_text("utf-8"))
    for test in tests:
        test["suite"] = [suite.partition(":")[2] or suite for suite in test["suite"]]
    return tests


def targets_of(tests: list[dict], programs: bool) -> list[str]:
    """Ninja's names of what the tests need. With `programs`, the chapters' programs, too: they must
    compile without a warning by every compiler that is here, nvcc among them."""
    wanted = {target for test in tests for target in test["depends"]}
    targets = json.loads((BUILD / "meson-info" / "intro-targets.json").read_text("utf-8"))
    needed = {file for target in targets if target["id"] in wanted for file in target["filename"]}
    if programs:
        every = {file for target in targets for file in target["filename"]}
        inside = (file for file in every if file.startswith(f"{BUILD}/chapters/"))
        needed |= {file for file in inside if not file.endswith(".inspected")}
    return sorted(file.removeprefix(f"{BUILD}/") for file in needed)


def select(suites: list[str], backend: str | None) -> list[dict]:
    """The tests to run. Those that need a GPU are left out where none is usable."""
    tests = described()
    known = sorted({suite for test in tests for suite in test["suite"]} - {GPU_SUITE})
    for suite in suites:
        if suite not in known:
            raise CourseError(
                f"no suite of tests called {suite}; there are: {', '.join(known)}", USAGE
            )
    on_gpu = gpu.probe()
    if backend == "gpu" and not on_gpu.usable:
        status = SETUP_LACKS if on_gpu.present and not on_gpu.hidden else SKIPPED
        raise CourseError(f"no usable CUDA device: {on_gpu.reason}", status)
    chosen = [test for test in tests if not suites or set(suites) & set(test["suite"])]
    if backend == "gpu":
        return [test for test in chosen if GPU_SUITE in test["suite"]]
    if backend == "emulator" or not on_gpu.usable:
        return [test for test in chosen if GPU_SUITE not in test["suite"]]
    return chosen


def count() -> Counter:
    """Results of the last run, from Meson's log: how many tests ended in which way."""
    log = (BUILD / "meson-logs" / "testlog.json").read_text("utf-8")
    return Counter(json.loads(line)["result"] for line in log.splitlines())


def test(suites: list[str], backend: str | None, werror: bool) -> int:
    """Prints the tests' results, then `N passed, N failed` alone on a line."""
    with lock():
        ready(werror=werror, uses=("build", "test"))
        ninja(BUILD, ["build.ninja"])  # a changed meson.build may have added tests
        chosen = select(suites, backend)
        everything = not suites and backend is None
        if chosen:
            ninja(BUILD, targets_of(chosen, programs=everything))

    results: Counter = Counter()
    if chosen:
        # Names choose the tests; the suite tells the two back ends' tests of one name apart.
        names = sorted({test["name"] for test in chosen})
        gpu_tests = {GPU_SUITE in test["suite"] for test in chosen}
        only = {(True,): ["--suite", GPU_SUITE], (False,): ["--no-suite", GPU_SUITE]}
        choice = only.get(tuple(gpu_tests), [])
        subprocess.run(
            [
                "meson",
                "test",
                "-C",
                str(BUILD),
                "--no-rebuild",
                "--print-errorlogs",
                *choice,
                *names,
            ],
            stdin=subprocess.DEVNULL,
            check=False,
        )
        results = count()
    else:
        notice("course: no test fits the choice")

    passed = results["OK"] + results["EXPECTEDFAIL"]
    skipped = results["SKIP"]
    failed = sum(results.values()) - passed - skipped
    line = f"{passed} passed, {failed} failed"
    print(line + (f", {skipped} skipped" if skipped else ""))
    sys.stdout.flush()
    return DONE if passed and not failed else FAILED
