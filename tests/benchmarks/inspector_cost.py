#!/usr/bin/env python3
"""What the inspector costs: an inspected run against the plain emulator, and its peak memory.

By hand, since speed is not a test:

    ninja -C build tests/benchmarks/inspector_cost.emulator \\
        tests/benchmarks/inspector_cost.inspected chapters/box_blur.inspected
    python3 tests/benchmarks/inspector_cost.py build

The inspector runs all blocks on one worker. Hence two ratios: against the plain emulator with one
worker (what the watching costs) and with as many as the machine has cores (what the user feels).
Both programs take turns, and each ratio is the median of the rounds; only the ratios mean anything
on another machine. The chapter program is timed as `./course inspect box_blur` runs it.
"""

import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROUNDS = 5
LAUNCHES = {"plain": 8, "inspected": 1}
WORK = {
    "saxpy": "saxpy, 2^20 elements",
    "blur": "box blur, 1003 x 769",
    "reduction": "tree reduction, 2^20 elements",
}


class Ran(NamedTuple):
    text: str
    seconds: float
    cpu_seconds: float
    peak_mib: float


def run(command: list[str], **environment: str) -> Ran:
    """A program's output, its times, and its peak memory."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, env=os.environ | environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        sys.exit(f"inspector_cost: {' '.join(command)}: status {process.returncode}\n{text[-500:]}")
    return Ran(text, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def launch_ms(text: str, launches: int) -> float:
    """Milliseconds a launch, from what inspector_cost.cu prints."""
    found = re.search(r"([0-9.]+) ms, computed", text)
    if found is None:
        sys.exit(f"inspector_cost: cannot read {text[:200]!r}")
    return float(found[1]) / launches


def main(build: Path) -> None:
    programs = {
        "plain": build / "tests/benchmarks/inspector_cost.emulator",
        "inspected": build / "tests/benchmarks/inspector_cost.inspected",
    }
    print(f"{'work':<32}{'1 worker':>10}{'all cores':>11}   peak MiB, plain and inspected")
    for work, name in WORK.items():
        against_one, against_all = [], []
        memory = {"plain": 0.0, "inspected": 0.0}
        for _ in range(ROUNDS):
            ms = {}
            for kind, workers in (("plain", "1"), ("inspected", ""), ("plain", "")):
                environment = {"EMULATOR_WORKERS": workers} if workers else {}
                launches = LAUNCHES[kind]
                ran = run([str(programs[kind]), work, str(launches)], **environment)
                ms[kind, workers] = launch_ms(ran.text, launches)
                memory[kind] = max(memory[kind], ran.peak_mib)
            against_one.append(ms["inspected", ""] / ms["plain", "1"])
            against_all.append(ms["inspected", ""] / ms["plain", ""])
        print(
            f"{name:<32}{statistics.median(against_one):>9.1f}x"
            f"{statistics.median(against_all):>10.1f}x"
            f"   {memory['plain']:.0f}, {memory['inspected']:.0f}"
        )
    box_blur = build / "chapters/box_blur.inspected"
    if box_blur.exists():
        ran = run([str(box_blur)])
        cores = len(os.sched_getaffinity(0))
        print(
            f"\nbox_blur, the chapter's program with its default 1003 x 769, inspected: "
            f"{ran.seconds:.1f} s on {cores} cores, of which {ran.cpu_seconds:.1f} s of work; "
            f"peak {ran.peak_mib:.0f} MiB"
        )


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
