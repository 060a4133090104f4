"""Leaves traces under its own name wherever it can, and looks for the other's, for a fixed time."""
import ctypes
import json
import os
import socket
import sys
import time

MINE, OTHER, SECONDS = sys.argv[1], sys.argv[2], float(sys.argv[3])
# Each look is refused a few times, and who is refused a thousand times is killed: however long, 75 looks at most.
PAUSE = SECONDS / 75
KEYS = {"ann": 0x5A59474F, "bob": 0x5A594750}
IPC_CREAT = 0o1000
libc = ctypes.CDLL(None, use_errno=True)
held = []


def quietly(action):
    try:
        return action()
    except OSError:
        return None


def abstract(name):
    return b"\0zygo-neighbour-" + name.encode()


def listen():
    server = socket.socket(socket.AF_UNIX)
    server.bind(abstract(MINE))
    server.listen()
    held.append(server)


def leave_file(folder):
    with open(f"{folder}/trace-{MINE}", "w") as file:
        file.write(MINE)


def leave_traces():
    for folder in (".", "/tmp", "/dev/shm", "/var/tmp", "/run"):
        quietly(lambda folder=folder: leave_file(folder))
    quietly(listen)
    libc.shmget(KEYS[MINE], 4096, IPC_CREAT | 0o666)
    libc.semget(KEYS[MINE], 1, IPC_CREAT | 0o666)
    libc.msgget(KEYS[MINE], IPC_CREAT | 0o666)


def connects():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(abstract(OTHER))
    return True


def signals(pid):
    os.kill(pid, 0)
    return True


def names_in_proc():
    for name in quietly(lambda: os.listdir("/proc")) or []:
        if name.isdigit() and int(name) not in (1, os.getpid()):
            yield name


def look():
    for folder in (".", "/tmp", "/dev/shm", "/var/tmp", "/run"):
        if quietly(lambda folder=folder: os.path.exists(f"{folder}/trace-{OTHER}")):
            yield f"file in {folder}"
    if quietly(connects):
        yield "abstract socket"
    for kind, call in (("shm", libc.shmget), ("sem", libc.semget)):
        if call(KEYS[OTHER], 0, 0) >= 0:
            yield kind
    if libc.msgget(KEYS[OTHER], 0) >= 0:
        yield "message queue"
    yield from (f"process {name} in /proc" for name in names_in_proc())
    for pid in range(2, 2000):
        if pid != os.getpid() and quietly(lambda pid=pid: signals(pid)):
            yield f"process {pid} by signal"


begin = time.monotonic()
leave_traces()
seen = set()
while True:
    seen.update(look())
    if time.monotonic() - begin >= SECONDS:
        break
    time.sleep(PAUSE)
print(json.dumps({"seen": sorted(seen), "begin": begin, "end": time.monotonic()}))
