"""What a brace of a source file opens: a namespace or class, device code, or another function."""

CLASS_KEYS = {"struct", "class", "union", "enum"}


def header(source, brace):
    """Indices, last first, of the tokens outside of brackets that lead to an opening brace."""
    outer = source.tokens[brace].outer
    nested = outer is not None and source.at(outer) != "{"
    i, indices = brace - 1, []
    while i >= 0 and not source.is_directive(i):
        text = source.at(i)
        initialiser = text == "}" and source.at(i + 1) in (",", "{", ")")
        if text in (")", "]") or initialiser:
            i = -1 if source.mate(i) is None else source.mate(i)
        elif text in (";", "{", "}", "(", "[") or nested and text == ",":
            break
        indices.append(i)
        i -= 1
    return indices


def kind_of(source, brace):
    """namespace (or class), device, or function; brace is the index of a bracket or None."""
    if brace is None:
        return "namespace"
    if source.at(brace) != "{":
        return kind_of(source, source.tokens[brace].outer)
    if brace not in source.kinds:
        source.kinds[brace] = _classify(source, brace)
    return source.kinds[brace]


def _classify(source, brace):
    texts = [source.at(i) for i in header(source, brace)]
    tail = next((t for t in texts if t not in ("const", "final", "noexcept", "override")), "")
    if "namespace" in texts or "extern" in texts and "(" not in texts:
        return "namespace"
    if CLASS_KEYS & set(texts) and tail != "(":
        return "namespace"
    if "__global__" in texts or "__device__" in texts and "__host__" not in texts:
        return "device"
    outer = kind_of(source, source.tokens[brace].outer)
    return "function" if outer == "namespace" else outer


def outermost_function(source, i):
    """The brace that opens the function around token i, or None."""
    found, brace = None, source.tokens[i].outer
    while brace is not None:
        if source.at(brace) == "{" and kind_of(source, brace) != "namespace":
            found = brace
        brace = source.tokens[brace].outer
    return found


def declares(source, name, first, last):
    """Whether the range seems to declare a variable `name`: a type, perhaps * or &, the name."""
    for i in range(first, last):
        if source.at(i) != name or source.at(i + 1) not in ("=", "{", ";", ",", ")", "[", ":"):
            continue
        before = i - 1
        while source.at(before) in ("*", "&"):
            before -= 1
        function_pointer = (
            before < i - 1
            and source.at(before) == "("
            and source.is_name(before - 1)
            and source.at(i + 2) == "("
        )
        if source.is_name(before) or source.at(before) == ">" or function_pointer:
            return True
    return False
