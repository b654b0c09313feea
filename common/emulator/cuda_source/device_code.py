"""Rewrites reads of special registers, and refuses what the emulator has no counterpart for."""

import re

from .scopes import kind_of

REGISTER = re.compile(
    r"\s*mov\.[bsu](?:32|64)\s+%0,\s*%%"
    r"(globaltimer|clock64|clock|smid|laneid|warpid|nsmid)\s*;?\s*"
)
TEXTURE = re.compile(
    r"(tex[123]D|texCubemap|surf[123]D|surfCubemap)\w*|cuda(Texture|Surface)Object_t"
)
ASM = ("asm", "__asm__", "__asm")
NO_PTX = "inline PTX is not emulated; write it in CUDA C++, or guard it by #ifdef __CUDA_ARCH__"


def rewrite_asm(source, i):
    """Edits the asm statement at token i. Other PTX stops the compiler, where it reads it."""
    token, k = source.tokens[i], i + 1
    while source.at(k) in ("volatile", "__volatile__"):
        k += 1
    on_device = token.macro is not None or kind_of(source, token.outer) == "device"
    if source.at(k) != "(" or source.mate(k) is None or not on_device:
        return
    end, code, k = source.mate(k), "", k + 1
    while source.tokens[k].kind == "string":
        code += re.sub(r"\\[nt]", " ", source.at(k)[1:-1])
        k += 1
    register = REGISTER.fullmatch(code)
    output = source.at(k) == ":" and source.at(k + 1) in ('"=l"', '"=r"')
    if register and output and source.at(k + 2) == "(":
        value = source.joined(k + 3, source.mate(k + 2))
        scope = "::" if register[1].startswith("clock") else "::emu::"
        text = f"({value}) = {scope}{register[1]}()"
    elif code.strip() and token.macro is None:
        text = f'static_assert(false, "{NO_PTX}")'
    else:
        return
    source.edit(token.start, source.tokens[end].end, text, token.macro)


def refuse_missing(source, i):
    """Refuses textures, surfaces and clusters."""
    token = source.tokens[i]
    template = token.text in ("texture", "surface") and source.at(i + 1) == "<"
    if template or TEXTURE.fullmatch(token.text):
        raise source.refuse(
            token.start,
            f"{token.text}: textures and surfaces are not emulated; read through a pointer",
        )
    if token.text == "__cluster_dims__":
        raise source.refuse(
            token.start,
            "thread block clusters are not emulated; launch without __cluster_dims__",
        )
