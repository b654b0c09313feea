"""./course run with the real emulator."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import ROOT, course

ADD_ONE = """\
#include <cstdio>
#include "check.hpp"

__global__ void add_one(int* values, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] += 1;
}

int main() {
    const int n = 1000;
    int* values = nullptr;
    int last = 0;
    CUDA_CHECK(cudaMalloc(&values, n * sizeof(int)));
    CUDA_CHECK(cudaMemset(values, 0, n * sizeof(int)));
    add_one<<<(n + 255) / 256, 256>>>(values, n);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaMemcpy(&last, values + n - 1, sizeof(int), cudaMemcpyDeviceToHost));
    CUDA_CHECK(cudaFree(values));
    std::printf("last=%d\\n", last);
    return last == 1 ? 0 : 1;
}
"""


class OwnFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="my own work ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "add one.cu"
        self.file.write_text(ADD_ONE)

    def run_file(self) -> subprocess.CompletedProcess:
        return course("run", self.file, "--backend", "emulator", cwd=self.folder)

    def test_a_file_with_a_kernel(self):
        result = self.run_file()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "last=1\n")
        self.assertEqual(os.listdir(self.folder), ["add one.cu"])

    def test_what_cannot_be_translated_names_file_and_line(self):
        self.file.write_text(
            ADD_ONE.replace("#include <cstdio>", "#include <cooperative_groups.h>")
        )
        result = self.run_file()
        self.assertEqual(result.returncode, 1)
        self.assertIn("add one.cu:1", result.stderr)
        self.assertEqual(result.stdout, "")


class Device(unittest.TestCase):
    def test_hidden_devices_are_one_line_and_status_77(self):
        result = course("run", "box_blur", "--backend", "emulator", CUDA_VISIBLE_DEVICES="")
        self.assertEqual(result.returncode, 77, result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertIn("no usable CUDA device", result.stderr)

    @unittest.skipIf(shutil.which("nvidia-smi"), "this machine may have a usable GPU")
    def test_without_a_gpu_one_line_says_why_and_the_emulator_runs(self):
        result = course("run", "box_blur", "--", "--size", "5x5", "--repeats", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        first = result.stderr.splitlines()[0]
        self.assertRegex(first, r"^no usable CUDA device: .*; using the emulator$")

    def test_the_record_alone_is_on_stdout(self):
        result = course("run", "box_blur", "--backend", "emulator", "--",
                        "--size", "5x5", "--repeats", "2", "--json", "-")  # fmt: skip
        self.assertEqual(result.returncode, 0, result.stderr)
        record = json.dumps(json.loads(result.stdout))
        self.assertIn("emucc -O", record)


class Edit(unittest.TestCase):
    def test_one_edited_line_is_one_build_step_in_a_path_with_spaces(self):
        with tempfile.TemporaryDirectory(prefix="a copy ") as folder:
            tree = Path(folder, "measure first")
            ignored = shutil.ignore_patterns("build", ".git", "__pycache__", "results")
            shutil.copytree(ROOT, tree, ignore=ignored)
            line = (
                "run",
                "box_blur",
                "--backend",
                "emulator",
                "--",
                "--size",
                "5x5",
                "--repeats",
                "2",
            )
            alone = {"tree": tree, "cwd": Path(folder), "MEASURE_FIRST_BUILD": str(tree / "build")}
            first = course(*line, **alone)
            self.assertEqual(first.returncode, 0, first.stderr)
            source = tree / "chapters/06_box_blur/box_blur.cu"
            source.write_text(source.read_text().replace("int main(", "int  main("))
            edited = course(*line, **alone)
            self.assertEqual(edited.returncode, 0, edited.stderr)
            steps = [text for text in edited.stderr.splitlines() if text.startswith("[")]
            self.assertEqual(steps, ["[1/1] Generating chapters/box_blur.emulator"])


if __name__ == "__main__":
    unittest.main()
