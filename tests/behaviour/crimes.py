"""Small hostile programs, drawn by chance, and what each of them must be called; good ones among them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from zygo import Job, Result

SEED = 7

Draw = Callable[[random.Random], Job]


@dataclass(frozen=True)
class Crime:
    """A family of programs, varied by chance, and what each of them must be called."""

    name: str
    draw: Draw
    labels: tuple[str, ...]
    share: int = 10
    check: Callable[[Result, Job], bool] = field(default=lambda _result, _job: True)


def script(source: str, **fields: Any) -> Draw:
    """`@N@` in the source is a number drawn anew for each job."""
    return lambda chance: {"source": source.replace("@N@", str(chance.randrange(10 ** 6))), **fields}


def call(source: str, **fields: Any) -> Draw:
    return script(source, mode="call", func="f", inputs=[1], **fields)


def good(chance: random.Random) -> Job:
    """Finds an empty scratch, a clean process and its own input, whoever was there before."""
    number = chance.randrange(10 ** 6)
    return {"mode": "call", "func": "f", "inputs": [number], "tag": number, "source": f"""
import os, signal, threading
def f(x):
    assert os.listdir("/tmp") == [] and os.getcwd() == "/tmp" and threading.active_count() == 1
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) and signal.getitimer(signal.ITIMER_REAL)[0] == 0
    assert "LEFTOVER" not in os.environ and len(os.listdir("/dev/shm")) == 0
    open("mine-{number}", "w").write("x" * 1000)
    print("out-{number}")
    return [x * 2, sorted({{3, 1, 2}})]
"""}


def is_its_own(result: Result, job: Job) -> bool:
    return (result["value"] == [[job["tag"] * 2, [1, 2, 3]]] and result["stdout"]["text"] == f"out-{job['tag']}\n"
            and result["tag"] == job["tag"])


QUICK = {"limits": {"cpu_ms": 40, "wall_ms": 20_000}}
SMALL = {"limits": {"memory_mb": 24, "wall_ms": 20_000}}
NARROW = {"limits": {"stdout_kb": 16, "stderr_kb": 16, "wall_ms": 20_000}}
CRAMPED = {"limits": {"disk_mb": 1, "files": 64, "wall_ms": 20_000}}
FEW = {"policy": {"profile": "subprocess"}, "limits": {"pids": 8, "wall_ms": 20_000}}
SUBPROCESS = {"policy": {"profile": "subprocess"}}

GOOD = (
    Crime("good", good, ("OK",), 300, is_its_own),
    Crime("untidy", script("import os\nos.makedirs('a@N@/b')\nfor n in range(9): os.mkfifo(f'a@N@/b/{n}')\n"
                           "os.symlink('/', 'out')\nos.chmod('a@N@', 0)\nos.environ['LEFTOVER'] = '1'\nprint(@N@)"),
          ("OK",), 40),
    Crime("threads", script("import threading, time\nfor _ in range(4):\n"
                             "  threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\nprint(@N@)"),
          ("OK",)),
)
BOMBS = (
    Crime("cpu", script("x = @N@\nwhile True: x += 1", **QUICK), ("TimeoutException",), 12),
    Crime("swallows", script("while True:\n  try:\n    while True: pass\n  except BaseException: @N@", **QUICK),
          ("TimeoutException",), 6),
    Crime("sleep", script("import time\ntime.sleep(60 + @N@)", limits={"wall_ms": 60}), ("TimeoutException",), 8),
    Crime("pipe", script("import os\nos.read(os.pipe()[0], @N@ + 1)", limits={"wall_ms": 60}),
          ("TimeoutException",), 4),
    Crime("memory", script("x = [@N@]\nwhile True: x.append(bytearray(1 << 20))", **SMALL),
          ("MemoryLimitExceeded",), 10),
    Crime("mapping", script("import mmap\nm = mmap.mmap(-1, 1 << 30)\n"
                             "for i in range(0, 1 << 30, 4096): m[i] = 1", **SMALL),
          ("MemoryLimitExceeded",), 6),
    Crime("threads without end", script("import threading, time\nwhile True:\n"
                                         "  threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
                                         limits={"pids": 8}), ("ProcessLimitExceeded",), 8),
    Crime("forks without end", script("import os, time\nwhile True:\n  if os.fork() == 0: time.sleep(60)", **FEW),
          ("ProcessLimitExceeded", "BlockingIOError"), 8),
    Crime("blocks", script("f = open('f', 'w')\nwhile True: f.write('x' * 65536)", **CRAMPED), ("DiskLimitExceeded",)),
    Crime("inodes", script("n = 0\nwhile True:\n  open(str(n), 'w').close()\n  n += 1", **CRAMPED),
          ("DiskLimitExceeded",)),
)
FLOODS = (
    Crime("stdout", script("import os\nwhile True: os.write(1, b'@N@' * 1000)", **NARROW), ("OutputLimitExceeded",)),
    Crime("stderr", script("import os\nwhile True: os.write(2, b'\\xff' * 9999)", **NARROW), ("OutputLimitExceeded",)),
    Crime("one line", script("print('\\x1b[2J' * 100_000)", **NARROW), ("OutputLimitExceeded",)),
    Crime("value", call("def f(x): return ['y' * 100_000] * 100", limits={"value_kb": 64}), ("InvalidResult",)),
    Crime("message", call("def f(x): raise ValueError('@N@' * 200_000)"), ("ValueError",)),
    Crime("refused calls", script("import os\nfor _ in range(60):\n  try: os.fork()\n  except OSError: pass"),
          ("UnsafeCode",)),
)
ESCAPES = (
    Crime("socket", script("import socket\ntry: socket.socket()\nexcept OSError: print(@N@)"), ("UnsafeCode",)),
    Crime("exec", call("import os\ndef f(x):\n  try: os.execv('/bin/true', ['true'])\n  except OSError: return @N@"),
          ("UnsafeCode",)),
    Crime("write", script("try: open('/usr/zygo-was-here-@N@', 'w')\nexcept OSError: pass"), ("UnsafeCode",)),
    Crime("link", script("import os\nos.symlink('/etc', 'e')\ntry: open('e/zygo@N@', 'w')\nexcept OSError: pass"),
          ("UnsafeCode",)),
    Crime("ptrace", script("import ctypes\nctypes.CDLL(None).ptrace(16, 1, 0, 0)"), ("UnsafeCode",)),
    Crime("namespace", script("import ctypes\nctypes.CDLL(None).unshare(0x10000000)"), ("UnsafeCode",)),
    Crime("pid 1", script("import os, signal\nfor s in signal.valid_signals():\n"
                           "  try: os.kill(1, s)\n  except OSError: pass"), ("OK",)),
    Crime("keyring", script("import ctypes\nctypes.CDLL(None).syscall(248, b'user', b'k@N@', b'x', 1, -3)"),
          ("UnsafeCode",)),
    Crime("killed at once", script("import socket\nsocket.socket()", policy={"on_violation": "kill"}), ("UnsafeCode",)),
)
CRASHES = (
    Crime("null", script("import ctypes\nctypes.string_at(@N@ % 4096)"), ("Signalled",)),
    Crime("abort", call("import os\ndef f(x): os.abort()"), ("Signalled",)),
    Crime("kill", call("import os\ndef f(x): os.kill(os.getpid(), 9)"), ("Signalled",)),
    Crime("group", script("import os\nos.kill(0, 15)"), ("Signalled",)),
    Crime("stack", script("import faulthandler\nfaulthandler._stack_overflow()"), ("Signalled",), 5),
    Crime("silent", call("import os\ndef f(x): os._exit(0)"), ("NonZeroExit",)),
    Crime("exit", script("import sys\nsys.exit(@N@ % 200 + 1)"), ("NonZeroExit",)),
    Crime("exception", script("[][@N@]"), ("IndexError",), 20),
    Crime("liar", script("class OK(Exception): pass\nraise OK(@N@)"), ("program.OK",)),
    Crime("syntax", script("def (@N@"), ("SyntaxError",)),
    Crime("recursion", call("def f(x): return f(x + @N@)"), ("RecursionError",)),
    Crime("forged", call("import os\ndef f(x):\n  for fd in range(1, 64):\n"
                         "    try: os.write(fd, b'{\"label\":\"OK\"}\\n')\n"
                         "    except OSError: pass\n  os._exit(0)"), ("NonZeroExit",)),
    Crime("daemon", script("import os, time\nif os.fork() == 0:\n  os.setsid()\n  time.sleep(600)\n"
                            "print(@N@)", **SUBPROCESS),
          ("OK",)),
    Crime("orphans", call("import os, time\ndef f(x):\n  for _ in range(3):\n    if os.fork() == 0:\n"
                          "      if os.fork(): os._exit(0)\n"
                          "      time.sleep(600)\n  os._exit(4)", **SUBPROCESS), ("NonZeroExit",)),
)
CRIMES = GOOD + BOMBS + FLOODS + ESCAPES + CRASHES


def draw(count: int, seed: int = SEED) -> tuple[list[Job], dict[str, Crime]]:
    """The same jobs for the same seed; each crime occurs at least once where there is room."""
    chance = random.Random(seed)
    shares = [crime.share for crime in CRIMES]
    drawn = list(CRIMES[:count]) + chance.choices(CRIMES, shares, k=max(0, count - len(CRIMES)))
    chance.shuffle(drawn)
    jobs = [{"id": f"{number} {crime.name}", **crime.draw(chance)} for number, crime in enumerate(drawn)]
    return jobs, {job["id"]: crime for job, crime in zip(jobs, drawn)}
