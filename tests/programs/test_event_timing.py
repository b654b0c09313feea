"""event_timing: what the three clocks see, what the runtime answers to mistakes, planted mistakes."""

import re
import unittest

from harness import EMULATED, FAILED, SHORT, USAGE, ProgramTest, run

PASSED = "events=PASS, host_with_wait=PASS, bare_launch=PASS"
ANSWERS = {
    "wrong_stream": r"between events in another stream: .+ before the work began; in its own",
    "host_work": r"a spin of 1\.000 ms with 5 ms of host code .+: \d+\.\d+ ms\.",
    "destroyed": r"cudaSuccess; the stream's work after it: cudaSuccess\.",
    # CUDA 13 gives the second name.
    "failed_launch": r"cudaError(InvalidConfiguration|InvalidValue)\. .+ no time to print\.",
    "not_ready": r"cudaErrorNotReady; after the wait: cudaSuccess\.",
    "two_devices": r"skipped, there is one device\.|cudaErrorInvalidResourceHandle\.",
    "all_ran": r"has run\.",
}


class EventTiming(ProgramTest):
    def of_length(self, record: dict, us: int) -> dict:
        """The shortest sample of each method at this length, in ms."""
        series = [one for one in record["series"] if one["label"] == f"spin {us} us"]
        self.assertEqual(len(series), 3)
        return {one["name"]: one["summary"]["min"] for one in series}

    def test_a_bare_launch_does_not_see_the_kernel_and_the_others_do(self):
        record = self.record("event_timing", "--longest", "10000", "--repeats", "8")
        for us in (1, 10, 100, 1000, 10000):
            shortest = self.of_length(record, us)
            for name in ("events", "host_with_wait"):
                self.assertGreaterEqual(shortest[name], 0.99 * us / 1000 - 0.001, (us, name))
        # Ten times shorter than the kernel, at the least; microseconds on an idle machine.
        self.assertLess(self.of_length(record, 10000)["bare_launch"], 1)

    def test_lengths(self):
        for longest, last in ((1, 1), (9, 1), (10, 10), (1500, 1000)):
            with self.subTest(longest=longest):
                result = run("event_timing", "--longest", longest, *SHORT)
                self.assertPassed(result)
                self.assertIn(f"\n1 us to {last} us: {PASSED}\n", result.out)
                rows = re.findall(r"^(\d+) us +(\d\S*) +(\d\S*) +(\d\S*) ", result.out, re.M)
                lengths = [int(row[0]) for row in rows]
                self.assertEqual(lengths, [n for n in (1, 10, 100, 1000) if n <= last])

    def test_malformed_length(self):
        for value in ("0", "-1", "1.5", "1e3", "", "10000001"):
            with self.subTest(value=value):
                self.assertRefused(run("event_timing", "--longest", value), USAGE, "--longest")

    def test_table(self):
        result = run("event_timing", "--longest", "10", *SHORT)
        self.assertEqual(result.err, "")
        for words in ("events us", "host_with_wait us", "bare_launch us", "wait : events",
                      "95 % interval", "bare : events", "First launch of a kernel",
                      "documented resolution: about 0.5 us"):  # fmt: skip
            self.assertIn(words, result.out)
        self.assertLess(result.out.index("=PASS"), result.out.index("events us"))
        self.assertEqual("emulated" in result.out.lower(), EMULATED)

    def test_answers_of_the_runtime(self):
        settings = [{}]
        if EMULATED:
            settings += [{"EMULATOR_STREAMS": "late"}, {"EMULATOR_WORKERS": "1"}]
        for environment in settings:
            with self.subTest(**environment):
                result = run("event_timing", "--longest", "10", *SHORT, environment=environment)
                self.assertPassed(result)
                for name, answer in ANSWERS.items():
                    self.assertRegex(result.out, rf"(?m)^  {name}: .*({answer})")

    def test_under_a_sanitizer_no_call_fails(self):
        environment = {"NV_SANITIZER_INJECTION_PORT_BASE": "1"}
        result = run("event_timing", "--longest", "10", *SHORT, environment=environment)
        self.assertPassed(result)
        self.assertIn("compute-sanitizer", result.out)
        self.assertNotIn("cudaError", result.out)

    def test_empty_kernels_are_launched(self):
        extra = self.record("event_timing", "--longest", "1", "--repeats", "6")["extra"]
        shortest = {
            row["launches"]: row["launches"] * min(row["ms_a_launch"])
            for row in extra["empty_launches"]
        }
        self.assertEqual(list(shortest), [1, 10, 100, 1000])
        self.assertGreater(shortest[1000], shortest[1])
        self.assertGreater(extra["event_resolution"]["step_us"], 0)
        self.assertEqual(len(extra["event_resolution"]["between_us"]), 255)
        self.assertEqual(len(extra["first_launch"]["later_ms"]), 6)
        self.assertEqual(list(extra["findings"]), list(ANSWERS))

    # Planted mistakes.

    def test_a_kernel_that_ends_too_early(self):
        self.assertRefused(run("event_timing_spins_half"), FAILED, "events: FAIL", "1000 ns")

    def test_events_in_another_stream(self):
        result = run("event_timing_wrong_stream", "--longest", "10000", *SHORT)
        self.assertRefused(result, FAILED)

    def test_a_status_nobody_asked_for(self):
        result = run("event_timing_status_unasked", "--longest", "1", *SHORT)
        self.assertRefused(result, FAILED)


if __name__ == "__main__":
    unittest.main()
