"""What the emulator says of mistakes that a GPU passes over in silence or answers with a hang."""

import os
import subprocess
import unittest
from pathlib import Path

PROGRAM = os.environ["MISTAKES_PROGRAM"]
RIGHT = list(range(63, -1, -1))


class Result:
    def __init__(self, name: str, **settings: str):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("EMULATOR_")}
        done = subprocess.run(
            [PROGRAM, name],
            env=environment | settings,
            capture_output=True,
            text=True,
            timeout=60,
        )
        self.status, self.report = done.returncode, done.stderr
        words = done.stdout.split()
        self.error = words[0] if words else ""
        self.values = [int(word) for word in words[1:]]


class ThreadOrders(unittest.TestCase):
    ORDERS = ["forward", "reverse", "random", "random:1", "random:2"]

    def test_a_missing_barrier_shows_in_every_order(self):
        for order in self.ORDERS:
            with self.subTest(order):
                result = Result("missing_barrier", EMULATOR_ORDER=order)
                self.assertEqual(result.error, "cudaSuccess")
                self.assertNotEqual(result.values, RIGHT)

    def test_a_right_kernel_is_right_in_every_order(self):
        for order in self.ORDERS:
            with self.subTest(order):
                self.assertEqual(Result("no_mistake", EMULATOR_ORDER=order).values, RIGHT)

    def test_a_seed_repeats_its_order(self):
        first, again, other = (
            Result("missing_barrier", EMULATOR_ORDER=f"random:{seed}").values for seed in (7, 7, 8)
        )
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)


class StreamsAsLateAsLegal(unittest.TestCase):
    def last_value(self, name: str) -> str:
        return Result(name, EMULATOR_STREAMS="late").error

    def test_a_missing_wait_shows_every_time(self):
        for _ in range(5):
            self.assertEqual(self.last_value("missing_wait"), "0")

    def test_with_the_wait_the_data_is_there_every_time(self):
        for _ in range(5):
            self.assertEqual(self.last_value("no_missing_wait"), "1")


class Reports(unittest.TestCase):
    """One report each, with the block, the threads and the lines."""

    def check(self, name: str, error: str, *texts: str, **settings: str):
        result = Result(name, **settings)
        self.assertEqual((result.status, result.error), (0, error), result.report)
        for text in texts:
            self.assertIn(text, result.report)

    def line(self, mark: str) -> str:
        """FILE:LINE of the source line that holds the mark."""
        source = os.path.join(os.path.dirname(__file__), "mistakes.cu")
        with open(source, encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                if mark in line:
                    return f"mistakes.cu:{number}"
        raise AssertionError(mark)

    def test_different_barriers(self):
        self.check(
            "different_barriers",
            "cudaErrorLaunchTimeout",
            "block (0,0,0)",
            "threads (0,0,0) to (31,0,0): waiting at __syncthreads(), " + self.line("// the first"),
            "threads (32,0,0) to (63,0,0): waiting at __syncthreads(), " + self.line("// the second"),
        )

    def test_lanes_that_never_come(self):
        self.check(
            "lanes_that_never_come",
            "cudaErrorLaunchTimeout",
            "deadlock",
            "threads (0,0,0) to (15,0,0): waiting at a warp primitive, " + self.line("// the warp"),
            "threads (16,0,0) to (63,0,0): waiting at __syncthreads(), " + self.line("// the block"),
        )

    def test_who_has_returned_is_not_running(self):
        self.check(
            "others_have_returned",
            "cudaErrorLaunchTimeout",
            "deadlock",
            "threads (0,0,0) to (15,0,0): waiting at __syncthreads(), " + self.line("// lanes 0 to 15"),
            "threads (16,0,0) to (31,0,0): waiting at a warp primitive, " + self.line("// lanes 16 to 31"),
            "threads (32,0,0) to (63,0,0): returned from the kernel",
        )

    def test_a_mask_without_the_caller(self):
        self.check(
            "mask_without_the_caller",
            "cudaErrorLaunchFailure",
            "the mask 0xfffffffe",
            "lacks the calling lane 0",
            self.line("lane 0 is not in it"),
        )

    def test_the_watchdog(self):
        self.check(
            "spin",
            "cudaErrorLaunchTimeout",
            "thread (0,0,0) has run for over 1 s",
            "EMULATOR_WATCHDOG",
            EMULATOR_WATCHDOG="1",
        )

    def test_endless_recursion(self):
        self.check("endless_recursion", "cudaErrorIllegalAddress", "stack overflowed")

    def test_a_frame_larger_than_the_stack(self):
        self.check("large_frame", "cudaErrorIllegalAddress", "stack overflowed")

    def test_a_device_pointer_on_the_host(self):
        result = Result("device_pointer")
        if "ospke" not in Path("/proc/cpuinfo").read_text("utf-8"):
            self.skipTest("this processor has no protection keys")
        self.assertLess(result.status, 0)  # ended by a signal
        self.assertIn("host code touched device memory", result.report)
        self.assertIn("cudaMemcpy", result.report)


class Settings(unittest.TestCase):
    def test_senseless_settings_are_refused(self):
        for name, value in (
            ("EMULATOR_ORDER", "backwards"),
            ("EMULATOR_ORDER", "random:x"),
            ("EMULATOR_WORKERS", "0"),
            ("EMULATOR_WORKERS", "many"),
            ("EMULATOR_WATCHDOG", "-1"),
            ("EMULATOR_STREAMS", "never"),
        ):
            with self.subTest(f"{name}={value}"):
                result = Result("no_mistake", **{name: value})
                self.assertEqual(result.status, 2)
                self.assertEqual(len(result.report.splitlines()), 1, result.report)
                self.assertIn(f"{name}={value}", result.report)


if __name__ == "__main__":
    unittest.main()
