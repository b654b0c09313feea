"""Holds the inspector's counts against Nsight Compute's, and writes the table of README.md.

    ncu_table.py NCU.json FOLDER

NCU.json is what ncu_collect.py wrote. FOLDER holds the programs built with `emucc --inspect`, each
named NAME.inspected; they are run here. The table replaces what README.md has between its markers.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from differences import DIFFERENCES
from ncu_collect import RUNS, base_name

HERE = Path(__file__).resolve().parent
MARKERS = ("<!-- table: begin -->", "<!-- table: end -->")
TIMEOUT_S = 300

# What the inspector counts, and the sum of ncu's metrics that says the same.
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
WAVEFRONTS = "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
INSTRUCTIONS = "smsp__inst_executed_op_shared_{}.sum"
QUANTITIES = {
    ("global_load", "requests"): [GLOBAL.format("requests", "ld")],
    ("global_load", "sectors"): [GLOBAL.format("sectors", "ld")],
    ("global_store", "requests"): [GLOBAL.format("requests", "st")],
    ("global_store", "sectors"): [GLOBAL.format("sectors", "st")],
    # With and without the old value used: ATOM and RED.
    ("global_atomic", "requests"): [GLOBAL.format("requests", op) for op in ("atom", "red")],
    ("global_atomic", "sectors"): [GLOBAL.format("sectors", op) for op in ("atom", "red")],
    ("shared_load", "requests"): [INSTRUCTIONS.format("ld")],
    ("shared_load", "wavefronts"): [WAVEFRONTS.format("ld")],
    ("shared_store", "requests"): [INSTRUCTIONS.format("st")],
    ("shared_store", "wavefronts"): [WAVEFRONTS.format("st")],
    ("shared_atomic", "requests"): [INSTRUCTIONS.format("atom")],
    ("shared_atomic", "wavefronts"): [WAVEFRONTS.format("atom")],
}


class Shape(NamedTuple):
    """A kernel, and the launches of it that look alike."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]

    def __str__(self) -> str:
        threads = " × ".join(str(size) for size in self.block if size > 1) or "1"
        blocks = " × ".join(str(size) for size in self.grid if size > 1) or "1"
        return f"{self.kernel}, {blocks} blocks of {threads}"


class Pair(NamedTuple):
    """One quantity of one launch, by either tool."""

    inspector: int
    ncu: int


Counts = dict[tuple[str, str], int]


def inspect(program: Path, options: list[str]) -> dict:
    """The report of an inspected run."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        subprocess.run(
            [program.resolve(), *options],
            env={**os.environ, "INSPECTOR_JSON": str(report)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            check=True,
        )
        return json.loads(report.read_text(encoding="utf-8"))


def counts_of_report(report: dict) -> dict[Shape, Counts]:
    """The counts of one launch, of the shapes whose launches were all counted and did the same."""
    shapes = {}
    for kernel in report["kernels"]:
        shape = Shape(base_name(kernel["name"]), tuple(kernel["grid"]), tuple(kernel["block"]))
        launches = kernel["launches"]
        counts = {(group, unit): kernel["totals"][group][unit] for group, unit in QUANTITIES}
        whole = kernel["counted_blocks"] == kernel["blocks"] and kernel["lost_events"] == 0
        if whole and all(count % launches == 0 for count in counts.values()):
            shapes[shape] = {what: count // launches for what, count in counts.items()}
    return shapes


def counts_of_ncu(launches: list[dict]) -> dict[Shape, Counts]:
    """The counts of one launch, of the shapes whose launches all did the same."""
    shapes: dict[Shape, Counts] = {}
    differing = set()
    for launch in launches:
        shape = Shape(launch["name"], tuple(launch["grid"]), tuple(launch["block"]))
        counts = {
            what: sum(launch["metrics"][metric] for metric in metrics)
            for what, metrics in QUANTITIES.items()
            if all(metric in launch["metrics"] for metric in metrics)
        }
        if shapes.setdefault(shape, counts) != counts:
            differing.add(shape)
    return {shape: counts for shape, counts in shapes.items() if shape not in differing}


def pairs_of(report: dict, launches: list[dict]) -> dict[Shape, dict[tuple[str, str], Pair]]:
    """What both tools counted, in the order of the report."""
    theirs = counts_of_ncu(launches)
    pairs = {}
    for shape, counts in counts_of_report(report).items():
        if shape in theirs:
            pairs[shape] = {
                what: Pair(count, theirs[shape][what])
                for what, count in counts.items()
                if what in theirs[shape]
            }
    return pairs


def reason_for(run: str, shape: Shape, what: tuple[str, str]) -> str | None:
    """Why the two differ there, if that is known."""
    group, unit = what
    for (kernel, groups, units), reason in DIFFERENCES.items():
        if kernel in (shape.kernel, f"{run}/{shape.kernel}") and group in groups and unit in units:
            return reason
    return None


def cell(pairs: dict[tuple[str, str], Pair], group: str, unit: str) -> str:
    """Requests and their sectors or wavefronts; where ncu counts otherwise, both in bold."""
    texts = []
    for what in ((group, "requests"), (group, unit)):
        if what in pairs and pairs[what] != (0, 0):
            ours, ncu = pairs[what]
            texts.append(f"{ours}" if ours == ncu else f"**{ours} ≠ {ncu}**")
    return " : ".join(texts) if texts else "–"


def table(record: dict, reports: dict[str, dict]) -> str:
    """The comparison as Markdown."""
    columns = (
        ("global loads", "global_load", "sectors"),
        ("global stores", "global_store", "sectors"),
        ("global atomics", "global_atomic", "sectors"),
        ("shared loads", "shared_load", "wavefronts"),
        ("shared stores", "shared_store", "wavefronts"),
        ("shared atomics", "shared_atomic", "wavefronts"),
    )
    lines = [
        f"{record['device']}, compute capability {record['compute_capability']}, driver "
        f"{record['driver']}, Nsight Compute {record['ncu']}. Each cell is requests : sectors "
        "(global) or requests : wavefronts (shared) of one launch, equal for both tools unless it "
        "says *inspector* ≠ *ncu*.",
    ]
    equal = compared = 0
    reasons: dict[str, int] = {}
    for run, report in reports.items():
        pairs = pairs_of(report, record["runs"][run]["launches"])
        options = " ".join(RUNS[run].options)
        lines += [
            "",
            f"**{run}**" + (f" (`{RUNS[run].program} {options}`)" if options else ""),
            "",
            "| kernel | " + " | ".join(title for title, _, _ in columns) + " | |",
            "| --- |" + " --- |" * len(columns) + " --- |",
        ]
        for shape, quantities in pairs.items():
            notes = []
            for what, pair in quantities.items():
                compared += pair != (0, 0)
                equal += pair != (0, 0) and pair.inspector == pair.ncu
                if pair.inspector != pair.ncu:
                    reason = reason_for(run, shape, what) or "not explained"
                    notes.append(reasons.setdefault(reason, len(reasons) + 1))
            cells = [cell(quantities, group, unit) for _, group, unit in columns]
            note = ", ".join(f"[{number}]" for number in sorted(set(notes)))
            lines.append(f"| {shape} | " + " | ".join(cells) + f" | {note} |")
    lines += ["", f"Equal: {equal} of {compared} counts that are not 0 for both."]
    if reasons:
        lines += ["Where they differ:", ""]
        lines += [f"- [{number}] {reason}" for reason, number in reasons.items()]
    return "\n".join(lines) + "\n"


def main(ncu_file: str, folder: str) -> None:
    record = json.loads(Path(ncu_file).read_text(encoding="utf-8"))
    reports = {}
    for run in record["runs"]:
        program = Path(folder) / f"{RUNS[run].program}.inspected"
        if program.exists():
            reports[run] = inspect(program, RUNS[run].options)
    readme = HERE / "README.md"
    text = readme.read_text(encoding="utf-8")
    before, rest = text.split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    readme.write_text(
        f"{before}{MARKERS[0]}\n{table(record, reports)}{MARKERS[1]}{after}", encoding="utf-8"
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
