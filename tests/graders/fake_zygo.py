#!/usr/bin/env -S /usr/bin/python3
"""A stand-in for `zygo batch -` without any isolation, to test the grader where no zygo is built.

Runs only programs that stand in the file named by $FAKE_ZYGO_LABELS ({source: label}) under a harmless label; answers
all dangerous ones with that label, unrun; refuses unknown ones. $FAKE_ZYGO_FAULT makes it misbehave: `early` (exit 3
after two results), `dies` (after one), `garbage` (a line that is no result), `hang` (never answers), `silent` (exit 0
without results), `twice` (every result twice).
"""
from __future__ import annotations

import itertools
import json
import os
import queue
import resource
import subprocess
import sys
import threading
import time
from typing import Any

DANGEROUS = {"TimeoutException", "MemoryLimitExceeded", "UnsafeCode"}
MIB = 1 << 20

# Runs in the child: job on stdin, answer on what was stdout; the program prints to stderr.
CHILD = r'''
import json, os, sys
import numpy as np
out = os.dup(1); os.dup2(2, 1)
job = json.load(sys.stdin)

def plain(x):
    if isinstance(x, np.ndarray): return plain(x.tolist())
    if isinstance(x, np.generic): return plain(x.item())
    if x is None or isinstance(x, (bool, int, str)): return x
    if isinstance(x, float):
        return x if x == x and abs(x) != float("inf") else {"$type": "float", "value": str(x)}
    if isinstance(x, list): return [plain(v) for v in x]
    if isinstance(x, tuple): return {"$type": "tuple", "items": [plain(v) for v in x]}
    if isinstance(x, (set, frozenset)): return {"$type": type(x).__name__, "items": [plain(v) for v in x]}
    if isinstance(x, dict) and all(isinstance(k, str) for k in x): return {k: plain(v) for k, v in x.items()}
    raise LookupError(type(x).__name__)

try:
    ns = {"__name__": "program"}
    exec(compile(job["source"], "<program>", "exec"), ns)
    value = [ns[job["func"]](np.array(i)) for i in job["inputs"]]
except BaseException as e:
    answer = {"label": type(e).__name__, "by": "program", "exception": {"type": type(e).__name__, "message": str(e)}}
else:
    try:
        answer = {"label": "OK", "by": "program", "value": plain(value)}
    except LookupError as e:
        answer = {"label": "InvalidResult", "by": "program", "detail": {"message": str(e)}}
with os.fdopen(out, "w") as file:
    file.write(json.dumps(answer))
'''


def run_once(job: dict[str, Any], seed: int) -> dict[str, Any]:
    """One run in a fresh interpreter with the given hash seed."""
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (5, 6))
        resource.setrlimit(resource.RLIMIT_AS, (1024 * MIB, 1024 * MIB))
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    environment = {"PATH": "/usr/bin:/bin", "PYTHONHASHSEED": str(seed), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(["/usr/bin/python3", "-c", CHILD], input=json.dumps(job).encode(), env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd="/", preexec_fn=limit,
                          timeout=30, check=False)
    if not done.stdout:
        return {"label": "SandboxError", "by": "sandbox", "detail": {"message": f"child ended with {done.returncode}"}}
    return json.loads(done.stdout)


def answer(job: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """The result of one job, or of not running it."""
    label = labels.get(job["source"])
    if label is None:
        result = {"label": "SandboxError", "by": "sandbox", "detail": {"message": "not in the labels file: not run"}}
    elif label in DANGEROUS:
        result = {"label": label, "by": "limit", "detail": {"message": "not run"}}
    else:
        started = time.monotonic()
        runs = job.get("determinism", {}).get("runs", 1)
        results = [run_once(job, seed) for seed in range(1, runs + 1)]
        result = results[0]
        if any((r["label"], r.get("value")) != (result["label"], result.get("value")) for r in results):
            result = {"label": "NonDeterministicCode", "by": "policy",
                      "determinism": {"runs": runs, "same": False, "axis": "value"}}
        result["usage"] = {"wall_ms": round(1000 * (time.monotonic() - started), 3)}
    return {"id": job["id"], "ok": result["label"] == "OK", **result}


def main() -> int:
    """Speaks `batch - [--workers N]`; other options make no difference."""
    if sys.argv[1:3] != ["batch", "-"]:
        print("fake zygo: only `batch -` is known", file=sys.stderr)
        return 2
    workers = int(sys.argv[sys.argv.index("--workers") + 1]) if "--workers" in sys.argv else 2
    fault = os.environ.get("FAKE_ZYGO_FAULT", "")
    with open(os.environ["FAKE_ZYGO_LABELS"], encoding="utf-8") as file:
        labels = json.load(file)
    first = sys.stdin.buffer.readline()
    if first and not {"source", "parts"} & json.loads(first).keys():  # asks what there is against such jobs
        missing = {"message": "source: required", "path": "source"}
        print(json.dumps({"label": "BadJob", "by": "caller", "ok": False, "detail": missing}, separators=(",", ":")))
        return 0
    if fault == "hang":
        print("hanging", file=sys.stderr, flush=True)
        threading.Event().wait()
    jobs: queue.Queue[bytes | None] = queue.Queue(4 * workers)
    lock, written = threading.Lock(), 0

    def work() -> None:
        nonlocal written
        while (line := jobs.get()) is not None:
            job = json.loads(line)
            if "parts" in job:
                continue  # says that its results may have raw parts; these here have none
            text = json.dumps(answer(job, labels), separators=(",", ":")) + "\n"
            with lock:
                if written == {"early": 2, "dies": 1}.get(fault):
                    print("out of luck", file=sys.stderr, flush=True)
                    os._exit(3)
                sys.stdout.write("not json\n" if fault == "garbage" else text * (2 if fault == "twice" else 1))
                sys.stdout.flush()
                written += 1

    threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for line in itertools.chain([first] if first else [], sys.stdin.buffer):
        if fault == "silent":
            return 0
        jobs.put(line)
    for _ in threads:
        jobs.put(None)
    for thread in threads:
        thread.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
