"""complete_task: sizes, chunks, what it prints, its record, its planted mistakes, thread orders."""

import re
import unittest

from harness import (
    EMULATED,
    FAILED,
    RATE,
    SHORT,
    USAGE,
    ProgramTest,
    rates_part,
    run,
    sample_pixels,
    write_pgm,
)

LADDER = ("block", "pinned", "fused", "overlapped", "wide")
PASSED = ", ".join(f"{name}=PASS" for name in ("global", *LADDER, "upload"))
TINY = ("--size", "73x31", *SHORT)


class CompleteTask(ProgramTest):
    def test_sizes(self):
        # One pixel, fewer than 16, around a block, chunks of one block, an odd rest.
        for size in ("1x1", "15x1", "1x257", "32x32", "1025x1", "203x67"):
            with self.subTest(size=size):
                result = run("complete_task", "--size", size, *SHORT)
                self.assertPassed(result)
                self.assertIn(f"\n{size} mixed pixels: {PASSED}\n", result.out)

    def test_chunks(self):
        for chunks in (2, 3, 7, 1024):
            with self.subTest(chunks=chunks):
                result = run("complete_task", *TINY, "--chunks", chunks)
                self.assertPassed(result)
                self.assertIn(f"{chunks} chunks, 2 streams", result.out)

    def test_malformed_chunks(self):
        for value in ("0", "1", "-2", "1025", "four", ""):
            with self.subTest(value=value):
                self.assertRefused(run("complete_task", "--chunks", value), USAGE, "--chunks")

    def test_malformed_sizes_and_pictures(self):
        for size in ("0x5", "5", "65537x1", ""):
            with self.subTest(size=size):
                self.assertRefused(run("complete_task", "--size", size), USAGE, "--size")
        result = run("complete_task", "--size", "5x5", "--input", "picture.pgm")
        self.assertRefused(result, USAGE, "--size", "--input")
        self.assertRefused(run("complete_task", "--size", "65536x65536"), USAGE, "overflow")

    def test_picture(self):
        picture = write_pgm(self.folder / "in.pgm", 57, 23, sample_pixels(57, 23))
        result = run("complete_task", "--input", picture, *SHORT)
        self.assertPassed(result)
        self.assertIn(f"57x23 {picture}: {PASSED}", result.out)

    def test_five_samples_and_their_median(self):
        result = run("complete_task", *TINY)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        for scheme in ("global", "block"):
            line = re.search(rf"^  complete {scheme} ms: (.+) \| median=(\S+)$", result.out, re.M)
            self.assertIsNotNone(line, result.out)
            samples = [float(ms) for ms in line[1].split()]
            self.assertEqual(len(samples), 5)
            self.assertTrue(all(ms > 0 for ms in samples))
            self.assertEqual(float(line[2]), sorted(samples)[2])
        self.assertIn("fewer than 6 samples decide nothing", result.out)

    def test_ladder(self):
        result = run("complete_task", *TINY)
        lines = result.out.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("variant"))
        self.assertIn("task ms", lines[head])
        rows = [line.split()[0] for line in lines[head + 1 : head + 7]]
        self.assertEqual(rows, [*LADDER, "upload"])
        self.assertRegex(result.out, r"(?m)^Times the upload alone: block [\d.]+, pinned ")
        self.assertEqual("emulated" in result.out.lower(), EMULATED)
        before = rates_part(result.out[: result.out.index("=PASS")])
        self.assertNotIn(RATE, before)

    @unittest.skipUnless(EMULATED, "on a GPU the ladder takes its time")
    def test_default_inputs(self):
        result = run("complete_task", *SHORT)
        self.assertPassed(result)
        for name in ("262145 identical pixels", "1003x769 mixed pixels"):
            self.assertIn(f"\n{name}: {PASSED}\n", result.out)
            self.assertIn(f"\nComplete task on {name}\n", result.out)
        self.assertIn("\nLadder on 256x256 mixed pixels\n", result.out)
        self.assertIn("The ladder ends here", result.out)

    def test_record(self):
        record = self.record("complete_task", "--size", "73x31", "--repeats", "3", "--inner", "1")
        self.assertTrue(all(s["timer"] == "host steady clock" for s in record["series"]))
        by_label = {}
        for series in record["series"]:
            by_label.setdefault(series["label"], []).append(series)
        complete = by_label["complete ms, 73x31 mixed pixels"]
        self.assertEqual(
            [(s["name"], len(s["ms"])) for s in complete], [("global", 5), ("block", 5)]
        )
        # First launch and warm-up: at least two tasks before the five.
        self.assertTrue(all(1 + s["warm_up_launches"] >= 2 for s in complete))
        ladder = by_label["task ms, 73x31 mixed pixels"]
        self.assertEqual([s["name"] for s in ladder], [*LADDER, "upload"])
        # Every sample of a scheme, its first launch and its warm-up were verified.
        verified = record["extra"]["verified results, 73x31 mixed pixels"]
        self.assertEqual(list(verified), list(LADDER))
        for name in LADDER:
            self.assertGreaterEqual(verified[name], 3 + 2)

    def test_defects(self):
        for program, *words in (
            ("complete_without_clearing", "global: FAIL", "bin 0"),
            ("complete_drops_tail_chunk", "global: FAIL", "1 mixed pixels"),
            ("complete_wide_drops_rest", "wide: FAIL", "1 mixed pixels"),
            ("complete_wrong_sum", "fused: FAIL", "sum of the pixels"),
            ("complete_stops_working_when_timed", "global: FAIL", "bin "),
        ):
            with self.subTest(program=program):
                self.assertRefused(run(program, *TINY), FAILED, *words)

    @unittest.skipUnless(EMULATED, "only the emulator can run streams as late as allowed")
    def test_missing_waits(self):
        for program, words in (
            ("complete_without_waiting_for_the_clear", "overlapped: FAIL"),
            ("complete_without_waiting_for_the_other_stream", "overlapped: FAIL"),
            ("complete_without_waiting_for_the_device", "pinned: FAIL"),
        ):
            with self.subTest(program=program):
                result = run(program, *TINY, environment={"EMULATOR_STREAMS": "late"})
                self.assertRefused(result, FAILED, words)

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_thread_orders(self):
        for environment in (
            {"EMULATOR_ORDER": "reverse"},
            {"EMULATOR_ORDER": "random:1"},
            {"EMULATOR_STREAMS": "late"},
            {"EMULATOR_STREAMS": "late", "EMULATOR_ORDER": "reverse"},
            {"EMULATOR_WORKERS": "5"},
        ):
            with self.subTest(**environment):
                result = run("complete_task", *TINY, environment=environment)
                self.assertPassed(result)
                self.assertIn(PASSED, result.out)


if __name__ == "__main__":
    unittest.main()
