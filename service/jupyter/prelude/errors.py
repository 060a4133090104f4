"""Exceptions as IPython tells them."""

import linecache
import traceback

RED, GREEN, BLUE, PLAIN = "\x1b[0;31m", "\x1b[0;32m", "\x1b[0;34m", "\x1b[0m"
WIDTH = 75
CONTEXT = 2
MOST_FRAMES = 30
MOST_CHAIN = 6
MOST_TEXT = 1 << 18
NO_NETWORK = "there is no network in a sandbox"
CELLS = ("Cell In[", "<cell ", "<timed>", "<captured>")  # names of their code


def begin(is_notebook):
    global RED, GREEN, BLUE, PLAIN
    if not is_notebook:  # whoever reads it has no terminal
        RED = GREEN = BLUE = PLAIN = ""


class UsageError(Exception):
    """A magic, or its arguments, that there is not."""


def safe_text(value):
    try:
        return str(value)
    except Exception:
        return "<exception str() failed>"


def is_of_cell(frame):
    return frame.f_code.co_filename.startswith(CELLS)


def frames_of(trace):
    """From the cell on, and without those of the kernel."""
    frames = [(frame, line) for frame, line in traceback.walk_tb(trace)]
    first = next((at for at, (frame, _) in enumerate(frames) if is_of_cell(frame)), 0)
    return [each for each in frames[first:] if not each[0].f_code.co_filename.startswith("<zygo_kernel.")]


def place_of(frame, line):
    name, function = frame.f_code.co_filename, frame.f_code.co_name
    place = f"{name}, line {line}" if name.startswith("Cell In[") else f"File {name}:{line}"
    head, _, rest = place.partition(" ")
    shown = f"{head} {GREEN}{rest}{PLAIN}"
    return shown if function == "<module>" else f"{shown}, in {BLUE}{function}{PLAIN}"


def lines_about(frame, line):
    lines = []
    name = frame.f_code.co_filename
    for number in range(max(1, line - CONTEXT), line + CONTEXT + 1):
        text = linecache.getline(name, number, frame.f_globals).rstrip("\n")
        if number == line:
            arrow = "-" * max(1, 5 - len(str(number))) + "> " + str(number)
            lines.append(f"{GREEN}{arrow}{PLAIN} {text}")
        elif text:
            lines.append(f"{number:>7} {text}")
    return lines if any(linecache.getline(name, line)) else []


def headline(error):
    name = type(error).__name__
    words = "Traceback (most recent call last)"
    return f"{RED}{name}{PLAIN}{words:>{max(WIDTH - len(name), len(words) + 1)}}"


def syntax_lines(error):
    name = error.filename or "<unknown>"
    place = f"{name}, line {error.lineno}" if name.startswith("Cell In[") else f"File {name}:{error.lineno}"
    text = (error.text or "").rstrip("\n")
    shown = text.lstrip()
    lines = [f"  {place}"]
    if shown:
        column = max(0, (error.offset or 1) - 1 - (len(text) - len(shown)))
        lines += [f"    {shown}", "    " + " " * column + "^"]
    return lines


def last_line(error):
    words = error.msg if isinstance(error, SyntaxError) and error.msg else safe_text(error)
    line = f"{RED}{type(error).__name__}{PLAIN}: {words}"
    notes = [note for note in getattr(error, "__notes__", None) or [] if isinstance(note, str)]
    return "\n".join([line, *notes])


def lines_of(error):
    """Of one exception, without those that led to it."""
    if isinstance(error, UsageError):
        return [f"{RED}UsageError{PLAIN}: {safe_text(error)}"]
    frames = frames_of(error.__traceback__)
    if isinstance(error, SyntaxError) and not frames:
        return ["\n".join([*syntax_lines(error), last_line(error)])]
    lines = [headline(error)]
    if len(frames) > MOST_FRAMES:
        half = MOST_FRAMES // 2
        shown = [*frames[:half], None, *frames[-half:]]
    else:
        shown = frames
    for each in shown:
        if each is None:
            lines.append(f"    [... skipping {len(frames) - MOST_FRAMES} frames]")
        else:
            lines.append("\n".join([place_of(*each), *lines_about(*each), ""]))
    members = getattr(error, "exceptions", None)
    if isinstance(members, tuple):
        text = "".join(traceback.format_exception_only(type(error), error)).rstrip("\n")
        inner = ["  | " + line for member in members for line in traceback.format_exception_only(type(member), member)]
        return [*lines, text, *[line.rstrip("\n") for line in inner]]
    if isinstance(error, SyntaxError):
        lines.append("\n".join(syntax_lines(error)))
    return [*lines, last_line(error)]


def traceback_of(error):
    chain, words = [error], []
    while len(chain) < MOST_CHAIN:
        now = chain[-1]
        if now.__cause__ is not None:
            before, word = now.__cause__, "The above exception was the direct cause of the following exception:"
        elif now.__context__ is not None and not now.__suppress_context__:
            before, word = now.__context__, "During handling of the above exception, another exception occurred:"
        else:
            break
        if any(before is one for one in chain):
            break
        chain.append(before)
        words.append(word)
    rule = f"{RED}{'-' * WIDTH}{PLAIN}"
    plain = isinstance(error, UsageError) or (isinstance(error, SyntaxError) and not frames_of(error.__traceback__))
    lines = [] if plain else [rule]
    for at in range(len(chain) - 1, -1, -1):
        lines += lines_of(chain[at])
        if at > 0:
            lines += ["", words[at - 1], ""]
    return lines


def lacks_network(error):
    """Whether it comes from a call of the module socket that was refused, or from one that resolves a name."""
    seen = []
    while error is not None and not any(error is one for one in seen):
        seen.append(error)
        frames = [frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(error.__traceback__)]
        if isinstance(error, OSError) and frames[-1:] == ["socket"]:
            return True
        error = error.__cause__ or error.__context__
    return False


def shortened(text):
    return text if len(text) <= MOST_TEXT else text[:MOST_TEXT] + "..."


def told(error):
    words = safe_text(error)
    if lacks_network(error):
        words += f" ({NO_NETWORK})"
    return {"ename": type(error).__name__, "evalue": shortened(words), "traceback": list(map(shortened, traceback_of(error)))}
