"""What the rewriter's tests share: they rewrite, compile against stub/cuda_runtime.h, and run."""

import io
import os
import shlex
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

HERE = Path(__file__).resolve().parent
EMULATOR = HERE.parents[1] / "common" / "emulator"
sys.dont_write_bytecode = True
sys.path.insert(0, str(EMULATOR))
import rewrite as rewriter  # noqa: E402

COMPILER = shlex.split(os.environ.get("CXX") or "g++")


def run(*command, **options):
    """Runs a command to its end; the result holds its status and what it printed."""
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=300, **options
    )


def rewrite(*arguments):
    """Runs rewrite.py within this process, which is quicker than a process of its own."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = rewriter.main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())


def compile_stub(source, *arguments, **options):
    """Compiles a rewritten file against the stub."""
    return run(
        *COMPILER,
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-I",
        HERE / "stub",
        "-include",
        "cuda_runtime.h",
        source,
        *arguments,
        **options,
    )


class RewriterTest(unittest.TestCase):
    """Gives each test a folder of its own, and short ways to rewrite text."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    def rewritten(self, text, *arguments, name="program.cu"):
        """The rewritten text behind its #line."""
        result = rewrite(self.write(name, text), "-o", self.folder / "out", *arguments)
        self.assertEqual((result.stderr, result.returncode), ("", 0))
        output = Path(result.stdout.splitlines()[0]).read_bytes().decode()
        first, _, rest = output.partition("\n")
        self.assertEqual(first, f'#line 1 "{self.folder / name}"')
        return rest

    def refused(self, text, line, *words, name="program.cu"):
        """Checks that rewriting stops with one message, FILE:LINE: first, and leaves no output."""
        path = self.write(name, text)
        result = rewrite(path, "-o", self.folder / "out")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertTrue(result.stderr.startswith(f"{path}:{line}: "), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
        self.assertFalse((self.folder / "out").exists())

    def compiled(self, text, *arguments):
        """Compiles the rewritten text; returns the compiler's result."""
        self.rewritten(text)
        return compile_stub(
            self.folder / "out" / "program.cu.cpp", "-o", self.folder / "program", *arguments
        )
