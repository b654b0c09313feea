"""The same results whatever order the threads run in, and however late the streams."""

import unittest

from harness import EMULATED, SHORT, ProgramTest, read_pgm, run

# The emulator's settings: each must change nothing in a program that waits where it must.
SETTINGS = [
    {"EMULATOR_ORDER": "forward"},
    {"EMULATOR_ORDER": "reverse"},
    {"EMULATOR_ORDER": "random:1"},
    {"EMULATOR_ORDER": "random:2"},
    {"EMULATOR_STREAMS": "late"},
    {"EMULATOR_STREAMS": "late", "EMULATOR_ORDER": "reverse"},
    {"EMULATOR_WORKERS": "1"},
    {"EMULATOR_WORKERS": "5"},
]


@unittest.skipUnless(EMULATED, "only the emulator can choose the order")
class ThreadOrders(ProgramTest):
    def test_saxpy(self):
        for environment in SETTINGS:
            with self.subTest(**environment):
                result = run("saxpy_bandwidth", "--n", "5003", *SHORT, environment=environment)
                self.assertPassed(result)
                self.assertIn("scalar=PASS, grid_stride=PASS, float4=PASS", result.out)

    def test_pictures(self):
        for program in ("box_blur", "histogram_reduction"):
            results = set()
            for environment in SETTINGS:
                with self.subTest(program=program, **environment):
                    output = self.folder / "out.pgm"
                    options = ("--size", "203x67", "--output", str(output), *SHORT)
                    self.assertPassed(run(program, *options, environment=environment))
                    results.add(read_pgm(output))
            self.assertEqual(len(results), 1, program)


if __name__ == "__main__":
    unittest.main()
