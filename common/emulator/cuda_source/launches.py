"""Rewrites kernel<<<grid, block, shared, stream>>>(arguments).

What it becomes is one expression again, in one of four forms (include/emulator/launch.hpp):
  named    the kernel is known and not overloaded: arguments convert to its own parameter types
  pointer  an expression that gives a function pointer, evaluated at the launch
  call     a lambda calls it, so that template arguments are deduced and overloads chosen
  any      the compiler chooses between pointer and call: a macro's parameter, an unknown name
"""

from .scopes import declares, header, kind_of, outermost_function
from .source import CLOSING, OPENING

CONTROL = ("if", "while", "for", "switch", "constexpr")
LITERALS = ("NULL", "nullptr", "true", "false")


def rewrite_launch(source, launch, kernels):
    """Edits the launch whose <<< is token `launch`."""
    token = source.tokens[launch]
    if source.at(launch - 1) == "operator":
        return
    if kind_of(source, token.outer) == "device":
        raise source.refuse(
            token.start,
            "a launch in device code (dynamic parallelism) is not emulated; "
            "launch from the host, or run this on a GPU",
        )
    start, simple = _operand(source, launch)
    close = _close(source, launch)
    open_ = close + 3
    last = source.mate(open_) if source.at(open_) == "(" else None
    # A macro may leave its user to write the arguments.
    if last is None and not (token.macro is not None and source.is_directive(open_)):
        raise source.refuse(
            token.start,
            "this launch has no complete argument list; write kernel<<<grid, block>>>(arguments)",
        )
    macro, name = token.macro, source.joined(start, launch)
    arguments = (open_ + 1, last) if macro is None else None
    text = quoted(name)
    if macro and name in macro and name != "__VA_ARGS__":
        text = "#" + name  # the name that the macro was given
    form = _form(source, start, launch, simple, arguments, kernels)
    if form == "named":
        before, after = f"launch<&{name}>(", text
    elif form == "pointer":
        before, after = "launch_pointer(", f"{name}, {text}"
    elif form == "call":
        before, after = "launch_call(", f"[&]{_call(source, arguments, name)}, {text}"
    else:
        pointer = f"::emu::launch_pointer(emu_c, {name}, {text})"
        before = "launch_any("
        after = (
            f"[&](auto emu_c) -> decltype({pointer}) {{ return {pointer}; }}, "
            f"[&]{_call(source, None, name)}, {text}"
        )
    begin, end = source.tokens[start].start, source.tokens[close + 2].end
    source.edit(begin, token.end, f"::emu::{before}::emu::config(", macro)
    source.edit(source.tokens[close].start, end, f"), {after})", macro)


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _operand(source, launch):
    """Where the expression before <<< begins, and whether it is only a (qualified) name."""
    i, simple = launch - 1, True
    while True:
        if source.at(i) in (")", "]") and source.mate(i) is not None:
            start, simple = source.mate(i), False
            if not _continues(source, start - 1):
                return start, simple
            i = start - 1
        elif source.at(i) == ">" and _template_name(source, i) is not None:
            i = _template_name(source, i)
        elif source.is_name(i) and source.at(i) not in CONTROL:
            start = i - 1 if source.at(i - 1) == "template" else i
            link = source.at(start - 1)
            if link not in ("::", ".", "->"):
                return start, simple
            simple = simple and link == "::"
            if not (source.is_name(start - 2) or source.at(start - 2) in (")", "]", ">")):
                return start - 1, simple
            i = start - 2
        else:
            raise source.refuse(
                source.tokens[launch].start,
                "no kernel stands before <<<; write the kernel's name or a pointer to it "
                "directly before <<<, not through a macro",
            )


def _continues(source, i):
    """Whether a ( or [ behind token i is a call or a subscript, not the start of an expression."""
    if source.at(i) == ")":
        condition = source.mate(i)
        return condition is not None and source.at(condition - 1) not in CONTROL
    if source.at(i) == ">":
        return _template_name(source, i) is not None
    return source.at(i) == "]" or source.is_name(i) and source.at(i) not in CONTROL


def _template_name(source, i):
    """Index of NAME in NAME<…> where i is the >, or None."""
    open_ = source.angle_back(i)
    return open_ - 1 if open_ is not None and source.is_name(open_ - 1) else None


def _close(source, launch):
    """The first of the three > that end the configuration, not template arguments in it."""
    pending, i = 0, launch + 1
    in_macro = source.tokens[launch].macro is not None
    while i < len(source.tokens):
        text = source.at(i)
        if text in CLOSING or text in (";", "<<<") or in_macro and source.is_directive(i):
            break
        if text in OPENING:
            if source.mate(i) is None:
                break
            i = source.mate(i)
        elif text == "<" and source.is_name(i - 1) and source.at(i + 1) != "=":
            pending += 1
        elif text in ("?", "|"):
            pending = 0  # what looked like template arguments was a comparison
        elif text == ">":
            run = 1
            while source.at(i + run) == ">" and _adjacent(source, i + run):
                run += 1
            if run >= 3 and (pending < 3 or run == pending + 3):
                return i + run - 3
            pending = max(0, pending - run)
            i += run - 1
        i += 1
    raise source.refuse(
        source.tokens[launch].start,
        "this launch never ends; write kernel<<<grid, block>>>(arguments)",
    )


def _adjacent(source, i):
    return source.tokens[i].start == source.tokens[i - 1].end


def _form(source, start, launch, simple, arguments, kernels):
    macro = source.tokens[launch].macro
    if macro and any(source.at(i) in macro for i in range(start, launch)):
        return "any"
    if not simple:
        return "pointer"
    explicit, name = None, launch - 1
    if source.at(name) == ">":
        explicit = source.split(source.angle_back(name) + 1, name)
        name = _template_name(source, name)
    function = outermost_function(source, launch)
    if function is not None:
        begin = min(header(source, function), default=function)
        if declares(source, source.at(name), begin, launch):
            return "any"  # perhaps a pointer with the name of a kernel
    if source.at(name) not in kernels.named:
        return "any" if kernels.some_unnamed else "pointer"
    if source.at(name) in kernels.shared_names:
        return "call"
    count = len(source.split(*arguments)) if arguments else None
    forms = set()
    for signatures in kernels.named[source.at(name)].values():
        if len(signatures) > 1:
            return "call"  # overloaded
        forms |= {_form_of(kernel, explicit, count) for kernel in signatures.values()}
    return forms.pop() if len(forms) == 1 else "any"


def _form_of(kernel, explicit, count):
    if count is not None and count != kernel.parameters:
        return "call"  # a default argument is used
    if kernel.template is None:
        return "named" if explicit is None else "any"
    if explicit is None or kernel.pack:
        return "call"
    # A parameter left out may be deduced from the arguments, whatever its default.
    return "call" if kernel.words & set(kernel.template[len(explicit) :]) else "named"


def _call(source, arguments, name):
    """Parameters and body of a lambda that calls `name`.

    Literals among the arguments move into the call, where 0 may be a pointer and {1, 2} a float2.
    """
    leaves = list(_leaves(source, *arguments)) if arguments else []
    if not any(isinstance(leaf, str) or leaf[2] for leaf in leaves):
        return f"(auto... emu_a) {{ {name}(emu_a...); }}"
    body, kept = "", {}
    for leaf in leaves:
        if leaf != "}" and body and not body.endswith("{"):
            body += ", "
        if isinstance(leaf, str):
            body += leaf
        elif leaf[2]:
            body += source.joined(leaf[0], leaf[1])
        else:
            kept[leaf[0]] = leaf[1]
            body += f"emu_{len(kept)}"
    i, last = arguments
    comma_due = False
    while i < last:
        if i in kept:
            comma_due = i != max(kept)
            i = kept[i]
            continue
        if source.at(i) == "," and comma_due:
            comma_due = False
        else:
            source.edit(source.tokens[i].start, source.tokens[i].end, "")
        i += 1
    parameters = ", ".join(f"auto emu_{n + 1}" for n in range(len(kept)))
    return f"({parameters}) {{ {name}({body}); }}"


def _leaves(source, first, last):
    """The arguments, braced lists taken apart: "{", "}", or (first, last, whether a literal)."""
    for a, b in source.split(first, last):
        if source.at(a) == "{" and source.mate(a) == b - 1:
            yield "{"
            yield from _leaves(source, a + 1, b - 1)
            yield "}"
        else:
            words = [i for i in range(a, b) if source.at(i) not in ("-", "+", "~")]
            literal = len(words) == 1 and (
                source.tokens[words[0]].kind in ("number", "char", "string")
                or source.at(words[0]) in LITERALS
            )
            yield a, b, literal
