"""Profiles the patterns and the chapter programs with Nsight Compute and writes their counts.

    ncu_collect.py FOLDER OUT.json

on a machine with an NVIDIA GPU and ncu. FOLDER holds the programs, built by nvcc; those that
it lacks are left out. README.md says how they are built and what is made of the counts.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple

TIMEOUT_S = 90
SHORT = ["--repeats", "1", "--inner", "1"]


class Run(NamedTuple):
    """A program to count, by either tool; small enough for the inspector to count every block."""

    program: str
    options: list[str]
    kernels: str | None = None  # those to profile, as a regular expression; None: all
    skip: int = 0  # such launches to pass over: checks on sizes of a block or two
    most: int = 1000  # launches to profile


RUNS = {
    "patterns": Run("patterns", []),
    "saxpy_bandwidth": Run("saxpy_bandwidth", ["--n", "100003", *SHORT], "saxpy_.*", 205, 15),
    "box_blur": Run("box_blur", SHORT, "blur_.*", 0, 24),
    "histogram_reduction": Run("histogram_reduction", SHORT, "histogram_.*|reduce_.*", 12, 24),
    "reduction_timing": Run("reduction_timing", ["--n", "771307", *SHORT], "reduce_.*", 18, 24),
    "complete_task": Run(
        "complete_task", ["--size", "1003x769", "--repeats", "1"], "histogram_.*|reduce_.*", 110, 50
    ),
    "copy_cost": Run(
        "copy_cost", ["--n", "100003", "--repeats", "1", "--limit", "1"], "increment|chain", 34, 12
    ),
    "streams": Run("streams", ["--n", "100003", "--repeats", "1"], "add", 140, 30),
}

# The names that begin with smsp__sass count what the instructions of the kernel do and nothing
# else; l1tex__ counts what passes through the unit, which for shared memory differs by the run.
METRICS = (
    [f"l1tex__t_requests_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st", "atom", "red")]
    + [f"l1tex__t_sectors_pipe_lsu_mem_global_op_{op}.sum" for op in ("ld", "st", "atom", "red")]
    + [
        f"smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{op}.sum"
        for op in ("ld", "st", "atom", "red")
    ]
    + [f"smsp__sass_inst_executed_op_shared_{op}.sum" for op in ("ld", "st", "atom")]
    + [
        f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
        for op in ("ld", "st", "atom")
    ]
    + ["smsp__sass_branch_targets.sum", "smsp__sass_branch_targets_threads_divergent.sum"]
)


def ncu_path() -> str:
    """Nsight Compute's command line."""
    found = shutil.which("ncu") or "/usr/local/cuda/bin/ncu"
    if not os.access(found, os.X_OK):
        raise SystemExit("ncu_collect: ncu is not here: install Nsight Compute")
    return found


def output_of(*command: str) -> str:
    """A command's output, or nothing if it fails."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


def triple(text: str) -> list[int]:
    """The numbers of (16, 1, 1)."""
    return [int(number) for number in re.findall(r"\d+", text)]


def base_name(kernel: str) -> str:
    """A kernel's name without namespaces, template arguments and parameters."""
    name = re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", kernel)
    name = re.split(r"[<(]", name, maxsplit=1)[0]
    return name.split("::")[-1].split(" ")[-1]


def rows_of(log: str) -> list[dict]:
    """The launches in ncu's raw page, written as comma-separated values."""
    lines = [line for line in log.splitlines() if line.startswith('"')]
    launches = []
    for row in csv.DictReader(lines):
        if not row.get("ID"):
            continue  # the row of units
        metrics = {}
        for name in METRICS:
            number = (row.get(name) or "").replace(",", "")
            if re.fullmatch(r"\d+(\.\d*)?", number):
                metrics[name] = int(float(number))
        launches.append(
            {
                "name": base_name(row["Kernel Name"]),
                "grid": triple(row["Grid Size"]),
                "block": triple(row["Block Size"]),
                "metrics": metrics,
            }
        )
    return launches


def profile(program: Path, run: Run) -> list[dict]:
    """What ncu counts for the launches of a program."""
    # Of a regular expression, ncu takes what it knows; an unknown name would end it.
    names = "|".join(re.escape(name) for name in METRICS)
    selection = f"--launch-skip {run.skip} --launch-count {run.most}".split()
    if run.kernels:
        selection += ["--kernel-name", f"regex:^({run.kernels})$"]
    pages = "--csv --page raw --print-units base --print-kernel-base function".split()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "ncu.csv"
        command = [ncu_path(), *pages, "--clock-control", "none", *selection]
        command += ["--metrics", f"regex:^({names})$", "--log-file", str(log)]
        try:
            result = subprocess.run(
                [*command, str(program), *run.options],
                cwd=folder,
                text=True,
                capture_output=True,
                timeout=TIMEOUT_S,
                check=False,
            )
            said, status = result.stdout + result.stderr, result.returncode
        except subprocess.TimeoutExpired:
            said, status = f"did not end within {TIMEOUT_S} s", 124
        text = log.read_text(errors="replace") if log.exists() else ""
    launches = rows_of(text)
    if status != 0 or not launches:
        tail = "\n".join((said + "\n" + text).splitlines()[-12:])
        print(f"ncu on {program.name}: status {status}, {len(launches)} launches\n{tail}")
    return launches


def distinct(launches: list[dict]) -> list[dict]:
    """Launches that did the same, once, without metrics that are 0; `profiled` is how many."""
    kept: list[dict] = []
    for launch in launches:
        metrics = {name: value for name, value in launch["metrics"].items() if value}
        entry = {**launch, "metrics": metrics}
        known = [other for other in kept if {**other, "profiled": 0} == {**entry, "profiled": 0}]
        if known:
            known[0]["profiled"] += 1
        else:
            kept.append({**entry, "profiled": 1})
    return kept


def text_of(record: dict) -> str:
    """The record as JSON, with a launch in a few lines."""
    text = json.dumps(record, indent=1)
    return re.sub(r"\[\s+(\d+),\s+(\d+),\s+(\d+)\s+\]", r"[\1, \2, \3]", text) + "\n"


def collect(folder: Path, out: Path) -> None:
    """Profiles every run whose program is in the folder."""
    version = re.search(r"Version (\S+)", output_of(ncu_path(), "--version"))
    smi = output_of(
        "nvidia-smi", "--query-gpu=name,compute_cap,driver_version", "--format=csv,noheader"
    ).splitlines()
    device, capability, driver = ((smi[0].split(", ") if smi else []) + ["unknown"] * 3)[:3]
    record = {
        "device": device,
        "compute_capability": capability,
        "driver": driver,
        "ncu": version.group(1) if version else "unknown",
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "metrics": [],
        "runs": {},
    }
    for name, run in RUNS.items():
        program = folder.resolve() / run.program
        if not program.exists():
            continue
        launches = profile(program, run)
        known = {metric for launch in launches for metric in launch["metrics"]}
        record["metrics"] = [m for m in METRICS if m in known | set(record["metrics"])]
        record["runs"][name] = {"options": run.options, "launches": distinct(launches)}
        print(f"{name}: {len(launches)} launches")
        partial = out.with_suffix(".partial")
        partial.write_text(text_of(record))
        partial.replace(out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    collect(Path(sys.argv[1]), Path(sys.argv[2]))
