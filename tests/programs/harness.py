"""What the tests of programs share: running a program, and reading what it wrote.

The build hands over each program's path in an environment variable of the program's name in
capitals, and the back end that it was built for in BACKEND.
"""

import json
import os
import re
import subprocess
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

OK, FAILED, USAGE, NO_DEVICE = 0, 1, 2, 77

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "common" / "record.schema.json"
EMULATED = os.environ.get("BACKEND", "emulator") == "emulator"

PROGRAMS = (
    "event_timing",
    "saxpy_bandwidth",
    "copy_cost",
    "streams",
    "vector_add",
    "box_blur",
    "histogram_reduction",
    "reduction_timing",
    "complete_task",
    "block_clock",
    "occupancy",
    "roofline",
    "profiling",
)

# Options that make each program's measurement as short as a measurement can be.
SHORT = ("--repeats", "2", "--inner", "1")
SMALL = {
    "event_timing": ("--longest", "10", *SHORT),
    "copy_cost": ("--n", "1000", "--limit", "1", *SHORT),
    "streams": ("--n", "1000", *SHORT),
    "saxpy_bandwidth": ("--n", "1000", *SHORT),
    "vector_add": ("--n", "1000", *SHORT),
    "box_blur": ("--size", "40x30", *SHORT),
    "histogram_reduction": ("--size", "40x30", *SHORT),
    "reduction_timing": ("--n", "1000", *SHORT),
    "complete_task": ("--size", "40x30", *SHORT),
    "block_clock": ("--blocks", "4", "--threads", "32", *SHORT),
    "occupancy": ("--work", "1", *SHORT),
    "roofline": ("--n", "1000", *SHORT),
    "profiling": ("--elements", "1000", "--steps", "3", "--n", "40", *SHORT),
}

# A rate, wherever it is printed.
RATE = "GB/s"


# Ways in which the emulator may run a program: a right one gives the same result in each.
ORDERS = (
    {"EMULATOR_ORDER": "reverse"},
    {"EMULATOR_ORDER": "random:1"},
    {"EMULATOR_STREAMS": "late"},
    {"EMULATOR_WORKERS": "5"},
)


@dataclass
class Result:
    status: int
    out: str
    err: str


def path_of(program: str) -> str:
    path = os.environ.get(program.upper())
    if not path:
        raise unittest.SkipTest(f"{program} is not built: its path belongs in {program.upper()}")
    return path


def run(program: str, *options: str, environment: dict | None = None, **keywords) -> Result:
    """Runs a program to its end, which it must reach within five minutes."""
    done = subprocess.run(
        [path_of(program), *map(str, options)],
        env={**os.environ, **(environment or {})},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        **keywords,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def read_pgm(path: Path) -> tuple[int, int, bytes]:
    """Width, height and pixels of a binary PGM of 256 values."""
    content = Path(path).read_bytes()
    header = re.match(rb"P5\s+(\d+)\s+(\d+)\s+255\s", content)
    assert header, content[:20]
    width, height = int(header[1]), int(header[2])
    pixels = content[header.end() :]
    assert len(pixels) == width * height, (width, height, len(pixels))
    return width, height, pixels


def write_pgm(path: Path, width: int, height: int, pixels: bytes) -> Path:
    assert len(pixels) == width * height
    Path(path).write_bytes(b"P5\n%d %d\n255\n" % (width, height) + pixels)
    return Path(path)


def sample_pixels(width: int, height: int) -> bytes:
    """Pixels without a pattern that a wrong index could repeat."""
    return bytes(
        (x * x * 7 + y * y * 13 + x * y * 29 + 5) % 251 for y in range(height) for x in range(width)
    )


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own and with assertions on results."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="measure-first-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def assertPassed(self, result: Result):
        self.assertEqual(result.status, OK, result.out + result.err)

    def assertRefused(self, result: Result, status: int, *words: str):
        """Ended with this status and one line on stderr that holds the words, and with no rate."""
        self.assertEqual(result.status, status, result.out + result.err)
        lines = result.err.splitlines()
        self.assertEqual(len(lines), 1, f"one line was expected on stderr: {result.err}")
        for word in words:
            self.assertIn(word, lines[0])
        self.assertNotIn(RATE, rates_part(result.out))

    def record(self, program: str, *options: str, **keywords) -> dict:
        """The record of a run, which must pass."""
        path = self.folder / "record.json"
        result = run(program, *options, "--json", str(path), **keywords)
        self.assertPassed(result)
        return json.loads(path.read_text())


def rates_part(text: str) -> str:
    """Printed text without the conditions, which name the data sheet's bandwidth."""
    lines = [line for line in text.splitlines() if not line.startswith(("Driver", "Device"))]
    return "\n".join(lines)
