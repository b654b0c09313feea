"""The table in README.md has a row for every planted fault, at its present lines."""

import unittest

from cases import FOLDER, all_cases
from sanitizer_table import row_begin


class Table(unittest.TestCase):
    def test_every_fault_has_its_row(self):
        page = (FOLDER / "README.md").read_text(encoding="utf-8")
        rows = [" | ".join(row_begin(case)) for case in all_cases() if case.fault]
        missing = [row for row in rows if f"| {row} |" not in page]
        self.assertEqual(missing, [], "run test_corpus.py --json and sanitizer_table.py table")

    def test_the_corpus_holds_enough_of_both(self):
        faults = sum(case.fault is not None for case in all_cases())
        look_alikes = sum(case.fault is None for case in all_cases())
        self.assertGreaterEqual(faults, 40)
        self.assertGreaterEqual(look_alikes, 40)


if __name__ == "__main__":
    unittest.main()
