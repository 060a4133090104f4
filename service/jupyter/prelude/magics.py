"""The magics that there are, and commands of the shell."""

import builtins
import os
import re
import signal
import subprocess
import sys
import time

from zygo_kernel import channel, errors

names = {}  # of the cells
PR_SET_CHILD_SUBREAPER = 36
states = ("branch", "go", "tree", "undo")  # a notebook's own, which its kernel answers
HERE = "there is no network, so packages cannot be installed: modules come with the template (--preload, --python, --image)"
INSTALLS = re.compile(r"\s*((\S*python3?\S*\s+-m\s+)?(pip3?|conda|mamba|uv)|apt|apt-get)\b.*\binstall\b")


def begin(its_names, is_notebook):
    global names, states
    names = its_names
    if not is_notebook:
        states = ()
    builtins.__zygo_magic__ = line_magic
    builtins.__zygo_cell_magic__ = cell_magic
    builtins.__zygo_shell__ = shell
    builtins.__zygo_capture__ = capture


def expanded(text):
    """With {expressions} and $names of Python, where they are such."""
    def value(found):
        try:
            return str(eval(found[1], names))
        except Exception:
            return found[0]

    text = re.sub(r"\{([^{}]+)\}", value, text)
    return re.sub(r"\$([A-Za-z_]\w*)", lambda found: str(names[found[1]]) if found[1] in names else found[0], text)


def adopt_orphans(wanted):
    """Of a program that has ended: else they are those of process 1, which a step could not be kept with."""
    import ctypes
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, wanted, 0, 0, 0)


def end_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
        while True:
            os.waitpid(-group, 0)
    except (ProcessLookupError, ChildProcessError):
        pass


def run_program(arguments, input=None, **options):
    """What the program leaves in the background ends with it, and it with the cell."""
    channel.flush()
    program = None
    try:
        with channel.whole():  # nobody would end a program that is there before its object is
            adopt_orphans(1)
            program = subprocess.Popen(arguments, stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
                                       start_new_session=True, **options)
        return program, program.communicate(input)[0]
    finally:
        with channel.whole():
            if program is not None:
                program.kill()
                program.wait()
                end_group(program.pid)
            adopt_orphans(0)


def shell(command):
    if INSTALLS.match(command):
        no_packages(command)
    program, _ = run_program(["sh", "-c", expanded(command)])
    names["_exit_code"] = program.returncode if program.returncode >= 0 else 128 - program.returncode


def capture(command):
    program, text = run_program(["sh", "-c", expanded(command)], stdout=subprocess.PIPE)
    names["_exit_code"] = program.returncode
    return text.decode("utf-8", "replace").splitlines()


def known():
    lines = sorted(["%" + name for name in LINES] + ["%" + name for name in states])
    return "known are " + ", ".join(lines + sorted("%%" + name for name in CELLS))


def line_magic(name, rest):
    if name in states:
        raise errors.UsageError(f"%{name} stands alone in its cell")
    if name not in LINES:
        raise errors.UsageError(f"Line magic function `%{name}` not found; {known()}")
    return LINES[name](rest)


def cell_magic(name, rest, body):
    if name not in CELLS:
        raise errors.UsageError(f"Cell magic `%%{name}` not found; {known()}")
    return CELLS[name](rest, body)


def in_words(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("\u00b5s", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def timed(source):
    from zygo_kernel import run
    before, began = os.times(), time.perf_counter()
    try:
        return run.evaluate(source, "<timed>")
    finally:
        wall, after = time.perf_counter() - began, os.times()
        user, system = after.user - before.user, after.system - before.system
        print(f"CPU times: user {in_words(user)}, sys: {in_words(system)}, total: {in_words(user + system)}")
        print(f"Wall time: {in_words(wall)}")


def timeit(rest, body=None):
    import timeit as timing
    options = re.match(r"((?:-[nr]\s*\d+\s*)*)(.*)", rest, re.DOTALL)
    given = dict(re.findall(r"-([nr])\s*(\d+)", options[1]))
    setup, statement = ("pass", options[2]) if body is None else (options[2] or "pass", body)
    timer = timing.Timer(statement, setup, globals=names)
    number = int(given.get("n", 0)) or timer.autorange()[0]
    runs = [took / number for took in timer.repeat(int(given.get("r", 7)), number)]
    mean = sum(runs) / len(runs)
    spread = (sum((took - mean) ** 2 for took in runs) / len(runs)) ** 0.5
    print(f"{in_words(mean)} \u00b1 {in_words(spread)} per loop (mean \u00b1 std. dev. of {len(runs)} runs, {number:,} loops each)")


def cd(rest):
    os.chdir(os.path.expanduser(expanded(rest) or "~"))
    print(os.getcwd())


def env(rest):
    name, mark, value = (rest.partition("=") if "=" in rest else rest.partition(" "))
    if not rest:
        return dict(os.environ)
    if not mark:
        return os.environ.get(name)
    os.environ[name.strip()] = expanded(value.strip())
    print(f"env: {name.strip()}={os.environ[name.strip()]}")


def matplotlib(rest):
    from zygo_kernel import figures
    if rest not in ("", "inline", "agg", "Agg", "auto"):
        raise errors.UsageError(f"%matplotlib {rest}: pictures are always inline here")
    os.environ["MPLBACKEND"] = "Agg"
    loaded = sys.modules.get("matplotlib")
    if loaded is not None:
        figures.use_ours(loaded)


def no_packages(rest):
    raise errors.UsageError(HERE)


def lsmagic(rest):
    print(known())


def who(rest):
    shown = [name for name, value in names.items()
             if not name.startswith("_") and name not in ("In", "Out", "display", "exit", "quit") and type(value).__name__ != "module"]
    print("\t".join(sorted(shown)) if shown else "There are no variables.")


def script(*program):
    def run_script(rest, body):
        done, _ = run_program([*program], expanded(body).encode() if program[0] == "cat" else body.encode())
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, program[0])
    return run_script


def writefile(rest, body):
    name = expanded(rest.replace("-a ", "").strip())
    with open(name, "a" if rest.startswith("-a ") else "w") as file:
        file.write(body)
    print(f"{'Appending to' if rest.startswith('-a ') else 'Writing'} {name}")


def captured(rest, body):
    import contextlib
    import io
    import types
    from zygo_kernel import run
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run.evaluate(body, "<captured>")
    if rest.split("-")[0].strip():
        names[rest.split()[0]] = types.SimpleNamespace(stdout=out.getvalue(), stderr=err.getvalue())


def shown_as(kind):
    def show(rest, body):
        channel.say("display_data", data={kind: body}, metadata={}, transient={})
    return show


LINES = {"cd": cd, "env": env, "set_env": env, "lsmagic": lsmagic, "matplotlib": matplotlib, "pip": no_packages,
         "conda": no_packages, "pwd": lambda rest: os.getcwd(), "time": timed, "timeit": timeit, "who": who,
         "sx": lambda rest: capture(rest), "system": lambda rest: capture(rest)}
CELLS = {"time": lambda rest, body: timed(body), "timeit": timeit, "bash": script("bash"), "sh": script("sh"),
         "capture": captured, "writefile": writefile, "html": shown_as("text/html"), "markdown": shown_as("text/markdown"),
         "latex": shown_as("text/latex"), "svg": shown_as("image/svg+xml"), "javascript": shown_as("application/javascript")}
