"""Sizes around the borders of vectors, blocks and tiles, and those that public bug reports name."""

import unittest

from harness import RATE, SHORT, ProgramTest, rates_part, read_pgm, run, sample_pixels, write_pgm

# Pictures smaller than a block, one pixel wide or high, around a block's 16, and not a multiple.
PICTURE_SIZES = [
    (1, 1), (1, 2), (2, 1), (1, 37), (37, 1), (2, 2), (3, 3),
    (15, 17), (16, 16), (17, 15), (31, 33), (32, 32), (1003, 769), (4097, 3), (3, 4097),
]  # fmt: skip


def blurred(width: int, height: int, pixels: bytes) -> bytes:
    """The 3x3 mean over the neighbours inside the picture, rounded down, by the definition."""
    out = bytearray()
    for y in range(height):
        rows = range(max(y - 1, 0), min(y + 2, height))
        for x in range(width):
            left, right = max(x - 1, 0), min(x + 2, width)
            total = sum(sum(pixels[row * width + left : row * width + right]) for row in rows)
            out.append(total // (len(rows) * (right - left)))
    return bytes(out)


class Sizes(ProgramTest):
    def test_box_blur_sizes(self):
        for width, height in PICTURE_SIZES:
            with self.subTest(width=width, height=height):
                result = run("box_blur", "--size", f"{width}x{height}", *SHORT)
                self.assertPassed(result)
                self.assertIn(f"{width}x{height}: direct=PASS, tiled=PASS", result.out)

    def test_box_blur_agrees_with_a_reference_outside_the_program(self):
        for width, height in PICTURE_SIZES:
            with self.subTest(width=width, height=height):
                pixels = sample_pixels(width, height)
                picture = write_pgm(self.folder / "in.pgm", width, height, pixels)
                output = self.folder / "out.pgm"
                self.assertPassed(
                    run("box_blur", "--input", str(picture), "--output", str(output), *SHORT)
                )
                self.assertEqual(read_pgm(output), (width, height, blurred(width, height, pixels)))

    def test_histogram_sizes(self):
        for width, height in PICTURE_SIZES:
            with self.subTest(width=width, height=height):
                result = run("histogram_reduction", "--size", f"{width}x{height}", *SHORT)
                self.assertPassed(result)
                line = f"{width}x{height} mixed pixels: global=PASS, block=PASS, sum=PASS"
                self.assertIn(line, result.out)

    def test_saxpy_sizes(self):
        for n in (1, 2, 3, 4, 5, 127, 129, 255, 257, 1023, 100003):
            with self.subTest(n=n):
                result = run("saxpy_bandwidth", "--n", str(n), *SHORT)
                self.assertPassed(result)
                self.assertIn(f"n={n}: scalar=PASS, grid_stride=PASS, float4=PASS", result.out)

    def test_saxpy_of_nothing_has_no_rate(self):
        result = run("saxpy_bandwidth", "--n", "0")
        self.assertPassed(result)
        self.assertIn("n=0: scalar=PASS, grid_stride=PASS, float4=PASS", result.out)
        self.assertIn("nothing to move", result.out)
        self.assertNotIn(RATE, rates_part(result.out))


if __name__ == "__main__":
    unittest.main()
