"""Keeps one state in other ways than zygo's, and goes on from it: `keep_worker.py SOURCE`. A request is `[way, source of a
step]`, its answer milliseconds to keep, milliseconds until the step's answer is there, and whether the step has found the state.

Each way begins with the same namespace, runs the step in a copy of what it kept, and drops both.
"""
import copy
import json
import os
import sys
import time

DILL = "dill"


def timed(function, *arguments):
    start = time.perf_counter()
    found = function(*arguments)
    return 1000 * (time.perf_counter() - start), found


def run(names, step):
    """The step, and whether what it had was the state."""
    exec(step, names)
    return bool(names["result"]) and "state" in names


def by_deepcopy(names, step):
    kept_ms, kept = timed(copy.deepcopy, names)
    on_ms, found = timed(lambda: run(copy.deepcopy(kept), step))
    return kept_ms, on_ms, found


def by_dill(names, step):
    import dill

    kept_ms, kept = timed(dill.dumps, names)
    on_ms, found = timed(lambda: run(dill.loads(kept), step))
    return kept_ms, on_ms, found


def by_fork(names, step):
    """What is kept is a process that waits; to go on is a fork of it, so that it can be gone on from again."""
    asked, asking = os.pipe()
    answered, answering = os.pipe()

    def keep():
        if pid := os.fork():
            os.read(answered, 1)
            return pid
        os.write(answering, b"k")
        os.read(asked, 1)
        if not os.fork():
            os.write(answering, b"1" if run(names, step) else b"0")
            os._exit(0)
        os.wait()
        os._exit(0)

    def go_on():
        os.write(asking, b"g")
        return os.read(answered, 1) == b"1"

    kept_ms, pid = timed(keep)
    on_ms, found = timed(go_on)
    os.waitpid(pid, 0)
    for fd in (asked, asking, answered, answering):
        os.close(fd)
    return kept_ms, on_ms, found


WAYS = {"copy.deepcopy": by_deepcopy, DILL: by_dill, "os.fork": by_fork}


def main():
    try:
        __import__(DILL)
        missing = {}
    except ImportError:
        missing = {DILL: f"{sys.executable} has no dill (apt install python3-dill)"}
    names = {"__name__": "state"}
    exec(sys.argv[1], names)
    del names["__builtins__"]
    print(json.dumps(missing), flush=True)
    for line in sys.stdin:
        way, step = json.loads(line)
        print(json.dumps(WAYS[way](names, step)), flush=True)


if __name__ == "__main__":
    main()
