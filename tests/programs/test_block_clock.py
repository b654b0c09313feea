"""block_clock: grids, what it prints, its record, its planted mistakes, thread orders."""

import re
import unittest

from harness import EMULATED, FAILED, ORDERS, SHORT, USAGE, ProgramTest, run

VARIANTS = ("own_segment", "shared_segment", "alone")
PASSED = ", ".join(f"{name}=PASS" for name in VARIANTS)


class BlockClock(ProgramTest):
    def test_grids(self):
        # One thread, odd block sizes, around a warp, the largest block; one block, and several.
        for blocks, threads in ((1, 1), (2, 3), (7, 31), (5, 33), (3, 1000), (1, 1024), (300, 8)):
            with self.subTest(blocks=blocks, threads=threads):
                grid = ("--blocks", blocks, "--threads", threads)
                result = run("block_clock", *grid, *SHORT)
                self.assertPassed(result)
                first = "1 block" if blocks == 1 else f"{blocks} blocks"
                second = "1 thread" if threads == 1 else f"{threads} threads"
                self.assertIn(f"\n{first} of {second}: {PASSED}\n", result.out)

    def test_malformed_grids(self):
        for option, values in (
            ("--blocks", ("0", "-1", "65536", "many", "")),
            ("--threads", ("0", "1025", "1e2", "0x20", "")),
        ):
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assertRefused(run("block_clock", option, value), USAGE, option)

    def test_what_it_prints(self):
        result = run("block_clock", "--blocks", "9", "--threads", "40", *SHORT)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        lines = result.out.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("variant"))
        for column in ("kernel ms", "clocks/block", "SMs used", "waves", "span ms"):
            self.assertIn(column, lines[head])
        rows = [line.replace(" (emulated)", "").split() for line in lines[head + 1 : head + 4]]
        self.assertEqual([row[:3] for row in rows], [[name, "9", "40"] for name in VARIANTS])
        average = re.search(r"^Average clocks/block = (\d+\.\d)$", result.out, re.M)
        self.assertEqual(average[1], rows[0][4])
        self.assertGreater(float(average[1]), 0)
        self.assertRegex(result.out, r"at the measured \d+ MHz \d+\.\d+ us")
        self.assertIn("Counters of different SMs", result.out)
        self.assertLess(result.out.index("=PASS"), result.out.index("kernel ms"))
        self.assertEqual("emulated" in result.out.lower(), EMULATED)

    def test_the_sweep_goes_from_one_block_to_four_rounds_of_sms(self):
        record = self.record("block_clock", *SHORT)
        sms = record["device"]["multiprocessors"]
        measured = record["extra"]["block_clocks"]
        grids = {(one["variant"], one["blocks"], one["threads"]) for one in measured}
        self.assertEqual(len(grids), len(measured))
        for name in ("own_segment", "alone"):
            for blocks in (1, 64, sms, sms + 1, 2 * sms, 3 * sms + 1, 4 * sms):
                self.assertIn((name, blocks, 256), grids)
        for threads in (32, 64, 128, 256, 512, 1024):
            self.assertIn(("own_segment", 64, threads), grids)

    def test_record(self):
        record = self.record("block_clock", "--blocks", "9", "--threads", "40", "--repeats", "3")
        self.assertEqual([one["variant"] for one in record["extra"]["block_clocks"]], [*VARIANTS])
        self.assertEqual([series["name"] for series in record["series"]], [*VARIANTS])
        self.assertGreater(record["extra"]["reading_twice_clocks"], 0)
        self.assertGreater(record["extra"]["sm_clock_mhz"], 0)
        for one in record["extra"]["block_clocks"]:
            with self.subTest(variant=one["variant"]):
                last = one["last_launch"]
                self.assertEqual(len(last["clocks"]), 9)
                self.assertGreater(min(last["clocks"]), 0)
                self.assertLessEqual(max(last["clocks"]), last["span_clocks"])
                self.assertEqual(len(one["average_clocks"]), 3)
                self.assertAlmostEqual(one["average_clocks"][-1], sum(last["clocks"]) / 9)

    def test_waves(self):
        record = self.record("block_clock", "--blocks", "50", "--threads", "32", *SHORT)
        for one in record["extra"]["block_clocks"]:
            with self.subTest(variant=one["variant"]):
                last = one["last_launch"]
                on_one = last["blocks_on_one_sm"]
                # Blocks of one wave all run at the same time.
                self.assertLessEqual(on_one, last["waves"] * last["at_once"])
                self.assertGreaterEqual(on_one * last["sms_used"], 50)
                self.assertLessEqual(last["sms_used"], record["device"]["multiprocessors"])
                # An emulated SM is one host thread: one block after the other.
                if one["variant"] == "alone" or EMULATED:
                    self.assertEqual((last["at_once"], last["waves"]), (1, on_one))
                if one["variant"] == "alone":
                    self.assertEqual(one["fit_on_an_sm"], 1)

    def test_fastest_device(self):
        result = run("block_clock", "--fastest", "--blocks", "2", "--threads", "32", *SHORT)
        self.assertPassed(result)
        self.assertRegex(result.out, r"\ADevice \d+: ")

    def test_defects(self):
        for program, *words in (
            # A block whose threads are no power of two leaves values out.
            ("block_clock_drops_the_odd_one", "own_segment: FAIL", "3 blocks of 3 threads"),
            ("block_clock_reads_one_segment", "own_segment: FAIL", "block 1"),
            ("block_clock_never_ends", "own_segment: FAIL", "its clock went from"),
            ("block_clock_stops_working_when_timed", "own_segment: FAIL", "block "),
        ):
            with self.subTest(program=program):
                result = run(program)
                self.assertRefused(result, FAILED, *words)
                self.assertNotIn("clocks/block", result.out)

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_missing_barrier(self):
        for order in ("forward", "random:1", "random:2"):
            with self.subTest(order=order):
                environment = {"EMULATOR_ORDER": order}
                result = run("block_clock_without_barrier", environment=environment)
                self.assertRefused(result, FAILED, "own_segment: FAIL")

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_thread_orders(self):
        for environment in ORDERS:
            with self.subTest(**environment):
                grid = ("--blocks", "20", "--threads", "99")
                result = run("block_clock", *grid, *SHORT, environment=environment)
                self.assertPassed(result)
                self.assertIn(f"\n20 blocks of 99 threads: {PASSED}\n", result.out)


if __name__ == "__main__":
    unittest.main()
