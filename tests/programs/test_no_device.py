"""A machine without a usable device: status 77, one line, nothing half done."""

import unittest

from harness import NO_DEVICE, PROGRAMS, ProgramTest, run


class NoDevice(ProgramTest):
    def test_hidden_device(self):
        for hidden in ("", "-1"):
            for program in PROGRAMS:
                with self.subTest(program=program, hidden=hidden):
                    record = self.folder / "record.json"
                    environment = {"CUDA_VISIBLE_DEVICES": hidden}
                    result = run(program, "--json", str(record), environment=environment)
                    self.assertRefused(result, NO_DEVICE, "no usable CUDA device")
                    self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
