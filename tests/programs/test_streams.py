"""streams: tails of every kind, what it prints, its record, late streams, planted mistakes."""

import re
import unittest

from harness import EMULATED, FAILED, SHORT, USAGE, ProgramTest, run

SCHEDULES = ("one_stream", "one_stream_chunked", "pipeline", "pipeline_pageable")
STAGES = ("H2D", "kernel", "D2H", "total")
WAYS = ("gpu_alone", "cpu_alone", "in_turn", "together")
PASSED = ", ".join(f"{schedule}=PASS" for schedule in SCHEDULES)
LEGACY = "waits for a blocking stream and does not wait for a non-blocking one"


class Streams(ProgramTest):
    def test_tails(self):
        # Whole pieces, a short last piece, fewer pieces than asked for, one piece.
        for n, streams, chunks in (
            (1, 1, 1), (1, 4, 8), (5, 2, 8), (17, 64, 16), (1000, 3, 7), (1001, 4, 1001),
            (1023, 4, 4), (1024, 4, 4), (1025, 4, 4), (100003, 5, 8), (3000, 1, 9),
        ):  # fmt: skip
            with self.subTest(n=n, streams=streams, chunks=chunks):
                options = ("--n", n, "--streams", streams, "--chunks", chunks)
                result = run("streams", *options, *SHORT)
                self.assertPassed(result)
                sizes = re.findall(rf"^n=(\d+): {PASSED}$", result.out, re.M)
                self.assertEqual(int(sizes[-1]), n)
                around = [m * chunks + rest for m in (32, 256) for rest in (-1, 0, 1)]
                self.assertEqual([int(size) for size in sizes[:-1]], [1, *around])

    def test_work_of_the_kernel(self):
        for steps in (0, 1, 2, 37):
            with self.subTest(steps=steps):
                result = run("streams", "--n", "3001", "--steps", steps, *SHORT)
                self.assertPassed(result)
                self.assertIn(f"{steps} steps an element", result.out)

    def test_malformed_values(self):
        for option in ("--n", "--streams", "--chunks", "--steps"):
            for value in ("-1", "1e3", "", "0x10", "4294967297"):
                with self.subTest(option=option, value=value):
                    self.assertRefused(run("streams", option, value), USAGE, option)
        for option in ("--n", "--streams", "--chunks"):
            self.assertRefused(run("streams", option, "0"), USAGE, option)

    def test_tables(self):
        result = run("streams", "--n", "5000", *SHORT)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        for label, names in (("stage ms", STAGES), ("total ms", SCHEDULES), ("overlap ms", WAYS)):
            table = result.out[result.out.index(f"  {label} ") :].splitlines()
            for name, row in zip(names, table[1:]):
                self.assertRegex(row, rf"^{name}( \(emulated\))? +\d")
        self.assertIn("dependency=PASS", result.out)
        self.assertIn(LEGACY, result.out)
        # Two samples decide nothing.
        self.assertIn("\nOverlap: none for certain; the longest stage alone takes ", result.out)
        self.assertIn("\nOverlap of host and device: none for certain\n", result.out)
        self.assertEqual("emulated" in result.out.lower(), EMULATED)

    def test_stages_add_up(self):
        record = self.record("streams", "--n", "20000", "--repeats", "5", "--inner", "2")
        stages = {s["name"]: s["ms"] for s in record["series"] if s["label"] == "stage ms"}
        self.assertEqual(tuple(stages), STAGES)
        for h2d, kernel, d2h, total in zip(*stages.values()):
            self.assertAlmostEqual(h2d + kernel + d2h, total, delta=1e-5 * total + 1e-6)
            self.assertGreater(min(h2d, kernel, d2h), 0)
        self.assertGreaterEqual(record["extra"]["copy_engines"], 0)
        self.assertGreater(record["extra"]["longest_stage_ms"], 0)

    def test_no_verdicts_under_a_tool(self):
        environment = {"NV_SANITIZER_INJECTION_PORT_BASE": "1"}
        result = run("streams", "--n", "100", *SHORT, environment=environment)
        self.assertPassed(result)
        self.assertNotIn("Overlap", result.out)
        self.assertNotRegex(result.out, "is (faster|slower) than")

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order")
    def test_orders(self):
        for environment in (
            {"EMULATOR_ORDER": "reverse"},
            {"EMULATOR_ORDER": "random:1"},
            {"EMULATOR_STREAMS": "late"},
            {"EMULATOR_STREAMS": "late", "EMULATOR_WORKERS": "1"},
            {"EMULATOR_WORKERS": "5"},
        ):
            with self.subTest(**environment):
                result = run("streams", "--n", "9001", *SHORT, environment=environment)
                self.assertPassed(result)
                self.assertIn(LEGACY, result.out)

    # Planted mistakes.

    def assertCaught(self, program: str, *words: str, **keywords):
        self.assertRefused(run(program, "--n", "5000", *SHORT, **keywords), FAILED, *words)

    def test_short_last_piece_dropped(self):
        self.assertCaught("streams_drops_tail", "one_stream: FAIL", "element 0")

    def test_result_copied_from_the_wrong_place(self):
        self.assertCaught("streams_wrong_offset", "one_stream_chunked: FAIL", "element 32")

    def test_missing_dependency(self):
        late = {"EMULATOR_STREAMS": "late"} if EMULATED else {}
        self.assertCaught("streams_without_dependency", "dependency: FAIL", environment=late)

    @unittest.skipUnless(EMULATED, "on a GPU the missing wait shows by luck")
    def test_missing_join(self):
        late = {"EMULATOR_STREAMS": "late"}
        self.assertCaught("streams_without_join", "pipeline: FAIL", environment=late)


if __name__ == "__main__":
    unittest.main()
