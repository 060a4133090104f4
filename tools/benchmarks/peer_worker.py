"""What people use instead, driven from outside. argv: the peer, how many at once. Started by rows/peers.py.

Each request is `[source, n]`: n jobs of a program that leaves its answer in `result`; each answer is `[seconds, the
jobs' answers]`. numpy is loaded beforehand, for what can make use of that.
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context

import numpy  # noqa: F401  (inherited by what forks)

PR_SET_CHILD_SUBREAPER = 36

Run = Callable[[str, int], list[str]]


def job(source: str) -> str:
    names: dict = {}
    exec(compile(source, "<job>", "exec"), names)
    return str(names["result"])


@contextmanager
def pool(at_once: int) -> Iterator[Run]:
    with get_context("fork").Pool(at_once) as workers:
        yield lambda source, n: workers.map(job, [source] * n)


@contextmanager
def pool_fork_per_job(at_once: int) -> Iterator[Run]:
    with get_context("fork").Pool(at_once, maxtasksperchild=1) as workers:
        yield lambda source, n: workers.map(job, [source] * n, chunksize=1)


@contextmanager
def executor(at_once: int) -> Iterator[Run]:
    with ProcessPoolExecutor(at_once, mp_context=get_context("fork")) as workers:
        yield lambda source, n: list(workers.map(job, [source] * n))


@contextmanager
def joblib_loky(at_once: int) -> Iterator[Run]:
    from joblib import Parallel, delayed

    with Parallel(n_jobs=at_once, backend="loky") as workers:
        yield lambda source, n: workers(delayed(job)(source) for _ in range(n))


def interpreter_per_job(at_once: int, fence: list[str]) -> Iterator[Run]:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file, ThreadPoolExecutor(at_once) as threads:
        command = [word.replace("PROGRAM", file.name) for word in fence] + [sys.executable, "-I", file.name]

        def one(_: int) -> str:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
            return done.stdout.strip()

        def run(source: str, n: int) -> list[str]:
            file.seek(0)
            file.truncate()
            file.write(source + "\nprint(result)\n")
            file.flush()
            answers = list(threads.map(one, range(n)))
            reap()
            return answers

        adopt_orphans()
        yield run


def adopt_orphans() -> None:
    """Bubblewrap ends before its child does: whoever reaps that child has its CPU time on the account."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap() -> None:
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


@contextmanager
def subprocess_each(at_once: int) -> Iterator[Run]:
    yield from interpreter_per_job(at_once, [])


@contextmanager
def bubblewrap_each(at_once: int) -> Iterator[Run]:
    fence = ["bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    yield from interpreter_per_job(at_once, [*fence, "--tmpfs", "/tmp", "--ro-bind", "PROGRAM", "PROGRAM"])


PEERS = {
    "multiprocessing.Pool": pool, "Pool(maxtasksperchild=1)": pool_fork_per_job, "ProcessPoolExecutor": executor,
    "joblib (loky)": joblib_loky, "subprocess": subprocess_each, "bubblewrap": bubblewrap_each,
}


def main() -> None:
    # A worker that is forked while we read closes its sys.stdin, and would wait for ever for the lock that we hold.
    requests, sys.stdin = sys.stdin, open(os.devnull)
    with PEERS[sys.argv[1]](int(sys.argv[2])) as run:
        print(json.dumps("ready"), flush=True)
        for line in requests:
            source, n = json.loads(line)
            start = time.perf_counter()
            answers = run(source, n)
            seconds = time.perf_counter() - start
            print(json.dumps([seconds, answers]), flush=True)


if __name__ == "__main__":
    main()
