"""What cannot be translated stops with FILE:LINE: and a sentence that says what to do."""

import os
import re
import unittest

from support import RewriterTest, rewrite

DEVICE = "__global__ void k(int* p) {\n"


class RefusalTest(RewriterTest):
    def test_launch_that_never_ends(self):
        for text in (
            "void f() {\nk<<<1, 1\n;\n}\n",
            "void f() {\nk<<<1, 1",
            "void f() {\nk<<<1, (1>>>(p);\n}\n",
            "void f() {\nk<<<1, 1}\n",
            "void f() {\nk<<<1, 1>>(p);\n}\n",
            "void f() {\nk<<<1, j<<<1, 1>>>(p);\n}\n",
            "\n#define L k<<<1, \\\n1\n void f() {}\n",
        ):
            with self.subTest(text):
                self.refused(
                    text, 2, "this launch never ends", "kernel<<<grid, block>>>(arguments)"
                )

    def test_launch_without_arguments(self):
        for text in (
            "void f() {\nk<<<1, 1>>>;\n}\n",
            "void f() {\nk<<<1, 1>>>(p;\n}\n",
            "void f() {\nk<<<1, 1>>>",
            "void f() {\nk<<<1, 1>>>{p};}",
            "\n#define L k<<<1, 1>>> p\n",
        ):
            with self.subTest(text):
                self.refused(text, 2, "no complete argument list")

    def test_launch_without_a_kernel(self):
        for text in (
            "void f() {\n<<<1, 1>>>(p);\n}\n",
            "void f() { return\n <<<1, 1>>>(p); }",
            "\n#define CONFIG <<<1, 1>>>\nvoid f() { k CONFIG(p); }",
            "void f() {\n 3 <<<1, 1>>>(p); }",
            "void f() {\n a > <<<1, 1>>>(p); }",
        ):
            with self.subTest(text):
                self.refused(text, 2, "no kernel stands before <<<", "directly before <<<")

    def test_launch_on_the_device(self):
        for text in (
            DEVICE + "k<<<1, 1>>>(p); }",
            "__device__ void f() {\nif (1) { k<<<1, 1>>>(p); } }",
            "struct S { __device__ int operator()(int) const\n{ k<<<1, 1>>>(0); return 1; } };",
            "void f() { g([=] __device__ (int i) {\nk<<<1, 1>>>(i); }); }",
            (
                "template <class T, int N = 3> __global__ void k(T v = {}) {\n"
                "auto f = [&] { k<<<1, 1>>>(v); }; }"
            ),
        ):
            with self.subTest(text):
                self.refused(text, 2, "dynamic parallelism", "launch from the host")

    def test_host_code_beside_device_code_may_launch(self):
        for text in (
            "__host__ __device__ void f() { k<<<1, 1>>>(0); }",
            "void f() { g([=] __device__ (int i) { h(i); }, [&] { k<<<1, 1>>>(0); }); }",
            "__global__ void k(int);\nvoid f() { k<<<1, 1>>>(0); }",
            "struct S { __device__ int x() { return 1; } void run() { k<<<1, 1>>>(0); } };",
        ):
            with self.subTest(text):
                self.assertIn("::emu::launch", self.rewritten(text))

    def test_shared_with_an_initialiser(self):
        for declaration in (
            "__shared__ int a = 1;",
            "__shared__ int a{};",
            "__shared__ int a(3);",
            "__shared__ int b, a = 2;",
            "__shared__ float a[2] = {1, 2};",
            "static __shared__ T<int> a = {};",
        ):
            with self.subTest(declaration):
                self.refused(
                    DEVICE + declaration + "\n}", 2, "cannot be initialised", "__syncthreads()"
                )

    def test_shared_outside_of_a_function(self):
        for text in (
            "\n__shared__ int a[3];",
            "namespace n {\nstatic __shared__ int a; }",
            "struct S {\n__shared__ int a; };",
        ):
            with self.subTest(text):
                self.refused(text, 2, "outside of a function", "inside the kernel")

    def test_shared_without_a_declaration(self):
        for text in (
            "\n#define SHARED __shared__\n",
            DEVICE + "__shared__;\n}",
            DEVICE + "__shared__ int;\n}",
        ):
            with self.subTest(text):
                self.refused(text, 2, "no variable is declared")
        for text in (
            "__device__ int f(\n__shared__ int* p) { return *p; }",
            DEVICE + "__shared__ int a }",
            DEVICE + "__shared__ int a[3;\n}",
            DEVICE + "__shared__ int a",
        ):
            with self.subTest(text):
                self.refused(text, 2, "not part of a declaration")

    def test_what_the_emulator_lacks(self):
        self.refused("\ntexture<float, 1> t;", 2, "textures and surfaces", "pointer")
        self.refused(DEVICE + "*p = tex2D<int>(0, 1, 2); }", 2, "textures and surfaces")
        self.refused("\n__global__ void f(cudaTextureObject_t t) {}", 2, "textures and surfaces")
        self.refused(
            "\n__global__ void __cluster_dims__(2, 1, 1) f() {}",
            2,
            "clusters",
            "without __cluster_dims__",
        )

    def test_broken_text(self):
        kernel = "__global__ void k();\n"
        self.refused(kernel + "/* no end\n\n", 2, "this comment never ends", "*/")
        for text in (
            'const char* s = "no end;\n',
            'auto s = R"x(no end)y";\n',
            'auto s = u8R"(no end";',
            'f(L"no end',
        ):
            with self.subTest(text):
                self.refused(kernel + text, 2, "this string never ends")
        self.refused(kernel.encode() + b"// caf\xe9\n", 2, "not UTF-8", "save")

    def test_missing_files(self):
        for name, reason in (("nowhere.cu", "No such file or directory"), (".", "Is a directory")):
            path = self.folder / name
            result = rewrite(path, "-o", self.folder / "out")
            self.assertEqual(
                (result.returncode, result.stderr),
                (1, f"{path}: {reason}; name a source file that can be read\n"),
            )

    @unittest.skipIf(os.geteuid() == 0, "root reads every file")
    def test_unreadable_file(self):
        path = self.write("secret.cu", "")
        path.chmod(0)
        result = rewrite(path, "-o", self.folder / "out")
        self.assertEqual(
            (result.returncode, result.stderr),
            (1, f"{path}: Permission denied; name a source file that can be read\n"),
        )

    def test_output_folder_that_cannot_be_made(self):
        result = rewrite(self.write("a.cu", ""), "-o", self.write("file", "") / "out")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertIn("name a folder that can be written", result.stderr)

    def test_usage(self):
        for arguments in ((), ("a.cu",), ("a.cu", "-o"), ("a.cu", "-o", "out", "--unknown")):
            with self.subTest(arguments):
                self.assertEqual(rewrite(*arguments).returncode, 2)

    def test_refusal_in_an_included_file_names_that_file(self):
        header = self.write("part.cuh", "\n\n__device__ void f() { k<<<1, 1>>>(); }\n")
        result = rewrite(self.write("a.cu", '#include "part.cuh"\n'), "-o", self.folder / "out")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith(f"{header}:3: "), result.stderr)

    def test_an_older_output_survives_a_refusal(self):
        before = self.rewritten("__global__ void k();\nvoid f() { k<<<1, 1>>>(); }\n")
        path = self.write("program.cu", "void f() { k<<<1, 1; }\n")
        self.assertEqual(rewrite(path, "-o", self.folder / "out").returncode, 1)
        self.assertTrue((self.folder / "out" / "program.cu.cpp").read_text().endswith(before))


class CompiledRefusalTest(RewriterTest):
    """What may stand behind a condition is refused only where the compiler reads it."""

    def test_inline_ptx(self):
        code = ""
        for number, guard in enumerate(
            ("#ifdef __CUDA_ARCH__", "#if defined(NEVER_DEFINED)", "#if 0", "#if 1")
        ):
            code += (
                f"__global__ void k{number}(int* p) {{\n(void)p;\n{guard}\n"
                'asm volatile("add.s32 %0, %1, 1;" : "=r"(*p) : "r"(1));\n#endif\n}\n'
            )
        result = self.compiled(code, "-fsyntax-only")
        self.assertEqual(re.findall(r"program.cu:(\d+):\d+: error", result.stderr), ["22"])
        self.assertIn("inline PTX is not emulated; write it in CUDA C++", result.stderr)

    def test_missing_headers(self):
        names = (
            "cooperative_groups.h",
            "cuda_fp16.h",
            "cuda_bf16.h",
            "mma.h",
            "cub/cub.cuh",
            "thrust/sort.h",
            "curand_kernel.h",
            "cublas_v2.h",
            "cuda/atomic",
            "cuda/std/array",
            "cusparse.h",
            "cooperative_groups/reduce.h",
        )
        result = self.compiled(
            "\n".join(f"#include <{name}>" for name in names) + "\n", "-fsyntax-only"
        )
        for line, name in enumerate(names, start=1):
            self.assertIn(f"{self.folder}/program.cu:{line}:", result.stderr)
            self.assertIn(
                f"{name} is not part of the emulator; run this program on a GPU", result.stderr
            )
        guarded = "".join(
            f"#if {condition}\n#include <{name}>\n#endif\n"
            for name in names
            for condition in (
                f"__has_include(<{name}>)",
                "0",
                "defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700",
                "NEVER_DEFINED > 1",
            )
        )
        self.assertEqual(self.compiled(guarded, "-fsyntax-only").stderr, "")

    def test_headers_that_cuda_runtime_stands_for(self):
        names = (
            "cuda.h",
            "cuda_runtime_api.h",
            "device_launch_parameters.h",
            "vector_types.h",
            "driver_types.h",
        )
        text = self.rewritten("".join(f"#include <{name}>\n" for name in names))
        self.assertEqual(
            set(text.splitlines()) - {f"#include <{name}>" for name in names},
            {"#include <cuda_runtime.h>"},
        )

    def test_a_local_header_of_the_same_name_is_used(self):
        self.write("thrust/mine.h", "constexpr int mine = 4;\n")
        result = self.compiled(
            '#include "thrust/mine.h"\nstatic_assert(mine == 4);\nint main() {}\n'
        )
        self.assertEqual(result.stderr, "")


if __name__ == "__main__":
    unittest.main()
