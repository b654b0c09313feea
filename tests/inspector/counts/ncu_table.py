"""Holds the inspector's counts against Nsight Compute's, and writes the table of README.md.

    ncu_table.py NCU.json FOLDER…

NCU.json is what ncu_collect.py wrote. The folders hold the programs built with `emucc --inspect`,
each named NAME.inspected; they are run here. The table replaces what README.md has between its
markers.
"""

import json
import os
import subprocess
import sys
import tempfile
from math import prod
from pathlib import Path
from typing import NamedTuple

from differences import DIFFERENCES, Place
from ncu_collect import RUNS, base_name

HERE = Path(__file__).resolve().parent
MARKERS = ("<!-- table: begin -->", "<!-- table: end -->")
TIMEOUT_S = 300

# What the inspector counts, and the sum of ncu's metrics that says the same. Those of the SASS
# instructions are exact; the l1tex__ ones of shared memory also hold other traffic of the unit, and
# those of global atomics one sector for each lane at the same address.
GLOBAL = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
SASS_SECTORS = "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{}.sum"
SASS_INSTRUCTIONS = "smsp__sass_inst_executed_op_shared_{}.sum"
SASS_WAVEFRONTS = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{}.sum"
QUANTITIES = {
    ("global_load", "requests"): [GLOBAL.format("requests", "ld")],
    ("global_load", "sectors"): [GLOBAL.format("sectors", "ld")],
    ("global_store", "requests"): [GLOBAL.format("requests", "st")],
    ("global_store", "sectors"): [GLOBAL.format("sectors", "st")],
    # With and without the old value used: ATOM and RED.
    ("global_atomic", "requests"): [GLOBAL.format("requests", op) for op in ("atom", "red")],
    ("global_atomic", "sectors"): [SASS_SECTORS.format(op) for op in ("atom", "red")],
    ("shared_load", "requests"): [SASS_INSTRUCTIONS.format("ld")],
    ("shared_load", "wavefronts"): [SASS_WAVEFRONTS.format("ld")],
    ("shared_store", "requests"): [SASS_INSTRUCTIONS.format("st")],
    ("shared_store", "wavefronts"): [SASS_WAVEFRONTS.format("st")],
    ("shared_atomic", "requests"): [SASS_INSTRUCTIONS.format("atom")],
    ("shared_atomic", "wavefronts"): [SASS_WAVEFRONTS.format("atom")],
}


# Kernels with a grid-stride loop: how many blocks they get depends on the device, what the largest
# launch does as a whole does not.
GRID_OF_THE_DEVICE = ("saxpy_grid_stride", "add_scalar_loop", "add_float4_loop")


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
    """The counts of one launch, of the shapes of which whole launches were counted, all alike."""
    shapes = {}
    for kernel in report["kernels"]:
        shape = Shape(base_name(kernel["name"]), tuple(kernel["grid"]), tuple(kernel["block"]))
        counts = {(group, unit): kernel["totals"][group][unit] for group, unit in QUANTITIES}
        launches, part = divmod(kernel["counted_blocks"], prod(shape.grid))
        whole = launches > 0 and part == 0 and kernel["lost_events"] == 0
        if whole and all(count % launches == 0 for count in counts.values()):
            shapes[shape] = {what: count // launches for what, count in counts.items()}
    return shapes


def counts_of_ncu(record: dict, run: str) -> dict[Shape, Counts]:
    """The counts of one launch, of the shapes whose launches all did the same."""
    known = set(record["metrics"])
    shapes: dict[Shape, Counts] = {}
    differing = set()
    for launch in record["runs"][run]["launches"]:
        shape = Shape(launch["name"], tuple(launch["grid"]), tuple(launch["block"]))
        counts = {
            what: sum(launch["metrics"].get(metric, 0) for metric in metrics)
            for what, metrics in QUANTITIES.items()
            if known.issuperset(metrics)
        }
        if shapes.setdefault(shape, counts) != counts:
            differing.add(shape)
    return {shape: counts for shape, counts in shapes.items() if shape not in differing}


def largest(shapes: dict[Shape, Counts], kernel: str) -> Shape | None:
    """The kernel's shape that loads most."""
    own = [shape for shape in shapes if shape.kernel == kernel]
    return max(own, key=lambda shape: shapes[shape]["global_load", "requests"], default=None)


def pairs_of(report: dict, record: dict, run: str) -> dict[Shape, dict[tuple[str, str], Pair]]:
    """What both tools counted, in the order of the report."""
    ours, theirs = counts_of_report(report), counts_of_ncu(record, run)
    shapes = {shape: shape for shape in ours if shape in theirs}
    for kernel in GRID_OF_THE_DEVICE:
        if largest(ours, kernel) and largest(theirs, kernel):
            shapes[largest(ours, kernel)] = largest(theirs, kernel)
    return {
        shape: {
            what: Pair(count, theirs[other][what])
            for what, count in ours[shape].items()
            if what in theirs[other]
        }
        for shape, other in sorted(shapes.items(), key=lambda item: list(ours).index(item[0]))
    }


def explanation(run: str, shape: Shape, what: tuple[str, str]) -> Place | None:
    """The entry of DIFFERENCES that says why the two differ there."""
    group, unit = what
    for place in DIFFERENCES:
        named = place.kernel in (shape.kernel, f"{run}/{shape.kernel}")
        if named and place.group == group and unit in place.units:
            return place
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
        f"{record['device']} (compute capability {record['compute_capability']}), driver "
        f"{record['driver']}, Nsight Compute {record['ncu']}, {record['date']}.",
        "Each cell is requests : sectors (global) or requests : wavefronts (shared) of one launch.",
        "Both tools count the same unless it says **inspector ≠ ncu**.",
    ]
    equal = compared = 0
    reasons: dict[str, int] = {}
    for run, report in reports.items():
        pairs = pairs_of(report, record, run)
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
                    place = explanation(run, shape, what)
                    reason = DIFFERENCES[place] if place else "Not explained."
                    notes.append(reasons.setdefault(reason, len(reasons) + 1))
            cells = [cell(quantities, group, unit) for _, group, unit in columns]
            note = ", ".join(f"[{number}]" for number in sorted(set(notes)))
            lines.append(f"| {shape} | " + " | ".join(cells) + f" | {note} |")
    lines += ["", f"Of {compared} counts (those that are 0 for both left out), {equal} are equal."]
    if reasons:
        lines += ["Where they differ:", ""]
        lines += [f"- [{number}] {reason}" for reason, number in reasons.items()]
    return "\n".join(lines) + "\n"


def inspected(run: str, folders: list[Path]) -> Path | None:
    """The run's program, built for inspection."""
    programs = [folder / f"{RUNS[run].program}.inspected" for folder in folders]
    return next((program for program in programs if program.exists()), None)


def main(ncu_file: Path, folders: list[Path]) -> None:
    record = json.loads(ncu_file.read_text(encoding="utf-8"))
    programs = {run: inspected(run, folders) for run in record["runs"]}
    reports = {run: inspect(path, RUNS[run].options) for run, path in programs.items() if path}
    readme = HERE / "README.md"
    before, rest = readme.read_text(encoding="utf-8").split(MARKERS[0])
    after = rest.split(MARKERS[1])[1]
    text = f"{before}{MARKERS[0]}\n{table(record, reports)}{MARKERS[1]}{after}"
    partial = readme.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(readme)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), [Path(folder) for folder in sys.argv[2:]])
