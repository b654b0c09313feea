"""A line keeps its number: in messages, in __LINE__, in what a debugger is told."""

import re
import unittest

from support import RewriterTest

CONSTRUCTS = {
    "launch": "k<<<1, 1>>>(&r);",
    "launch over lines": "k\n  <<<\n 1 , // one\n 1\n>>>\n(\n&r\n)\n;",
    "deduced over lines": "t\n<<<1,\n1>>>(\n&r,\n0,\n1\n);",
    "pointer over lines": "(\n*p\n)\n<<<1,\n1>>>(&r);",
    "member over lines": "m\n.\np<<<1,\n1>>>(&r);",
    "macro over lines": "#define L(x) \\\n x<<< \\\n 1, 1 \\\n >>>( \\\n &r)\nL(k);",
    "shared over lines": "__shared__ int a,\n b[\n2],\n c;\n a = b[0] = c = 1; r = a;",
    "shared struct": "__shared__ struct {\n int x;\n // y\n int y; } s;\n s.x = 1;",
    "shared qualifiers": "static\n __shared__\n alignas(\n16)\n int a;\n a = 1;",
    "shared macro": "#define S(t, \\\n n) __shared__ \\\n t n[ \\\n 2]\nS(int, a);\n a[0] = 1;",
    "extern over lines": "extern\n __shared__\n int\n a[\n];\n a[0] = 1;",
    "comment": "/* k<<<1,\n1>>>(x) */ // k<<<1, 1>>>(x) \\\n still the comment",
    "raw string": 'r = sizeof(R"(k<<<\n1, 1\n>>>()\n)");',
    "spliced string": 'r = sizeof("k<<<\\\n1");',
    "skipped": (
        "#if 0\n don't <<< __shared__ \"\n#if 1\n#else\n#endif\n/* \n#else\n"
        '*/ "/*" // /*\n#else\n#ifndef __CUDA_ARCH__\nr = 1;\n#elif 1\n it\'s\n#endif\n'
        "#endif"
    ),
    "register read": (
        'unsigned long long u;\nasm volatile(\n"mov.u64 %0,"\n" %%globaltimer;"\n'
        ': "=l"(u));\nr = static_cast<int>(u);'
    ),
}
HEAD = """#include <cstdio>
__global__ void k(int* p) { *p = 1; }
template <class T> __global__ void t(T* p, T v, int* = nullptr) { *p = v; }
template <class T> __global__ void t(T* p, T v, int) { *p = v; }
struct M { void (*p)(int*) = k; };
"""


def program(last):
    ("""A function for each construct; `last` makes its last line from that line's number.""")
    text = HEAD
    for number, (name, construct) in enumerate(CONSTRUCTS.items()):
        qualifier = "__device__ " if name.startswith(("shared", "extern", "register")) else ""
        text += f"{qualifier}void f{number}() {{ int r = 0; M m; auto p = k; "
        text += f"(void)r; (void)m; (void)p;\n{construct}\n"
        text += last(name, text.count("\n") + 1) + "\n}\n"
    return text + "int main() {}"


class LineTest(RewriterTest):
    def check(self, newline):
        text = program(lambda name, line: f'static_assert(__LINE__ == {line}, "{name}");')
        result = self.compiled(text.replace("\n", newline), "-w")
        self.assertEqual(result.stderr, "")
        wrong = []
        text = program(lambda name, line: wrong.append(line) or "undeclared_name;")
        result = self.compiled(text.replace("\n", newline), "-w", "-fsyntax-only")
        reported = re.findall(r"^(.*):(\d+):\d+: error: .*undeclared_name", result.stderr, re.M)
        self.assertEqual(reported, [(f"{self.folder}/program.cu", str(line)) for line in wrong])

    def test_unix_line_ends(self):
        self.check("\n")

    def test_windows_line_ends(self):
        self.check("\r\n")

    def test_error_inside_a_launch_names_its_line(self):
        for text, line in (
            ("void f() {\nk<<<1,\nundeclared>>>();\n}\n", 3),
            ("void f() {\nk<<<1, 1>>>(\n\nundeclared);\n}\n", 4),
            ("void f() {\n\nmisspelt<<<1, 1>>>();\n}\n", 3),
            ("void f() {\n\nk<<<1, 1>>>(3);\n}\n", 3),
        ):
            with self.subTest(text):
                result = self.compiled("__global__ void k() {}" + text, "-fsyntax-only")
                self.assertIn(f"{self.folder}/program.cu:{line}:", result.stderr)
                self.assertNotIn(".cpp:", result.stderr)

    def test_error_inside_a_shared_declaration_names_its_line(self):
        for text, line in (
            ("__shared__ Unknown a;", 2),
            ("\n__shared__ int a[\nunknown];", 4),
            ("__shared__ struct {\nUnknown u; } s;", 3),
        ):
            with self.subTest(text):
                result = self.compiled("__global__ void k() {\n" + text + "\n}\n", "-fsyntax-only")
                self.assertIn(f"{self.folder}/program.cu:{line}:", result.stderr)


if __name__ == "__main__":
    unittest.main()
