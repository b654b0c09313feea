"""occupancy: its sweeps, theoretical and achieved occupancy, its record, its planted mistakes."""

import re
import unittest

from harness import EMULATED, FAILED, ORDERS, RATE, SHORT, USAGE, ProgramTest, rates_part, run

KERNELS = ("memory_1", "memory_4", "arithmetic_1", "arithmetic_4")
PASSED = ", ".join(f"{name}=PASS" for name in KERNELS)
TINY = ("--work", "1", *SHORT)

# Of the emulator: warps that an SM holds, and blocks.
MOST_WARPS, MOST_BLOCKS = 64, 32


class Occupancy(ProgramTest):
    def test_work_and_block_sizes(self):
        # Less than four floats a thread, a rest behind whole fours; blocks that fill no warp.
        for work, threads in ((1, 128), (2, 33), (7, 1000), (9, 1024), (4, 65)):
            with self.subTest(work=work, threads=threads):
                options = ("--work", work, "--threads", threads, *SHORT)
                result = run("occupancy", *options)
                self.assertPassed(result)
                self.assertRegex(result.out, rf"\n\d+ configurations: {PASSED}\n")

    def test_malformed_options(self):
        for option, values in (
            ("--threads", ("0", "1025", "-1", "1e2", "")),
            ("--work", ("0", "16385", "much", "0x4", "")),
        ):
            for value in values:
                with self.subTest(option=option, value=value):
                    self.assertRefused(run("occupancy", option, value), USAGE, option)

    def test_what_it_prints(self):
        result = run("occupancy", "--work", "4", *SHORT)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        lines = result.out.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("variant"))
        for column in ("theoretical", "achieved", "kernel ms", "GB/s", "FMA/clock/SM"):
            self.assertIn(column, lines[head])
        names = [line.split()[0] for line in lines[head + 1 :] if re.match(r"\w+_\d .* %", line)]
        self.assertEqual(list(dict.fromkeys(names)), [*KERNELS])
        self.assertRegex(result.out, r"\n\d+\.\d % to 100\.0 %: .*95 % interval")
        self.assertEqual("within 5 % of its best" in result.out, not EMULATED)
        self.assertEqual("emulated" in result.out.lower(), EMULATED)
        self.assertNotIn(RATE, rates_part(result.out[: result.out.index("=PASS")]))

    def test_record(self):
        record = self.record("occupancy", "--work", "4", "--repeats", "3", "--inner", "1")
        details = record["extra"]["occupancy"]
        parameters = record["input"]["parameters"]
        self.assertEqual([one["name"] for one in details], [s["name"] for s in record["series"]])
        for one, series in zip(details, record["series"]):
            with self.subTest(configuration=one["name"]):
                self.assertEqual(series["label"], "kernel ms, " + one["kernel"])
                blocks = -(-parameters["threads"] // one["threads"])
                self.assertEqual(one["blocks"], blocks)
                self.assertEqual(len(one["achieved"]), 3)
                self.assertGreater(min(one["achieved"]), 0)
                self.assertLessEqual(max(one["achieved"]), 1.001 * one["theoretical"])
                if one["kernel"].startswith("memory"):
                    floats = parameters["threads"] * (4 + 1)  # read, and a sum each
                    self.assertEqual(series["rate"]["logical_bytes"], 4 * floats)
                    self.assertIsNone(one["fma_per_clock_and_sm"])
                else:
                    self.assertIsNone(series["rate"])
                    self.assertGreater(one["fma_per_clock_and_sm"], 0)

    def test_shared_memory_lets_fewer_blocks_fit(self):
        details = self.record("occupancy", *TINY)["extra"]["occupancy"]
        for kernel in KERNELS:
            sweep = [one for one in details if (one["kernel"], one["threads"]) == (kernel, 128)]
            fit = [one["fit_on_an_sm"] for one in sweep]
            self.assertEqual(fit, sorted(set(fit)))
            self.assertEqual(fit[0], 1)
            asked = [one["shared_bytes"] for one in sweep]
            self.assertEqual(asked, sorted(set(asked), reverse=True))
            self.assertEqual(asked[-1], 0)

    @unittest.skipUnless(EMULATED, "limits of the emulator's SM")
    def test_theoretical_occupancy_is_arithmetic_over_limits(self):
        details = self.record("occupancy", *TINY)["extra"]["occupancy"]
        for one in details:
            warps = -(-one["threads"] // 32)
            with self.subTest(configuration=one["name"]):
                if one["shared_bytes"] == 0:
                    fit = min(MOST_WARPS // warps, MOST_BLOCKS)
                    self.assertEqual(one["fit_on_an_sm"], fit)
                share = one["fit_on_an_sm"] * warps / MOST_WARPS
                self.assertAlmostEqual(one["theoretical"], share)
                # Whatever fits: an emulated SM runs one block after the other.
                self.assertLessEqual(max(one["achieved"]), warps / MOST_WARPS)

    def test_defects(self):
        for program, options, *words in (
            ("occupancy_drops_the_rest", ("--threads", 1000), "memory_1/1x1000: FAIL"),
            ("occupancy_drops_the_tail", ("--work", 6), "memory_4/1x128: FAIL", "thread 0"),
            ("occupancy_counts_one_chain", (), "arithmetic_4/1x128: FAIL", "thread "),
            ("occupancy_stops_working_when_timed", ("--work", 8), "memory_1/1x128: FAIL"),
        ):
            with self.subTest(program=program):
                result = run(program, *options)
                self.assertEqual(result.status, FAILED, result.out + result.err)
                self.assertEqual(len(result.err.splitlines()), 1, result.err)
                for word in words:
                    self.assertIn(word, result.err)
                self.assertNotIn("theoretical", result.out)

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_thread_orders(self):
        for environment in ORDERS:
            with self.subTest(**environment):
                result = run("occupancy", "--work", "3", *SHORT, environment=environment)
                self.assertPassed(result)
                self.assertIn(PASSED, result.out)


if __name__ == "__main__":
    unittest.main()
