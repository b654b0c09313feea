"""The recorded runs of book/results/ and the pictures made of them.

A record that no longer fits the schema, is not correct, does not say which revision it shows, or a
picture that differs from what its records give, fails.
"""

import json
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "book" / "results"
PICTURES = {
    "saxpy_bandwidth.svg": ["nvidia_h200/saxpy_bandwidth.json", "nvidia_h200/saxpy_bandwidth_2to27_cold.json"],
}
try:
    import jsonschema
except ImportError:
    jsonschema = None


def draw(*paths):
    command = [sys.executable, str(ROOT / "book" / "draw_rates.py"), *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True)


class Records(unittest.TestCase):
    def setUp(self):
        self.records = {path: json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.rglob("*.json"))}
        self.assertTrue(self.records, "book/results holds no record")

    def test_every_record_fits_the_schema(self):
        if jsonschema is None:
            self.skipTest("jsonschema is not installed (Debian: python3-jsonschema)")
        schema = json.loads((ROOT / "common" / "record.schema.json").read_text("utf-8"))
        for path, record in self.records.items():
            with self.subTest(path.name):
                jsonschema.validate(record, schema)

    def test_every_record_shows_a_right_result_of_a_known_revision_on_a_gpu(self):
        for path, record in self.records.items():
            with self.subTest(path.name):
                self.assertIs(record["correct"], True)
                self.assertTrue(all(check["passed"] for check in record["checks"]))
                self.assertFalse(record["emulated"])
                self.assertRegex(record["revision"], r"^[0-9a-f]{12,40}$")
                self.assertNotEqual(record["compiler"]["flags"], "unknown")

    def test_no_record_holds_a_path_of_the_machine_it_was_made_on(self):
        for path in self.records:
            with self.subTest(path.name):
                self.assertNotRegex(path.read_text("utf-8"), r"/(root|home|work|tmp|Users)/")


class Pictures(unittest.TestCase):
    def test_a_picture_is_what_its_records_give(self):
        for name, records in PICTURES.items():
            with self.subTest(name):
                drawn = draw(*(RESULTS / record for record in records))
                self.assertEqual(drawn.returncode, 0, drawn.stderr)
                self.assertEqual(drawn.stdout, (ROOT / "book" / "images" / name).read_text("utf-8"))

    def test_what_is_no_record_is_refused_in_one_line(self):
        for arguments, status in (([], 2), ([ROOT / "LICENSE"], 1), ([ROOT / "missing.json"], 1)):
            with self.subTest(arguments):
                refused = draw(*arguments)
                self.assertEqual(refused.returncode, status)
                self.assertEqual(refused.stdout, "")
                self.assertEqual(len(refused.stderr.splitlines()), 1)


if __name__ == "__main__":
    unittest.main()
