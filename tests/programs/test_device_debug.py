"""A build for the device's debugger (-G) prints times for a look, and no rate to publish."""

import unittest

from harness import RATE, SHORT, ProgramTest, rates_part, run


class DeviceDebug(ProgramTest):
    def test_no_rates(self):
        result = run("saxpy_device_debug", "--n", "10000", *SHORT)
        self.assertPassed(result)
        self.assertIn("=PASS", result.out)
        self.assertIn("-G", result.out)
        self.assertNotIn(RATE, rates_part(result.out))

    def test_no_rates_in_the_record(self):
        record = self.record("saxpy_device_debug", "--n", "10000", *SHORT)
        self.assertTrue(record["compiler"]["device_debug"])
        self.assertEqual([series["rate"] for series in record["series"]], [None] * 3)


if __name__ == "__main__":
    unittest.main()
