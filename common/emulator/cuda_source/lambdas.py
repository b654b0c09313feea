"""Lets lambdas in device code reach shared memory as nvcc does.

A __shared__ variable is static: a lambda uses it without capturing it. Rewritten it is a reference,
which [=] would copy together with the array behind it, and [] would not see: both name it.
"""

from .scopes import outermost_function


def capture_shared(source, i, shared):
    """Edits the capture list that [ opens at token i; `shared`: the names so far, by function."""
    end = source.mate(i)
    names = shared.get(outermost_function(source, i), ()) if shared else ()
    if not names or end is None or source.tokens[i].macro is not None:
        return
    subscript = source.is_name(i - 1) or source.at(i - 1) in (")", "]")
    captures = [source.at(k) for k in range(i + 1, end)]
    if (
        subscript
        or "[" in (source.at(i - 1), source.at(i + 1))
        or captures[:1] == ["&"]
        and (len(captures) == 1 or captures[1] == ",")
    ):
        return
    body = end + 1
    while source.at(body) not in ("{", ";", ")", "]", "") or body < end:
        body = (source.mate(body) or body) + 1 if source.at(body) == "(" else body + 1
    if source.at(body) != "{" or source.mate(body) is None:
        return
    used = {source.at(k) for k in range(body, source.mate(body))} - set(captures)
    added = [f"&{name}" for name in dict.fromkeys(names) if name in used]
    if added:
        text = (", " if captures else "") + ", ".join(added)
        source.edit(source.tokens[end].start, source.tokens[end].start, text)
