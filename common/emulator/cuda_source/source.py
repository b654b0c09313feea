"""A source file as tokens with matched brackets, and the edits that turn it into C++.

Spaces, comments and preprocessor groups that no compiler reads (`#if 0`, `#ifdef __CUDA_ARCH__`)
are not tokens: they stay as they are. The body of a #define is tokens, marked by the macro.
"""

import re

TOKEN = re.compile(
    r"""
  (?P<space>(?:[ \t\f\v\r\n]|\\\r?\n)+)
| (?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
| (?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"
                            |"(?:\\\r?\n|\\.|[^"\\\n])*"))
| (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
| (?P<number>\.?\d(?:[eEpP][+-]|'?\w|\.)*)
| (?P<id>[^\W\d][\w$]*)
| (?P<punct><<<|<<|->|::|.)""",
    re.S | re.X,
)
SPLICE = r"\\\r?\n"
DIRECTIVE = re.compile(r"#(?:\\\r?\n|/\*.*?\*/|//(?:\\\r?\n|[^\n])*|[^\n])*", re.S)
DEFINE = re.compile(r"#\s*define\s+\w+(?:\(([^)]*)\))?")
INCLUDE = re.compile(r'^[ \t]*#\s*include\s*(?:"([^"\n]+)"|<([^>\n]+)>)', re.M)
CONDITION = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"
|^[ \t]*\#\s*(if|ifdef|ifndef|elif|else|endif)\b""",
    re.M | re.S | re.X,
)
# __CUDA_ARCH__ is never defined here: what stands behind such a condition is never compiled.
ARCH_DEFINED = r"\(?\s*defined\s*\(?\s*__CUDA_ARCH__\b"
ARCH_NUMBER = r"\(?\s*__CUDA_ARCH__\s*(>=?\s*[1-9]\d*)?\s*\)?"
NEVER = re.compile(
    rf"#\s*(if\s+0|ifdef\s+__CUDA_ARCH__|if\s*{ARCH_DEFINED}[^|]*|if\s*{ARCH_NUMBER})\s*$"
)
ALWAYS = re.compile(rf"#\s*(if\s+1|ifndef\s+__CUDA_ARCH__|if\s*!\s*{ARCH_DEFINED}[\s)]*)\s*$")
# Files without any of these are left as they are, but for their includes.
CUDA_ONLY = re.compile(r"<<<|__shared__|__global__|__device__|\b(texture|surface)\s*<")
# Words that stand before an operand and are no part of it.
STATEMENTS = set("return else do case throw co_return and or not goto new delete".split())
OPENING, CLOSING = ("(", "[", "{"), {")": "(", "]": "[", "}": "{"}


class Refusal(Exception):
    """What cannot be translated: `FILE:LINE: sentence with its remedy`."""


class Token:
    __slots__ = ("kind", "text", "start", "end", "macro", "mate", "outer")

    def __init__(self, kind, text, start, macro):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.macro = macro  # parameters of the #define whose body this belongs to, else None
        self.mate = None  # index of the matching bracket
        self.outer = None  # index of the innermost bracket around this token


def directive_word(text):
    found = re.match(r"#\s*(\w+)", text)
    return found[1] if found else ""


class Source:
    """One file: its tokens, and the edits to its text."""

    def __init__(self, path):
        self.path = path
        self.text = self._read()
        self.tokens = []
        self.edits = []  # (start, end, replacement)
        self.includes = []  # matches of INCLUDE
        self.kinds = {}  # what scopes.py found out about opening braces
        if CUDA_ONLY.search(self.text):
            self._read_tokens()
            self._match_brackets()
        else:
            self.includes = list(INCLUDE.finditer(self.text))

    def refuse(self, position, sentence):
        line = self.text.count("\n", 0, position) + 1
        return Refusal(f"{self.path}:{line}: {sentence}")

    def edit(self, start, end, text, macro=None):
        """Replaces text[start:end]; newlines that would be lost follow the replacement."""
        lost = self.text.count("\n", start, end) - text.count("\n")
        newline = "\n" if macro is None else "\\\n"
        self.edits.append((start, end, text + newline * lost))

    def edited(self):
        """The text with its edits."""
        pieces, position = [], 0
        for start, end, replacement in sorted(self.edits):
            pieces += [self.text[position:start], replacement]
            position = end
        return "".join(pieces) + self.text[position:]

    # ---- Reading ------------------------------------------------------------------------------

    def _read(self):
        raw = b""
        try:
            with open(self.path, "rb") as file:
                raw = file.read()
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = raw[: error.start].count(b"\n") + 1
            problem = f"{self.path}:{line}: this is not UTF-8 text; save the file as UTF-8"
        except OSError as error:
            problem = f"{self.path}: {error.strerror}; name a source file that can be read"
        raise Refusal(problem)

    def _read_tokens(self):
        position, conditions = 0, []
        line_is_empty = True  # so far: a # would begin a directive
        while position < len(self.text):
            if line_is_empty and self.text[position] == "#":
                position = self._read_directive(position, conditions)
                continue
            kind, end = self._read_token(position, None)
            if kind == "space":
                newline = "\n" in re.sub(SPLICE, "", self.text[position:end])
                line_is_empty = line_is_empty or newline
            elif kind != "comment":
                line_is_empty = False
            position = end

    def _read_token(self, position, macro):
        found = TOKEN.match(self.text, position)
        kind, text, end = found.lastgroup, found[0], found.end()
        kind = "string" if kind == "mark" else kind
        if kind != "comment" and self.text.startswith("/*", position):
            raise self.refuse(position, "this comment never ends; close it with */")
        raw_begins = re.fullmatch("(u8|[uUL])?R", text) and self.text.startswith('"', end)
        if macro is None and (text == '"' or raw_begins):
            raise self.refuse(position, "this string never ends; close it with a quotation mark")
        if kind not in ("space", "comment"):
            self.tokens.append(Token(kind, text, position, macro))
        return kind, end

    def _read_directive(self, start, conditions):
        """Reads a line that begins with #, and what it switches off. Returns where to go on."""
        end = DIRECTIVE.match(self.text, start).end()
        line = re.sub(SPLICE + r"|/\*.*?\*/|//.*", " ", self.text[start:end], flags=re.S).rstrip()
        word = directive_word(line)
        self.tokens.append(Token("directive", self.text[start:end], start, None))
        if word == "define" and (head := DEFINE.match(self.text, start)):
            parameters = (head[1] or "").replace("...", "__VA_ARGS__")
            macro = frozenset(re.findall(r"\w+", parameters))
            position = head.end()
            while position < end:
                _, position = self._read_token(position, macro)
            self.tokens.append(Token("directive", "", end, None))
            return max(position, end)
        if word == "include" and (found := INCLUDE.match(self.text, start)):
            self.includes.append(found)
        elif word.startswith("if"):
            conditions.append(bool(ALWAYS.match(line)))
            if NEVER.match(line):
                return self._skip(end)
        elif word in ("else", "elif") and conditions and conditions[-1]:
            return self._skip(end)
        elif word == "endif" and conditions:
            conditions.pop()
        return end

    def _skip(self, position):
        """Where the group that no compiler reads ends: at its #else, #elif or #endif."""
        depth = 0
        for found in CONDITION.finditer(self.text, position):
            word = found[1] or ""
            if word and depth == 0 and not word.startswith("if"):
                return found.start() + found[0].index("#")
            depth += word.startswith("if") - (word == "endif")
        return len(self.text)

    def _match_brackets(self):
        """Fills in mate and outer. Each branch of an #if begins with the same open brackets."""
        code, macro, saved = [], [], []  # open brackets
        for i, token in enumerate(self.tokens):
            if token.kind == "directive":
                macro = []
                word = directive_word(token.text)
                if word.startswith("if"):
                    saved.append(list(code))
                elif word in ("else", "elif") and saved:
                    code = list(saved[-1])
                elif word == "endif" and saved:
                    saved.pop()
            open_ = code if token.macro is None else macro
            opening = CLOSING.get(token.text) if token.kind == "punct" else None
            if opening and any(self.at(o) == opening for o in open_):
                while self.at(open_[-1]) != opening:
                    open_.pop()
                token.mate = open_.pop()
                self.tokens[token.mate].mate = i
            token.outer = open_[-1] if open_ else None
            if token.kind == "punct" and token.text in OPENING:
                open_.append(i)

    # ---- Looking around -----------------------------------------------------------------------

    def at(self, i):
        """The text of token i, empty beyond the ends."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_name(self, i):
        return (
            0 <= i < len(self.tokens)
            and self.tokens[i].kind == "id"
            and self.tokens[i].text not in STATEMENTS
        )

    def is_directive(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "directive"

    def mate(self, i):
        return self.tokens[i].mate if 0 <= i < len(self.tokens) else None

    def joined(self, first, last):
        """The tokens on one line."""
        text = ""
        for token in self.tokens[first:last]:
            words = re.search(r"\w$", text) and re.match(r"\w", token.text)
            if words or text.endswith(",") or text.endswith("<") and token.text == "::":
                text += " "
            text += token.text
        return text

    def raw(self, first, last, changed):
        """The tokens with what lies between them; `changed` gives some of them another text."""
        text = ""
        for i in range(first, last):
            text += changed.get(i, self.at(i))
            if i + 1 < last:
                text += self.text[self.tokens[i].end : self.tokens[i + 1].start]
        return text

    def angle_back(self, i):
        """The `<` that belongs to the `>` at i, or None."""
        depth = 0
        while i >= 0 and not self.is_directive(i):
            text = self.at(i)
            if text in CLOSING:
                if self.mate(i) is None:
                    return None
                i = self.mate(i)
            elif text in ("<", ">"):
                depth += 1 if text == ">" else -1
                if depth == 0:
                    return i
            elif text in (";", "<<<") or text in OPENING:
                return None
            i -= 1
        return None

    def split(self, first, last):
        """Ranges between the commas that lie in no bracket of any kind."""
        ranges, start, depth, i = [], first, 0, first
        while i < last:
            text = self.at(i)
            if text in OPENING and self.mate(i) is not None:
                i = self.mate(i)
            elif text == "<" and self.tokens[i - 1].kind == "id":
                depth += 1
            elif text == ">" and depth:
                depth -= 1
            elif text == "," and not depth:
                ranges.append((start, i))
                start = i + 1
            i += 1
        return ranges + [(start, last)] if start < last else ranges
