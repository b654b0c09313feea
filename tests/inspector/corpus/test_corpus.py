#!/usr/bin/env python3
"""The inspector over the corpus: every planted fault at its line, and no false alarm.

As a test: CORPUS_PROGRAMS names the programs, built with `emucc --inspect`, separated by colons.
By hand: test_corpus.py PROGRAM… [--json FILE]; FILE then holds findings and complaints of each
case, for sanitizer_table.py. Exit status: 0 all as expected; 1 not; 2 for wrong usage.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from cases import cases_of

TIMEOUT_S = 120


def inspect(program, case):
    """The findings of a case's run, and its exit status."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        done = subprocess.run(
            [program, case.name],
            env={**os.environ, "INSPECTOR_JSON": str(report)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIMEOUT_S,
            check=False,
        )
        if not report.exists():
            raise AssertionError(f"no report; status {done.returncode}: {done.stderr[-500:]}")
        return json.loads(report.read_text(encoding="utf-8"))["findings"], done.returncode


def named_lines(finding):
    """The lines that a finding names, as (file, line)."""
    parties = [party for party in (finding["first"], finding["second"]) if party]
    return [(Path(party["file"] or "?").name, party["line"]) for party in parties]


def complaints_about(case, findings, status):
    """What is not as the source says, in sentences; nothing if all is."""
    complaints, seen = [], set()
    for finding in findings:
        lines = named_lines(finding)
        places = " and ".join(f"{name}:{line}" for name, line in lines)
        as_expected = finding["fault"] == case.fault and all(
            name == f"{case.program}.cu" and line in case.expected for name, line in lines
        )
        if as_expected:
            seen.update(line for _, line in lines)
        else:
            complaints.append(f"{finding['fault']} at {places}: {finding['message']}")
    for line, fault in case.expected.items():
        if line not in seen:
            complaints.append(f"{fault} at {case.program}.cu:{line} was not found")
    if not case.fault and not findings and status != 0:
        complaints.append(f"its result is wrong, or it failed: status {status}")
    return complaints


def run(programs):
    """Yields (case, findings, complaints) for every case of the programs."""
    for program in programs:
        for case in cases_of(Path(program).name.partition(".")[0]):
            try:
                findings, status = inspect(program, case)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                yield case, [], [str(error)]
            else:
                yield case, findings, complaints_about(case, findings, status)


class Corpus(unittest.TestCase):
    def test_faults_are_found_and_look_alikes_are_let_be(self):
        programs = os.environ["CORPUS_PROGRAMS"].split(":")
        count = 0
        for case, _, complaints in run(programs):
            count += 1
            with self.subTest(case=f"{case.program}/{case.name}"):
                self.assertEqual(complaints, [])
        self.assertGreater(count, 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("programs", nargs="+", help="built from the corpus' sources")
    parser.add_argument("--json", type=Path, help="where findings and complaints go")
    arguments = parser.parse_args()
    for program in arguments.programs:
        if not os.access(program, os.X_OK):
            parser.error(f"no program {program}")
    report, wrong = {}, 0
    for case, findings, complaints in run(arguments.programs):
        report[f"{case.program}/{case.name}"] = {"findings": findings, "complaints": complaints}
        wrong += bool(complaints)
        for complaint in complaints:
            print(f"{case.program}/{case.name}: {complaint}")
    print(f"{len(report)} cases, {wrong} not as expected")
    if arguments.json:
        partial = Path(f"{arguments.json}.part")
        partial.write_text(json.dumps({"version": 1, "cases": report}, indent=1) + "\n", "utf-8")
        partial.replace(arguments.json)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
