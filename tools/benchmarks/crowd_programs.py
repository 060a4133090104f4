"""A crowd of programs: the zoo, crimes, mixes drawn by chance, and honest neighbours. The same for the same seed."""
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import crimes
import zoo
from address_space import RANDOM_CALLS

# Our fault, or the caller's: nothing that a program does may end so.
NEVER = {"SandboxError", "BadJob", "Cancelled"}
GENEROUS = {"wall_ms": 600_000, "cpu_ms": 20_000}
SUBPROCESS = {"profile": "subprocess"}


@dataclass
class Member:
    """One job, and what is wrong with a result of it: a sentence, or nothing."""

    kind: str
    job: dict
    fault: Callable[[dict], str | None]
    honest: bool = False


def is_starved(result: dict) -> bool:
    """The machine gave it no CPU, and the verdict says so."""
    return result["label"] == "TimeoutException" and result["usage"]["contended"]


def one_of(labels: tuple[str, ...]) -> Callable[[dict], str | None]:
    def fault(result: dict) -> str | None:
        if result["label"] in NEVER or (labels and result["label"] not in labels and not is_starved(result)):
            return f"{result['label']} {json.dumps(result['detail'])[:300]}, not {' or '.join(labels) or 'its own end'}"
        return None
    return fault


def hostile(count: int, seed: int, only: str | None = None) -> list[Member]:
    """A third of the zoo's, or all of them where there is room; a quarter crimes; the rest is drawn. Or one family."""
    chance = random.Random(seed)
    if only:
        return _drawn([family for family in FAMILIES if family.name == only], count, chance)
    animals = zoo.programs()
    if count < 3 * len(animals):
        animals = chance.sample(animals, count // 3)
    members = [Member("zoo", {**_with_time(animal.job(), animal.expect.get("job", {})), "id": f"zoo {animal.id}"},
                      _as_in_its_header(animal)) for animal in animals]
    jobs, known = crimes.draw(count // 4, seed)
    for job in jobs:
        members.append(Member("crime", {**_with_time(job, job), "id": f"crime {job['id']}"},
                              one_of(known[job["id"]].labels)))
    return members + _drawn(FAMILIES, count - len(members), chance)


def _drawn(families: Sequence["Family"], count: int, chance: random.Random) -> list[Member]:
    chosen = [chance.choice(families) for _ in range(count)]
    return [Member(family.name, {**family.draw(chance), "id": f"{family.name} {number}"}, one_of(family.labels))
            for number, family in enumerate(chosen)]


def _with_time(job: dict, own: dict) -> dict:
    """Where a program does not say itself how long it may take, that is not what it is about."""
    enough = {name: value for name, value in GENEROUS.items() if name not in own.get("limits", {})}
    return {**job, "limits": {**job.get("limits", {}), **enough}}


def _as_in_its_header(animal: zoo.Program) -> Callable[[dict], str | None]:
    def fault(result: dict) -> str | None:
        found = zoo.differences(animal, result)
        late = result["label"] == animal.expect.get("label") == "TimeoutException"  # whichever clock came first
        if late or is_starved(result) or not found:
            return None
        return f"{result['label']}: {'; '.join(found)[:300]}"
    return fault


@dataclass(frozen=True)
class Family:
    name: str
    draw: Callable[[random.Random], dict]
    labels: tuple[str, ...] = ()  # none: any end of its own


def drawn(source: str, policies: tuple[dict, ...] = ({},), limits: dict | None = None,
          **fields) -> Callable[[random.Random], dict]:
    """`@SEED@` in the source is drawn anew for each job."""
    def draw(chance: random.Random) -> dict:
        policy = {**chance.choice(policies), "on_violation": chance.choice(("deny", "deny", "kill"))}
        return {"source": source.replace("@SEED@", str(chance.randrange(10 ** 9))), "policy": policy,
                "limits": {"memory_mb": chance.choice((32, 64, 100)), "wall_ms": chance.randrange(200, 1500),
                           "pids": chance.choice((8, 16, 40)), **(limits or {})}, **fields}
    return draw


ANY_PROFILE = ({}, {"profile": "pure"}, SUBPROCESS)

# Every number there is and some that there are not, in the order of chance; what ends the program is rare.
CALLS = r"""
import ctypes, os, random
chance = random.Random(@SEED@)
libc = ctypes.CDLL(None, use_errno=True)
call = libc.syscall
call.restype = ctypes.c_long
memory = ctypes.create_string_buffer(1 << 16)
at = ctypes.addressof(memory)
paths = b"/etc/passwd", b"/proc/self/mem", b"a", b"../../x", b"/dev/shm/x", b"/tmp/" + b"n" * 255
for place, text in enumerate(paths):
    ctypes.memmove(at + 512 * place, text, len(text))
ENDS = {60, 231, 15, 34, 130}
values = [0, 1, 2, 3, 4, 7, 16, 64, 255, 4095, 4096, 65536, 1 << 30, (1 << 31) - 1, 1 << 31, (1 << 63) - 1, 1 << 63,
          (1 << 64) - 1, (1 << 64) - 4096, at, at + 512, at + 1024, at + 1536, at + 2048, at + 4096, at + 65530, id(call),
          os.getpid(), os.getppid(), 0x7fffffffe000, 0xffffffff81000000]
for _ in range(chance.randrange(20, 400)):
    number = chance.randrange(0, 475)
    if number in ENDS and chance.random() < 0.95:
        continue
    if chance.random() < 0.02:
        number |= chance.choice((0x40000000, 1 << 32, 512, 1 << 31))
    call(ctypes.c_ulong(number), *(ctypes.c_ulong(chance.choice(values)) for _ in range(6)))
    if chance.random() < 0.05:
        memory.raw = chance.randbytes(512) + memory.raw[512:]
print("still here")
"""

# The same few calls on names that are long, looped, chained, deep, or no text.
PATHS = r"""
import os, random, shutil
chance = random.Random(@SEED@)
def quietly(function, *arguments):
    try:
        return function(*arguments)
    except (OSError, ValueError, RecursionError, shutil.Error):
        return None
for n in range(45):
    quietly(os.symlink, f"l{n + 1}" if n < 44 else chance.choice((".", "/", "/etc", "l0", "d")), f"l{n}")
quietly(os.symlink, "loop", "loop")
here = os.getcwd()
for n in range(chance.randrange(1, 300)):
    quietly(os.mkdir, "d"); quietly(os.chdir, "d")
quietly(os.chdir, here)
names = [b"l%d" % chance.randrange(45) for _ in range(6)] + [
    b"loop", b"n" * 255, b"n" * 256, b"d/" * 200, b"d/" * 2040, b"../" * 60 + b"etc/passwd", b"/proc/self/cwd/l7",
    b"/proc/self/fd/3", b"/dev/shm/../shm/x", b"\xff\xfe", b"a\nb", b"\x1b[2J", b".", b"..", b"/", b"//tmp//", b"l3/l5/l9/x",
    b"l10/../l11/./y", b"/usr/lib/x", b"/tmp"]
make = [lambda a, b: os.rename(a, b), lambda a, b: os.link(a, b), lambda a, b: os.symlink(a, b),
        lambda a, b: os.mkdir(a), lambda a, b: os.rmdir(a), lambda a, b: os.unlink(a), lambda a, b: os.truncate(a, 1 << 20),
        lambda a, b: os.chmod(a, chance.choice((0, 0o777, 0o4755))), lambda a, b: os.mkfifo(a),
        lambda a, b: os.close(os.open(a, os.O_RDWR | os.O_CREAT)), lambda a, b: os.listdir(a), lambda a, b: os.replace(b, a),
        lambda a, b: os.close(os.open(a, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)), lambda a, b: os.chdir(a),
        lambda a, b: os.setxattr(a, "user.x", b), lambda a, b: os.utime(a), lambda a, b: os.chown(a, 0, 0)]
for _ in range(chance.randrange(50, 600)):
    quietly(chance.choice(make), chance.choice(names), chance.choice(names))
print("still here")
"""

OUTPUTS = r"""
import os, random, sys
chance = random.Random(@SEED@)
kind = @SEED@ % 5
if kind == 0:
    for n in range(1500):
        folder = f"f{n % 40}/g{n % 7}"
        os.makedirs(folder, exist_ok=True)
        open(f"{folder}/a{'b' * (n % 60)}{n}", "w").write("x")
elif kind == 1:
    while True: os.write(chance.choice((1, 2)), b"\x01\x1b]0;\x07\xff" * 4000)
elif kind == 2:
    for n in range(200): sys.stdout.write("\u2028\ud83d\x00"[:1] * 999 + "\n" * (n % 3))
elif kind == 3:
    for n in range(60):
        os.symlink("/etc/passwd", f"s{n}") if n % 3 else os.mkfifo(f"p{n}")
    with open("sparse", "wb") as file: file.truncate(1 << 40)
else:
    open("big", "wb").write(b"\x07" * (9 << 20))
    os.mkdir("locked"); open("locked/x", "w").close(); os.chmod("locked", 0)
"""

SPINS = r"""
import os, random, signal, threading
chance = random.Random(@SEED@)
for number in signal.valid_signals():
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
def spin():
    while True:
        try:
            while True: pass
        except BaseException: pass
for _ in range(chance.choice((0, 0, 1, 3))): threading.Thread(target=spin).start()
if chance.random() < 0.3: os.write(1, b"x" * 100_000)
spin()
"""

RELATIONS = r"""
import os, random, signal, time
chance = random.Random(@SEED@)
def crime():
    for _ in range(chance.randrange(1, 6)):
        try:
            what = chance.randrange(10)
            if what == 0: os.setsid()
            elif what == 1: os.kill(os.getppid(), chance.choice((signal.SIGSTOP, signal.SIGKILL, signal.SIGCONT)))
            elif what == 2: os.kill(0, chance.choice((signal.SIGSTOP, signal.SIGTERM, signal.SIGTTOU)))
            elif what == 3: os.kill(-1, chance.choice((signal.SIGSTOP, signal.SIGKILL, signal.SIGUSR1)))
            elif what == 4: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            elif what == 5: os.setpgid(0, chance.choice((0, 1, os.getppid())))
            elif what == 6: os.nice(19)
            elif what == 7: os.kill(os.getpid(), signal.SIGSTOP)
            elif what == 8: os.sched_setaffinity(0, {0})
            else: os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except OSError:
            pass
for _ in range(chance.randrange(1, 30)):
    try:
        if os.fork() == 0:
            chance.seed(@SEED@ + os.getpid())
            crime()
            if chance.random() < 0.3: os._exit(chance.randrange(256))
    except OSError:
        pass
crime()
end = chance.randrange(4)
if end == 0: os._exit(0)
while end == 1: pass
if end == 2: time.sleep(600)
"""

BOMBS = r"""
import ctypes, mmap, os, random, socket, threading
chance = random.Random(@SEED@)
kind, held = @SEED@ % 7, []
while True:
    try:
        if kind == 0: held.append(bytearray(chance.choice((100, 5000, 1 << 20))))
        elif kind == 1: m = mmap.mmap(-1, 1 << 22); m.write(b"x" * (1 << 22)); held.append(m)
        elif kind == 2: fd = os.memfd_create("x"); os.ftruncate(fd, 1 << 40); os.pwrite(fd, b"x" * 65536, 0); held.append(fd)
        elif kind == 3: os.fork()
        elif kind == 4: threading.Thread(target=threading.Event().wait, daemon=True).start()
        elif kind == 5: open(f"f{len(held)}", "wb").write(b"x" * chance.choice((1, 1 << 20))); held.append(0)
        else:
            a, b = socket.socketpair()
            a.setblocking(False)
            socket.send_fds(a, [b"x"], [a.fileno()] * 100)
            held += [a, b]
    except (OSError, RuntimeError, MemoryError):
        if chance.random() < 0.01: break
"""

VALUES = r"""
import random
chance = random.Random(@SEED@)
def tree(depth):
    return [tree(depth - 1) for _ in range(chance.randrange(1, 4))] if depth else chance.choice(things)
things = [0, -1, 10 ** 4000, float("nan"), float("-inf"), "\x00\x1b\ud800", b"\xff" * 99, {}, {"$type": "x"}, {1: 2}, (), {3}, 1j,
          object, len, "\u2028" * 1000, "x" * 10 ** 6, None, True]
class Odd(dict):
    def __iter__(self): raise SystemExit(3)
    def __len__(self): return -1
    def items(self): return [(self, self)]
def f(x):
    kind = chance.randrange(6)
    if kind == 0: return tree(9)
    if kind == 1: cycle = []; cycle.append(cycle); return cycle
    if kind == 2: return Odd(a=1)
    if kind == 3: deep = []; [deep := [deep] for _ in range(10 ** 5)]; return deep
    if kind == 4: return ["\x01" * 10 ** 6] * chance.randrange(40)
    return {str(n): chance.choice(things) for n in range(10 ** 4)}
"""


def _outputs(chance: random.Random) -> dict:
    job = drawn(OUTPUTS, limits={"stdout_kb": chance.choice((16, 4096)), "wall_ms": 4000})(chance)
    globs = [chance.choice(("**/*", "*/*/a*", "**/g?/*b*1", "[a-z]*/**", "s*", "p*", "sparse", "big", "**/**/**/x"))
             for _ in range(chance.choice((1, 5, 60)))]
    return {**job, "outputs": globs}


def _spins(chance: random.Random) -> dict:
    by_clock = chance.random() < 0.7
    limits = {"wall_ms": chance.randrange(50, 600), "cpu_ms": 60_000} if by_clock else {"cpu_ms": 60, "wall_ms": 30_000}
    return drawn(SPINS, limits=limits)(chance)


FAMILIES = (
    Family("calls", drawn(CALLS, ANY_PROFILE)),
    Family("calls", drawn(CALLS, ANY_PROFILE)),
    Family("areas", drawn(RANDOM_CALLS, ({}, {"profile": "pure"}))),
    Family("paths", drawn(PATHS, ({}, SUBPROCESS), {"disk_mb": 8, "files": 2000})),
    Family("outputs", _outputs),
    Family("spins", _spins, ("TimeoutException",)),
    Family("spins", _spins, ("TimeoutException",)),
    Family("relations", drawn(RELATIONS, (SUBPROCESS,))),
    Family("bombs", drawn(BOMBS, ({}, SUBPROCESS), {"disk_mb": 8, "files": 500})),
    Family("values", drawn(VALUES, mode="call", func="f", inputs=[1], limits={"wall_ms": 5000, "value_kb": 8192})),
)


def _honest_jobs(number: int) -> tuple[dict, ...]:
    """One of each kind; what they say depends on the number and on nothing else."""
    return (
        {"source": f"print(sum(n * n for n in range({number}, {number} + 1000)))"},
        {"source": "def f(x, y=1): return {'sum': x + y, 'parts': (x, y), 'text': str(x) * 3}", "mode": "call", "func": "f",
         "calls": [{"args": [number], "kwargs": {"y": n}} for n in range(3)]},
        {"source": f"import numpy as np\na = np.arange({number}, {number} + 900).reshape(30, 30)\nprint(int((a @ a.T).trace()))",
         "template": "python-numpy"},
        {"source": f"total = 0\nfor n in range(400_000): total = (total * 31 + n) % {number + 7}\nprint(total)"},  # some 50 ms
        {"source": "import os\nprint(sorted(os.listdir('.')), open('in/a.txt').read())\n"
                   f"open('out.txt', 'w').write('{number}' * 1000)", "files": {"in/a.txt": {"text": f"file {number}"}},
         "outputs": ["*.txt"]},
        {"source": "import sys\nfor line in sys.stdin: print(line.strip()[::-1])\nsys.stderr.write('done')",
         "stdin": "".join(f"line {number + n}\n" for n in range(50))},
        {"source": f"x = bytearray(24 << 20)\nx[::4096] = b'y' * len(x[::4096])\nprint(len(x), {number})",
         "limits": {**GENEROUS, "memory_mb": 96}},
        {"source": "import os\nfor n in range(4):\n  if os.fork() == 0: os._exit(n)\n"
                   f"print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(4)), {number})",
         "policy": SUBPROCESS, "limits": {**GENEROUS, "pids": 16}},
        {"source": f"import threading\nfound = []\nts = [threading.Thread(target=found.append, args=(n,)) for n in range(6)]\n"
                   f"[t.start() for t in ts]; [t.join() for t in ts]\nprint(sorted(found), {number})"},
        {"source": f"raise KeyError({number})"},
        {"source": f"import sys\nprint({number})\nsys.exit({number % 200 + 1})"},
    )


def honest(count: int) -> list[Member]:
    members = []
    for number in range(count):
        kinds = _honest_jobs(number)
        job = {"limits": GENEROUS, **kinds[number % len(kinds)], "id": f"honest {number}"}
        members.append(Member("honest", job, one_of(()), honest=True))
    return members


def told_by(result: dict) -> dict:
    """All of a result that a program's neighbours must not change."""
    parts = ("label", "ok", "exit", "stdout", "stderr", "value", "exception", "outputs", "outputs_refused", "enforced", "level")
    return {part: result.get(part) for part in parts}
