#!/usr/bin/env python3
"""Turn a .cu file into C++: launches, __shared__ declarations and register reads; nothing else changes.

Every change is an edit of the original text that keeps its newlines, so a line keeps its number.
Local includes are followed; those that hold something to change are written beside the main output.
The names the output calls (::emu::…) are in include/emulator/{launch,shared_memory,device_code}.hpp.
"""

import argparse
import hashlib
import os
import re
import sys
import tempfile

HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")

TOKEN = re.compile(r"""
  (?P<space>(?:[ \t\f\v\r\n\ufeff]|\\\r?\n)+)
| (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
| (?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\\r?\n|\\.|[^"\\\n])*"))
| (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
| (?P<number>\.?\d(?:[eEpP][+-]|'?\w|\.)*)
| (?P<id>[^\W\d][\w$]*)
| (?P<punct><<<|<<|->|::|.)""", re.S | re.X)
SPLICE = r"\\\r?\n"
DIRECTIVE = re.compile(r"#(?:\\\r?\n|/\*.*?\*/|//(?:\\\r?\n|[^\n])*|[^\n])*", re.S)
DEFINE = re.compile(r"#\s*define\s+\w+(?:\(([^)]*)\))?")
INCLUDE = re.compile(r'^[ \t]*#\s*include\s*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)
CONDITION = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|^[ \t]*#\s*(if|ifdef|ifndef|elif|else|endif)\b""", re.M | re.S)
# __CUDA_ARCH__ is never defined here: what stands behind such a condition is never compiled.
ARCH = r"\(?\s*defined\s*\(?\s*__CUDA_ARCH__\b"
NEVER = re.compile(rf"#\s*(if\s+0|ifdef\s+__CUDA_ARCH__|if\s+{ARCH}[^|]*|if\s*\(?\s*__CUDA_ARCH__\s*(>=?\s*[1-9]\d*)?\s*\)?)\s*$")
ALWAYS = re.compile(rf"#\s*(if\s+1|ifndef\s+__CUDA_ARCH__|if\s+!\s*{ARCH}[\s)]*)\s*$")
REGISTER = re.compile(r"\s*mov\.[bsu](?:32|64)\s+%0,\s*%%(globaltimer|clock64|clock|smid|laneid|warpid|nsmid)\s*;?\s*")
# Headers of the toolkit that the emulator's cuda_runtime.h stands for, and those that it lacks.
IMPLIED = re.compile(r"(cuda|cuda_runtime_api|device_launch_parameters|device_functions|vector_types|vector_functions"
                     r"|driver_types|builtin_types|host_defines|sm_\d+_\w+)\.h(pp)?")
MISSING = re.compile(r"(cub|thrust|cuda|nvtx3|cutlass|cooperative_groups)/.*|(cooperative_groups|cuda_\w+|mma|cu[a-z]+(_\w+)?|nvrtc|nccl"
                     r"|math_constants|texture_\w+|surface_\w+|nvToolsExt\w*)\.h(pp)?|crt/.*")
TEXTURE = re.compile(r"(tex[123]D|texCubemap|surf[123]D|surfCubemap)\w*|cuda(Texture|Surface)Object_t")
WITH_ARGUMENT = {"__launch_bounds__", "__attribute__", "__align__", "alignas", "__maxnreg__", "decltype", "noexcept"}
ALIGNMENT = {"alignas", "__align__", "__attribute__"}
QUALIFIERS = {"const", "volatile", "__restrict__", "__restrict", "restrict"}
BUILTIN = QUALIFIERS | {"int", "char", "short", "long", "float", "double", "bool", "unsigned", "signed", "void"}
STATEMENTS = {"return", "else", "do", "case", "throw", "co_return", "and", "or", "not", "goto", "new", "delete"}
CONTROL = {"if", "while", "for", "switch", "constexpr"}
CLASS_KEYS = {"struct", "class", "union", "enum"}
OPENING, CLOSING = ("(", "[", "{"), {")": "(", "]": "[", "}": "{"}


class Refusal(Exception):
    """What cannot be translated: `FILE:LINE: sentence with its remedy`."""


class Token:
    __slots__ = ("kind", "text", "start", "end", "macro", "mate", "outer")

    def __init__(self, kind, text, start, macro):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.macro = macro  # the parameters of the #define whose body this is in, else None
        self.mate = self.outer = None  # index of the matching bracket, of the innermost open one


class Source:
    """One file: its tokens, without spaces and comments, and the edits to its text."""

    def __init__(self, path):
        self.path, self.edits, self.includes, self.tokens, self.kinds = path, [], [], [], {}
        try:
            with open(path, "rb") as file:
                raw = file.read()
            self.text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            line = raw[:error.start].count(b"\n") + 1
            raise Refusal(f"{path}:{line}: this is not UTF-8 text; save the file as UTF-8") from None
        except OSError as error:
            raise Refusal(f"{path}: {error.strerror}; name a source file that can be read") from None
        if re.search(r"<<<|__shared__|__global__|\btexture\s*<|__device__", self.text):
            self.read_tokens()
            self.match_brackets()
        else:
            self.includes = list(INCLUDE.finditer(self.text))

    def refuse(self, position, sentence):
        return Refusal(f"{self.path}:{self.text.count(chr(10), 0, position) + 1}: {sentence}")

    def edit(self, start, end, text, macro=None):
        """Replaces text[start:end]; newlines that would be lost are put after the replacement."""
        lost = self.text.count("\n", start, end) - text.count("\n")
        self.edits.append((start, end, text + ("\n" if macro is None else "\\\n") * lost))

    # ---- Tokens ------------------------------------------------------------------------------

    def read_tokens(self):
        position, conditions, fresh = 0, [], True  # fresh: nothing on this line yet
        while position < len(self.text):
            if fresh and self.text[position] == "#":
                position = self.read_directive(position, conditions)
                fresh = True
                continue
            start, kind = position, self.read_token(position, None)
            position = self.last_end
            if kind == "space":
                fresh = fresh or "\n" in re.sub(SPLICE, "", self.text[start:position])
            elif kind != "comment":
                fresh = False

    def read_token(self, position, macro):
        found = TOKEN.match(self.text, position)
        kind, text, self.last_end = found.lastgroup, found[0], found.end()
        kind = "string" if kind == "mark" else kind
        if self.text.startswith("/*", position) and kind != "comment":
            raise self.refuse(position, "this comment never ends; close it with */")
        if macro is None and (text == '"' or re.fullmatch("(u8|[uUL])?R", text)
                              and self.text.startswith('"', self.last_end)):
            raise self.refuse(position, "this string never ends; close it with its quotation mark")
        if kind not in ("space", "comment"):
            self.tokens.append(Token(kind, text, position, macro))
        return kind

    def read_directive(self, start, conditions):
        end = DIRECTIVE.match(self.text, start).end()
        line = re.sub(SPLICE + r"|/\*.*?\*/|//.*", " ", self.text[start:end], flags=re.S).rstrip()
        word = (re.match(r"#\s*(\w+)", line) or [None, ""])[1]
        self.tokens.append(Token("directive", self.text[start:end], start, None))
        if word == "define" and (head := DEFINE.match(self.text, start)):
            macro = frozenset(re.findall(r"\w+", (head[1] or "").replace("...", "__VA_ARGS__")))
            position = head.end()
            while position < end:
                self.read_token(position, macro)
                position = self.last_end
            self.tokens.append(Token("directive", "", end, None))
            return max(position, end)
        if word == "include" and (found := INCLUDE.match(self.text, start)):
            self.includes.append(found)
        if word.startswith("if"):
            conditions.append(bool(ALWAYS.match(line)))
            return self.skip(end) if NEVER.match(line) else end
        if word in ("else", "elif") and conditions and conditions[-1]:
            return self.skip(end)
        if word == "endif" and conditions:
            conditions.pop()
        return end

    def skip(self, position):
        """Where the group that no compiler will read ends."""
        depth = 0
        for found in CONDITION.finditer(self.text, position):
            if not found[1]:
                continue
            if depth == 0 and not found[1].startswith("if"):
                return found.start() + found[0].index("#")
            depth += found[1].startswith("if") - (found[1] == "endif")
        return len(self.text)

    def match_brackets(self):
        stack, in_macro, saved = [], [], []
        for i, token in enumerate(self.tokens):
            if token.kind == "directive":
                in_macro = []
                word = (re.match(r"#\s*(\w+)", token.text) or [None, ""])[1]
                if word.startswith("if"):
                    saved.append(list(stack))
                elif word in ("else", "elif") and saved:
                    stack = list(saved[-1])
                elif word == "endif" and saved:
                    saved.pop()
            elif token.kind == "punct":
                open_ = stack if token.macro is None else in_macro
                if token.text in CLOSING and any(self.tokens[o].text == CLOSING[token.text] for o in open_):
                    while self.tokens[open_[-1]].text != CLOSING[token.text]:
                        open_.pop()
                    token.mate = open_.pop()
                    self.tokens[token.mate].mate = i
            current = stack if token.macro is None else in_macro
            token.outer = current[-1] if current else None
            if token.kind == "punct" and token.text in OPENING:
                current.append(i)

    # ---- What surrounds a token --------------------------------------------------------------

    def at(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_name(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "id" and self.at(i) not in STATEMENTS

    def joined(self, first, last):
        """The tokens as one line."""
        text = ""
        for token in self.tokens[first:last]:
            glue = text and (text[-1].isalnum() or text[-1] == "_") and (token.text[0].isalnum() or token.text[0] == "_")
            text += (" " if glue or text.endswith("<") and token.text == "::" or text.endswith(",") else "") + token.text
        return text

    def raw(self, first, last, changed):
        """The text of the tokens with what is between them; `changed` maps an index to its new text."""
        pieces = [changed.get(i, self.at(i)) + (self.text[self.tokens[i].end:self.tokens[i + 1].start]
                                                if i + 1 < last else "") for i in range(first, last)]
        return "".join(pieces)

    def header(self, brace):
        """Indices, from last to first, of the tokens outside of brackets that lead to an opening brace."""
        i, outer, indices = brace - 1, self.tokens[brace].outer, []
        nested = outer is not None and self.at(outer) != "{"
        while i >= 0 and self.tokens[i].kind != "directive" and not (nested and self.at(i) == ","):
            if self.at(i) in (")", "]") or self.at(i) == "}" and self.at(i + 1) in (",", "{", ")"):
                i = -1 if self.tokens[i].mate is None else self.tokens[i].mate
            elif self.at(i) in (";", "{", "}", "(", "["):
                break
            indices.append(i)
            i -= 1
        return indices

    def kind_of(self, brace):
        """namespace (or class), device, or function: what the code behind an opening brace belongs to."""
        if brace is None:
            return "namespace"
        token = self.tokens[brace]
        if token.text != "{":
            return self.kind_of(token.outer)
        if brace not in self.kinds:
            indices = self.header(brace)
            words = {self.at(i) for i in indices}
            tail = next((self.at(i) for i in indices if self.at(i) not in ("final", "const", "noexcept")), "")
            if "namespace" in words or "extern" in words and "(" not in words:
                kind = "namespace"
            elif words & CLASS_KEYS and tail != "(":
                kind = "namespace"
            elif "__global__" in words or "__device__" in words and "__host__" not in words:
                kind = "device"
            else:
                outer = self.kind_of(token.outer)
                kind = "function" if outer == "namespace" else outer
            self.kinds[brace] = kind
        return self.kinds[brace]

    def outermost_function(self, i):
        found, brace = None, self.tokens[i].outer
        while brace is not None:
            if self.at(brace) == "{" and self.kind_of(brace) != "namespace":
                found = brace
            brace = self.tokens[brace].outer
        return found

    def declared_before(self, name, first, last):
        """Whether tokens that look like a declaration of a variable `name` lie in the range."""
        for i in range(first, last):
            if self.at(i) == name and self.at(i + 1) in ("=", "{", ";", ",", ")", "[", ":"):
                before = i - 1
                while self.at(before) in ("*", "&"):
                    before -= 1
                pointer = self.at(before) == "(" and self.is_name(before - 1) and self.at(i + 2) == "("
                if self.is_name(before) or self.at(before) == ">" or pointer and before < i - 1:
                    return True
        return False

    # ---- Angle brackets ----------------------------------------------------------------------

    def angle_back(self, i):
        """The `<` that belongs to the `>` at i, or None."""
        depth = 0
        while i >= 0:
            text = self.at(i)
            if text in CLOSING:
                i = self.tokens[i].mate if self.tokens[i].mate is not None else -1
            elif text in (">", "<"):
                depth += 1 if text == ">" else -1
                if depth == 0:
                    return i
            elif text in (";", "(", "[", "{", "<<<") or self.tokens[i].kind == "directive":
                return None
            i -= 1
        return None

    def split(self, first, last):
        """Ranges between the commas that lie in no bracket of any kind."""
        ranges, start, depth, i = [], first, 0, first
        while i < last:
            text = self.at(i)
            if text in OPENING and self.tokens[i].mate is not None:
                i = self.tokens[i].mate
            elif text == "<" and self.tokens[i - 1].kind == "id":
                depth += 1
            elif text == ">" and depth:
                depth -= 1
            elif text == "," and not depth:
                ranges.append((start, i))
                start = i + 1
            i += 1
        return ranges + [(start, last)] if start < last else ranges

    # ---- Kernels -----------------------------------------------------------------------------

    def find_kernels(self, kernels):
        """Adds the file's __global__ functions: name → namespace → signature → properties."""
        for i, token in enumerate(self.tokens):
            if token.text != "__global__":
                continue
            if token.macro is not None:
                kernels[""] = {}  # some kernels have names that only the preprocessor knows
                continue
            name = i + 1
            while name < len(self.tokens) and self.at(name) not in (";", "{", "}", "<"):
                if self.is_name(name) and self.at(name + 1) == "(" and self.tokens[name + 1].mate is not None:
                    after = self.tokens[name + 1].mate + 1
                    if self.at(name) not in WITH_ARGUMENT and not (self.is_name(after) and self.at(after) not in WITH_ARGUMENT):
                        break
                    name = after
                else:
                    name += 1
            if not (self.is_name(name) and self.at(name + 1) == "("):
                continue
            start = i
            while start > 0 and self.at(start - 1) not in (";", "{", "}") and self.tokens[start - 1].kind != "directive":
                start = self.tokens[start - 1].mate if self.at(start - 1) in (")", "]") and self.tokens[start - 1].mate is not None else start - 1
            template = None
            if self.at(start) == "template" and self.at(start + 1) == "<":
                depth, end = 1, start + 2
                while depth and end < i:
                    if self.at(end) in OPENING and self.tokens[end].mate:
                        end = self.tokens[end].mate
                    depth += (self.at(end) == "<") - (self.at(end) == ">")
                    end += 1
                template = [self.joined(a, b) for a, b in self.split(start + 2, end - 1)]
            if self.at(start) == "template" and not template:
                continue  # a specialisation or an instantiation of what is known already
            space, outer = (), token.outer
            while outer is not None:
                words = [self.at(w) for w in reversed(self.header(outer))]
                if "namespace" in words:
                    space = tuple(w for w in words if w not in ("namespace", "inline", "::")) + space
                outer = self.tokens[outer].outer
            parameters = self.split(name + 2, self.tokens[name + 1].mate)
            if len(parameters) == 1 and self.joined(*parameters[0]) == "void":
                parameters = []
            texts = [self.joined(a, b) for a, b in parameters]
            signature = (len(template or ()), tuple(self.parameter_type(a, b) for a, b in parameters))
            signatures = kernels.setdefault(self.at(name), {}).setdefault(space, {})
            known = signatures.setdefault(signature, {"parameters": len(texts), "words": set(), "template": None})
            if template:
                known["template"] = [re.findall(r"\w+", t.partition("=")[0])[-1] for t in template]
            known["words"] = set(re.findall(r"\w+", " ".join(texts)))
            known["pack"] = any("..." in t for t in texts + (template or []))

    def parameter_type(self, first, last):
        """The parameter's text without its name and default, so that declarations can be compared."""
        tokens = [t.text for t in self.tokens[first:last] if t.text not in ("const", "__restrict__", "__grid_constant__")]
        tokens = tokens[:tokens.index("=")] if "=" in tokens else tokens
        if len(tokens) > 1 and re.fullmatch(r"[^\W\d]\w*", tokens[-1]) and tokens[-1] not in BUILTIN and tokens[-2] != "::":
            tokens.pop()
        return " ".join(tokens)

    # ---- Launches ----------------------------------------------------------------------------

    def operand_start(self, launch):
        """Where the expression before <<< begins, and whether it is only a (qualified) name."""
        i, simple = launch - 1, True
        while True:
            if self.at(i) in (")", "]") and self.tokens[i].mate is not None:
                start, simple = self.tokens[i].mate, False
                before = start - 1
                control = self.at(before) == ")" and self.at((self.tokens[before].mate or 0) - 1) in CONTROL
                if not (self.is_name(before) and self.at(before) not in CONTROL or self.at(before) in (")", "]") and not control
                        or self.at(before) == ">" and self.angle_back(before) is not None):
                    return start, simple
                i = before
            elif self.at(i) == ">" and self.angle_back(i) is not None and self.is_name(self.angle_back(i) - 1):
                i = self.angle_back(i) - 1
            elif self.is_name(i) and self.at(i) not in CONTROL:
                start = i - 1 if self.at(i - 1) == "template" else i
                link = self.at(start - 1)
                if link not in ("::", ".", "->"):
                    return start, simple
                simple = simple and link == "::"
                if not (self.is_name(start - 2) or self.at(start - 2) in (")", "]", ">")):
                    return start - 1, simple
                i = start - 2
            else:
                raise self.refuse(self.tokens[launch].start, "no kernel stands before <<<; write the kernel's name or a pointer "
                                  "to it directly before <<<, not through a macro")

    def launch_close(self, launch):
        """The first of the three > that end the configuration; template arguments in it may end in >>> too."""
        pending, i = 0, launch + 1
        while i < len(self.tokens):
            text = self.at(i)
            if text in CLOSING or text in (";", "<<<") or self.tokens[i].kind == "directive" and self.tokens[launch].macro is not None:
                break
            if text in OPENING:
                if self.tokens[i].mate is None:
                    break
                i = self.tokens[i].mate
            elif text == "<" and self.is_name(i - 1) and self.at(i + 1) != "=":
                pending += 1
            elif text in ("?", "|"):
                pending = 0  # a comparison it was
            elif text == ">":
                run = 1
                while self.at(i + run) == ">" and self.tokens[i + run].start == self.tokens[i].start + run:
                    run += 1
                if run >= 3 and (pending < 3 or run == pending + 3):
                    return i + run - 3
                pending, i = max(0, pending - run), i + run - 1
            i += 1
        raise self.refuse(self.tokens[launch].start, "this launch never ends; write kernel<<<grid, block>>>(arguments)")

    def form(self, start, launch, simple, count, kernels):
        """Which of the emulator's four ways to launch fits (see include/emulator/launch.hpp)."""
        macro = self.tokens[launch].macro
        if macro is not None and any(self.at(i) in macro for i in range(start, launch)):
            return "any"
        if not simple:
            return "pointer"
        explicit, name = None, launch - 1
        if self.at(name) == ">":
            open_ = self.angle_back(name)
            explicit, name = self.split(open_ + 1, name), open_ - 1
        function = self.outermost_function(launch)
        if function is not None and self.declared_before(self.at(name), self.header(function)[-1], launch):
            return "any"
        if self.at(name) not in kernels:
            return "any" if "" in kernels else "pointer"
        forms = set()
        for signatures in kernels[self.at(name)].values():
            if len(signatures) > 1:
                return "call"  # overloaded
            for known in signatures.values():
                enough = count is None or count == known["parameters"]  # else a default argument is used
                if known["template"] is None:
                    forms.add("any" if explicit is not None else "named" if enough else "call")
                else:
                    # A parameter left out may be deduced from the arguments, whatever its default.
                    complete = explicit is not None and not known["pack"] \
                        and not known["words"] & set(known["template"][len(explicit):])
                    forms.add("named" if complete and enough else "call")
        return forms.pop() if len(forms) == 1 else "any"

    def leaves(self, first, last):
        """The arguments with braced lists taken apart: (first, last, literal, the braces around it)."""
        for a, b in self.split(first, last):
            if self.at(a) == "{" and self.tokens[a].mate == b - 1:
                yield "{"
                yield from self.leaves(a + 1, b - 1)
                yield "}"
            else:
                words = [self.tokens[i] for i in range(a, b) if self.at(i) not in ("-", "+", "~")]
                yield a, b, len(words) == 1 and (words[0].kind in ("number", "char", "string")
                                                 or words[0].text in ("NULL", "nullptr", "true", "false"))

    def call(self, first, last, name):
        """The lambda's parameters and its call. Literals stay in the call, where 0 may be a pointer and {1, 2} a float2."""
        leaves = list(self.leaves(first, last)) if last is not None else []
        if not any(leaf == "{" or leaf[2] for leaf in leaves if leaf != "}"):
            return f"(auto... emu_a) {{ {name}(emu_a...); }}"
        body, kept = "", {}
        for leaf in leaves:
            if leaf != "}" and body and not body.endswith("{"):
                body += ", "
            if leaf in ("{", "}"):
                body += leaf
            elif leaf[2]:
                body += self.joined(leaf[0], leaf[1])
            else:
                kept[leaf[0]] = leaf[1]
                body += f"emu_{len(kept)}"
        i, comma = first, False  # take literals, braces and their commas out of the argument list
        while i < last:
            if i in kept:
                i, comma = kept[i], i != max(kept)
                continue
            if self.at(i) != "," or not comma:
                self.edit(self.tokens[i].start, self.tokens[i].end, "")
            comma = comma and self.at(i) != ","
            i += 1
        return f"({', '.join(f'auto emu_{n + 1}' for n in range(len(kept)))}) {{ {name}({body}); }}"

    def rewrite_launch(self, launch, kernels):
        tokens = self.tokens
        if self.at(launch - 1) == "operator":
            return
        if self.kind_of(tokens[launch].outer) == "device":
            raise self.refuse(tokens[launch].start, "a launch in device code (dynamic parallelism) is not emulated; "
                              "launch from the host, or run this on a GPU")
        start, simple = self.operand_start(launch)
        close = self.launch_close(launch)
        open_ = close + 3
        last = tokens[open_].mate if self.at(open_) == "(" else None
        if last is None and not (tokens[launch].macro is not None and tokens[open_].kind == "directive"):
            raise self.refuse(tokens[launch].start, "this launch has no complete argument list; "
                              "write kernel<<<grid, block>>>(arguments)")
        macro, name = tokens[launch].macro, self.joined(start, launch)
        count = None if last is None or macro else len(self.split(open_ + 1, last))
        text = f'"{escape(name)}"'
        if macro is not None and name in macro and name != "__VA_ARGS__":
            text = "#" + name
        form = self.form(start, launch, simple, count, kernels)
        before, after = "::emu::launch_call(", ""
        if form == "named":
            before, after = f"::emu::launch<&{name}>(", f", {text})"
        elif form == "pointer":
            before, after = "::emu::launch_pointer(", f", {name}, {text})"
        elif form == "call":
            call = self.call(open_ + 1, None if macro else last, name)
            after = f", [&]{call}, {text})"
        else:
            pointer = f"::emu::launch_pointer(emu_c, {name}, {text})"
            before = "::emu::launch_any("
            after = (f", [&](auto emu_c) -> decltype({pointer}) {{ return {pointer}; }}, "
                     f"[&](auto... emu_a) {{ {name}(emu_a...); }}, {text})")
        self.edit(tokens[start].start, tokens[launch].end, before + "::emu::config(", macro)
        self.edit(tokens[close].start, tokens[close + 2].end, ")" + after, macro)

    # ---- Shared memory -----------------------------------------------------------------------

    def rewrite_shared(self, i):
        tokens, macro, place = self.tokens, self.tokens[i].macro, self.tokens[i].start
        first = i
        while first > 0:
            text = self.at(first - 1)
            if self.is_name(first - 1) or text in ("::", "*"):
                first -= 1
            elif text == ">" and self.angle_back(first - 1) is not None:
                first = self.angle_back(first - 1)
            elif text == ")" and (mate := tokens[first - 1].mate) and self.at(mate - 1) in WITH_ARGUMENT:
                first = mate - 1
            else:
                break
        last = i
        while self.at(last) != ";" and not (macro is not None and tokens[last].kind == "directive"):
            if last == len(tokens) or self.at(last) in CLOSING or self.at(last) in OPENING and tokens[last].mate is None:
                raise self.refuse(place, "this __shared__ is not part of a declaration that ends with ;; "
                                  "declare a variable in a kernel")
            last = tokens[last].mate + 1 if self.at(last) in OPENING else last + 1
        # What is dropped from the type: storage, and alignment, which goes to the front of the member.
        changed, alignment, k = {}, "", first
        while k < last:
            if self.at(k) in ("__shared__", "static", "extern"):
                changed[k] = ""
            elif self.at(k) in ALIGNMENT and self.at(k + 1) == "(" and self.at(k - 1) not in CLASS_KEYS:
                alignment += self.joined(k, tokens[k + 1].mate + 1) + " "
                for k in range(k, tokens[k + 1].mate + 1):
                    changed[k] = ""
            elif self.at(k) in OPENING:
                k = tokens[k].mate
            k += 1
        external = any(self.at(k) == "extern" for k in changed)
        inside = macro is not None or self.kind_of(tokens[i].outer) != "namespace"
        if not inside and not external:
            raise self.refuse(place, "a __shared__ variable outside of a function is not emulated; declare it inside the kernel")
        parts = [(self.declarator(a, b, changed, place), a, b) for a, b in self.split(first, last)]
        (name, start), a, b = parts[0]
        definition = next((k for k in range(first, name) if self.at(k) == "{"), None)
        text, type_ = "", self.raw(first, start, changed)
        if definition is not None:  # a type defined in place keeps its scope
            key = next(k for k in range(first, definition) if self.at(k) in CLASS_KEYS)
            end = tokens[definition].mate + 1
            colon = next((k for k in range(key, definition) if self.at(k) == ":"), definition)
            named = self.is_name(colon - 1) and colon - 1 > key
            tag = self.at(colon - 1) if named else f"emu_type_{self.at(name)}"
            text = self.raw(key, end, changed if named else {**changed, definition: f" {tag} {{"}) + "; "
            type_ = self.joined(first, key) + " " + tag + " " + self.joined(end, start)
            type_ = re.sub(r"\b(static|extern|__shared__)\b", "", type_)
        for n, ((name, start), a, b) in enumerate(parts):
            variable = self.at(name)
            paste = "##" if macro and variable in macro else ""
            site = f"emu_shared_{paste}{variable}"
            if external:
                text += f"typedef {type_} {self.raw(start, b, {**changed, name: site})}; "
                if inside:
                    text += f"{site}& {variable} = ::emu::dynamic_shared<{site}>(); "
            else:
                text += (f"struct {site} {{ {alignment}{type_} {self.raw(start, b, changed)}; }}; "
                         f"auto& {variable} = ::emu::shared_variable<{site}, {site}>().{variable}; ")
            type_ = " ".join(type_.split())
        self.edit(tokens[first].start, tokens[last - 1].end, text.rstrip("; "), macro)

    def declarator(self, first, last, changed, place):
        """Index of the declared name and of the declarator's first token."""
        name, k, depth, key, sized = None, first, 0, False, False
        while k < last:
            text = self.at(k)
            key = key or text in CLASS_KEYS
            if text in WITH_ARGUMENT and self.at(k + 1) == "(":
                k += 1
            elif text == "(" and not depth and self.at(k + 1) in ("*", "&"):
                inner = k + 1
                while self.at(inner) in ("*", "&", "(") or self.at(inner) in QUALIFIERS:
                    inner += 1
                return inner, k
            elif text == "[":
                sized = True
            elif not depth and (text in ("=", "(") or text == "{" and not key):
                raise self.refuse(place, "a __shared__ variable cannot be initialised; "
                                  "let one thread assign to it, then __syncthreads()")
            elif text == "<" and self.is_name(k - 1):
                depth += 1
            elif text == ">":
                depth -= 1
            elif self.is_name(k) and not depth and not sized and k not in changed and text not in BUILTIN | CLASS_KEYS:
                name = k
            if self.at(k) in OPENING and self.tokens[k].mate is not None:
                k, key = self.tokens[k].mate, key and self.at(k) != "{"
            k += 1
        if name is None or name == first:
            if name is None or first and self.at(first - 1) != ",":
                raise self.refuse(place, "no variable is declared after __shared__; "
                                  "write __shared__, the type and the name in one declaration")
        start = name
        while start > first and (self.at(start - 1) in ("*", "&") or self.at(start - 1) in QUALIFIERS and self.at(start - 2) == "*"):
            start -= 1
        return name, start

    # ---- Everything else ---------------------------------------------------------------------

    def declare_dynamic(self, brace, dynamic):
        """Names extern shared memory of namespace scope at the start of a function that uses it."""
        tokens = self.tokens
        if tokens[brace].macro is not None or self.outermost_function(brace) is not None or self.kind_of(brace) == "namespace":
            return
        header = self.header(brace)
        if not header or not any(self.at(k) in ("__global__", "__device__") for k in header):
            return
        end = tokens[brace].mate or brace
        for name in sorted(dynamic):
            used = any(self.at(k) == name and self.at(k - 1) not in (".", "->", "::") for k in range(brace, end))
            if used and not self.declared_before(name, header[-1], end):
                site = f"emu_shared_{name}"
                self.edit(tokens[brace].end, tokens[brace].end, f" {site}& {name} = ::emu::dynamic_shared<{site}>();")

    def rewrite_asm(self, i):
        """Reads of special registers; any other PTX stops the compiler where the compiler reads it."""
        tokens, k = self.tokens, i + 1
        while self.at(k) in ("volatile", "__volatile__"):
            k += 1
        if self.at(k) != "(" or tokens[k].mate is None or self.kind_of(tokens[i].outer) != "device" and tokens[i].macro is None:
            return
        end, code, k = tokens[k].mate, "", k + 1
        while tokens[k].kind == "string":
            code, k = code + tokens[k].text[1:-1].replace("\\n", " ").replace("\\t", " "), k + 1
        register = REGISTER.fullmatch(code)
        if register and self.at(k) == ":" and self.at(k + 1) in ('"=l"', '"=r"') and self.at(k + 2) == "(":
            close = tokens[k + 2].mate
            value = self.joined(k + 3, close)
            function = "clock" if register[1] == "clock" else register[1]
            scope = "::" if function.startswith("clock") else "::emu::"
            self.edit(tokens[i].start, tokens[end].end, f"({value}) = {scope}{function}()", tokens[i].macro)
        elif code.strip() and tokens[i].macro is None:
            self.edit(tokens[i].start, tokens[end].end,
                      'static_assert(false, "inline PTX is not emulated; write it in CUDA C++, or guard it by #ifdef __CUDA_ARCH__")')

    def rewrite(self, kernels, dynamic):
        for i, token in enumerate(self.tokens):
            if token.text == "<<<":
                self.rewrite_launch(i, kernels)
            elif token.text == "__shared__":
                self.rewrite_shared(i)
            elif token.text == "{" and token.kind == "punct":
                self.declare_dynamic(i, dynamic)
            elif token.text in ("asm", "__asm__", "__asm"):
                self.rewrite_asm(i)
            elif token.text == "__cluster_dims__":
                raise self.refuse(token.start, "thread block clusters are not emulated; launch without __cluster_dims__")
            elif TEXTURE.fullmatch(token.text) or token.text in ("texture", "surface") and self.at(i + 1) == "<":
                raise self.refuse(token.start, f"{token.text}: textures and surfaces are not emulated; read through a pointer")

    def find_dynamic(self):
        """Names declared extern __shared__ outside of any function."""
        names = set()
        for i, token in enumerate(self.tokens):
            if token.text == "__shared__" and token.macro is None and self.kind_of(token.outer) == "namespace":
                last = next((k for k in range(i, len(self.tokens)) if self.at(k) == ";"), i)
                names.update(self.at(k - 1) for k in range(i + 1, last) if self.at(k) == "[" and self.is_name(k - 1))
        return names


def find_include(source, include, folders):
    """The file an #include names, or None: beside the file (quotes only), then in the folders."""
    name = include[1] or include[2]
    for folder in ([os.path.dirname(source.path)] if include[1] else []) + folders:
        if os.path.isfile(path := os.path.join(folder, name)):
            return path
    return None


def write_if_changed(path, text):
    """Whole or not at all; an output that stays the same keeps its time."""
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
    """Rewrites the file and what it includes. Returns {output path: original path}, the main one first."""
    sources, waiting = {}, [path]
    while waiting:
        current = waiting.pop()
        real = os.path.realpath(current)
        if real not in sources:
            source = sources[real] = Source(current)
            source.found = [(i, find_include(source, i, folders)) for i in source.includes]
            waiting += [f for i, f in source.found if f and not f.startswith(HEADERS + os.sep)]
    kernels, dynamic = {}, set()
    for source in sources.values():
        source.find_kernels(kernels)
        dynamic |= source.find_dynamic()
    for source in sources.values():
        source.rewrite(kernels, dynamic)
        for include, found in source.found:
            name = include[1] or include[2]
            if found or os.path.isfile(os.path.join(HEADERS, name)):
                continue
            if IMPLIED.fullmatch(name):
                source.edit(include.start(), include.end(), "#include <cuda_runtime.h>")
            elif MISSING.fullmatch(name):
                source.edit(include.start(), include.end(), f'#error "{name} is not part of the emulator; '
                            'run this program on a GPU, or include it only #if __has_include finds it"')
    changed = {real for real, source in sources.items() if source.edits} | {os.path.realpath(path)}
    while more := {real for real, source in sources.items() if real not in changed
                   and any(found and os.path.realpath(found) in changed for _, found in source.found)}:
        changed |= more

    def output_of(real):
        stem = os.path.basename(real)
        if real == os.path.realpath(path):
            return os.path.join(output_folder, stem + ".cpp")
        return os.path.join(output_folder, f"{hashlib.sha1(real.encode()).hexdigest()[:8]}_{stem}")

    os.makedirs(output_folder, exist_ok=True)
    outputs = {}
    for real in sorted(changed, key=lambda r: r != os.path.realpath(path)):
        source = sources[real]
        for include, found in source.found:
            if found and os.path.realpath(found) in changed:
                target = os.path.abspath(output_of(os.path.realpath(found)))
            elif found and include[1] and found == os.path.join(os.path.dirname(source.path), include[1]):
                target = os.path.abspath(found)
            else:
                continue
            group = 1 if include[1] else 2
            source.edit(include.start(group) - 1, include.end(group) + 1, f'"{target}"')
        text, position = [f'#line 1 "{escape(source.path)}"\n'], 0
        for start, end, replacement in sorted(source.edits):
            text += [source.text[position:start], replacement]
            position = end
        text.append(source.text[position:])
        write_if_changed(output_of(real), "".join(text))
        outputs[output_of(real)] = source.path
    return outputs, [source.path for source in sources.values()]


def escape(text):
    return text.replace("\\", "\\\\").replace('"', '\\"')


def main(words):
    parser = argparse.ArgumentParser(description="Turn a .cu file into C++ that calls the emulator.")
    parser.add_argument("file", help="the .cu file")
    parser.add_argument("-o", dest="folder", required=True, help="folder for the C++ files")
    parser.add_argument("-I", dest="include", action="append", default=[], help="folder with local headers")
    arguments = parser.parse_args(words)
    try:
        outputs, _ = rewrite(arguments.file, arguments.include, arguments.folder)
    except Refusal as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{error.filename}: {error.strerror}; name a folder that can be written", file=sys.stderr)
        return 1
    print("\n".join(outputs))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
