#!/usr/bin/env python3
"""The inspector's counts: as worked out by hand, and as Nsight Compute counted on an H200.

INSPECTED names the folder or folders, separated by colons, of the programs built with
`emucc --inspect`, NAME.inspected; RUNS the runs of ncu_collect.py to hold against
nvidia_h200.json, separated by commas.
"""

import json
import os
import re
import unittest
from functools import cache
from pathlib import Path

from differences import DIFFERENCES
from ncu_collect import RUNS, base_name
from ncu_table import HERE, explanation, inspect, inspected, pairs_of

GROUPS = {
    "global_load": "sectors",
    "global_store": "sectors",
    "global_atomic": "sectors",
    "shared_load": "wavefronts",
    "shared_store": "wavefronts",
    "shared_atomic": "wavefronts",
}


@cache
def report_of(run: str) -> dict:
    """The inspector's report of a run, made once."""
    folders = [Path(folder) for folder in os.environ["INSPECTED"].split(":")]
    program = inspected(run, folders)
    if program is None:
        raise FileNotFoundError(f"{RUNS[run].program}.inspected is in none of INSPECTED")
    return inspect(program, RUNS[run].options)


def expectations(source: str) -> dict[str, dict[str, str]]:
    """Of each kernel what its EXPECT lines say."""
    expected = {}
    pattern = r"((?:// EXPECT .*\n)+)__global__ void (\w+)\("
    for comments, kernel in re.findall(pattern, source):
        words = comments.replace("// EXPECT", " ").split()
        expected[kernel] = dict(zip(words[::2], words[1::2], strict=True))
    return expected


def counted(totals: dict) -> dict[str, str]:
    """A kernel's totals in the form of EXPECT."""
    counts = {
        group: f"{totals[group]['requests']}:{totals[group][unit]}"
        for group, unit in GROUPS.items()
        if totals[group]["requests"] > 0
    }
    counts["divergent_branches"] = str(totals["divergent_branches"])
    return counts


class ByHand(unittest.TestCase):
    def test_every_pattern(self):
        expected = expectations((HERE / "patterns.cu").read_text(encoding="utf-8"))
        report = report_of("patterns")
        kernels = {base_name(kernel["name"]): kernel for kernel in report["kernels"]}
        self.assertEqual(set(kernels), set(expected))
        self.assertGreater(len(kernels), 60)
        for name, kernel in kernels.items():
            with self.subTest(kernel=name):
                counts = counted(kernel["totals"])
                if "divergent_branches" not in expected[name]:
                    counts.pop("divergent_branches")
                self.assertEqual(counts, expected[name])
                self.assertEqual((kernel["launches"], kernel["lost_events"]), (1, 0))

    def test_no_pattern_is_at_fault(self):
        self.assertEqual(report_of("patterns")["findings"], [])


class AgainstNsightCompute(unittest.TestCase):
    def test_every_kernel(self):
        record = json.loads((HERE / "nvidia_h200.json").read_text(encoding="utf-8"))
        seen, needed = set(), set()
        for run in os.environ["RUNS"].split(","):
            shapes = pairs_of(report_of(run), record, run)
            self.assertTrue(shapes, f"{run}: no launch in common")
            for shape, pairs in shapes.items():
                seen |= {shape.kernel, f"{run}/{shape.kernel}"}
                for what, pair in pairs.items():
                    with self.subTest(run=run, shape=str(shape), what=what):
                        place = explanation(run, shape, what)
                        if place is None:
                            self.assertEqual(pair.inspector, pair.ncu)
                        elif pair.inspector != pair.ncu:
                            needed.add(place)
        unneeded = [place for place in DIFFERENCES if place.kernel in seen and place not in needed]
        self.assertEqual(unneeded, [], "differences that are none")

    def test_a_gpu_parts_lanes_where_the_inspector_does_or_not_at_all(self):
        record = json.loads((HERE / "nvidia_h200.json").read_text(encoding="utf-8"))
        metric = "smsp__sass_branch_targets_threads_divergent.sum"
        self.assertIn(metric, record["metrics"])
        divergent = {
            base_name(kernel["name"]): kernel["totals"]["divergent_branches"]
            for kernel in report_of("patterns")["kernels"]
        }
        kept = 0
        for launch in record["runs"]["patterns"]["launches"]:
            if metric in launch["metrics"]:
                kept += 1
                with self.subTest(kernel=launch["name"]):
                    self.assertEqual(divergent[launch["name"]], launch["metrics"][metric])
        self.assertGreater(kept, 3)

    def test_the_record_has_every_pattern(self):
        record = json.loads((HERE / "nvidia_h200.json").read_text(encoding="utf-8"))
        recorded = {launch["name"] for launch in record["runs"]["patterns"]["launches"]}
        expected = expectations((HERE / "patterns.cu").read_text(encoding="utf-8"))
        self.assertEqual(recorded, set(expected))


if __name__ == "__main__":
    unittest.main()
