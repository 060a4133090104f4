"""Cells as IPython's users write them, as Python: magics, commands of the shell, questions."""

import ast
import io
import re
import tokenize

ASSIGNED = re.compile(r"^(\s*)([A-Za-z_][\w.,\s]*?)\s*=\s*([%!])(?![=])(.+)$")
QUESTION = re.compile(r"^(\s*)(\??\??)\s*(%{0,2}[A-Za-z_][\w.]*)\s*(\?{0,2})\s*$")


def is_python(source):
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def is_inside(lines):
    """Whether the next line goes on with a string, a bracket or a continued line."""
    text = "\n".join(lines) + "\n"
    if lines and lines[-1].endswith("\\"):
        return True
    try:
        for _ in tokenize.generate_tokens(io.StringIO(text).readline):
            pass
    except tokenize.TokenError as error:
        return "EOF in multi-line" in str(error)
    except (IndentationError, SyntaxError):
        pass
    return False


def call(function, *arguments):
    return f"__zygo_{function}__({', '.join(map(repr, arguments))})"


def magic(text):
    name, _, rest = text.strip().partition(" ")
    return call("magic", name, rest.strip())


def line_of(line):
    """Its Python, or None: it is that already."""
    body = line.lstrip()
    blanks = line[:len(line) - len(body)]
    if body.startswith("!"):
        return blanks + call("shell", body.lstrip("!").strip())
    question = QUESTION.match(line)
    if question and (question[2] or question[4]):
        detail = 1 if "??" in (question[2], question[4]) else 0
        return blanks + call("help", question[3], detail)
    if body.startswith("%"):
        return blanks + magic(body[1:])
    assigned = ASSIGNED.match(line)
    if assigned:
        made = magic(assigned[4]) if assigned[3] == "%" else call("capture", assigned[4].strip())
        return f"{assigned[1]}{assigned[2]} = {made}"
    return None


def unindented(source):
    lines = source.split("\n")
    first = next((line for line in lines if line.strip()), "")
    blanks = first[:len(first) - len(first.lstrip(" \t"))]
    return "\n".join(line[len(blanks):] if line.startswith(blanks) else line for line in lines) if blanks else source


def python_of(source):
    source = source.replace("\r\n", "\n")
    if source.lstrip().startswith("%%"):
        first, _, body = source.lstrip().partition("\n")
        name, _, rest = first[2:].strip().partition(" ")
        return call("cell_magic", name, rest.strip(), body)
    source = unindented(source)
    if is_python(source):
        return source
    lines = []
    for line in source.split("\n"):
        made = line_of(line)
        lines.append(line if made is None or is_inside(lines) else made)
    return "\n".join(lines)
