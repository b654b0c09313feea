"""profiling: two tasks that are slow, their mended twins, and the script that collects evidence."""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

from harness import EMULATED, FAILED, ORDERS, RATE, ROOT, SHORT, USAGE, ProgramTest, rates_part, run

PIPELINES = ("bounced", "waited", "queued")
TRANSPOSERS = ("conflicting", "padded")
SCRIPT = ROOT / "chapters" / "13_profiling" / "profile.sh"
SMALL = ("--elements", "1000", "--steps", "3", "--n", "40", *SHORT)
MISSING = 3


def passed(names) -> str:
    return ", ".join(f"{name}=PASS" for name in names)


def rows(text: str) -> list[list[str]]:
    """The names in each table of the output."""
    tables: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        if line.startswith("variant"):
            tables.append([])
            inside = True
        elif inside and re.match(r"\w", line) and re.search(r"\d %", line):
            tables[-1].append(line.split()[0])
        else:
            inside = False
    return tables


class Profiling(ProgramTest):
    def test_tables(self):
        result = run("profiling", *SMALL)
        self.assertPassed(result)
        self.assertEqual(result.err, "")
        self.assertIn(f"\n1000 values, 3 steps: {passed(PIPELINES)}\n", result.out)
        self.assertIn(f"\n40x40: {passed(TRANSPOSERS)}\n", result.out)
        self.assertEqual(rows(result.out), [[*PIPELINES], ["smooth"], [*TRANSPOSERS]])
        self.assertRegex(
            result.out,
            r"Symptom 1: 3 kernels alone take (at most )?[\d.]+ ms: [\d.]+ % of bounced, "
            r"[\d.]+ % of waited, [\d.]+ % of queued",
        )
        self.assertRegex(
            result.out, r"Symptom 2: conflicting reaches [\d.]+ %, padded reaches [\d.]+ % of a"
        )
        self.assertNotIn(RATE, rates_part(result.out[: result.out.rindex("=PASS")]))
        self.assertEqual("emulated" in result.out.lower(), EMULATED)

    def test_sizes(self):
        for elements, steps, n in ((1, 1, 1), (2, 7, 31), (257, 2, 33), (4099, 1, 100)):
            with self.subTest(elements=elements, steps=steps, n=n):
                options = ("--elements", elements, "--steps", steps, "--n", n, *SHORT)
                result = run("profiling", *options)
                self.assertPassed(result)
                self.assertIn(f"{elements} values, {steps} steps: {passed(PIPELINES)}", result.out)
                self.assertIn(f"{n}x{n}: {passed(TRANSPOSERS)}", result.out)

    def test_one_variant(self):
        for name in (*PIPELINES, *TRANSPOSERS):
            with self.subTest(variant=name):
                result = run("profiling", "--variant", name, *SMALL)
                self.assertPassed(result)
                self.assertEqual(rows(result.out), [[name]])
                self.assertEqual(re.findall(r"\w+=PASS", result.out), [name + "=PASS"])
                self.assertNotIn("interval", result.out)

    def test_usage(self):
        for option, value in (
            ("--variant", "direct"),
            ("--variant", ""),
            ("--n", "0"),
            ("--n", "32769"),
            ("--elements", "0"),
            ("--steps", "1e3"),
            ("--steps", "1001"),
        ):
            with self.subTest(option=option, value=value):
                self.assertRefused(run("profiling", option, value), USAGE, option)

    def test_record(self):
        record = self.record("profiling", *SMALL)
        series = [(one["label"], one["name"]) for one in record["series"]]
        self.assertEqual(
            series,
            [("task ms", name) for name in PIPELINES]
            + [("kernel ms", "smooth")]
            + [("kernel ms, n=40", name) for name in TRANSPOSERS],
        )
        pairs = [(one["baseline"], one["variant"]) for one in record["comparisons"]]
        self.assertEqual(
            pairs, [("bounced", "waited"), ("waited", "queued"), ("conflicting", "padded")]
        )
        self.assertEqual(
            record["input"]["parameters"], {"elements": 1000, "steps": 3, "n": [40]}
        )
        timed = {check["name"] for check in record["checks"] if check["when"] == "after timing"}
        self.assertEqual(timed, {*PIPELINES, "smooth", *TRANSPOSERS})

    def test_defects(self):
        for program, *words in (
            ("profiling_uploads_the_input_again", "bounced: FAIL", "2 values, 2 steps", "element"),
            ("profiling_drops_the_last_tiles", "conflicting: FAIL", "31x33", "column 32"),
            ("profiling_stops_working_when_timed", "conflicting: FAIL", "row 0, column 20"),
        ):
            with self.subTest(program=program):
                self.assertRefused(run(program, *SMALL), FAILED, *words)

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_missing_barrier(self):
        for order in ("forward", "reverse", "random:1"):
            with self.subTest(order=order):
                result = run(
                    "profiling_without_barrier", *SMALL, environment={"EMULATOR_ORDER": order}
                )
                self.assertRefused(result, FAILED, "conflicting: FAIL")

    @unittest.skipUnless(EMULATED, "only the emulator can choose the order of the threads")
    def test_thread_orders(self):
        for environment in ORDERS:
            with self.subTest(**environment):
                self.assertPassed(run("profiling", *SMALL, environment=environment))


# What stands in for a profiler: it writes its arguments down and does what the test asks for.
NCU = """#!/bin/sh
echo "ncu $*" >> "$CALLS"
case "$*" in
"--import "*raw)
    echo "  launch__grid_size                16,384"
    echo "  sm__throughput.avg.pct_of_peak_sustained_elapsed  %  12.34" ;;
"--import "*) echo details ;;
--version) echo "Version 2025.3.1.0" ;;
*)
    [ -z "$REFUSES" ] || { echo "==ERROR== ERR_NVGPUCTRPERM - no permission"; exit 1; }
    [ -z "$SEES_NOTHING" ] || { echo "==WARNING== No kernels were profiled."; exit 0; }
    echo "Device 0: a GPU"
    while [ "$1" != --export ]; do shift; done
    echo report > "$2.ncu-rep" ;;
esac
"""
NSYS = """#!/bin/sh
echo "nsys $*" >> "$CALLS"
[ "$1" = profile ] || { echo tables; exit 0; }
for word; do
    case $word in --output=*) echo report > "${word#--output=}.nsys-rep" ;; esac
done
"""


class ProfileScript(ProgramTest):
    def setUp(self):
        super().setUp()
        self.tools = self.folder / "tools"
        self.tools.mkdir()
        for name in ("sh", "awk", "grep", "mkdir", "rm", "cat", "date"):
            (self.tools / name).symlink_to(shutil.which(name))
        self.calls = self.folder / "calls"
        self.calls.write_text("")
        self.program = self.make("program", "#!/bin/sh\n")
        self.out = self.folder / "evidence"

    def make(self, name: str, text: str) -> Path:
        path = self.tools / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def profile(self, *arguments, **environment):
        return subprocess.run(
            ["sh", str(SCRIPT), *map(str, arguments)],
            env={"PATH": str(self.tools), "CALLS": str(self.calls), **environment},
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def test_usage(self):
        for arguments in (
            (),
            (self.program,),
            (self.program, self.out, "more"),
            (self.folder / "nothing", self.out),
            (self.folder, self.out),
        ):
            with self.subTest(arguments=arguments):
                done = self.profile(*arguments)
                self.assertEqual(done.returncode, USAGE, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertFalse(self.out.exists())

    def test_missing_tools_are_named_in_one_line_each(self):
        done = self.profile(self.program, self.out)
        self.assertEqual(done.returncode, MISSING)
        first, second = done.stderr.splitlines()
        self.assertIn("nsys", first)
        self.assertIn("ncu", second)

    def test_one_tool_is_enough_for_its_part(self):
        self.make("ncu", NCU)
        done = self.profile(self.program, self.out)
        self.assertEqual(done.returncode, MISSING)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("nsys", done.stderr)
        table = (self.out / "evidence.txt").read_text()
        self.assertEqual(done.stdout, table)
        self.assertIn("Nsight Compute Version 2025.3.1.0\n", table)
        self.assertIn("\nDevice 0: a GPU\n", table)
        self.assertRegex(table, r"(?m)^launch__grid_size +16,384 +16,384$")
        self.assertRegex(table, r"(?m)^sm__throughput\S+ +% +12\.34 +12\.34$")

    def test_everything(self):
        self.make("ncu", NCU)
        self.make("nsys", NSYS)
        done = self.profile("tools/program", self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for name in PIPELINES:
            self.assertTrue((self.out / f"{name}.nsys-rep").exists())
            self.assertEqual((self.out / f"{name}.txt").read_text(), "tables\n")
        for name in TRANSPOSERS:
            self.assertTrue((self.out / f"{name}.ncu-rep").exists())
            self.assertEqual((self.out / f"{name}.txt").read_text(), "details\n")
        profiled = [line for line in self.calls.read_text().splitlines() if "--variant" in line]
        variants = [re.search(r"--variant (\w+)", line)[1] for line in profiled]
        self.assertEqual(variants, [*PIPELINES, *TRANSPOSERS])

    def test_counters_not_permitted(self):
        self.make("ncu", NCU)
        self.make("nsys", NSYS)
        done = self.profile(self.program, self.out, REFUSES="1")
        self.assertEqual(done.returncode, MISSING)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("ERR_NVGPUCTRPERM", done.stderr)
        self.assertTrue((self.out / "queued.nsys-rep").exists())

    def test_no_such_launch(self):
        self.make("ncu", NCU)
        self.make("nsys", NSYS)
        done = self.profile(self.program, self.out, SEES_NOTHING="1")
        self.assertEqual(done.returncode, FAILED)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn("saw no launch 10 of transpose_conflicting", done.stderr)

    def test_another_launch_than_the_timed_one(self):
        self.make("ncu", NCU.replace("16,384", "4"))
        done = self.profile(self.program, self.out)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn("has 4 blocks, not 16384", done.stderr)
        self.assertFalse((self.out / "evidence.txt").exists())

    def test_the_launch_is_the_one_that_the_program_names(self):
        self.make("ncu", NCU)
        self.profile(self.program, self.out)
        side = re.search(r"^side=(\d+)$", SCRIPT.read_text(), re.M)[1]
        blocks = re.search(r"^blocks=(\d+)$", SCRIPT.read_text(), re.M)[1]
        per_side = (int(side) + 31) // 32
        self.assertEqual(per_side**2, int(blocks))
        self.assertIn(f"--n {side}\n", self.calls.read_text())
        small = run("profiling", "--variant", "padded", "--n", "64", *SHORT)
        named = re.search(r"--kernel-name \w+ --launch-skip \d+ --launch-count 1", small.out)[0]
        self.assertIn(named, self.calls.read_text())


if __name__ == "__main__":
    unittest.main()
