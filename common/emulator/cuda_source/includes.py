"""Finds what a file includes, and makes the includes of a rewritten file find the same."""

import os
import re

EMULATOR_HEADERS = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "include"
)
# Headers of the toolkit that the emulator's cuda_runtime.h stands for.
IMPLIED = re.compile(
    r"(cuda|cuda_runtime_api|device_launch_parameters|device_functions|vector_types"
    r"|vector_functions|driver_types|builtin_types|host_defines|sm_\d+_\w+)\.h(pp)?"
)
# Headers of the toolkit that it lacks.
MISSING = re.compile(
    r"(cub|thrust|cuda|nvtx3|cutlass|cooperative_groups|crt)/.*"
    r"|(cooperative_groups|cuda_\w+|mma|cu[a-z]+(_\w+)?|nvrtc|nccl|math_constants"
    r"|texture_\w+|surface_\w+|nvToolsExt\w*)\.h(pp)?"
)
HAS_INCLUDE = re.compile(r'__has_include\s*\(\s*("([^"\n]+)")\s*\)')


def resolve(source, name, in_quotes, folders):
    """The file an include names, or None: beside the source (quotes only), then in folders."""
    own = [os.path.dirname(source.path)] if in_quotes else []
    for folder in own + folders:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    return None


def included(source, folders):
    """The files that the source includes: [(match of the include, path or None)]."""
    found = []
    for include in source.includes:
        name, in_quotes = include[1] or include[2], include[1] is not None
        found.append((include, resolve(source, name, in_quotes, folders)))
    return found


def rewrite_toolkit_includes(source, found):
    """Edits includes of the toolkit's headers: to what stands for them, or to a message."""
    for include, path in found:
        name = include[1] or include[2]
        if path or os.path.isfile(os.path.join(EMULATOR_HEADERS, name)):
            continue
        if IMPLIED.fullmatch(name):
            source.edit(include.start(), include.end(), "#include <cuda_runtime.h>")
        elif MISSING.fullmatch(name):
            message = (
                f"{name} is not part of the emulator; run this program on a GPU, "
                "or include it only #if __has_include finds it"
            )
            source.edit(include.start(), include.end(), f'#error "{message}"')


def redirect_includes(source, found, outputs):
    """Makes the includes of a file that moves find rewritten files, or the same as before."""
    for include, path in found:
        group = 1 if include[1] else 2
        beside = include[1] and path == os.path.join(os.path.dirname(source.path), include[1])
        if path and os.path.realpath(path) in outputs:
            target = outputs[os.path.realpath(path)]
        elif beside:
            target = path
        else:
            continue
        begin, end = include.start(group) - 1, include.end(group) + 1
        source.edit(begin, end, f'"{os.path.abspath(target)}"')
    for token in source.tokens:
        if token.kind == "directive":
            for found_name in HAS_INCLUDE.finditer(token.text):
                path = os.path.join(os.path.dirname(source.path), found_name[2])
                if os.path.isfile(path):
                    begin = token.start + found_name.start(1)
                    end = token.start + found_name.end(1)
                    source.edit(begin, end, f'"{os.path.abspath(path)}"')
