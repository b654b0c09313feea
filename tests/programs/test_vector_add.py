"""vector_add: sizes, what it prints, its record, its planted mistakes, thread orders."""

import unittest

from harness import EMULATED, FAILED, ORDERS, RATE, SHORT, USAGE, ProgramTest, rates_part, run

WITHOUT_EXACT = (
    "scalar", "blocked", "float4", "scalar_shifted", "float4_shifted", "scalar_few", "float4_few",
)  # fmt: skip
VERSIONS = (WITHOUT_EXACT[0], "exact", *WITHOUT_EXACT[1:])


def passed(versions) -> str:
    return ", ".join(f"{name}=PASS" for name in versions)


class VectorAdd(ProgramTest):
    def test_sizes(self):
        for n in (1, 2, 3, 4, 5, 31, 33, 127, 255, 257, 1023, 100003):
            with self.subTest(n=n):
                result = run("vector_add", "--n", n, *SHORT)
                self.assertPassed(result)
                self.assertIn(f"\nn={n}: {passed(WITHOUT_EXACT)}\n", result.out)
                self.assertIn("exact is left out", result.out)

    def test_sizes_of_whole_blocks(self):
        for n in (256, 1024, 65536):
            with self.subTest(n=n):
                result = run("vector_add", "--n", n, *SHORT)
                self.assertPassed(result)
                self.assertIn(f"\nn={n}: {passed(VERSIONS)}\n", result.out)
                self.assertNotIn("left out", result.out)

    def test_nothing_to_add(self):
        result = run("vector_add", "--n", "0")
        self.assertPassed(result)
        self.assertIn(f"n=0: {passed(VERSIONS)}", result.out)
        self.assertIn("nothing to add", result.out)
        self.assertNotIn(RATE, rates_part(result.out))

    def test_malformed_number_of_elements(self):
        for value in ("-1", "1M", "1e6", "", "0x100", "17179869185"):
            with self.subTest(value=value):
                self.assertRefused(run("vector_add", "--n", value), USAGE, "--n")

    def test_table_and_claim(self):
        result = run("vector_add", "--n", "1024", *SHORT)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        lines = result.out.splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("variant"))
        self.assertIn("kernel ms", lines[head])
        rows = [line.split()[0] for line in lines[head + 1 : head + 1 + len(VERSIONS)]]
        self.assertEqual(rows, list(VERSIONS))
        self.assertIn("Claimed for float4: 35 % -> 92 %", result.out)
        self.assertRegex(result.out, r"Here, with n=1024: .+ -> .+, \d+\.\d\d of the time")
        self.assertEqual("emulated" in result.out.lower(), EMULATED)
        self.assertNotIn(RATE, rates_part(result.out[: result.out.index("=PASS")]))

    def test_record(self):
        record = self.record("vector_add", "--n", "2560", *SHORT)
        self.assertEqual([series["name"] for series in record["series"]], list(VERSIONS))
        for series in record["series"]:
            self.assertEqual(series["label"], "kernel ms, n=2560")
            self.assertEqual(series["rate"]["logical_bytes"], 12 * 2560)
        pairs = {(one["variant"], one["baseline"]) for one in record["comparisons"]}
        self.assertIn(("float4", "scalar"), pairs)
        self.assertIn(("float4_few", "scalar_few"), pairs)
        self.assertIn(("float4_shifted", "float4"), pairs)
        self.assertEqual(record["input"]["parameters"]["n"], [2560])

    @unittest.skipUnless(EMULATED, "on a GPU the larger size is measured, too")
    def test_default_size_is_that_of_the_claim(self):
        result = run("vector_add", *SHORT)
        self.assertPassed(result)
        self.assertIn(f"n=1048576: {passed(VERSIONS)}", result.out)

    def test_defects(self):
        for program, *words in (
            ("vector_add_drops_tail", "float4: FAIL", "n = 1,", "y[0]"),
            ("vector_add_stops_working_when_timed", "scalar: FAIL", "y[500]"),
        ):
            with self.subTest(program=program):
                self.assertRefused(run(program, "--n", "1000", *SHORT), FAILED, *words)

    @unittest.skipUnless(EMULATED, "the emulator ends a kernel at any access beyond the last page")
    def test_branch_left_out(self):
        result = run("vector_add_branch_left_out", "--n", "1000", *SHORT)
        self.assertEqual(result.status, FAILED, result.out + result.err)
        self.assertIn("emulator: kernel add_blocked", result.err)
        self.assertIn("cudaErrorIllegalAddress", result.err.splitlines()[-1])
        self.assertNotIn(RATE, rates_part(result.out))

    @unittest.skipIf(EMULATED, "the emulator carries out an access that is not aligned")
    def test_unaligned_start(self):
        result = run("vector_add_unaligned_start", "--n", "1000", *SHORT)
        self.assertRefused(result, FAILED, "cudaErrorMisalignedAddress")

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_thread_orders(self):
        for environment in ORDERS:
            with self.subTest(**environment):
                result = run("vector_add", "--n", "5003", *SHORT, environment=environment)
                self.assertPassed(result)
                self.assertIn(passed(WITHOUT_EXACT), result.out)


if __name__ == "__main__":
    unittest.main()
