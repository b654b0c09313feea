"""What is refused, with which status, in how many lines."""

import subprocess
import unittest

from support import ROOT, course


class Usage(unittest.TestCase):
    def refused(self, arguments: list[str], *words: str, status: int = 2) -> None:
        result = course(*arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)

    def test_no_command_names_the_commands(self):
        self.refused([], "setup", "doctor", "list", "run", "test")

    def test_unknown_command_names_the_commands(self):
        self.refused(["build"], "build", "setup", "doctor", "list", "run", "test")

    def test_unknown_option(self):
        self.refused(["list", "--frob"], "--frob")

    def test_superfluous_argument(self):
        self.refused(["doctor", "everything"], "everything")

    def test_run_without_a_program(self):
        self.refused(["run"], "PROGRAM")

    def test_run_of_an_unknown_program_suggests_one(self):
        self.refused(["run", "box_blurr"], "did you mean box_blur?")

    def test_run_of_something_far_from_every_name(self):
        self.refused(["run", "zzz"], "./course list")

    def test_run_of_a_number_without_a_chapter(self):
        self.refused(["run", "99"], "99")

    def test_run_with_an_unknown_back_end(self):
        self.refused(["run", "box_blur", "--backend", "opencl"], "opencl")

    def test_run_with_the_programs_options_before_the_dashes(self):
        self.refused(["run", "box_blur", "--size", "5x5"], "./course run box_blur -- --size 5x5")

    def test_run_of_a_file_that_does_not_exist(self):
        self.refused(
            ["run", "--backend", "emulator", "nowhere/x.cu"], "no such file", "nowhere/x.cu"
        )

    def test_options_after_the_dashes_belong_to_run_alone(self):
        self.refused(["list", "--", "--x"], "run")

    def test_help(self):
        result = course("--help")
        self.assertEqual(result.returncode, 0)
        for word in ("setup", "doctor", "list", "run", "test", "exit status"):
            self.assertIn(word, result.stdout)

    def test_a_reader_that_goes_away_causes_no_traceback(self):
        line = f'"{ROOT}/course" --help | true'
        result = subprocess.run(line, shell=True, capture_output=True, text=True)
        self.assertNotIn("Traceback", result.stderr)


class Answers(unittest.TestCase):
    def test_list_shows_the_chapters_in_order(self):
        result = course("list")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [line.split() for line in result.stdout.splitlines()]
        numbers = [int(line[0]) for line in lines]
        self.assertEqual(numbers, sorted(numbers))
        self.assertLessEqual(
            {"saxpy_bandwidth", "box_blur", "histogram_reduction"}, {line[1] for line in lines}
        )

    def test_doctor_names_every_package(self):
        result = course("doctor")
        self.assertIn(result.returncode, (0, 3), result.stderr)
        for word in ("Python", "GPU", "driver", "CUDA toolkit", "back end", "g++", "catch2"):
            self.assertIn(word, result.stdout)


if __name__ == "__main__":
    unittest.main()
