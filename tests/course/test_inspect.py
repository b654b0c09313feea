"""./course inspect with the real emulator."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from support import course

REVERSE = """\
#include <cstdio>
#include "check.hpp"

__global__ void reverse(const int* from, int* to) {
    __shared__ int tile[64];
    tile[threadIdx.x] = from[threadIdx.x];  // written here
    __syncthreads();
    to[threadIdx.x] = tile[63 - threadIdx.x];  // read here
}

int main() {
    int* values = nullptr;
    CUDA_CHECK(cudaMalloc(&values, 128 * sizeof(int)));
    CUDA_CHECK(cudaMemset(values, 0, 64 * sizeof(int)));
    reverse<<<1, 64>>>(values, values + 64);
    CUDA_CHECK_LAUNCH();
    CUDA_CHECK(cudaFree(values));
    std::printf("done\\n");
    return 0;
}
"""


class Inspect(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="my own work ")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "reverse it.cu"
        self.file.write_text(REVERSE)

    def inspect(self, *arguments):
        return course("inspect", *arguments, cwd=self.folder)

    def test_a_right_kernel_is_counted(self):
        result = self.inspect(self.file, "--json", "report.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("done\n"), result.stdout)
        self.assertIn("No errors found", result.stdout)
        self.assertTrue(all(len(line) <= 100 for line in result.stdout.splitlines()))
        report = json.loads((self.folder / "report.json").read_text("utf-8"))
        (kernel,) = report["kernels"]
        self.assertEqual(kernel["name"], "reverse")
        self.assertEqual(kernel["totals"]["global_load"]["requests"], 2)
        self.assertEqual(kernel["totals"]["global_load"]["sectors"], 8)
        self.assertEqual(kernel["totals"]["shared_load"]["wavefronts"], 2)
        self.assertEqual(kernel["barriers"], 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["report.json", "reverse it.cu"])

    def test_a_report_to_standard_output_has_it_for_itself(self):
        result = self.inspect(self.file, "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(json.loads(result.stdout)["kernels"]), 1)
        self.assertIn("No errors found", result.stderr)
        self.assertEqual(os.listdir(self.folder), ["reverse it.cu"])

    def test_a_missing_barrier_is_told_with_both_lines(self):
        self.file.write_text(REVERSE.replace("    __syncthreads();\n", "\n"))
        result = self.inspect(self.file, "--json", "report.json")
        self.assertEqual(result.returncode, 1, result.stderr)
        report = json.loads((self.folder / "report.json").read_text("utf-8"))
        races = [f for f in report["findings"] if f["fault"] == "shared_race"]
        self.assertTrue(races, report["findings"])
        lines = REVERSE.splitlines()
        wrong = {
            1 + next(i for i, line in enumerate(lines) if comment in line)
            for comment in ("// written here", "// read here")
        }
        self.assertEqual({races[0]["first"]["line"], races[0]["second"]["line"]}, wrong)
        self.assertIn("__syncthreads()", result.stdout)
        self.assertIn("tile", result.stdout)

    def test_what_right_programs_do_is_let_be(self):
        # A first guess before atomicCAS(), and a copy by the C library's function.
        right = REVERSE.replace(
            "    to[threadIdx.x] = tile[63 - threadIdx.x];",
            """    int seen = to[0], assumed;
    do {
        assumed = seen;
        seen = atomicCAS(to, assumed, assumed + 1);
    } while (assumed != seen);
    memcpy(to + 1, tile, (gridDim.x + 62) * sizeof(int) * (threadIdx.x == 0));""",
        ).replace("64 * sizeof(int)));", "65 * sizeof(int)));")
        self.file.write_text(right)
        result = self.inspect(self.file)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.file.write_text(right.replace("gridDim.x + 62", "gridDim.x + 63"))
        result = self.inspect(self.file)
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn("[out_of_bounds]", result.stdout)

    def test_memory_of_the_device_touched_by_the_host(self):
        free = "    CUDA_CHECK(cudaFree"
        self.file.write_text(REVERSE.replace(free, "    values[0] = 1;  // here\n" + free))
        result = self.inspect(self.file)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("[device_pointer]", result.stdout)
        self.assertIn("values[0] = 1;  // here", result.stdout)

    def test_a_call_that_failed_is_noted(self):
        free = "    CUDA_CHECK(cudaFree"
        self.file.write_text(REVERSE.replace(free, "    cudaMemset(values, 0, 999);\n" + free))
        result = self.inspect(self.file)
        self.assertIn("returned cudaErrorInvalidValue", result.stdout)

    def test_a_report_that_cannot_be_written_is_said(self):
        result = self.inspect(self.file, "--json", "no such folder/report.json")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no such folder", result.stderr)

    def test_usage(self):
        result = self.inspect(self.file, "--n", "3")
        self.assertEqual(result.returncode, 2)
        self.assertIn("./course inspect", result.stderr)
        self.assertEqual(self.inspect("no_such_program").returncode, 2)
        self.assertEqual(self.inspect("all").returncode, 2)


if __name__ == "__main__":
    unittest.main()
