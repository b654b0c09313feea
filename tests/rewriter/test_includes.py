"""Local includes: only those that hold something to rewrite are rewritten."""

import os
import unittest

from support import RewriterTest, compile_stub, rewrite, run

KERNEL = "#pragma once\n__global__ void k(int* p) { __shared__ int s; s = 3; *p += s; }\n"
LAUNCHER = (
    '#pragma once\n#include "kernel.cuh"\ninline void launch(int* p) {\n    k<<<1, 1>>>(p);\n}\n'
)
MAIN = '#include "{}"\nint main() {{ int r = 1; {} return r; }}\n'


class IncludeTest(RewriterTest):
    def build(self, main, *folders, name="program.cu"):
        """Rewrites, compiles and runs; returns the program's status and the outputs' names."""
        options = [word for folder in folders for word in ("-I", folder)]
        result = rewrite(self.write(name, main), "-o", self.folder / "out", *options)
        self.assertEqual((result.stderr, result.returncode), ("", 0))
        outputs = result.stdout.split()
        compiled = compile_stub(outputs[0], "-o", self.folder / "program", *options)
        self.assertEqual(compiled.stderr, "")
        return run(self.folder / "program").returncode, [
            os.path.basename(output) for output in outputs
        ]

    def test_kernel_and_launch_in_headers(self):
        self.write("kernel.cuh", KERNEL)
        self.write("launcher.hpp", LAUNCHER)
        status, outputs = self.build(MAIN.format("launcher.hpp", "launch(&r); k<<<1, 1>>>(&r);"))
        self.assertEqual(status, 7)
        self.assertEqual(
            [name.split("_")[-1] for name in outputs],
            ["program.cu.cpp", "kernel.cuh", "launcher.hpp"],
        )

    def test_a_header_without_anything_to_rewrite_is_read_where_it_is(self):
        header = self.write("plain.hpp", "inline const char* where() { return __FILE__; }\n")
        text = self.rewritten(
            '#include "plain.hpp"\n#include <cstdio>\nint main() { std::puts(where()); }\n'
        )
        self.assertIn(f'#include "{header}"\n#include <cstdio>\n', text)
        self.assertEqual(os.listdir(self.folder / "out"), ["program.cu.cpp"])

    def test_folders_of_headers(self):
        self.write("inc/kernel.cuh", KERNEL)
        self.write("inc/deep/launcher.hpp", LAUNCHER.replace("kernel.cuh", "../kernel.cuh"))
        for form in ('"deep/launcher.hpp"', "<deep/launcher.hpp>"):
            main = MAIN.replace('"{}"', "{}").format(form, "launch(&r);")
            self.assertEqual(self.build(main, self.folder / "inc")[0], 4)

    def test_the_folder_of_the_file_comes_before_the_others(self):
        self.write("source/value.hpp", "constexpr int value = 5;\n")
        self.write("inc/value.hpp", "constexpr int value = 6;\n")
        self.write(
            "inc/next.hpp",
            (
                '#include "value.hpp"\n__global__ void k() {}\n'
                "inline int f() { k<<<1, 1>>>(); return value; }\n"
            ),
        )
        main = '#include "{}"\nint main() {{ return {}; }}\n'
        self.assertEqual(
            self.build(main.format("value.hpp", "value"), self.folder / "inc", name="source/a.cu")[
                0
            ],
            5,
        )
        self.assertEqual(
            self.build(main.format("next.hpp", "f()"), self.folder / "inc", name="source/a.cu")[0],
            6,
        )

    def test_one_file_by_two_names_is_one_file(self):
        self.write("sub/kernel.cuh", KERNEL)
        os.symlink(self.folder / "sub" / "kernel.cuh", self.folder / "link.cuh")
        main = (
            '#include "sub/kernel.cuh"\n#include "sub/../sub/kernel.cuh"\n'
            '#include "link.cuh"\nint main() { int r = 0; k<<<1, 1>>>(&r); return r; }\n'
        )
        status, outputs = self.build(main)
        self.assertEqual((status, len(outputs)), (3, 2))

    def test_two_files_of_one_name(self):
        self.write(
            "a/part.cuh",
            (
                "__global__ void ka(int* p) { *p += 1; }\n"
                "inline void la(int* p) { ka<<<1, 1>>>(p); }\n"
            ),
        )
        self.write(
            "b/part.cuh",
            (
                "__global__ void kb(int* p) { *p += 2; }\n"
                "inline void lb(int* p) { kb<<<1, 1>>>(p); }\n"
            ),
        )
        main = (
            '#include "a/part.cuh"\n#include "b/part.cuh"\n'
            "int main() { int r = 0; la(&r); lb(&r); return r; }\n"
        )
        self.assertEqual(self.build(main)[0], 3)

    def test_headers_that_include_each_other(self):
        self.write("a.cuh", '#pragma once\n#include "b.cuh"\ninline int a() { return 1; }\n')
        self.write(
            "b.cuh",
            (
                '#pragma once\n#include "a.cuh"\n__global__ void k(int* p) { *p = 2; }\n'
                "inline void b(int* p) { k<<<1, 1>>>(p); }\n"
            ),
        )
        self.assertEqual(self.build(MAIN.format("a.cuh", "b(&r); r += a();"))[0], 3)

    def test_a_header_behind_a_false_condition_is_not_read(self):
        self.write("broken.cuh", "__global__ void k() { k<<<1; }\n")
        self.assertEqual(
            self.build(
                (
                    '#if 0\n#include "broken.cuh"\n#endif\nint main() { return 1; }\n'
                    "__global__ void k();\n"
                )
            )[0],
            1,
        )

    def test_has_include_finds_what_lies_beside_the_file(self):
        self.write("there.hpp", "")
        main = (
            '#if __has_include("there.hpp") && !__has_include("gone.hpp")\n'
            "int main() { return 6; }\n#endif\n__global__ void k();\n"
        )
        self.assertEqual(self.build(main)[0], 6)

    def test_a_missing_header_is_reported_by_the_compiler(self):
        result = self.compiled('\n#include "gone.hpp"\n', "-fsyntax-only")
        self.assertIn(f"{self.folder}/program.cu:2:", result.stderr)

    def test_error_in_a_rewritten_header_names_the_header(self):
        header = self.write(
            "part.cuh", "__global__ void k() {}\nvoid f() {\n  k<<<1, 1>>>(); wrong; }\n"
        )
        result = self.compiled('#include "part.cuh"\n', "-fsyntax-only")
        self.assertIn(f"{header}:3:", result.stderr)

    def test_names_with_spaces_and_quotes(self):
        self.write('odd " name/kernel.cuh', KERNEL)
        path = self.write('odd " name/my program.cu', MAIN.format("kernel.cuh", "k<<<1, 1>>>(&r);"))
        result = rewrite(path, "-o", self.folder / "out")
        output = (self.folder / "out" / "my program.cu.cpp").read_text()
        self.assertEqual(result.returncode, 0)
        self.assertTrue(output.startswith('#line 1 "' + str(path).replace('"', '\\"') + '"\n'))

    def test_an_output_that_stays_the_same_keeps_its_time(self):
        self.write("kernel.cuh", KERNEL)
        main = MAIN.format("kernel.cuh", "k<<<1, 1>>>(&r);")
        self.build(main)
        outputs = sorted((self.folder / "out").iterdir())
        for output in outputs:
            os.utime(output, (1, 1))
        self.build(main)
        self.assertEqual([output.stat().st_mtime for output in outputs], [1, 1])
        self.build(main + "\n")
        self.assertEqual(sorted(output.stat().st_mtime == 1 for output in outputs), [False, True])
        self.assertEqual(sorted((self.folder / "out").iterdir()), outputs)


if __name__ == "__main__":
    unittest.main()
