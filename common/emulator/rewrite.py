#!/usr/bin/env python3
"""Turns a .cu file into C++: launches, __shared__ declarations and register reads; nothing else.

Every change is an edit of the text that keeps its newlines, so a line keeps its number. Local
includes are followed; those that hold something to change are written beside the main output.
What cannot be translated is refused with FILE:LINE and a sentence.
"""

import argparse
import hashlib
import os
import sys
import tempfile

from cuda_source.device_code import ASM, refuse_missing, rewrite_asm
from cuda_source.includes import (
    EMULATOR_HEADERS,
    included,
    redirect_includes,
    rewrite_toolkit_includes,
)
from cuda_source.kernels import Kernels
from cuda_source.lambdas import capture_shared
from cuda_source.launches import quoted, rewrite_launch
from cuda_source.scopes import outermost_function
from cuda_source.shared_memory import declare_dynamic, names_of_namespace_scope, rewrite_shared
from cuda_source.source import Refusal, Source


def read_all(path, folders):
    """The file and all that it includes: {real path: (source, its includes)}."""
    sources, waiting = {}, [path]
    while waiting:
        current = waiting.pop()
        real = os.path.realpath(current)
        if real not in sources and not real.startswith(EMULATOR_HEADERS + os.sep):
            source = Source(current)
            sources[real] = source, included(source, folders)
            waiting += [file for _, file in sources[real][1] if file]
    return sources


def rewrite_tokens(source, kernels, dynamic):
    """Makes all edits to one file but those to its includes."""
    shared = {}
    for i, token in enumerate(source.tokens):
        if token.text == "<<<":
            rewrite_launch(source, i, kernels)
        elif token.text == "__shared__":
            names = rewrite_shared(source, i)
            shared.setdefault(outermost_function(source, i), []).extend(names)
        elif token.text == "{":
            names = declare_dynamic(source, i, dynamic)
            shared.setdefault(i, []).extend(names)
        elif token.text == "[":
            capture_shared(source, i, shared)
        elif token.text == "__noinline__" and source.at(i - 1) not in ("(", ","):
            # No macro can do it: the standard library's headers use the word inside attributes.
            source.edit(token.start, token.end, "__attribute__((noinline))", token.macro)
        elif token.text in ASM:
            rewrite_asm(source, i)
        elif token.kind == "id":
            refuse_missing(source, i)


def write_if_changed(path, text):
    """Writes the file whole or not at all; one that stays the same keeps its time."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            if file.read() == text:
                return
    except (OSError, UnicodeDecodeError):
        pass
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".rewrite-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def rewrite(path, folders, output_folder):
    """Rewrites the file and those of its includes that need it.

    Returns {output path: original path}, the main file first, and the paths of all files read.
    Raises Refusal, or OSError where an output cannot be written.
    """
    sources = read_all(path, folders)
    main, kernels, dynamic = os.path.realpath(path), Kernels(), set()
    for source, _ in sources.values():
        kernels.add(source)
        dynamic |= names_of_namespace_scope(source)
    for source, _ in sources.values():
        kernels.add_other_functions(source)
    for source, includes in sources.values():
        rewrite_tokens(source, kernels, dynamic)
        rewrite_toolkit_includes(source, includes)

    outputs = {main: os.path.join(output_folder, os.path.basename(path) + ".cpp")}
    waiting = [main] + [real for real, (source, _) in sources.items() if source.edits]
    while waiting:  # a file that includes a rewritten file is rewritten too
        real = waiting.pop()
        name = f"{hashlib.sha1(real.encode()).hexdigest()[:8]}_{os.path.basename(real)}"
        outputs.setdefault(real, os.path.join(output_folder, name))
        for other, (_, includes) in sources.items():
            if any(file and os.path.realpath(file) == real for _, file in includes):
                waiting += [other] if other not in outputs else []

    os.makedirs(output_folder, exist_ok=True)
    for real, output in outputs.items():
        source, includes = sources[real]
        redirect_includes(source, includes, outputs)
        write_if_changed(output, f"#line 1 {quoted(source.path)}\n{source.edited()}")
    originals = {output: sources[real][0].path for real, output in outputs.items()}
    return originals, [source.path for source, _ in sources.values()]


def main(words):
    parser = argparse.ArgumentParser(description="Turn a .cu file into C++ for the emulator.")
    parser.add_argument("file", help="the .cu file")
    parser.add_argument("-o", dest="folder", required=True, help="folder for the C++ files")
    parser.add_argument("-I", dest="include", action="append", default=[], help="folder of headers")
    arguments = parser.parse_args(words)
    try:
        outputs, _ = rewrite(arguments.file, arguments.include, arguments.folder)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}; name a folder that can be written"
        print(problem, file=sys.stderr)
        return 1
    print("\n".join(outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
