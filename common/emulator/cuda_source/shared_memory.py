"""Rewrites __shared__ declarations into references to the block's shared memory.

    __shared__ T a[N], b;   becomes, for each variable,
    struct emu_shared_a { T a[N]; };
    auto& a = ::emu::shared_variable<emu_shared_a, emu_shared_a>().a;

The local struct holds the declaration as it was written, alignment included, and is a key of its
own for each site and each instantiation of a template. `extern` arrays refer to the launch's
dynamic shared memory; one of namespace scope is declared in each device function that uses it.
"""

from .kernels import ATTRIBUTES, BUILTIN, QUALIFIERS
from .scopes import CLASS_KEYS, declares, header, kind_of
from .source import CLOSING, OPENING

STORAGE = ("__shared__", "static", "extern")
ALIGNMENT = ("alignas", "__align__", "__attribute__")


def rewrite_shared(source, i):
    """Edits the declaration that token i, __shared__, belongs to. Returns the variables' names."""
    macro = source.tokens[i].macro
    first, last = _first(source, i), _last(source, i)
    changed, alignment = _specifiers(source, first, last)
    external = any(source.at(k) == "extern" for k in changed)
    inside = macro is not None or kind_of(source, source.tokens[i].outer) != "namespace"
    if not inside and not external:
        raise source.refuse(
            source.tokens[i].start,
            "a __shared__ variable outside of a function is not emulated; "
            "declare it inside the kernel",
        )
    ranges = source.split(first, last)
    if not ranges:
        raise _no_variable(source, i)
    declarators = [_declarator(source, i, a, b, changed, a == first) for a, b in ranges]
    text, type_ = _type(source, first, *declarators[0], changed)
    for (name, start), (_, end) in zip(declarators, ranges):
        variable = source.at(name)
        site = f"emu_shared_{'##' if macro and variable in macro else ''}{variable}"
        if external:
            array = source.raw(start, end, {**changed, name: site})
            text += f"typedef {type_} {array}; "
            text += f"{site}& {variable} = ::emu::dynamic_shared<{site}>(); " if inside else ""
        else:
            member = f"{alignment}{type_} {source.raw(start, end, changed)}"
            text += f"struct {site} {{ {member}; }}; "
            text += f"auto& {variable} = ::emu::shared_variable<{site}, {site}>().{variable}; "
        type_ = " ".join(type_.split())
    begin, end = source.tokens[first].start, source.tokens[last - 1].end
    source.edit(begin, end, text.rstrip("; "), macro)
    return [source.at(name) for name, _ in declarators]


def names_of_namespace_scope(source):
    """Names of the arrays declared extern __shared__ outside of any function."""
    names = set()
    for i, token in enumerate(source.tokens):
        if token.text == "__shared__" and token.macro is None:
            if kind_of(source, token.outer) == "namespace":
                last = next((k for k in range(i, len(source.tokens)) if source.at(k) == ";"), i)
                ends = [k for k in range(i + 2, last) if source.at(k) == "["]
                names |= {source.at(k - 1) for k in ends if source.is_name(k - 1)}
    return names


def declare_dynamic(source, brace, names):
    """Declares dynamic shared memory of namespace scope at the start of a function that uses it.

    Returns the names declared.
    """
    if not names or source.tokens[brace].macro is not None:
        return []
    before = header(source, brace)
    on_device = any(source.at(k) in ("__global__", "__device__") for k in before)
    in_class_or_namespace = kind_of(source, source.tokens[brace].outer) == "namespace"
    if not on_device or not in_class_or_namespace or kind_of(source, brace) == "namespace":
        return []
    end = source.mate(brace) or brace
    words = {source.at(k) for k in range(brace, end) if source.at(k - 1) not in (".", "->", "::")}
    used = [n for n in sorted(names & words) if not declares(source, n, min(before), end)]
    for name in used:
        site = f"emu_shared_{name}"
        text = f" {site}& {name} = ::emu::dynamic_shared<{site}>();"
        source.edit(source.tokens[brace].end, source.tokens[brace].end, text)
    return used


def _no_variable(source, i):
    return source.refuse(
        source.tokens[i].start,
        "no variable is declared after __shared__; "
        "write __shared__, the type and the name in one declaration",
    )


def _first(source, i):
    """The declaration's first token: storage, alignment or type may precede __shared__."""
    while i > 0:
        before = i - 1
        if source.at(before) == ">" and source.angle_back(before) is not None:
            i = source.angle_back(before)
        elif source.at(before) == ")" and source.at((source.mate(before) or 0) - 1) in ATTRIBUTES:
            i = source.mate(before) - 1
        elif source.is_name(before) or source.at(before) in ("::", "*"):
            i = before
        else:
            break
    return i


def _last(source, i):
    """The token behind the declaration: its semicolon or the end of a macro."""
    place, in_macro = source.tokens[i].start, source.tokens[i].macro is not None
    while source.at(i) != ";" and not (in_macro and source.is_directive(i)):
        unmatched = source.at(i) in OPENING and source.mate(i) is None
        if i >= len(source.tokens) or source.at(i) in CLOSING or unmatched:
            raise source.refuse(
                place,
                "this __shared__ is not part of a declaration that ends with a semicolon; "
                "declare a variable inside the kernel",
            )
        i = source.mate(i) + 1 if source.at(i) in OPENING else i + 1
    return i


def _specifiers(source, first, last):
    """What leaves its place: {index: ""}, and the alignment that goes to the member's front."""
    changed, alignment, k = {}, "", first
    while k < last:
        if source.at(k) in STORAGE:
            changed[k] = ""
        elif source.at(k) in ALIGNMENT and source.at(k - 1) not in CLASS_KEYS:
            end = source.mate(k + 1) + 1
            alignment += source.joined(k, end) + " "
            changed.update(dict.fromkeys(range(k, end), ""))
            k = end - 1
        elif source.at(k) in OPENING:
            k = source.mate(k)
        k += 1
    return changed, alignment


def _type(source, first, name, start, changed):
    """The definition of a type that is defined in place, and the variables' type."""
    definition = next((k for k in range(first, name) if source.at(k) == "{"), None)
    if definition is None:
        return "", source.raw(first, start, changed)
    key = next(k for k in range(first, definition) if source.at(k) in CLASS_KEYS)
    end = source.mate(definition) + 1
    colon = next((k for k in range(key, definition) if source.at(k) == ":"), definition)
    if colon - 1 > key and source.is_name(colon - 1):
        tag, body = source.at(colon - 1), source.raw(key, end, changed)
    else:
        tag = f"emu_type_{source.at(name)}"
        body = source.raw(key, end, {**changed, definition: f" {tag} {{"})
    around = [*range(first, key), *range(end, start)]
    qualifiers = [source.at(k) for k in around if k not in changed]
    return body + "; ", " ".join(qualifiers + [tag])


def _declarator(source, i, first, last, changed, has_type):
    """Index of the declared name, and of the first token behind the type."""
    name, k, angles, type_key, sized = None, first, 0, False, False
    while k < last:
        text = source.at(k)
        type_key = type_key or text in CLASS_KEYS
        if k in changed or text in ATTRIBUTES and source.at(k + 1) == "(":
            k += k not in changed
        elif text == "(" and not angles and source.at(k + 1) in ("*", "&"):
            name = k + 1
            while source.at(name) in ("*", "&", "(") or source.at(name) in QUALIFIERS:
                name += 1
            return name, k
        elif text == "[":
            sized = True
        elif not angles and (text in ("=", "(") or text == "{" and not type_key):
            raise source.refuse(
                source.tokens[i].start,
                "a __shared__ variable cannot be initialised; "
                "let one thread assign to it, then __syncthreads()",
            )
        elif text == "<" and source.is_name(k - 1):
            angles += 1
        elif text == ">":
            angles -= 1
        elif source.is_name(k) and not angles and not sized and text not in BUILTIN | CLASS_KEYS:
            name = k
        if source.at(k) in OPENING:
            type_key = type_key and source.at(k) != "{"
            k = source.mate(k)
        k += 1
    if name is None:
        raise _no_variable(source, i)
    start = name
    while start > first and (
        source.at(start - 1) in ("*", "&")
        or source.at(start - 1) in QUALIFIERS
        and source.at(start - 2) == "*"
    ):
        start -= 1
    if has_type and all(k in changed for k in range(first, start)):
        raise _no_variable(source, i)
    return name, start
