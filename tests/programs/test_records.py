"""The JSON record: valid by its schema, complete, and in agreement with itself."""

import json
import statistics
import unittest

from harness import EMULATED, PROGRAMS, SCHEMA, SMALL, ProgramTest, run

try:
    import jsonschema
except ImportError:
    jsonschema = None


def check_structure(record: dict, schema: dict, path: str = "record") -> None:
    """The part of JSON Schema that record.schema.json needs, for a machine without jsonschema:
    types, const, enum, required and unexpected keys, items, local references."""
    root = check_structure.root
    if "$ref" in schema:
        target = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        return check_structure(record, target, path)
    kinds = {
        "object": dict, "array": list, "string": str, "boolean": bool,
        "number": (int, float), "integer": int, "null": type(None),
    }  # fmt: skip
    if "type" in schema:
        names = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        fits = any(
            isinstance(record, kinds[name])
            and (name == "boolean" or not isinstance(record, bool))
            for name in names
        )
        assert fits, f"{path}: {record!r} is not {names}"
    if "const" in schema:
        assert record == schema["const"], f"{path}: {record!r} is not {schema['const']!r}"
    if "enum" in schema:
        assert record in schema["enum"], f"{path}: {record!r} is not one of {schema['enum']}"
    if isinstance(record, dict):
        for key in schema.get("required", []):
            assert key in record, f"{path}: {key} is missing"
        known = schema.get("properties", {})
        for key, value in record.items():
            if key in known:
                check_structure(value, known[key], f"{path}.{key}")
            else:
                rest = schema.get("additionalProperties", True)
                assert rest is not False, f"{path}: {key} is unexpected"
    if isinstance(record, list) and "items" in schema:
        for i, value in enumerate(record):
            check_structure(value, schema["items"], f"{path}[{i}]")
    for word in ("anyOf", "oneOf"):
        if word in schema:
            failures = []
            for choice in schema[word]:
                try:
                    check_structure(record, choice, path)
                except AssertionError as failure:
                    failures.append(str(failure))
            assert len(failures) < len(schema[word]), f"{path}: none of {word}: {failures}"


def validate(record: dict) -> None:
    schema = json.loads(SCHEMA.read_text())
    if jsonschema is not None:
        jsonschema.validate(record, schema)
    check_structure.root = schema
    check_structure(record, schema)


class Records(ProgramTest):
    def test_records_follow_the_schema(self):
        for program in PROGRAMS:
            for extra in ((), ("--cold",), ("--order", "ba")):
                options = [*SMALL[program], *extra]
                if "--cold" in extra:
                    at = options.index("--inner")
                    del options[at : at + 2]
                with self.subTest(program=program, extra=extra):
                    record = self.record(program, *options)
                    validate(record)
                    self.assertEqual(record["program"], program)
                    self.assertEqual(record["emulated"], EMULATED)
                    self.assertEqual(record["plan"]["cold"], "--cold" in extra)

    def test_validation_fails_for_damaged_records(self):
        record = self.record("box_blur", *SMALL["box_blur"])
        for damage in (
            lambda r: r.pop("device"),
            lambda r: r.update(schema="measure-first/record/v0"),
            lambda r: r.update(surprise=1),
            lambda r: r["series"][0].update(ms="fast"),
            lambda r: r["series"][0].pop("boundary"),
            lambda r: r["checks"][0].update(passed=None),
        ):
            damaged = json.loads(json.dumps(record))
            damage(damaged)
            with self.assertRaises(Exception):
                validate(damaged)

    def test_statistics_agree_with_the_raw_samples(self):
        record = self.record("box_blur", "--size", "64x48", "--repeats", "7", "--inner", "3")
        self.assertEqual(len(record["series"]), 4)
        for series in record["series"]:
            samples = series["ms"]
            self.assertEqual(len(samples), 7)
            self.assertEqual(series["launches_per_sample"], 3)
            summary = series["summary"]
            self.assertEqual(summary["n"], 7)
            self.assertEqual(summary["min"], min(samples))
            self.assertAlmostEqual(summary["median"], statistics.median(samples))
            self.assertAlmostEqual(summary["mean"], statistics.mean(samples))
            spread = statistics.stdev(samples) / statistics.mean(samples)
            self.assertAlmostEqual(summary["cv"], spread)
            self.assertGreater(series["first_ms"], 0)

    def test_bytes_and_rates(self):
        for program, options, elements, bytes_each in (
            ("saxpy_bandwidth", ("--n", "100001"), 100001, 12),
            ("box_blur", ("--size", "123x45"), 123 * 45, 2),
            ("histogram_reduction", ("--size", "123x45"), 123 * 45, 1),
        ):
            with self.subTest(program=program):
                record = self.record(program, *options, "--repeats", "3")
                rated = [series for series in record["series"] if series["rate"]]
                self.assertGreaterEqual(len(rated), 2)
                for series in rated:
                    rate = series["rate"]
                    self.assertEqual(rate["logical_bytes"], elements * bytes_each)
                    seconds = series["summary"]["median"] / 1e3
                    self.assertAlmostEqual(
                        rate["gb_per_s"] / (elements * bytes_each / 1e9 / seconds), 1
                    )
                    copy = record["ceilings"]["copy_gb_per_s"]
                    percent = 100 * rate["gb_per_s"] / copy
                    self.assertAlmostEqual(rate["percent_of_copy"] / percent, 1)

    def test_every_series_was_verified_after_timing(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                record = self.record(program, *SMALL[program])
                self.assertTrue(record["correct"])
                self.assertTrue(all(check["passed"] for check in record["checks"]))
                for when in ("before timing", "after timing"):
                    checked = {c["name"].split()[0] for c in record["checks"] if c["when"] == when}
                    measured = {series["name"] for series in record["series"]}
                    self.assertLessEqual(measured, checked)

    def test_boundaries_say_what_was_timed_and_how(self):
        record = self.record("histogram_reduction", *SMALL["histogram_reduction"])
        for series in record["series"]:
            self.assertTrue(series["boundary"])
            events = series["label"].startswith("step ms")
            self.assertEqual(series["timer"], "CUDA events" if events else "host steady clock")

    def test_conditions(self):
        environment = {"MEASURE_FIRST_REVISION": "0123abc-modified"}
        options = (*SMALL["box_blur"], "--seed", "42")
        record = self.record("box_blur", *options, environment=environment)
        self.assertEqual(record["revision"], "0123abc-modified")
        self.assertEqual(record["input"]["seed"], 42)
        self.assertIn("--seed", record["command"])
        self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertRegex(record["compiler"]["flags"], r"cc -O\d -std=c\+\+17")

    def test_seed_changes_the_input_and_nothing_else_does(self):
        outputs = []
        for seed in ("3", "3", "4"):
            output = self.folder / f"{len(outputs)}.pgm"
            options = (*SMALL["box_blur"], "--seed", seed, "--output", str(output))
            self.assertPassed(run("box_blur", *options))
            outputs.append(output.read_bytes())
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_record_on_standard_output(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                result = run(program, *SMALL[program], "--json", "-")
                self.assertEqual(result.status, 0, result.err)
                validate(json.loads(result.out))
                self.assertIn("=PASS", result.err)

    def test_a_comparison_names_two_series_of_the_record(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                record = self.record(program, *SMALL[program])
                series = {(one["label"], one["name"]) for one in record["series"]}
                pairs = [
                    (comparison["label"], comparison[role])
                    for comparison in record["comparisons"]
                    for role in ("baseline", "variant")
                ]
                self.assertTrue(pairs)
                self.assertLessEqual(set(pairs), series)

    def test_peak_of_the_emulator_is_unknown(self):
        record = self.record("saxpy_bandwidth", *SMALL["saxpy_bandwidth"])
        if EMULATED:
            self.assertIsNone(record["ceilings"]["data_sheet_gb_per_s"])
            self.assertIsNone(record["series"][0]["rate"]["percent_of_data_sheet"])


if __name__ == "__main__":
    unittest.main()
