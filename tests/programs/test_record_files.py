"""Places where a record cannot be written: found early or late, nothing half written is left."""

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import unittest

from harness import FAILED, PROGRAMS, SMALL, USAGE, ProgramTest, path_of, run

OLD = "the record of another day\n"


def limit_file_size():
    """For preexec_fn: files of more than 512 bytes fail like those on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))


class RecordFiles(ProgramTest):
    def test_folders_that_cannot_take_it(self):
        (self.folder / "file").write_text("")
        for program in PROGRAMS:
            for name in ("missing/record.json", "file/record.json", "", "missing/"):
                path = os.path.join(str(self.folder), name)
                with self.subTest(program=program, path=name):
                    result = run(program, "--json", path)
                    self.assertRefused(result, USAGE, str(self.folder))
                    # Found before anything was measured.
                    self.assertNotIn("=PASS", result.out)
                    self.assertEqual([p.name for p in self.folder.iterdir()], ["file"])

    @unittest.skipIf(os.geteuid() == 0, "root writes where permissions forbid it")
    def test_folder_without_permission(self):
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.assertRefused(run("box_blur", "--json", closed / "record.json"), USAGE, "closed")

    def test_limit_on_the_size_of_files(self):
        for program in PROGRAMS:
            for exists in (False, True):
                with self.subTest(program=program, exists=exists):
                    self.check_full(program, self.folder, exists, preexec_fn=limit_file_size)

    def test_full_disk(self):
        with self.tiny_disk() as disk:
            for program in PROGRAMS:
                for exists in (False, True):
                    with self.subTest(program=program, exists=exists):
                        self.check_full(program, disk, exists)

    def check_full(self, program: str, folder, exists: bool, **keywords):
        path = folder / "record.json"
        if exists:
            path.write_text(OLD)
        result = run(program, *SMALL[program], "--json", path, **keywords)
        self.assertEqual(result.status, FAILED, result.out + result.err)
        self.assertEqual(len(result.err.splitlines()), 1, result.err)
        self.assertIn("record.json", result.err)
        self.assertEqual([p.name for p in folder.iterdir()], ["record.json"] if exists else [])
        if exists:
            self.assertEqual(path.read_text(), OLD)
            path.unlink()

    @contextlib.contextmanager
    def tiny_disk(self):
        """A file system of one page, or a skipped test where none can be mounted."""
        if os.geteuid() != 0 or shutil.which("mount") is None:
            self.skipTest("only root can mount a small disk")
        disk = self.folder / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", str(disk)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            self.skipTest("this container may not mount")
        try:
            yield disk
        finally:
            subprocess.run(["umount", str(disk)], check=True)

    def test_an_old_record_is_replaced(self):
        path = self.folder / "record.json"
        path.write_text(OLD)
        self.assertPassed(run("box_blur", *SMALL["box_blur"], "--json", path))
        self.assertTrue(path.read_text().startswith("{"))
        self.assertEqual([p.name for p in self.folder.iterdir()], ["record.json"])

    def test_standard_output_that_is_full(self):
        for program in PROGRAMS:
            for options in ((), ("--json", "-")):
                with self.subTest(program=program, options=options), open("/dev/full", "w") as full:
                    command = [path_of(program), *SMALL[program], *options]
                    done = subprocess.run(
                        command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=300
                    )
                    self.assertEqual(done.returncode, FAILED)
                    self.assertIn("standard output", done.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
