"""copy_cost: sizes, what it prints, its record, thread orders, planted mistakes."""

import re
import unittest

from harness import EMULATED, FAILED, RATE, SHORT, USAGE, ProgramTest, rates_part, run

QUICK = ("--limit", "1", *SHORT)
WAYS = ("gpu_pageable", "gpu_pinned", "gpu_resident", "cpu_one", "cpu_all")
COPIES = ("upload_pageable", "upload_pinned", "download_pageable", "download_pinned")
PASSED = ", ".join(f"{way}=PASS" for way in WAYS)


class CopyCost(ProgramTest):
    def test_sizes(self):
        # Around a block, and around what is divided among the host's threads.
        for n in (1, 2, 255, 256, 257, 8191, 8192, 8193, 100003):
            with self.subTest(n=n):
                result = run("copy_cost", "--n", n, *QUICK)
                self.assertPassed(result)
                self.assertIn(f"\nn={n} increment: {PASSED}\n", result.out)
                self.assertIn(f"\nn={n} chain of 3: {PASSED}\n", result.out)

    def test_malformed_values(self):
        for option in ("--n", "--limit"):
            for value in ("0", "-1", "1e6", "", "0x100", "4294967297"):
                with self.subTest(option=option, value=value):
                    self.assertRefused(run("copy_cost", option, value), USAGE, option)

    def test_tables(self):
        result = run("copy_cost", "--n", "5000", *QUICK)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        for label in ("kernel ms", "copy ms", "task ms", "GB/s one way", "Host: "):
            self.assertIn(label, result.out)
        for name in (*COPIES, *WAYS):
            self.assertRegex(result.out, rf"(?m)^{name}( \(emulated\))? +\d")
        self.assertNotIn(RATE, rates_part(result.out[: result.out.index("=PASS")]))
        self.assertEqual("emulated" in result.out.lower(), EMULATED)

    def test_searches_and_rules(self):
        result = run("copy_cost", "--n", "5000", *QUICK)
        sizes, steps = result.out.split("\nOne addition an element")[1].split("so many steps")
        rows = [int(n) for n in re.findall(r"^(\d+)  ", sizes, re.M)]
        self.assertEqual(rows, [1024 * 4**i for i in range(len(rows))])
        rows = [int(n) for n in re.findall(r"^(\d+)  ", steps, re.M)]
        self.assertEqual(rows, [4**i for i in range(len(rows))])
        for number in (1, 2, 3):
            self.assertRegex(result.out, rf"(?m)^  {number}\. ")
        # Two samples decide nothing.
        self.assertEqual(
            len(re.findall("is faster than cpu_.* nowhere for certain", result.out)), 6
        )

    def test_record(self):
        record = self.record("copy_cost", "--n", "5000", *QUICK)
        labels = {series["label"] for series in record["series"]}
        self.assertLessEqual({"kernel ms", "copy ms", "task ms", "n=1024 task ms"}, labels)
        for series in record["series"]:
            bytes_counted = {"kernel ms": 8 * 5000, "copy ms": 4 * 5000}.get(series["label"])
            rate = series["rate"]
            self.assertEqual(rate and rate["logical_bytes"], bytes_counted)
            if series["label"] == "copy ms":
                # The bus is not to be held against the device's memory.
                self.assertIsNone(rate["percent_of_data_sheet"])
                self.assertIsNone(rate["percent_of_copy"])
        self.assertEqual(len(record["extra"]["pays_from"]), 6)
        self.assertGreater(record["extra"]["copies_in_kernels"], 0)

    def test_no_verdicts_under_a_tool(self):
        environment = {"NV_SANITIZER_INJECTION_PORT_BASE": "1"}
        result = run("copy_cost", "--n", "100", *QUICK, environment=environment)
        self.assertPassed(result)
        self.assertNotRegex(result.out, "is (faster|slower) than")
        self.assertNotRegex(result.out, r"\d GB/s")

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order")
    def test_orders(self):
        for environment in (
            {"EMULATOR_ORDER": "reverse"},
            {"EMULATOR_ORDER": "random:1"},
            {"EMULATOR_STREAMS": "late"},
            {"EMULATOR_WORKERS": "1"},
            {"EMULATOR_WORKERS": "5"},
        ):
            with self.subTest(**environment):
                self.assertPassed(run("copy_cost", "--n", "9001", *QUICK, environment=environment))

    # Planted mistakes.

    def assertCaught(self, program: str, *words: str, **keywords):
        self.assertRefused(run(program, *QUICK, **keywords), FAILED, *words)

    def test_tail_dropped(self):
        self.assertCaught("copy_cost_drops_tail", "gpu_pageable: FAIL", "element 256")

    def test_last_element_left_out_on_the_host(self):
        self.assertCaught("copy_cost_host_drops_last", "cpu_all: FAIL", "element 0")

    def test_work_left_out_while_timed(self):
        self.assertCaught("copy_cost_stops_working_when_timed", "gpu_resident kernel ms: FAIL")

    @unittest.skipUnless(EMULATED, "on a GPU the missing wait shows by luck")
    def test_missing_wait(self):
        late = {"EMULATOR_STREAMS": "late"}
        self.assertCaught("copy_cost_without_wait", "not waited for", environment=late)


if __name__ == "__main__":
    unittest.main()
