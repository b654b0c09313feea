#!/usr/bin/env python3
"""Nothing is timed with a clock that can be set: steady_clock.py ROOT

A wall clock steps when it is corrected, and a time between two readings of it can be negative.
"""
import pathlib
import re
import sys

SETTABLE = re.compile(
    r"system_clock|high_resolution_clock|gettimeofday|CLOCK_REALTIME|std::clock\b|\bftime\(|omp_get_wtime")


def main():
    root = pathlib.Path(sys.argv[1])
    files = [path for folder in ("common", "chapters", "exercises", "solutions")
             for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".cu", ".cuh", ".hpp", ".h", ".cpp")]
    found = [f"{path}:{number}: {line.strip()}" for path in files
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
             if SETTABLE.search(line)]
    print("\n".join(found) or f"{len(files)} files, steady clocks only")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
