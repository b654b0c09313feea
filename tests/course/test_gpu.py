"""Why no GPU is usable: each state of hardware, driver and toolkit has a reason of its own."""

import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from support import ROOT

sys.path.insert(0, str(ROOT))

from course_cli import gpu  # noqa: E402
from course_cli.console import CourseError  # noqa: E402
from course_cli.run import choose_backend  # noqa: E402

DEVICE = {"name": "A GPU", "capability": "9.0"}


class Reasons(unittest.TestCase):
    def examine(
        self, driver: dict, hardware=True, nvcc="/x/nvcc", version="13.0", probe="", visible=None
    ):
        environment = {"CUDA_VISIBLE_DEVICES": visible} if visible is not None else {}
        with (
            mock.patch.object(gpu, "query_driver", return_value=driver),
            mock.patch.object(gpu, "hardware", return_value=hardware),
            mock.patch.object(gpu, "find_nvcc", return_value=nvcc),
            mock.patch.object(gpu, "nvcc_version", return_value=version),
            mock.patch.object(gpu, "run_probe", return_value=probe),
            mock.patch.dict(os.environ, environment),
        ):
            if visible is None:
                os.environ.pop("CUDA_VISIBLE_DEVICES", None)
            return gpu.examine()

    def test_usable(self):
        found = self.examine({"driver": True, "cuda": "13.0", "devices": [DEVICE]})
        self.assertTrue(found.usable)
        self.assertEqual(found.devices, ["A GPU (compute capability 9.0)"])

    def test_no_gpu_at_all(self):
        found = self.examine({"driver": False}, hardware=False)
        self.assertEqual(found.reason, "this machine has no NVIDIA GPU")

    def test_no_driver(self):
        self.assertIn("no driver", self.examine({"driver": False}).reason)

    def test_the_driver_finds_nothing(self):
        answer = {"driver": True, "cuda": "12.4", "devices": [], "error": "CUDA_ERROR_UNKNOWN"}
        self.assertIn("CUDA_ERROR_UNKNOWN", self.examine(answer).reason)

    def test_no_toolkit(self):
        found = self.examine({"driver": True, "cuda": "12.4", "devices": [DEVICE]}, nvcc="")
        self.assertIn("install the CUDA toolkit, at most 12.4", found.reason)

    def test_a_driver_older_than_the_toolkit(self):
        found = self.examine({"driver": True, "cuda": "12.4", "devices": [DEVICE]})
        self.assertIn("up to 12.4", found.reason)
        self.assertIn("update the driver", found.reason)

    def test_a_newer_driver_or_an_older_minor_one_will_do(self):
        for driver in ("13.2", "13.0"):
            self.assertTrue(
                self.examine({"driver": True, "cuda": driver, "devices": [DEVICE]}).usable
            )
        found = self.examine({"driver": True, "cuda": "12.2", "devices": [DEVICE]}, version="12.6")
        self.assertTrue(found.usable)

    def test_the_probe_program_decides(self):
        found = self.examine(
            {"driver": True, "cuda": "13.0", "devices": [DEVICE]}, probe="out of memory"
        )
        self.assertFalse(found.usable)
        self.assertEqual(found.reason, "out of memory")

    def test_hidden_devices(self):
        for value in ("", "-1"):
            found = self.examine({"driver": True, "cuda": "13.0", "devices": []}, visible=value)
            self.assertTrue(found.hidden)
            self.assertIn("CUDA_VISIBLE_DEVICES", found.reason)

    def test_a_driver_that_crashes_is_a_reason_too(self):
        with mock.patch.object(gpu, "HERE", Path("/nowhere")):
            self.assertIn("crashed", gpu.query_driver()["error"])


class Choice(unittest.TestCase):
    def choose(self, wanted: str | None, **found) -> str | int:
        with mock.patch.object(gpu, "probe", return_value=gpu.Gpu(reason="why not", **found)):
            try:
                return choose_backend(wanted)
            except CourseError as error:
                self.assertIn("no usable CUDA device: why not", str(error))
                return error.status

    def test_default(self):
        self.assertEqual(self.choose(None, usable=True), "gpu")
        self.assertEqual(self.choose(None, usable=False), "emulator")

    def test_asked_for(self):
        self.assertEqual(self.choose("emulator", usable=True), "emulator")
        self.assertEqual(self.choose("gpu", usable=True), "gpu")
        self.assertEqual(self.choose("gpu", usable=False), 77)
        self.assertEqual(self.choose("gpu", usable=False, present=True), 3)
        self.assertEqual(self.choose("gpu", usable=False, present=True, hidden=True), 77)


class Memory(unittest.TestCase):
    """A usable GPU is remembered; a reason why not is looked at again."""

    def test_remembers_until_something_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            answers = [
                gpu.Gpu(usable=False, reason="x"),
                gpu.Gpu(usable=True),
                gpu.Gpu(usable=True),
            ]
            with (
                mock.patch.object(gpu, "CACHE", Path(folder, "probe.json")),
                mock.patch.object(gpu, "examine", side_effect=answers) as examine,
                mock.patch.object(gpu, "fingerprint", return_value=["one"]) as fingerprint,
            ):
                self.assertFalse(gpu.probe().usable)
                self.assertTrue(gpu.probe().usable)
                self.assertTrue(gpu.probe().usable)
                self.assertEqual(examine.call_count, 2)
                fingerprint.return_value = ["another driver"]
                gpu.probe()
                self.assertEqual(examine.call_count, 3)


if __name__ == "__main__":
    unittest.main()
