"""block_clock_nvrtc: the text it holds; what it says where it cannot run; a run on a GPU."""

import re
import unittest

from harness import EMULATED, NO_DEVICE, ROOT, SHORT, USAGE, ProgramTest, run

CHAPTER = ROOT / "chapters" / "10_block_clock"


class BlockClockNvrtc(ProgramTest):
    def test_the_embedded_text_is_the_kernel(self):
        kernel = (CHAPTER / "timed_reduction.cuh").read_text().split("//! [kernel]\n")[1]
        twin = (CHAPTER / "block_clock_nvrtc.cu").read_text()
        embedded = re.search(r'R"cuda\(\n(.*?)\)cuda"', twin, re.S)
        self.assertIn("__global__", kernel)
        self.assertEqual(embedded[1], kernel)

    def test_malformed_options(self):
        for option, value in (
            ("--blocks", "0"),
            ("--threads", "1025"),
            ("--nvrtc", ""),
            ("--repeats", "none"),
            ("--json", self.folder / "missing" / "record.json"),
        ):
            with self.subTest(option=option, value=value):
                # What cannot be written is told by its folder.
                word = str(self.folder) if option == "--json" else option
                self.assertRefused(run("block_clock_nvrtc", option, value), USAGE, word)

    def test_hidden_device(self):
        result = run("block_clock_nvrtc", environment={"CUDA_VISIBLE_DEVICES": ""})
        self.assertRefused(result, NO_DEVICE, "no usable CUDA device")

    @unittest.skipUnless(EMULATED, "on a GPU it runs")
    def test_on_the_emulator_it_says_why_it_does_not_run(self):
        result = run("block_clock_nvrtc", "--json", self.folder / "record.json", cwd="/")
        self.assertRefused(result, NO_DEVICE, "needs a GPU")
        self.assertEqual(result.out, "")
        self.assertEqual(list(self.folder.iterdir()), [])

    @unittest.skipIf(EMULATED, "NVRTC needs a GPU")
    def test_without_nvrtc(self):
        missing = self.folder / "libnvrtc.so"
        result = run("block_clock_nvrtc", "--nvrtc", missing)
        self.assertRefused(result, NO_DEVICE, "NVRTC", "missing", str(missing))

    @unittest.skipIf(EMULATED, "NVRTC needs a GPU")
    def test_it_runs_from_any_folder(self):
        grid = ("--blocks", 9, "--threads", 40)
        record = self.record("block_clock_nvrtc", *grid, *SHORT, cwd=self.folder)
        self.assertEqual(
            [(one["label"], one["name"]) for one in record["series"]],
            [("kernel ms", "nvcc"), ("kernel ms", "nvrtc"), ("compile ms", "nvrtc")],
        )
        nvrtc = record["extra"]["nvrtc"]
        for name in ("nvcc", "nvrtc"):
            self.assertEqual(len(nvrtc["average_clocks_" + name]), 2)
            self.assertGreater(min(nvrtc["average_clocks_" + name]), 0)
            self.assertGreater(nvrtc["registers_" + name], 0)
        result = run("block_clock_nvrtc", *grid, *SHORT, cwd="/")
        self.assertPassed(result)
        self.assertIn("\n9 blocks of 40 threads: nvcc=PASS, nvrtc=PASS\n", result.out)
        for label in ("compile ms", "kernel ms", "nvrtc: Average clocks/block = "):
            self.assertIn(label, result.out)


if __name__ == "__main__":
    unittest.main()
