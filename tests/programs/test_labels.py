"""What each program prints: the labels that people and other programs look for."""

import re
import unittest

from harness import EMULATED, RATE, SHORT, ProgramTest, rates_part, run


class Labels(ProgramTest):
    def assertTable(self, text: str, label: str, variants: tuple):
        """A table whose column `label` holds a positive number in the row of each variant."""
        lines = text.splitlines()
        heads = [i for i, line in enumerate(lines) if line.startswith("variant") and label in line]
        self.assertEqual(len(heads), 1, f"one table with {label} was expected:\n{text}")
        end = lines[heads[0]].index(label) + len(label)
        for offset, variant in enumerate(variants, 1):
            row = lines[heads[0] + offset]
            self.assertTrue(row.startswith(variant), row)
            value = row[:end].split()[-1]
            self.assertRegex(value, r"^\d+(\.\d+)?$", "the column does not line up: " + row)
            self.assertGreater(float(value), 0)

    def test_conditions_come_first_and_checks_before_rates(self):
        for program, options in (
            ("saxpy_bandwidth", ("--n", "1000")),
            ("box_blur", ("--size", "20x20")),
            ("histogram_reduction", ("--size", "20x20")),
        ):
            with self.subTest(program=program):
                result = run(program, *options, *SHORT)
                self.assertPassed(result)
                self.assertEqual(result.err, "")
                self.assertRegex(result.out, r"\ADevice 0: .+, compute capability \d+\.\d+, ")
                self.assertLess(result.out.index("Driver"), result.out.index("=PASS"))
                self.assertNotIn(RATE, rates_part(result.out[: result.out.index("=PASS")]))
                self.assertEqual("emulated" in result.out.lower(), EMULATED)

    def test_saxpy(self):
        result = run("saxpy_bandwidth", "--n", "4099", *SHORT)
        self.assertIn("n=4099: scalar=PASS, grid_stride=PASS, float4=PASS", result.out)
        self.assertTable(result.out, "kernel ms", ("scalar", "grid_stride", "float4"))
        for words in (RATE, "of data sheet", "of copy", "Ceilings:", "logical bytes"):
            self.assertIn(words, result.out)

    def test_box_blur(self):
        result = run("box_blur", "--repeats", "6", "--inner", "1")
        self.assertPassed(result)
        for size in ("5x5", "1x1", "1003x769"):
            self.assertIn(f"\n{size}: direct=PASS, tiled=PASS\n", result.out)
        self.assertTable(result.out, "kernel ms", ("direct", "tiled"))
        self.assertTable(result.out, "roundtrip ms", ("direct", "tiled"))
        verdicts = re.findall(r"^(kernel|roundtrip) ms: (.*95 % interval.*)$", result.out, re.M)
        self.assertEqual([name for name, _ in verdicts], ["kernel", "roundtrip"])
        for _, sentence in verdicts:
            self.assertRegex(sentence, "faster|slower|inconclusive")

    def test_histogram(self):
        result = run("histogram_reduction", *SHORT)
        self.assertPassed(result)
        passed = "global=PASS, block=PASS, sum=PASS"
        parts = result.out.split("\nMeasured on ")
        self.assertIn(f"\n262145 identical pixels: {passed}\n", parts[0])
        self.assertIn(f"\n1003x769 mixed pixels: {passed}\n", parts[0])
        self.assertEqual(len(parts), 3)
        for part in parts[1:]:
            self.assertTable(part, "step ms", ("global", "block"))
            self.assertTable(part, "roundtrip ms", ("global", "block"))

    def test_few_samples_decide_nothing(self):
        result = run("box_blur", "--size", "64x64", *SHORT)
        self.assertIn("inconclusive", result.out)

    def test_orders(self):
        for order in ("ab", "ba", "interleaved"):
            with self.subTest(order=order):
                result = run("box_blur", "--size", "40x40", "--order", order, *SHORT)
                self.assertPassed(result)
                self.assertEqual("order " + order in result.out, order != "interleaved")


if __name__ == "__main__":
    unittest.main()
