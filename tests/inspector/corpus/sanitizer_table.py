#!/usr/bin/env python3
"""The corpus under compute-sanitizer, and the table of who finds what.

    sanitizer_table.py run FOLDER --json FILE      every case under each tool; needs a GPU
    sanitizer_table.py table FILE INSPECTOR.json   the table, written into README.md

FOLDER holds the corpus' programs as README.md says how to build them. INSPECTOR.json comes from
test_corpus.py --json. Exit status: 0 done; 2 for wrong usage; 77 without compute-sanitizer.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from cases import FOLDER, all_cases

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
TIMEOUT_S = 20
PLACE = re.compile(r" in (?:\S*/)?(\w+)\.cu:(\d+)")
SUMMARY = re.compile(r"(?:ERROR|RACECHECK) SUMMARY: (\d+)")
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def output_of(command):
    """What a command prints, or "" if there is no such command."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""


def run_case(command):
    """Runs a command of its own process group. Returns (status, or None after the timeout; text)."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            status = None
        output.seek(0)
        return status, output.read(200_000)


def verdict(case, status, text):
    """What a tool's output says: whether it reported something, at which lines, in which words."""
    messages, device_lines, host_lines = [], set(), set()
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        place = PLACE.search(line)
        if place and place[1] == case.program:
            where = host_lines if "Host Frame" in line else device_lines
            where.add(int(place[2]))
        said = line.lstrip("=").rstrip()
        if said.startswith(" ") and not said.startswith("  ") and "SUMMARY" not in said:
            messages.append(said.strip())
    summary = SUMMARY.search(text)
    return {
        "status": status,
        "reported": int(summary[1]) if summary else None,
        "device_lines": sorted(device_lines),
        "host_lines": sorted(host_lines),
        "messages": messages[1:4],  # the first one is the tool's name
    }


def run(arguments):
    """Runs every case alone and under each tool; writes the JSON and, if asked, all the output."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.access(sanitizer, os.X_OK):
        print("sanitizer_table.py: compute-sanitizer is not there; it is part of the CUDA toolkit")
        return 77
    cases = all_cases()
    for case in cases:
        if not os.access(arguments.folder / case.program, os.X_OK):
            print(f"sanitizer_table.py: no program {arguments.folder / case.program}")
            return 2

    def one(job):
        case, tool = job
        command = [str(arguments.folder.resolve() / case.program), case.name]
        if tool:
            command = [sanitizer, "--tool", tool, "--print-limit", "5"] + command
        status, text = run_case(command)
        return case, tool, status, text

    jobs = [(case, tool) for case in cases for tool in (None,) + TOOLS]
    with ThreadPoolExecutor(arguments.jobs) as pool:
        done = list(pool.map(one, jobs))

    results, log = {}, []
    for case, tool, status, text in done:
        name = f"{case.program}/{case.name}"
        result = results.setdefault(name, {"expected_lines": sorted(case.expected)})
        result[tool or "alone"] = verdict(case, status, text) if tool else {"status": status}
        log.append(f"#### {case.program} {case.name}, {tool or 'alone'}: status {status}\n{text}\n")
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    report = {
        "version": 1,
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d"),
        "device": output_of(query).split("\n", maxsplit=1)[0],
        "sanitizer": output_of([sanitizer, "--version"]).split("\n")[-1],  # Version 2025.3…
        "results": results,
    }
    write(arguments.json, json.dumps(report, indent=1) + "\n")
    if arguments.log:
        write(arguments.log, "".join(log))
    print(f"{len(cases)} cases, {len(jobs)} runs; {arguments.json}")
    return 0


def write(path, text):
    """Writes a file whole or not at all."""
    partial = Path(f"{path}.part")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def tool_cell(expected_lines, result):
    """A tool's cell: the fault's line; elsewhere; nothing; no end."""
    if result is None:
        return "not run"
    if result["status"] is None and not result["reported"]:
        return "no end"
    if not result["reported"]:
        return ""
    lines = set(result["device_lines"] + result["host_lines"])
    return "line" if lines & set(expected_lines) else "yes"


def inspector_cell(case, complaints, findings):
    """The inspector's cell: like a tool's, but `line` means: every expected line, nothing else."""
    if not findings:
        return ""
    return "line" if case.expected and not complaints else "yes"


def row_begin(case):
    """The first cells of a case's row."""
    fault = f"`{case.fault}`" if case.fault else "none"
    return [case.place, case.name.replace("_", " "), fault]


def table(arguments):
    """Writes the table between the marks of README.md."""
    sanitizer = json.loads(arguments.json.read_text(encoding="utf-8"))
    inspector = json.loads(arguments.inspector.read_text(encoding="utf-8"))["cases"]
    faults, look_alikes = [], []
    found = {tool: 0 for tool in ("inspector",) + TOOLS}
    alarms = dict(found)
    for case in all_cases():
        key = f"{case.program}/{case.name}"
        cells = {"inspector": inspector_cell(case, **inspector[key])}
        result = sanitizer["results"].get(key, {})
        for tool in TOOLS:
            cells[tool] = tool_cell(result.get("expected_lines"), result.get(tool))
        for tool, cell in cells.items():
            (found if case.fault else alarms)[tool] += cell in ("line", "yes")
        row = row_begin(case)
        if case.fault:
            faults.append(row + list(cells.values()))
        elif any(cells.values()):
            look_alikes.append(row + list(cells.values()))
    alike = sum(not case.fault for case in all_cases())
    names = ("inspector",) + TOOLS
    lines = [
        f"{sanitizer['date']}: {sanitizer['device'].replace(', ', ', driver ')};"
        f" compute-sanitizer {sanitizer['sanitizer'].split()[1]}.",
        "",
        "| | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
        f"| faults found, of {len(faults)} | " + " | ".join(str(found[n]) for n in names) + " |",
        f"| false alarms, of {alike} look-alikes | "
        + " | ".join(str(alarms[n]) for n in names)
        + " |",
        "",
        "| place | case | fault | " + " | ".join(names) + " |",
        "|---|---|---|" + "---|" * len(names),
    ]
    lines += ["| " + " | ".join(row) + " |" for row in faults + look_alikes]
    page = FOLDER / "README.md"
    text = page.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    write(page, head + BEGIN + "\n" + "\n".join(lines) + "\n" + END + tail)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    runs = modes.add_parser("run", help="every case under each tool")
    runs.add_argument("folder", type=Path, help="where the programs are")
    runs.add_argument("--json", type=Path, required=True, help="the result")
    runs.add_argument("--log", type=Path, help="everything the tools printed")
    runs.add_argument("--jobs", type=int, default=8, help="how many at a time (8)")
    tables = modes.add_parser("table", help="the table in README.md")
    tables.add_argument("json", type=Path, help="what `run` wrote")
    tables.add_argument("inspector", type=Path, help="what test_corpus.py --json wrote")
    arguments = parser.parse_args()
    return run(arguments) if arguments.mode == "run" else table(arguments)


if __name__ == "__main__":
    sys.exit(main())
