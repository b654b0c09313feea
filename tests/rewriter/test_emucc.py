"""emucc takes nvcc's options, and its results and messages are those of a compiler."""

import os
import sys
import unittest

from support import COMPILER, EMULATOR, HERE, RewriterTest, run
from test_launches import EXPECTED

RUNTIME = os.environ.get("EMULATOR_RUNTIME")
PROGRAM = """#include <cstdio>
#include "value.hpp"
__global__ void k(int* p) { __shared__ int s; s = VALUE; *p = s; }
int main() {
    int *p, r = 0;
    cudaMalloc(&p, sizeof r);
    k<<<1, 1>>>(p);
    cudaMemcpy(&r, p, sizeof r, cudaMemcpyDeviceToHost);
    std::printf("%d\\n", r);
}
"""


class EmuccTest(RewriterTest):
    """Programs that use nothing of the emulator's library are linked with an empty one."""

    @classmethod
    def setUpClass(cls):
        cls.environment = {
            key: value for key, value in os.environ.items() if key != "EMULATOR_RUNTIME"
        }

    def setUp(self):
        super().setUp()
        source = self.write("empty.cpp", "")
        run(*COMPILER, "-c", source, "-o", self.folder / "empty.o")
        (self.folder / "runtime").mkdir()
        run("ar", "rcs", self.folder / "runtime" / "libemulator.a", self.folder / "empty.o")

    def emucc(self, *words, **environment):
        return run(
            sys.executable,
            "-B",
            EMULATOR / "emucc",
            *words,
            cwd=self.folder,
            env={**self.environment, **environment},
        )

    def linked(self, *words):
        result = self.emucc("--runtime", "runtime", *words)
        self.assertEqual((result.stdout, result.stderr, result.returncode), ("", "", 0))

    def status_of(self, program="a.out"):
        return run(self.folder / program).returncode

    def test_program(self):
        self.write("a.cu", "int main() { return 3; }\n")
        self.linked("a.cu")
        self.assertEqual(self.status_of(), 3)
        self.linked("a.cu", "-o", "named")
        self.assertEqual(self.status_of("named"), 3)

    def test_runtime_by_environment(self):
        self.write("a.cu", "int main() { return 3; }\n")
        self.assertEqual(self.emucc("a.cu", EMULATOR_RUNTIME="runtime").returncode, 0)

    def test_programs_switch_fibers_as_the_library_does(self):
        self.write("a.cu", "int main() { return 0; }\n")
        words = ("--runtime", "runtime", "-fsyntax-only", "a.cu")
        self.assertNotIn("-DEMULATOR_BOOST_CONTEXT", self.emucc(*words, CXX="echo").stdout)
        self.write("runtime/uses_boost", "")
        self.assertIn("-DEMULATOR_BOOST_CONTEXT", self.emucc(*words, CXX="echo").stdout)

    def test_what_the_program_sees(self):
        self.write(
            "a.cu",
            """
#if !defined(__CUDACC__) || defined(__CUDA_ARCH__) || defined(__NVCC__)
#error wrong macros
#endif
#if defined(__CUDACC_VER_MAJOR__) || defined(__CUDACC_DEBUG__)
#error wrong macros
#endif
static_assert(__cplusplus == 201703L);
int main() {
#pragma unroll
    for (int i = 0; i < 4; ++i) {}
#pragma unroll 4
#pragma nv_diag_suppress 177
    return sizeof(dim3) == 12 ? VALUE - DEFINED : 1;
}
""",
        )
        self.linked("-Wall", "-Wextra", "-Werror", "-DVALUE=4", "-D", "DEFINED=4", "a.cu")
        self.assertEqual(self.status_of(), 0)

    def test_aliasing_is_allowed(self):
        self.write(
            "a.cu",
            """
__attribute__((noinline)) int f(int* i, float* x) { *i = 1; *x = 0; return *i; }
int main() { int i; return f(&i, reinterpret_cast<float*>(&i)); }
""",
        )
        self.linked("-O2", "a.cu")
        self.assertEqual(self.status_of(), 0)

    def test_options_of_nvcc_are_dropped(self):
        self.write("a.cu", "int main() { return 0; }\n")
        self.linked(
            *"""-O2 -std=c++17 -arch=sm_90 -arch native -gencode arch=compute_80,code=sm_80
            -gencode=arch=compute_90,code=sm_90 -code=sm_90 --gpu-architecture=sm_80 -lineinfo
            --expt-relaxed-constexpr --expt-extended-lambda -expt-relaxed-constexpr
            --extended-lambda -Xptxas -v -Xptxas=-O3 --ptxas-options=-v -rdc=false -rdc false
            -use_fast_math --use_fast_math -ftz=true -fmad false -maxrregcount=32 -maxrregcount
            32 -cudart static -lcudart -lcudart_static -ccbin g++ -t 2 --threads=0 -x cu
            -Wno-deprecated-gpu-targets -Xcudafe --diag_suppress=177 -diag-suppress 177 a.cu""".split()
        )
        self.assertEqual(self.status_of(), 0)

    def test_options_for_the_compiler_and_the_linker(self):
        self.write("a.cu", '#include <cmath>\n#include "h.hpp"\nint main() { return VALUE; }\n')
        self.write("inc/h.hpp", "#define VALUE X + 1\n")
        self.linked(
            "-Xcompiler",
            "-Wall,-DX=2",
            "-Xcompiler=-Wextra",
            "--compiler-options",
            "-Wshadow",
            "-Iinc",
            "-I",
            "gone",
            "-lm",
            "-L",
            ".",
            "-Xlinker",
            "--as-needed",
            "-O3",
            "-g",
            "a.cu",
        )
        self.assertEqual(self.status_of(), 3)

    def test_device_debugging(self):
        self.write(
            "a.cu",
            (
                "#ifndef __CUDACC_DEBUG__\n#error no -G\n#endif\n#ifdef __OPTIMIZE__\n"
                "#error optimised\n#endif\nint main() {}\n"
            ),
        )
        self.linked("-G", "-O2", "a.cu")

    def test_separate_compilation(self):
        self.write("a.cu", "int f();\nint main() { return f(); }\n")
        self.write("b.cu", "int f() { return 6; }\n")
        for words in (["-c", "a.cu"], ["-c", "b.cu", "-o", "other.o"]):
            result = self.emucc(*words)
            self.assertEqual((result.stderr, result.returncode), ("", 0))
        self.linked("a.o", "other.o", "-o", "program")
        self.assertEqual(self.status_of("program"), 6)

    def test_several_sources(self):
        self.write("a.cu", "int f();\nint g();\nint main() { return f() + g(); }\n")
        self.write("sub/a.cu", "int f() { return 6; }\n")
        self.write(
            "b.cpp", "#ifdef __CUDA_RUNTIME_INCLUDED\n#error\n#endif\nint g() { return 1; }\n"
        )
        self.linked("a.cu", "sub/a.cu", "b.cpp", "-o", "program")
        self.assertEqual(self.status_of("program"), 7)

    def test_syntax_only(self):
        self.write("a.cu", "int main() { return 0; }\n")
        before = sorted(path.name for path in self.folder.iterdir())
        self.assertEqual(self.emucc("-fsyntax-only", "a.cu").returncode, 0)
        after = {path.name for path in self.folder.iterdir()} - set(before)
        self.assertFalse([name for name in after if not name.endswith(".emu")])

    def test_dependencies(self):
        self.write(
            "with space/a.cu", '#include "k.cuh"\n#include "plain.hpp"\nint main() { return 0; }\n'
        )
        self.write(
            "with space/k.cuh", "__global__ void k() {}\ninline void l() { k<<<1, 1>>>(); }\n"
        )
        self.write("with space/plain.hpp", "")
        self.linked("-MD", "-MF", "a.d", "with space/a.cu", "-o", "pro gram")
        text = (self.folder / "a.d").read_text()
        self.assertTrue(text.startswith("pro\\ gram: "), text)
        names = [
            word.replace("\\ ", " ")
            for word in text.replace("\\\n", "").partition(": ")[2].split("  ")
        ]
        for name in (
            "with space/a.cu",
            "with space/k.cuh",
            "with space/plain.hpp",
            "runtime/libemulator.a",
        ):
            self.assertEqual([n.strip() for n in names].count(name), 1, text)
        self.assertIn(str(EMULATOR / "include" / "cuda_runtime.h"), text)
        self.assertIn(str(EMULATOR / "rewrite.py"), text)
        self.assertNotIn(".emu", text)

    def test_messages_of_the_compiler_name_the_original(self):
        source = self.write(
            "a.cu", "__global__ void k() {}\nint main() {\n    k<<<1,\n        wrong>>>();\n}\n"
        )
        for name in ("a.cu", source):
            result = self.emucc("--runtime", "runtime", name, "-o", "program")
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"{name}:4:", result.stderr)
            self.assertFalse((self.folder / "program").exists())

    def test_a_failure_leaves_the_older_program(self):
        self.write("a.cu", "int main() { return 3; }\n")
        self.linked("a.cu")
        for text in (
            "wrong",
            "int missing();\nint main() { return missing(); }\n",
            "void f() { k<<<1; }\n",
        ):
            self.write("a.cu", text)
            self.assertEqual(self.emucc("--runtime", "runtime", "a.cu").returncode, 1)
            self.assertEqual(self.status_of(), 3)

    def test_refusal(self):
        self.write("a.cu", "\nvoid f() { k<<<1; }\n")
        result = self.emucc("--runtime", "runtime", "a.cu")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("a.cu:2: this launch never ends"), result.stderr)

    def test_usage(self):
        self.write("a.cu", "")
        for words in (
            [],
            ["-O2"],
            ["-o"],
            ["a.txt"],
            ["a.cu", "-I"],
            ["a.cu", "-gencode"],
            ["-c", "a.cu", "b.cu", "-o", "x.o"],
            ["-"],
            ["a.cu", "-ptx"],
            ["a.cu", "--default-stream", "per-thread"],
            ["-c", "a.o"],
        ):
            with self.subTest(words):
                result = self.emucc("--runtime", "runtime", *words)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertTrue(result.stderr.startswith("emucc: "), result.stderr)
                self.assertIn("usage: emucc", result.stderr)
                self.assertNotIn("Traceback", result.stderr)
        self.assertEqual(self.emucc("a.cu").returncode, 2)
        self.assertEqual(self.emucc("--help").returncode, 0)

    def test_missing_pieces_of_the_set_up(self):
        self.write("a.cu", "int main() {}\n")
        result = self.emucc("--runtime", "gone", "a.cu")
        self.assertEqual(
            (result.returncode, result.stderr),
            (3, "emucc: gone/libemulator.a is missing; run ./course setup\n"),
        )
        result = self.emucc("--runtime", "runtime", "a.cu", CXX="no-such-compiler")
        self.assertEqual(
            (result.returncode, result.stderr),
            (3, "emucc: no-such-compiler is missing; run ./course setup, or set CXX\n"),
        )

    def test_missing_and_unreadable_sources(self):
        for name in ("gone.cu", "folder.cu"):
            (self.folder / "folder.cu").mkdir(exist_ok=True)
            result = self.emucc("--runtime", "runtime", name)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.startswith(f"{name}: "), result.stderr)
            self.assertEqual(result.stderr.count("\n"), 1)

    def test_output_in_a_folder_that_does_not_exist(self):
        self.write("a.cu", "int main() {}\n")
        self.write("file", "")
        result = self.emucc("--runtime", "runtime", "a.cu", "-o", "file/program")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("emucc: file"), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)


@unittest.skipUnless(RUNTIME, "EMULATOR_RUNTIME does not name the emulator's library")
class RuntimeTest(RewriterTest):
    """The same with the emulator's own library."""

    def test_program(self):
        self.write("value.hpp", "#define VALUE 42\n")
        source = self.write("a.cu", PROGRAM)
        result = run(
            sys.executable, "-B", EMULATOR / "emucc", "-O1", source, "-o", self.folder / "program"
        )
        self.assertEqual((result.stderr, result.returncode), ("", 0))
        self.assertEqual(run(self.folder / "program").stdout, "42\n")

    def output_of(self, name):
        """What a source of these tests prints when the emulator runs it."""
        text = (HERE / f"{name}.cu").read_text()
        for word in ("emu::form.c_str()", "emu::name.c_str()", "emu::shared_bytes", "emu::stream"):
            # What the stub knows of the last launch, the emulator does not keep.
            text = text.replace(word, '""' if word.endswith("()") else "sizeof(char)")
        text = text.replace("|%zu|%d", "|%zu|%zu").replace("stream = 9;", "stream = nullptr;")
        source = self.write(f"{name}.cu", text)
        emucc = [sys.executable, "-B", EMULATOR / "emucc", "-O1", "-Wall", "-Wextra", "-Werror"]
        result = run(*emucc, source, "-o", self.folder / name)
        self.assertEqual((result.stderr, result.returncode), ("", 0))
        result = run(self.folder / name)
        self.assertEqual((result.stderr, result.returncode), ("", 0))
        return [line.split("|") for line in result.stdout.splitlines()]

    def test_every_launch_runs(self):
        got = [(line[0], line[3]) for line in self.output_of("launches")]
        expected = [line.split("|") for line in EXPECTED.splitlines()]
        self.assertEqual(got, [(line[0], line[3]) for line in expected])

    def test_every_shared_declaration_runs(self):
        lines = self.output_of("shared_memory")
        self.assertGreater(len(lines), 30)
        self.assertEqual([line for line in lines if line[1] != "right"], [])


if __name__ == "__main__":
    unittest.main()
