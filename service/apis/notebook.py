"""Runs the cells of a notebook in one process, one after another, and says what each of them did.

The source of a job in call mode: each cell is a call of run_cell. There is no IPython here: no magics, no
shell commands, no pretty printer; the value of a last expression is shown as its class represents it.
"""

import ast
import base64
import linecache
import os
import sys
import tempfile
import traceback
import types

RICH = {"_repr_html_": "text/html", "_repr_markdown_": "text/markdown", "_repr_latex_": "text/latex",
        "_repr_svg_": "image/svg+xml", "_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg"}

main = types.ModuleType("__main__")
shown = []  # by the cell that runs
count = 0
has_value = False  # it has shown the value of its last expression


def text_of(text):
    """What can be said in UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8")


def data_of(value):
    data = {"text/plain": text_of(repr(value))}
    for name, kind in RICH.items():
        make = getattr(type(value), name, None)
        try:
            made = make(value) if make else None
        except Exception:  # one representation less
            continue
        if isinstance(made, tuple) and made:
            made = made[0]  # the others are about it
        if isinstance(made, bytes):
            made = base64.b64encode(made).decode()
        if isinstance(made, str):
            data[kind] = text_of(made)
    return data


def display(*values):
    for value in values:
        shown.append(data_of(value))


class Streams:
    """What is written to standard output and standard error, by whatever part of the process."""

    def __init__(self, result):
        self.result = result

    def __enter__(self):
        self.flush()
        self.files = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        for number, file in enumerate(self.files, 1):
            os.dup2(file.fileno(), number)

    def __exit__(self, *problem):
        self.flush()
        for name, file in zip(("stdout", "stderr"), self.files):
            file.seek(0)
            self.result[name] = file.read().decode("utf-8", "replace")
            file.close()

    @staticmethod
    def flush():
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except Exception:  # the cells may have put anything there
                pass


def execute(source, name):
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec", dont_inherit=True), main.__dict__)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), name, "eval", dont_inherit=True), main.__dict__)
    if value is not None:
        main._ = value
        if not source.rstrip().endswith(";"):
            display(value)
            global has_value
            has_value = True


def account_of(problem):
    trace = problem.__traceback__
    while trace is not None and trace.tb_frame.f_globals is not main.__dict__:
        trace = trace.tb_next
    try:
        lines = traceback.format_exception(type(problem), problem, trace)
        words = str(problem)
    except Exception:  # it cannot even be told
        lines, words = [], ""
    return {"ename": text_of(type(problem).__name__), "evalue": text_of(words),
            "traceback": [text_of(line) for line in "".join(lines).splitlines()]}


def run_cell(source):
    global count, shown, has_value
    count += 1
    shown = []
    has_value = False
    result = {"stdout": "", "stderr": "", "display": shown, "error": []}
    with Streams(result):
        try:
            execute(source, f"<cell {count}>")
        except BaseException as problem:  # the next cell runs whatever happened in this one
            result["error"].append(account_of(problem))
    return result


def unindented(source):
    """The source without empty lines in front, and without the blanks that the first line begins with, as IPython reads it."""
    lines = source.splitlines(True)
    while lines and not lines[0].strip():
        del lines[0]
    blanks = lines[0][:len(lines[0]) - len(lines[0].lstrip(" \t"))] if lines else ""
    return "".join(line.removeprefix(blanks) for line in lines)


def run_script(source):
    """A cell alone; `main` tells whether the last of what it has shown is the value of its last expression."""
    result = run_cell(unindented(source))
    result["main"] = has_value
    return result


main.display = display
sys.modules["__main__"] = main
