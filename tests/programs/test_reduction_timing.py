"""reduction_timing: sizes, what it prints, its record, its planted mistakes, thread orders."""

import re
import unittest

from harness import EMULATED, FAILED, ORDERS, RATE, SHORT, USAGE, ProgramTest, rates_part, run

VERSIONS = ("sequential", "first_add", "shuffle")
EMPTY = ("empty_256", "empty_512")
PIXELS_A_BLOCK = {
    "sequential": 256, "first_add": 512, "shuffle": 512, "empty_256": 256, "empty_512": 512,
}  # fmt: skip
PASSED = "sequential=PASS, first_add=PASS, shuffle=PASS, empty_256=PASS, empty_512=PASS"


class ReductionTiming(ProgramTest):
    def test_sizes(self):
        # Around a warp, a block of one and of two pixels a thread, and none of these.
        for n in (1, 31, 33, 255, 257, 511, 513, 1023, 20011):
            with self.subTest(n=n):
                result = run("reduction_timing", "--n", n, *SHORT)
                self.assertPassed(result)
                self.assertIn(f"\nn={n}: {PASSED}\n", result.out)

    def test_nothing_to_sum(self):
        result = run("reduction_timing", "--n", "0")
        self.assertPassed(result)
        self.assertIn(f"n=0: {PASSED}", result.out)
        self.assertIn("nothing to sum", result.out)
        self.assertNotIn(RATE, rates_part(result.out))

    def test_malformed_number_of_pixels(self):
        for value in ("-1", "1e6", "", "0x100", "68719476737"):
            with self.subTest(value=value):
                self.assertRefused(run("reduction_timing", "--n", value), USAGE, "--n")

    def test_table(self):
        result = run("reduction_timing", "--n", "1000", "--repeats", "6", "--inner", "1")
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        lines = result.out.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("variant"))
        for column in ("blocks", "partial bytes", "reduction ms", "empty grid ms", "times empty"):
            self.assertIn(column, lines[head])
        rows = [line.replace(" (emulated)", "").split() for line in lines[head + 1 : head + 4]]
        self.assertEqual([row[0] for row in rows], list(VERSIONS))
        # Pixels, blocks, bytes of the partial sums.
        self.assertEqual(rows[0][1:4], ["1000", "4", "16"])
        self.assertEqual(rows[1][1:4], ["1000", "2", "8"])
        self.assertGreater(float(rows[0][4]), 0)
        verdicts = re.findall(r"^n=1000: (.+ 95 % interval .+)$", result.out, re.M)
        self.assertEqual(len(verdicts), 2)
        self.assertEqual("emulated" in result.out.lower(), EMULATED)
        self.assertLess(result.out.index("=PASS"), result.out.index("GB/s (read"))

    @unittest.skipUnless(EMULATED, "on a GPU the sweep takes its time")
    def test_the_sweep_goes_up_and_ends(self):
        result = run("reduction_timing", *SHORT)
        self.assertPassed(result)
        sizes = [int(n) for n in re.findall(r"^n=(\d+): sequential=PASS", result.out, re.M)]
        self.assertGreaterEqual(len(sizes), 3)
        self.assertEqual(sizes, sorted(sizes))
        self.assertIn("The sweep ends here", result.out)

    def test_record(self):
        record = self.record("reduction_timing", "--n", "1000", *SHORT)
        names = [series["name"] for series in record["series"]]
        self.assertEqual(names, [*VERSIONS, *EMPTY])
        for series in record["series"]:
            self.assertEqual(series["label"], "reduction ms, n=1000")
            blocks = -(-1000 // PIXELS_A_BLOCK[series["name"]])
            if series["name"] in EMPTY:
                self.assertIsNone(series["rate"])
            else:
                self.assertEqual(series["rate"]["logical_bytes"], 1000 + 4 * blocks)
        details = {one["version"]: one for one in record["extra"]["sweep"] if "version" in one}
        for name, pixels in PIXELS_A_BLOCK.items():
            self.assertEqual(details[name]["blocks"], -(-1000 // pixels))
            self.assertEqual(details[name]["partial_bytes"], 4 * -(-1000 // pixels))
        by_hand = [one for one in record["extra"]["sweep"] if "reduction_kernel_ms" in one]
        self.assertEqual(len(by_hand), 1)
        self.assertGreater(by_hand[0]["reduction_kernel_ms"], 0)

    def test_defects(self):
        for program, *words in (
            ("reduction_loses_the_second_pixel", "first_add: FAIL", "n=257", "block 0"),
            # The total is right; each sum is in another block's place.
            ("reduction_swaps_blocks", "first_add: FAIL", "n=513", "block 0"),
            ("reduction_writes_beyond", "shuffle: FAIL", "n=1:", "block 1"),
            ("reduction_stops_working_when_timed", "sequential: FAIL", "n=256"),
        ):
            with self.subTest(program=program):
                self.assertRefused(run(program), FAILED, *words)

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_missing_barrier(self):
        for order in ("forward", "random:1", "random:2"):
            with self.subTest(order=order):
                result = run("reduction_without_barrier", environment={"EMULATOR_ORDER": order})
                self.assertRefused(result, FAILED, "shuffle: FAIL")

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_thread_orders(self):
        for environment in ORDERS:
            with self.subTest(**environment):
                result = run("reduction_timing", "--n", "5003", *SHORT, environment=environment)
                self.assertPassed(result)
                self.assertIn(PASSED, result.out)


if __name__ == "__main__":
    unittest.main()
