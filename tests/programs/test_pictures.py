"""Pictures in and out: good ones, broken ones, and places that cannot be written."""

import struct
import unittest
import zlib

from harness import FAILED, SHORT, USAGE, ProgramTest, read_pgm, run, sample_pixels, write_pgm

PROGRAMS = ("box_blur", "histogram_reduction")


def png(width: int, height: int, pixels: bytes) -> bytes:
    """A grey PNG of 8 bits, every row stored without a filter."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + pixels[y * width : (y + 1) * width] for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


class Pictures(ProgramTest):
    def write(self, name: str, content: bytes):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def test_ascii_pgm_with_comments(self):
        picture = self.write("a.pgm", b"P2\n# a comment\n3 2\n# another\n255\n0 10 20\n30 40 50\n")
        output = self.folder / "out.pgm"
        self.assertPassed(run("box_blur", "--input", picture, "--output", output, *SHORT))
        self.assertEqual(read_pgm(output), (3, 2, bytes([20, 25, 30, 20, 25, 30])))

    def test_png_gives_what_pgm_gives(self):
        width, height = 33, 21
        pixels = sample_pixels(width, height)
        as_pgm = write_pgm(self.folder / "a.pgm", width, height, pixels)
        as_png = self.write("a.png", png(width, height, pixels))
        for program in PROGRAMS:
            with self.subTest(program=program):
                outputs = [self.folder / f"{program}.{i}.pgm" for i in (1, 2)]
                first = run(program, "--input", as_pgm, "--output", outputs[0], *SHORT)
                second = run(program, "--input", as_png, "--output", outputs[1], *SHORT)
                self.assertPassed(first)
                if second.status == USAGE and "stb" in second.err:
                    self.skipTest("built without stb, so without PNG")
                self.assertPassed(second)
                self.assertEqual(outputs[0].read_bytes(), outputs[1].read_bytes())

    def test_png_out(self):
        output = self.folder / "out.png"
        result = run("box_blur", "--size", "9x9", "--output", output, *SHORT)
        if result.status == USAGE and "stb" in result.err:
            self.skipTest("built without stb, so without PNG")
        self.assertPassed(result)
        content = output.read_bytes()
        self.assertTrue(content.startswith(b"\x89PNG\r\n\x1a\n"))
        self.assertEqual(struct.unpack(">II", content[16:24]), (9, 9))

    def test_histogram_picture(self):
        # 60 pixels of value 7 and 30 of value 200: two bars, the second half as high.
        picture = write_pgm(self.folder / "in.pgm", 10, 9, bytes([7] * 60 + [200] * 30))
        output = self.folder / "out.pgm"
        self.assertPassed(
            run("histogram_reduction", "--input", picture, "--output", output, *SHORT)
        )
        width, height, pixels = read_pgm(output)
        bars = {
            x: sum(pixels[y * width + x] < 128 for y in range(height))
            for x in range(width)
            if any(pixels[y * width + x] < 128 for y in range(height))
        }
        self.assertEqual(bars, {7: height, 200: height // 2})

    def test_broken_pictures(self):
        good = b"P5\n8 8\n255\n" + sample_pixels(8, 8)
        broken = {
            "empty.pgm": b"",
            "truncated.pgm": good[:-1],
            "header.pgm": good[:6],
            "letters.pgm": b"P5\neight 8\n255\n" + bytes(64),
            "negative.pgm": b"P5\n-8 8\n255\n" + bytes(64),
            "nothing.pgm": b"P5\n0 8\n255\n",
            "huge.pgm": b"P5\n99999999999 99999999999\n255\n" + bytes(64),
            "many.pgm": b"P5\n65536 65536\n255\n" + bytes(64),
            "range.pgm": b"P2\n2 1\n255\n12 256\n",
            "short.pgm": b"P2\n2 2\n255\n1 2 3\n",
            "text.pgm": b"this is not a picture\n",
            "truncated.png": png(8, 8, sample_pixels(8, 8))[:-30],
            "text.png": b"this is not a picture\n",
            "text.jpg": b"\xff\xd8\xff\xe0 not a picture",
        }
        for name, content in broken.items():
            picture = self.write(name, content)
            for program in PROGRAMS:
                with self.subTest(program=program, picture=name):
                    self.assertRefused(run(program, "--input", picture), USAGE, name)

    def test_pictures_that_cannot_be_read(self):
        for program in PROGRAMS:
            for path in (self.folder / "missing.pgm", self.folder):
                with self.subTest(program=program, path=path.name):
                    self.assertRefused(run(program, "--input", path), USAGE, str(path))

    def test_outputs_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        (self.folder / "folder.pgm").mkdir()
        unusable = {
            "missing/out.pgm": "missing",
            "file/out.pgm": "file",
            "folder.pgm": "folder.pgm",
            "out.gif": ".gif",
            "out": "out",
        }
        for program in PROGRAMS:
            for name, word in unusable.items():
                with self.subTest(program=program, output=name):
                    before = sorted(self.folder.rglob("*"))
                    result = run(program, "--size", "9x9", "--output", self.folder / name, *SHORT)
                    self.assertIn(result.status, (USAGE, FAILED))
                    self.assertRefused(result, result.status, word)
                    self.assertEqual(sorted(self.folder.rglob("*")), before)

    def test_a_record_in_the_place_of_a_picture(self):
        pixels = sample_pixels(8, 8)
        picture = write_pgm(self.folder / "in.pgm", 8, 8, pixels)
        new = self.folder / "out.pgm"
        for program in PROGRAMS:
            for option, path in (("--input", picture), ("--output", new)):
                with self.subTest(program=program, option=option):
                    record = f"{self.folder}/./{path.name}"
                    result = run(program, option, path, "--json", record, *SHORT)
                    self.assertRefused(result, USAGE, option, path.name)
        self.assertEqual(read_pgm(picture), (8, 8, pixels))
        self.assertFalse(new.exists())


if __name__ == "__main__":
    unittest.main()
