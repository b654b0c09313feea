"""Bad command lines: one line on stderr that says what is wrong, status 2, nothing measured."""

import unittest

from harness import OK, PROGRAMS, USAGE, ProgramTest, run

# Options that every program has, with values that none of them takes.
MALFORMED = [
    ("--repeats", "0"),
    ("--repeats", "-1"),
    ("--repeats", "1e3"),
    ("--repeats", "ten"),
    ("--repeats", " 5"),
    ("--repeats", "5x"),
    ("--repeats", ""),
    ("--repeats", "99999999999999999999"),
    ("--inner", "0"),
    ("--inner", "0x10"),
    ("--device", "-1"),
    ("--device", "first"),
    ("--order", "backwards"),
    ("--seed", "-7"),
    ("--seed", "1.5"),
    ("--json", ""),
]

MALFORMED_SIZES = [
    "0x5", "5x0", "5", "5x", "x5", "5x5x5", "-5x5", "5X5", "5 x 5", "65537x1", "1e3x5", "",
]  # fmt: skip


class Usage(ProgramTest):
    def test_malformed_values_of_common_options(self):
        for program in PROGRAMS:
            for option, value in MALFORMED:
                with self.subTest(program=program, option=option, value=value):
                    self.assertRefused(run(program, option, value), USAGE, option)

    def test_missing_value(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.assertRefused(run(program, "--repeats"), USAGE, "--repeats")
                self.assertRefused(run(program, "--repeats", "--cold"), USAGE, "--repeats")

    def test_unknown_options_and_arguments(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.assertRefused(run(program, "--repeat", "5"), USAGE, "--repeats")
                self.assertRefused(run(program, "--frobnicate"), USAGE, "--frobnicate")
                self.assertRefused(run(program, "picture.pgm"), USAGE, "picture.pgm")

    def test_option_given_twice(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.assertRefused(run(program, "--seed", "1", "--seed", "2"), USAGE, "--seed")

    def test_several_launches_a_sample_cannot_all_be_cold(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.assertRefused(run(program, "--cold", "--inner", "5"), USAGE, "--cold")

    def test_malformed_sizes(self):
        for program in ("box_blur", "histogram_reduction"):
            for size in MALFORMED_SIZES:
                with self.subTest(program=program, size=size):
                    self.assertRefused(run(program, "--size", size), USAGE, "--size")

    def test_malformed_number_of_elements(self):
        for value in ("-1", "4M", "1e6", "", "0x100", "9223372036854775807"):
            with self.subTest(value=value):
                self.assertRefused(run("saxpy_bandwidth", "--n", value), USAGE, "--n")

    def test_a_size_and_a_picture_exclude_each_other(self):
        for program in ("box_blur", "histogram_reduction"):
            with self.subTest(program=program):
                result = run(program, "--size", "5x5", "--input", "picture.pgm")
                self.assertRefused(result, USAGE, "--size", "--input")

    def test_device_that_does_not_exist(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.assertRefused(run(program, "--device", "99"), USAGE, "99")

    def test_help(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                result = run(program, "--help")
                self.assertEqual((result.status, result.err), (OK, ""))
                for option in "device repeats inner order cold seed json".split():
                    self.assertIn("--" + option, result.out)


if __name__ == "__main__":
    unittest.main()
