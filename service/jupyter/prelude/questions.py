"""Completion, inspection, and whether a cell is whole."""

import ast
import builtins
import codeop
import inspect as looking
import keyword
import re
import warnings

from zygo_kernel import magics, transform

NAME = re.compile(r"[A-Za-z_\u0080-\uffff][\w.]*$")
MOST_MATCHES = 1000


def value_of(text):
    """Of a dotted name of the cells or of builtins."""
    first, *rest = text.split(".")
    value = magics.names[first] if first in magics.names else getattr(builtins, first)
    for name in rest:
        value = getattr(value, name)
    return value


def attributes_of(text):
    try:
        value = value_of(text)
    except Exception:
        return []
    return [name for name in dir(value) if isinstance(name, str)]


def modules(before, start):
    """Behind `import` and `from`."""
    found = re.search(r"(?:^|;)\s*(?:from\s+([\w.]+)\s+import\s+(?:\w+\s*,\s*)*|(?:from|import)\s+)$", before)
    if not found:
        return None
    import pkgutil
    import sys
    if found[1]:
        try:
            module = __import__(found[1], fromlist=["*"])
        except Exception:
            return []
        return [name for name in dir(module) if name.startswith(start)]
    names = set(getattr(sys, "stdlib_module_names", ())) | {module.name for module in pkgutil.iter_modules()}
    return [name for name in names if name.startswith(start)]


def complete(request, names):
    code, cursor = request["code"], request.get("cursor_pos", len(request["code"]))
    line = code[:cursor].rsplit("\n", 1)[-1]
    magic = re.search(r"^\s*(%%?)(\w*)$", line)
    if magic:
        known = magics.CELLS if magic[1] == "%%" else [*magics.LINES, *magics.STATES]
        matches, start = [magic[1] + name for name in known if name.startswith(magic[2])], len(magic[1] + magic[2])
    else:
        found = NAME.search(line)
        text = found[0] if found else ""
        base, dot, last = text.rpartition(".")
        matches = modules(line[:len(line) - len(text)], text) if not dot else None
        if matches is None:
            words = attributes_of(base) if dot else {*names, *vars(builtins), *keyword.kwlist} if text else {*names}
            hidden = not last.startswith("_")
            matches = [base + dot + word for word in words
                       if word.startswith(last) and not (hidden and word.startswith("_"))]
        start = len(text)
    return {"status": "ok", "matches": sorted(set(matches))[:MOST_MATCHES], "cursor_start": cursor - start, "cursor_end": cursor,
            "metadata": {}}


def name_at(code, cursor):
    """The dotted name at the cursor, or that of the function whose arguments it is in."""
    left = NAME.search(code[:cursor])
    right = re.match(r"\w*", code[cursor:])
    if left:
        return left[0] + right[0]
    if right[0]:
        return right[0]
    depth = 0
    for at in range(cursor - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(code[at], 0)
        if depth < 0:
            found = NAME.search(code[:at])
            return found[0] if found else ""
    return ""


def source_of(value):
    """Of a class that a cell made it is looked for in the cells: it has no file."""
    try:
        return looking.getsource(value)
    except (TypeError, OSError):
        pass
    for code in reversed(magics.names.get("In", ())):
        try:
            nodes = [*ast.walk(ast.parse(code))] if f"class {getattr(value, '__name__', ' ')}" in code else []
        except SyntaxError:
            continue
        for node in nodes:
            if isinstance(node, ast.ClassDef) and node.name == value.__name__ and looking.isclass(value):
                return ast.get_source_segment(code, node)
    return None


def description(name, detail):
    """None: there is no such thing."""
    if name.startswith("%"):
        made = {**magics.CELLS, **magics.LINES}.get(name.lstrip("%"))
        return None if made is None else f"{name}: a magic of zygo's kernel; {magics.known()}"
    try:
        value = value_of(name)
    except Exception:
        return None
    lines = []
    try:
        lines.append(f"Signature: {name}{looking.signature(value)}")
    except (TypeError, ValueError):
        pass
    if not callable(value):
        text = repr(value)
        lines.append(f"String form: {text if len(text) < 500 else text[:500] + '...'}")
    lines.append(f"Type:      {type(value).__name__}")
    source = source_of(value) if detail else None
    if source:
        return "\n".join([*lines, "Source:", source])
    return "\n".join([*lines, "Docstring:", looking.getdoc(value) or "<no docstring>"])


def inspect(request):
    code = request["code"]
    name = name_at(code, request.get("cursor_pos", len(code)))
    text = description(name, request.get("detail_level", 0)) if name else None
    return {"status": "ok", "found": text is not None, "data": {"text/plain": text} if text is not None else {}, "metadata": {}}


def is_complete(code):
    if code.lstrip().startswith("%%"):
        return {"status": "complete" if code.endswith("\n\n") else "incomplete", "indent": ""}
    last = code.split("\n")[-1]
    blanks = last[:len(last) - len(last.lstrip())]
    compiler = codeop.CommandCompiler()
    compiler.compiler.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = compiler(transform.python_of(code), "<cell>", "exec")
        except (SyntaxError, ValueError, OverflowError):
            return {"status": "invalid"}
    if made is None:
        return {"status": "incomplete", "indent": blanks + ("    " if last.rstrip().endswith(":") else "")}
    return {"status": "incomplete", "indent": blanks} if last.strip() and blanks else {"status": "complete"}
