"""What cells say to their kernel: marked objects of JSON in standard output (markers.h); and what they ask."""

import base64
import builtins
import contextlib
import io
import json
import os
import pprint
import signal
import sys
import threading

FORMATS = {"_repr_html_": "text/html", "_repr_markdown_": "text/markdown", "_repr_svg_": "image/svg+xml",
           "_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg", "_repr_latex_": "text/latex",
           "_repr_json_": "application/json", "_repr_javascript_": "application/javascript",
           "_repr_pdf_": "application/pdf"}
WIDTH = 79
MOST_TEXT = 1 << 18
MOST_VALUES = 400_000  # in one object
PIECE = 3072  # with what is around it less than PIPE_BUF: others' writes come between two pieces, and not within one

word = b""
out = open(1, "wb", buffering=0, closefd=False)  # the cells may close sys.stdout
may_ask = False
tells_data = False  # what values are, beside how they look (prelude.h)


def begin(its_word, data_too):
    global word, tells_data
    word, tells_data = its_word.encode(), data_too
    sys.stdout.reconfigure(line_buffering=True)
    sys.stdin = EmptyInput()
    builtins.input = ask
    import getpass
    getpass.getpass = ask_for_password


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the cells may have put anything there
            pass


def mend():
    """A stream that an earlier cell has closed, by a wrapper of its own perhaps, would be closed for ever."""
    for name, number in (("stdout", 1), ("stderr", 2)):
        try:
            getattr(sys, name).write("")
        except Exception:
            file = open(number, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
            setattr(sys, name, file)
            setattr(sys, f"__{name}__", file)


def say(kind, **content):
    flush()
    content["say"] = kind
    try:
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, default=str)
    except Exception:  # of the cell's own values
        text = None
    if text is None or text.count(",") > MOST_VALUES:
        text = json.dumps(without_json(content), ensure_ascii=False, default=str)
    data = text.encode("utf-8", "replace")
    pieces = [data[at:at + PIECE] for at in range(0, len(data), PIECE)]
    with whole():
        for piece in pieces[:-1]:
            write(b"\x1e" + word + b":+%d:" % len(piece) + piece)
        write(b"\x1e" + word + b":%d:" % len(pieces[-1]) + pieces[-1])


def write(data):
    while data:
        data = data[out.write(data):]


@contextlib.contextmanager
def whole():
    """An interrupt waits for what is under way: half an object would take in what is said after it."""
    if threading.current_thread() is not threading.main_thread():  # others are never interrupted
        yield
        return
    came = []
    before = signal.signal(signal.SIGINT, lambda *_: came.append(True))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
    if came:
        signal.raise_signal(signal.SIGINT)


def without_json(content):
    data = {str(kind): value for kind, value in content.get("data", {}).items() if isinstance(value, str)}
    return {**content, "data": data, "metadata": {}} if "data" in content else {"say": content["say"]}


class EmptyInput(io.TextIOWrapper):
    """Standard input is the kernel's: a cell asks by input()."""

    name = "<stdin>"

    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8")

    def fileno(self):
        return 0


class StdinNotImplementedError(RuntimeError):
    """In ipykernel's words, which clients know."""


def answered(prompt, password):
    if not may_ask:
        raise StdinNotImplementedError("raw_input was called, but this frontend does not support input requests.")
    say("input", prompt=str(prompt), password=password)
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 65536)
        if not piece:
            raise EOFError
        line += piece
    return json.loads(line)


def ask(prompt="", /):
    return answered(prompt, False)


def ask_for_password(prompt="Password: ", stream=None):
    return answered(prompt, True)


def text_of(value):
    text = repr(value)
    if len(text) > WIDTH and type(value).__repr__ in (dict.__repr__, list.__repr__, tuple.__repr__, set.__repr__):
        text = pprint.pformat(value, width=WIDTH, sort_dicts=False)
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "..."


def figure_png(value):
    """A figure of matplotlib shows itself as a picture."""
    figures = sys.modules.get("matplotlib.figure")
    if figures is None or not isinstance(value, figures.Figure):
        return None
    from zygo_kernel import figures as ours
    return ours.png_of(value)


def add(kind, made, data, metadata):
    if isinstance(made, tuple) and len(made) == 2:
        made, about = made
        if about:
            metadata[kind] = about
    if isinstance(made, (bytes, bytearray)):
        made = base64.b64encode(made).decode()
    if isinstance(made, str) or (made is not None and kind == "application/json"):
        data[kind] = made


def bundle_of(value):
    """How a value shows itself, by MIME type, and what is said about that."""
    data, metadata = {}, {}
    for name, kind in FORMATS.items():
        make = getattr(type(value), name, None)
        if make is not None:
            try:
                add(kind, make(value), data, metadata)
            except Exception:  # one representation less
                pass
    png = figure_png(value)
    if png is not None:
        add("image/png", png, data, metadata)
    make = getattr(type(value), "_repr_mimebundle_", None)
    if make is not None:
        made = None
        try:
            made = make(value, include=None, exclude=None)
        except Exception:
            pass
        if isinstance(made, tuple) and len(made) == 2:
            metadata.update(made[1] if isinstance(made[1], dict) else {})
            made = made[0]
        for kind, one in (made if isinstance(made, dict) else {}).items():
            add(kind, one, data, metadata) if isinstance(one, (str, bytes)) else data.update({kind: one})
    data.setdefault("text/plain", text_of(value))
    if tells_data:
        from zygo_kernel import data as ours
        data.update(ours.told_of(value))
    return data, metadata
