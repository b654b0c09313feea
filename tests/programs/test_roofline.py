"""roofline: places and refusals, the picture, its record, its planted mistakes."""

import math
import re
import unittest
import xml.etree.ElementTree as ElementTree

from harness import EMULATED, FAILED, ORDERS, RATE, SHORT, USAGE, ProgramTest, rates_part, run

CEILINGS = ("fma_ceiling", "shared_ceiling")
FLOATS = ("vector_add", "saxpy", "fma_2", "fma_8", "fma_32", "fma_128")
INTEGERS = ("blur_direct", "blur_tiled", "histogram_block", "reduce_blocks")
PASSED = [", ".join(f"{name}=PASS" for name in names) for names in (CEILINGS, FLOATS + INTEGERS)]
SVG = "{http://www.w3.org/2000/svg}"


def circles(picture: ElementTree.Element) -> dict[str, ElementTree.Element]:
    """The marks of a picture by their kernels' names."""
    return {c.find(SVG + "title").text.split(":")[0]: c for c in picture.iter(SVG + "circle")}


class Roofline(ProgramTest):
    def test_sizes(self):
        # Around a block, around a row of the picture, and pictures of one row.
        for n in (1, 3, 255, 257, 1023, 1025, 5003):
            with self.subTest(n=n):
                result = run("roofline", "--n", n, *SHORT)
                self.assertPassed(result)
                for line in PASSED:
                    self.assertIn(f"\n{line}\n", result.out)

    def test_malformed_options(self):
        for value in ("0", "-1", "1e6", "536870913", ""):
            with self.subTest(value=value):
                self.assertRefused(run("roofline", "--n", value), USAGE, "--n")
        self.assertRefused(run("roofline", "--plot", ""), USAGE, "--plot")

    def test_what_it_prints(self):
        result = run("roofline", "--n", "5000", *SHORT)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        self.assertNotIn(RATE, rates_part(result.out[: result.out.index("=PASS")]))
        for words in ("ceiling ms", "kernel ms", "ridge: ", "FLOP/byte", "of roof", "of shared"):
            self.assertIn(words, result.out)
        self.assertEqual("emulated" in result.out.lower(), EMULATED)
        for name in INTEGERS:
            self.assertRegex(result.out, rf"(?m)^{name} .*refused$")
        for name in FLOATS:
            self.assertRegex(result.out, rf"(?m)^{name} .* (copy|arithmetic)$")
        reason = re.search(r"No position for (.*): the operations are on integers\.", result.out)
        self.assertEqual(tuple(reason[1].split(", ")), INTEGERS)

    def test_counts_and_positions(self):
        record = self.record("roofline", "--n", "5003", *SHORT)
        roofs = record["extra"]["roofs"]
        self.assertEqual(roofs["copy_gb_per_s"], record["ceilings"]["copy_gb_per_s"])
        ridge = roofs["fma_gflop_per_s"] / roofs["copy_gb_per_s"]
        self.assertAlmostEqual(roofs["ridge_flop_per_byte"] / ridge, 1)
        times = {s["name"]: s["summary"]["median"] for s in record["series"]}
        positions = {one["name"]: one for one in record["extra"]["positions"]}
        self.assertEqual(tuple(positions), FLOATS + INTEGERS)

        n = 5003
        expected = {"vector_add": (n, 12 * n), "saxpy": (2 * n, 12 * n)}
        expected.update({f"fma_{k}": (2 * k * n, 8 * n) for k in (2, 8, 32, 128)})
        for name, (flop, memory_bytes) in expected.items():
            with self.subTest(kernel=name):
                one = positions[name]
                self.assertEqual((one["flop"], one["memory_bytes"]), (flop, memory_bytes))
                self.assertIsNone(one["refused"])
                intensity = flop / memory_bytes
                self.assertAlmostEqual(one["flop_per_byte"], intensity)
                self.assertAlmostEqual(one["gflop_per_s"] / (flop / times[name] / 1e6), 1)
                roof = min(roofs["fma_gflop_per_s"], intensity * roofs["copy_gb_per_s"])
                self.assertAlmostEqual(one["attainable_gflop_per_s"] / roof, 1)
                self.assertEqual(one["lower_roof"], "copy" if intensity < ridge else "arithmetic")

    def test_integer_kernels_have_bytes_and_no_position(self):
        record = self.record("roofline", "--n", "5003", *SHORT)
        positions = {one["name"]: one for one in record["extra"]["positions"]}
        pixels, blocks = 4 * 1024, 16  # whole rows of 1024; 256 pixels a block
        expected = {
            "blur_direct": (2 * pixels, 0),
            "blur_tiled": (2 * pixels, 9 * pixels + 64 * 18 * 18),
            "histogram_block": (pixels + 1024, 2 * 1024 * blocks + 8 * pixels),
            "reduce_blocks": (pixels + 4 * blocks, 4 * (256 + 3 * 255 + 1) * blocks),
        }
        for name, counts in expected.items():
            with self.subTest(kernel=name):
                one = positions[name]
                self.assertEqual((one["memory_bytes"], one["shared_bytes"]), counts)
                self.assertIn("integers", one["refused"])
                self.assertEqual(one["flop"], 0)
                for key in ("flop_per_byte", "gflop_per_s", "attainable_gflop_per_s", "lower_roof"):
                    self.assertIsNone(one[key])

    def test_plot(self):
        path = self.folder / "roofline.svg"
        record = self.record("roofline", "--n", "5003", "--plot", str(path), *SHORT)
        picture = ElementTree.parse(path).getroot()
        self.assertEqual(picture.tag, SVG + "svg")
        marks = circles(picture)
        self.assertEqual(tuple(marks), FLOATS)
        _, _, width, height = map(float, picture.get("viewBox").split())
        for mark in marks.values():
            self.assertTrue(0 < float(mark.get("cx")) < width)
            self.assertTrue(0 < float(mark.get("cy")) < height)
        # Equal factors are equal steps: across by intensity, up by GFLOP/s.
        across = [float(marks[f"fma_{k}"].get("cx")) for k in (2, 8, 32, 128)]
        for step in (b - a for a, b in zip(across, across[1:])):
            self.assertAlmostEqual(step, across[1] - across[0], delta=0.21)
        octave = (across[1] - across[0]) / 2
        saxpy, add = (float(marks[name].get("cx")) for name in ("saxpy", "vector_add"))
        self.assertAlmostEqual(saxpy - add, octave, delta=0.21)
        positions = {one["name"]: one for one in record["extra"]["positions"]}
        reached = {name: math.log10(positions[name]["gflop_per_s"]) for name in FLOATS}
        low, high = min(reached, key=reached.get), max(reached, key=reached.get)
        decade = (float(marks[low].get("cy")) - float(marks[high].get("cy"))) / (
            reached[high] - reached[low]
        )
        for name, mark in marks.items():
            up = float(marks[low].get("cy")) - float(mark.get("cy"))
            self.assertAlmostEqual(up, (reached[name] - reached[low]) * decade, delta=0.21)

        text = " ".join(element.text for element in picture.iter(SVG + "text"))
        for name in INTEGERS:
            self.assertIn(name, text)
        self.assertIn(record["device"]["name"], text)
        self.assertEqual("EMULATED" in text, EMULATED)

    def test_plot_appears_whole_or_not_at_all(self):
        before = "what was there before"
        path = self.folder / "roofline.svg"
        path.write_text(before)
        result = run("roofline_drops_the_rest", "--n", "1000", "--plot", path)
        self.assertEqual(result.status, FAILED, result.out)
        self.assertEqual(path.read_text(), before)
        self.assertEqual([file.name for file in self.folder.iterdir()], [path.name])

    def test_plot_that_cannot_be_written(self):
        missing = self.folder / "none" / "roofline.svg"
        self.assertRefused(run("roofline", "--plot", missing), USAGE, str(missing))
        self.assertRefused(run("roofline", "--plot", self.folder), USAGE, "is a folder")
        both = self.folder / "one"
        result = run("roofline", "--plot", both, "--json", both)
        self.assertRefused(result, USAGE, "--json", "--plot")
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_no_rates_no_plot(self):
        path = self.folder / "roofline.svg"
        environment = {"NV_SANITIZER_INJECTION_PORT_BASE": "1"}
        options = ("--n", "1000", "--plot", str(path), "--json", str(self.folder / "r.json"))
        result = run("roofline", *options, environment=environment)
        self.assertPassed(result)
        self.assertIn("No plot: Run under compute-sanitizer", result.out)
        self.assertNotIn(RATE, rates_part(result.out))
        self.assertFalse(path.exists())

    def test_defects(self):
        for program, *words in (
            ("roofline_drops_the_rest", "vector_add: FAIL", "element 768"),
            ("roofline_skips_a_step", "fma_2: FAIL", "element 0"),
            ("roofline_skips_a_chain", "fma_ceiling: FAIL", "element 0"),
            ("roofline_stays_in_its_column", "shared_ceiling: FAIL"),
            ("roofline_saxpy_stops_when_timed", "saxpy: FAIL"),
            ("roofline_histogram_counts_half_when_timed", "histogram_block: FAIL"),
        ):
            with self.subTest(program=program):
                result = run(program, "--n", 1000, *SHORT)
                self.assertEqual(result.status, FAILED, result.out + result.err)
                self.assertEqual(len(result.err.splitlines()), 1, result.err)
                for word in words:
                    self.assertIn(word, result.err)
                self.assertNotIn("ridge", result.out)

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_thread_orders(self):
        for environment in ORDERS:
            with self.subTest(**environment):
                result = run("roofline", "--n", "3001", *SHORT, environment=environment)
                self.assertPassed(result)


if __name__ == "__main__":
    unittest.main()
