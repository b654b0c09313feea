"""Building: folders with spaces, links, other working directories, headers, locks, moved trees."""

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import course, small_tree


class SmallTree(unittest.TestCase):
    """One small tree for all tests of a class; each test leaves its program as it found it."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="course test ")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.tree = small_tree(Path(cls.folder.name))
        cls.source = cls.tree / "chapters/06_box_blur/box_blur.cu"
        os.environ.pop("MEASURE_FIRST_BUILD", None)

    def run_course(self, *arguments, **options) -> subprocess.CompletedProcess:
        options.setdefault("tree", self.tree)
        return course(*arguments, **options)

    def box_blur(self, *options: str, **more) -> subprocess.CompletedProcess:
        return self.run_course("run", "box_blur", "--backend", "emulator", "--", *options, **more)


class Programs(SmallTree):
    def test_builds_from_nothing_then_only_runs(self):
        shutil.rmtree(self.tree / "build", ignore_errors=True)
        first = self.box_blur()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("configuring", first.stderr)
        second = self.box_blur()
        self.assertEqual(second.stderr, "")
        self.assertIn("hello", second.stdout)

    def test_nothing_but_the_programs_output_is_on_stdout(self):
        self.source.touch()
        result = self.box_blur()
        self.assertEqual(len(result.stdout.splitlines()), 1, result.stdout)

    def test_passes_options_and_status_through(self):
        result = self.box_blur("5", "--", "two words", "$HOME")
        self.assertEqual(result.returncode, 5)
        self.assertIn("[5] [--] [two words] [$HOME]", result.stdout)

    def test_a_number_and_a_path_mean_the_program_too(self):
        for name in ("6", "06", "06_box_blur", str(self.source)):
            result = self.run_course("run", name, "--backend", "emulator")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("hello", result.stdout)

    def test_all_returns_the_first_failure(self):
        result = self.run_course("run", "all", "--backend", "emulator", "--", "4")
        self.assertEqual(result.returncode, 4)

    def test_all_is_skipped_only_if_every_program_is(self):
        result = self.run_course("run", "all", "--backend", "emulator", "--", "77")
        self.assertEqual(result.returncode, 77)

    def test_a_program_that_crashes_is_reported(self):
        result = self.box_blur("abort")
        self.assertEqual(result.returncode, 128 + signal.SIGABRT)
        self.assertIn("signal 6", result.stderr)

    def test_from_another_folder_through_a_link(self):
        link = Path(self.folder.name, "link to course")
        link.unlink(missing_ok=True)
        link.symlink_to(self.tree / "course")
        result = subprocess.run(
            [link, "run", "6", "--backend", "emulator"], cwd="/", capture_output=True, text=True
        )
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_an_edited_header_rebuilds_the_program(self):
        header = self.tree / "common/shared.hpp"
        self.box_blur()
        header.write_text('#define GREETING "edited"\n')
        self.assertIn("edited", self.box_blur().stdout)
        header.write_text('#define GREETING "hello"\n')
        self.assertIn("hello", self.box_blur().stdout)

    def test_an_edited_emulator_rebuilds_the_program(self):
        self.box_blur()
        for name in ("emucc", "rewrite.py", "runtime.cpp"):
            (self.tree / "common/emulator" / name).touch()
            self.assertIn("box_blur.emulator", self.box_blur().stderr, name)

    def test_a_compile_error_names_the_file_and_runs_nothing(self):
        text = self.source.read_text()
        self.source.write_text("int main() { return nothing; }\n")
        try:
            result = self.box_blur()
        finally:
            self.source.write_text(text)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertIn(f"{self.source}:1:", result.stderr)
        self.assertNotIn("MEASURE_FIRST_FLAGS", result.stderr)  # no wall of command line

    def test_list_knows_what_is_built(self):
        self.box_blur()
        self.assertIn("[built for emulator", self.run_course("list").stdout)
        time.sleep(0.01)
        self.source.touch()
        self.assertIn("changed since", self.run_course("list").stdout)

    def test_a_moved_tree_is_configured_again(self):
        self.box_blur()
        moved = self.tree.with_name("moved tree")
        self.tree.rename(moved)
        try:
            result = course("run", "6", "--backend", "emulator", tree=moved)
        finally:
            moved.rename(self.tree)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_broken_build_folder_is_configured_again(self):
        self.box_blur()
        (self.tree / "build/course.json").write_text("{")
        self.assertEqual(self.box_blur().returncode, 0)

    def test_a_build_folder_that_cannot_be_written(self):
        result = self.box_blur(MEASURE_FIRST_BUILD="/proc/nowhere")
        self.assertEqual(result.returncode, 3)
        self.assertIn("MEASURE_FIRST_BUILD", result.stderr)

    def test_ctrl_c_ends_program_and_command_cleanly(self):
        self.box_blur()
        process = subprocess.Popen(
            [self.tree / "course", "run", "6", "--backend", "emulator", "--", "wait"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does it: to the whole group
        _, errors = process.communicate(timeout=20)
        self.assertEqual(process.returncode, 130)
        self.assertNotIn("Traceback", errors)


class Revision(SmallTree):
    @unittest.skipUnless(shutil.which("git"), "git is not here")
    def test_says_whether_the_tree_is_modified(self):
        def git(*arguments: str) -> str:
            line = ["git", "-c", "user.name=x", "-c", "user.email=x@localhost", *arguments]
            return subprocess.run(
                line, cwd=self.tree, check=True, capture_output=True, text=True
            ).stdout

        self.assertIn("revision=unknown", self.box_blur().stdout)
        (self.tree / ".gitignore").write_text("/build/\n__pycache__/\n")
        git("init", "-q")
        git("add", ".")
        git("commit", "-q", "-m", "all")
        commit = git("rev-parse", "HEAD")[:12]
        clean = self.box_blur()
        self.assertIn(f"revision={commit}\n", clean.stdout)
        self.assertEqual(clean.stderr, "")  # a new commit rebuilds nothing
        with open(self.source, "a") as file:
            file.write("// edited\n")
        self.assertIn(f"revision={commit}-modified\n", self.box_blur().stdout)


class Lock(SmallTree):
    def test_two_at_once_both_succeed(self):
        line = [self.tree / "course", "run", "6", "--backend", "emulator"]
        both = [
            subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        for process in both:
            output, errors = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, errors)
            self.assertIn("hello", output)

    def test_waits_for_the_other_and_says_so(self):
        (self.tree / "build").mkdir(exist_ok=True)
        with open(self.tree / "build/course.lock", "w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            process = subprocess.Popen(
                [self.tree / "course", "run", "6", "--backend", "emulator"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            self.assertIn("waiting", process.stderr.readline())
            self.assertIsNone(process.poll())
            fcntl.flock(file, fcntl.LOCK_UN)
        _, errors = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, errors)


class OwnFile(SmallTree):
    def test_any_file_runs_and_nothing_is_written_beside_it(self):
        folder = Path(self.folder.name, "my work")
        folder.mkdir()
        (folder / "mine.hpp").write_text('#define MINE "mine"\n')
        (folder / "my own.cu").write_text(
            '#include "mine.hpp"\n#include <cstdio>\nint main() { std::puts(MINE); }\n'
        )
        line = ("run", "my own.cu", "--backend", "emulator")
        first = self.run_course(*line, cwd=folder)
        self.assertEqual(first.stdout, "mine\n", first.stderr)
        self.assertEqual(sorted(os.listdir(folder)), ["mine.hpp", "my own.cu"])
        again = self.run_course(*line, cwd=folder)
        self.assertEqual(again.stderr, "")
        (folder / "mine.hpp").write_text('#define MINE "edited"\n')
        self.assertEqual(self.run_course(*line, cwd=folder).stdout, "edited\n")


class Tests(SmallTree):
    """The counts of ./course test."""

    def counted(self, lines: str) -> subprocess.CompletedProcess:
        folder = self.tree / "tests/unit"
        folder.mkdir(exist_ok=True)
        (folder / "meson.build").write_text(lines)
        return self.run_course("test", "--backend", "emulator")

    def closing_line(self, result: subprocess.CompletedProcess) -> str:
        return result.stdout.splitlines()[-1]

    def test_counts(self):
        none = self.counted("")
        self.assertEqual(self.closing_line(none), "0 passed, 0 failed")
        self.assertEqual(none.returncode, 1)

        good = self.counted(
            "test('a', find_program('true'), suite: 'one')\n"
            "test('b', find_program('sh'), args: ['-c', 'exit 77'], suite: 'two')\n"
            "test('a', find_program('false'), suite: ['one', 'gpu'])\n"
        )
        self.assertEqual(self.closing_line(good), "1 passed, 0 failed, 1 skipped")
        self.assertEqual(good.returncode, 0)

        only_skipped = self.run_course("test", "two", "--backend", "emulator")
        self.assertEqual(self.closing_line(only_skipped), "0 passed, 0 failed, 1 skipped")
        self.assertEqual(only_skipped.returncode, 1)

        unknown = self.run_course("test", "three")
        self.assertEqual(unknown.returncode, 2)
        self.assertIn("one, two", unknown.stderr)

        bad = self.counted(
            "test('a', find_program('true'), suite: 'one')\n"
            "test('c', find_program('false'), suite: 'one')\n"
        )
        self.assertEqual(self.closing_line(bad), "1 passed, 1 failed")
        self.assertEqual(bad.returncode, 1)


if __name__ == "__main__":
    unittest.main()
