"""Profiles the patterns and the chapter programs with Nsight Compute and writes their counts.

    ncu_collect.py FOLDER OUT.json

on a machine with an NVIDIA GPU and ncu. FOLDER holds the programs, built by nvcc; those that it lacks
are left out. README.md says how they are built and what is made of the counts.
"""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

SHORT = ["--repeats", "1", "--inner", "1"]


class Run(NamedTuple):
    """A program to count, by either tool; small enough for the inspector to count every block."""

    program: str
    options: list[str]
    kernels: str | None = None  # those to profile, as a regular expression; None: all
    most: int = 1000  # launches to profile


RUNS = {
    "patterns": Run("patterns", []),
    "saxpy_bandwidth": Run("saxpy_bandwidth", ["--n", "100003", *SHORT], "saxpy_.*", 60),
    "box_blur": Run("box_blur", ["--size", "403x309", *SHORT], "blur_.*", 30),
    "histogram_reduction": Run(
        "histogram_reduction", ["--size", "403x309", *SHORT], "histogram_.*|reduce_.*", 40
    ),
    "histogram_of_identical_pixels": Run(
        "histogram_reduction", SHORT, "histogram_.*|reduce_.*", 40
    ),
    "vector_add": Run("vector_add", ["--n", "100003", *SHORT], "add_.*", 60),
    "reduction_timing": Run("reduction_timing", ["--n", "124527", *SHORT], "reduce_.*", 40),
    "copy_cost": Run(
        "copy_cost", ["--n", "100003", "--repeats", "1", "--limit", "1"], "increment|chain", 8
    ),
    "streams": Run("streams", ["--n", "100003", "--repeats", "1"], "add", 12),
    "complete_task": Run(
        "complete_task", ["--size", "403x309", "--repeats", "1"], "histogram_.*|reduce_.*", 20
    ),
}

METRICS = re.compile(
    r"l1tex__t_(requests|sectors)_pipe_lsu_mem_global_op_(ld|st|atom|red)\.sum"
    r"|l1tex__data_(pipe_lsu_wavefronts|bank_conflicts_pipe_lsu)_mem_shared(_op_(ld|st|atom))?\.sum"
    r"|smsp__inst_executed_op_shared_(ld|st|atom.*)\.sum"
    r"|smsp__inst_executed_op_(shared|ldsm|shared_atom)\.sum"
    r"|smsp__sass_inst_executed_op_(global|shared)_(ld|st|atom|red)\.sum"
    r"|smsp__sass_l1tex_(t_sectors|t_requests|data_pipe_lsu_wavefronts|data_bank_conflicts)"
    r"_(pipe_lsu_)?mem_(global|shared)(_op_(ld|st|atom|red))?\.sum"
    r"|smsp__sass_branch_targets(_threads_(divergent|uniform))?\.sum"
    r"|smsp__inst_executed(_op_branch)?\.sum"
)

# If ncu takes no regular expression for metrics: names that every version has had since Volta.
CERTAIN_METRICS = ",".join(
    [
        f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
        for what in ("requests", "sectors")
        for op in ("ld", "st", "atom", "red")
    ]
    + [f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")]
    + [f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st")]
    + [f"smsp__inst_executed_op_shared_{op}.sum" for op in ("ld", "st")]
    + ["smsp__inst_executed.sum"]
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
    """ "(16, 1, 1)" as numbers."""
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
        for name, value in row.items():
            number = (value or "").replace(",", "")
            if name and METRICS.fullmatch(name) and re.fullmatch(r"\d+(\.\d*)?", number):
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
    """What ncu counts for the launches of a program; each distinct result of a shape once."""
    launches = []
    for metrics in ("regex:^(" + METRICS.pattern + ")$", CERTAIN_METRICS):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "ncu.csv"
            command = [
                ncu_path(),
                "--csv",
                "--page",
                "raw",
                "--print-units",
                "base",
                "--print-kernel-base",
                "function",
                "--clock-control",
                "none",
                "--log-file",
                str(log),
                "--launch-count",
                str(run.most),
                "--metrics",
                metrics,
            ]
            if run.kernels:
                command += ["--kernel-name", f"regex:^({run.kernels})$"]
            try:
                result = subprocess.run(
                    command + [str(program), *run.options],
                    cwd=folder,
                    text=True,
                    capture_output=True,
                    timeout=90,
                    check=False,
                )
                said, status = result.stdout + result.stderr, result.returncode
            except subprocess.TimeoutExpired:
                said, status = "did not end within 90 s", 124
            text = log.read_text(errors="replace") if log.exists() else ""
        launches = rows_of(text)
        if status != 0 or not launches:
            tail = "\n".join((said + "\n" + text).splitlines()[-12:])
            print(f"ncu on {program.name}: status {status}, {len(launches)} launches\n{tail}")
        if any(launch["metrics"] for launch in launches):
            break
    distinct = []
    for launch in launches:
        known = [
            other for other in distinct if {**other, "profiled": 0} == {**launch, "profiled": 0}
        ]
        if known:
            known[0]["profiled"] += 1
        else:
            distinct.append({**launch, "profiled": 1})
    return distinct


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
        "runs": {},
    }
    for name, run in RUNS.items():
        program = folder.resolve() / run.program
        if program.exists():
            launches = profile(program, run)
            record["runs"][name] = {"options": run.options, "launches": launches}
            print(f"{name}: {len(launches)} different launches")
            partial = out.with_suffix(".partial")
            partial.write_text(json.dumps(record, indent=1) + "\n")
            partial.replace(out)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    collect(Path(sys.argv[1]), Path(sys.argv[2]))
