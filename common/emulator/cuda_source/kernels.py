"""Finds the kernels that source files declare."""

import re
from dataclasses import dataclass

from .scopes import header, kind_of

# Names in front of a parenthesis that is no parameter list.
ATTRIBUTES = {"__launch_bounds__", "__attribute__", "__align__", "alignas", "__maxnreg__",
              "decltype", "noexcept"}  # fmt: skip
QUALIFIERS = {"const", "volatile", "__restrict__", "__restrict", "restrict"}
BUILTIN = QUALIFIERS | set("int char short long float double bool unsigned signed void".split())


@dataclass
class Kernel:
    parameters: int  # how many
    words: frozenset  # all words of the parameter list
    template: list  # names of the template's parameters; None if it is no template
    pack: bool


class Kernels:
    """All kernels of a program: name, then namespace, then signature."""

    def __init__(self):
        self.named = {}
        self.some_unnamed = False  # a macro makes kernels: their names are not known
        self.shared_names = set()  # of kernels and other functions

    def add(self, source):
        """Adds a file's kernels."""
        for i, token in enumerate(source.tokens):
            if token.text == "__global__" and token.kind == "id":
                if token.macro is not None:
                    self.some_unnamed = True
                elif (name := _name(source, i)) is not None:
                    self._add(source, i, name)

    def add_other_functions(self, source):
        """Finds functions that overload a kernel. To be called when all kernels are known."""
        for i, token in enumerate(source.tokens):
            if token.text in self.named and source.at(i + 1) == "(" and token.macro is None:
                typed = source.is_name(i - 1) or source.at(i - 1) in ("*", "&", ">")
                if typed and kind_of(source, token.outer) == "namespace":
                    start = _declaration_start(source, i)
                    if all(source.at(k) != "__global__" for k in range(start, i)):
                        self.shared_names.add(token.text)

    def _add(self, source, qualifier, name):
        start = _declaration_start(source, qualifier)
        template = _template(source, start)
        if source.at(start) == "template" and not template:
            return  # a specialisation or an instantiation of what is declared elsewhere
        parameters = source.split(name + 2, source.mate(name + 1))
        if [source.joined(a, b) for a, b in parameters] == ["void"]:
            parameters = []
        texts = [source.joined(a, b) for a, b in parameters]
        names = template and [re.findall(r"\w+", text.partition("=")[0])[-1] for text in template]
        space = _namespace(source, qualifier)
        signature = (len(template or ()), tuple(_type(source, a, b) for a, b in parameters))
        self.named.setdefault(source.at(name), {}).setdefault(space, {})[signature] = Kernel(
            len(parameters),
            frozenset(re.findall(r"\w+", " ".join(texts))),
            names,
            any("..." in text for text in texts + (template or [])),
        )


def _name(source, qualifier):
    """Index of the kernel's name: the word before the first parameter list after __global__."""
    i = qualifier + 1
    while source.tokens[i:] and source.at(i) not in (";", "{", "}", "<"):
        if source.is_name(i) and source.at(i + 1) == "(" and source.mate(i + 1) is not None:
            after = source.mate(i + 1) + 1
            more = source.is_name(after) and source.at(after) not in ATTRIBUTES
            if source.at(i) not in ATTRIBUTES and not more:
                return i
            i = after
        else:
            i += 1
    return None


def _declaration_start(source, i):
    while i > 0 and source.at(i - 1) not in (";", "{", "}") and not source.is_directive(i - 1):
        i -= 1
        if source.at(i) in (")", "]") and source.mate(i) is not None:
            i = source.mate(i)
    return i


def _template(source, start):
    """The texts of the template's parameters, or None."""
    if source.at(start) != "template" or source.at(start + 1) != "<":
        return None
    depth, end = 1, start + 2
    while depth and end < len(source.tokens):
        if source.at(end) in ("(", "{") and source.mate(end):
            end = source.mate(end)
        depth += (source.at(end) == "<") - (source.at(end) == ">")
        end += 1
    return [source.joined(a, b) for a, b in source.split(start + 2, end - 1)]


def _namespace(source, i):
    space, outer = (), source.tokens[i].outer
    while outer is not None:
        words = [source.at(w) for w in reversed(header(source, outer))]
        if "namespace" in words:
            space = tuple(w for w in words if w not in ("namespace", "inline", "::")) + space
        outer = source.tokens[outer].outer
    return space


def _type(source, first, last):
    """A parameter without its name and default, so that two declarations can be compared."""
    dropped = ("const", "__restrict__", "__grid_constant__")
    words = [source.at(i) for i in range(first, last) if source.at(i) not in dropped]
    words = words[: words.index("=")] if "=" in words else words
    named = len(words) > 1 and re.fullmatch(r"[^\W\d]\w*", words[-1])
    if named and words[-1] not in BUILTIN and words[-2] != "::":
        words.pop()
    return " ".join(words)
