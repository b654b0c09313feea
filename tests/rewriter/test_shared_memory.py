"""shared_memory.cu, rewritten, compiled and run: every way to declare shared memory."""

import tempfile
import unittest
from pathlib import Path

from support import HERE, RewriterTest, compile_stub, rewrite, run

CASES = """
aligned, aligned struct in place, aligned: several, aligned: sizes, array, array of arrays,
bounds, dynamic, dynamic rows, elaborated type, in a loop, inner scope, lambda, lambda by value,
macro, macro extern, macro without parameters, nameless struct, namespace scope, namespace scope:
functor, namespace scope: hidden, namespace scope: lambda, qualified type, scalar, several,
several lines, several: types, static, struct in place, templated, templated type, type first,
union in place, volatile, words, wrapped
"""


class SharedMemoryTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            rewritten = rewrite(HERE / "shared_memory.cu", "-o", folder)
            compiled = compile_stub(
                folder / "shared_memory.cu.cpp", "-Werror", "-o", folder / "program"
            )
            cls.problems = rewritten.stderr + compiled.stderr
            cls.output = run(folder / "program").stdout if not cls.problems else ""

    def test_compiles_without_a_warning(self):
        self.assertEqual(self.problems, "")

    def test_every_form(self):
        lines = [line.split("|") for line in self.output.splitlines()]
        self.assertEqual(sorted({case for case, _ in lines}), " ".join(CASES.split()).split(", "))
        for case, verdict in lines:
            with self.subTest(case):
                self.assertEqual(verdict, "right")


class SiteTest(RewriterTest):
    """Each variable is a site of its own: what surrounds a variable can then be watched."""

    def test_one_site_for_each_declarator(self):
        text = self.rewritten("__global__ void k() { __shared__ float a[4], b; }\n")
        self.assertIn("auto& a = ::emu::shared_variable<emu_shared_a, emu_shared_a>().a;", text)
        self.assertIn("auto& b = ::emu::shared_variable<emu_shared_b, emu_shared_b>().b;", text)

    def test_extern_in_a_host_function_of_the_same_name_is_left_alone(self):
        text = self.rewritten("extern __shared__ int s[];\nvoid host() { int s[2]; s[0] = 1; }\n")
        self.assertIn("void host() { int s[2]; s[0] = 1; }", text)

    def test_extern_of_namespace_scope_from_an_included_file(self):
        self.write("shared.cuh", "#pragma once\nextern __shared__ int s[];\n")
        result = self.compiled(
            '#include "shared.cuh"\n__global__ void k() { s[1] = 3; }\n'
            "int main() {\n    k<<<1, 1, 8>>>();\n"
            "    return reinterpret_cast<int*>(emu::dynamic_memory)[1];\n}\n"
        )
        self.assertEqual(result.stderr, "")
        self.assertEqual(run(self.folder / "program").returncode, 3)


if __name__ == "__main__":
    unittest.main()
