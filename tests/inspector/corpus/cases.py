"""The corpus as its sources describe it: cases, and the faults planted in them.

A case is a namespace of a .cu file: from "namespace NAME {" to "}  // namespace NAME". A line with
a planted fault ends in "// EXPECT fault"; a case without such a line is a correct look-alike.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

BEGIN = re.compile(r"namespace (\w+) \{")
EXPECT = re.compile(r"// EXPECT (\w+)$")
LISTED = re.compile(r"CORPUS_CASE\((\w+)\)")


@dataclass
class Case:
    """One kernel, or a few, with one planted fault or none."""

    program: str  # the source's name without .cu
    name: str
    expected: dict = field(default_factory=dict)  # line: fault

    @property
    def fault(self):
        """The planted fault, or None."""
        return next(iter(self.expected.values()), None)

    @property
    def place(self):
        """The lines of the fault, for people."""
        if not self.expected:
            return f"{self.program}.cu"
        return f"{self.program}.cu:{', '.join(str(line) for line in sorted(self.expected))}"


def programs():
    """The names of the corpus' programs."""
    return sorted(path.stem for path in FOLDER.glob("*.cu"))


def cases_of(program):
    """The cases of a program, in the order of its source. Raises ValueError for a source amiss."""
    text = (FOLDER / f"{program}.cu").read_text(encoding="utf-8")
    cases, case = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if begin := BEGIN.fullmatch(line):
            if case:
                raise ValueError(f"{program}.cu:{number}: {case.name} has not ended")
            case = Case(program, begin[1])
        elif case and line == f"}}  // namespace {case.name}":
            cases.append(case)
            case = None
        elif expect := EXPECT.search(line):
            if not case:
                raise ValueError(f"{program}.cu:{number}: an EXPECT outside of every case")
            case.expected[number] = expect[1]
        elif "EXPECT" in line:
            raise ValueError(f"{program}.cu:{number}: an EXPECT that names no fault")
    if case:
        raise ValueError(f"{program}.cu: {case.name} has no end")
    for case in cases:
        if len(set(case.expected.values())) > 1:
            raise ValueError(f"{program}.cu: {case.name} has more than one kind of fault")
    if [case.name for case in cases] != LISTED.findall(text):
        raise ValueError(f"{program}.cu: the list in main is not that of the namespaces")
    return cases


def all_cases():
    """The cases of all programs."""
    return [case for program in programs() for case in cases_of(program)]
