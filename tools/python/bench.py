"""The pool against what people use instead, A B A B in one run. Bounded: about a minute.

    python3 tools/python/bench.py [loop] [reward] [data] [--calls 1000]

loop    Sage's reproducer: calls of eight sleep(0.001), in tenths, three times over; and a fork per input, by
        multiprocessing, and with nothing around it
reward  32 programs against a standing pool, where importing the environment costs 4 seconds; joblib's loky next to it,
        cold and reused (it has no sandbox, and a program that never ends keeps its worker)
data    a megabyte of numpy in and out
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, Callable, Dict, List

sys.path.insert(0, str(Path(__file__).resolve().parent))

import zygo  # noqa: E402

SLOW_SECONDS = 4.0


def milliseconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1000


def nap(_: int) -> int:
    time.sleep(0.001)
    return os.getpid() > 0


def fork_per_input(inputs: List[int]) -> None:
    """What Sage's decorator does: a process for each input, eight at once."""
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=nap, args=(n,)) for n in inputs]
    for child in children:
        child.start()
    for child in children:
        child.join()


def bare_fork_per_input(inputs: List[int]) -> None:
    """The least that a process for each input can cost in Python: no value comes back, and nothing is isolated."""
    pids = []
    for n in inputs:
        pid = os.fork()
        if pid == 0:
            nap(n)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        os.waitpid(pid, 0)


def loop(calls: int) -> None:
    eight = list(range(8))
    decorated = zygo.parallel(ncpus=8)(nap)
    list(decorated(eight))
    ways = {"zygo": lambda: list(decorated(eight)), "fork per input": lambda: fork_per_input(eight),
            "bare os.fork": lambda: bare_fork_per_input(eight)}
    tenth = max(1, calls // 10)
    for turn in range(3):
        for name, way in ways.items():
            share = tenth if name == "zygo" else max(1, tenth // 5)
            # The usual call stands for each tenth: what else this machine does in between shows in single calls.
            tenths = [statistics.median(milliseconds(way) for _ in range(share)) for _ in range(10)]
            drift = (tenths[-1] / tenths[0] - 1) * 100
            print(f"loop    {name:15} {statistics.median(tenths):8.2f} ms a call of eight; last tenth {drift:+.1f} % "
                  f"(tenths {min(tenths):.2f} to {max(tenths):.2f}); turn {turn + 1}")


PROGRAMS = [f"import slow_environment\ndef solve(x):\n    return x * {i} + slow_environment.ZERO" for i in range(32)]


def run_program(source: str) -> Any:
    names: Dict[str, Any] = {}
    exec(source, names)
    return names["solve"](2)


def reward(_: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "slow_environment.py").write_text(f"import time\ntime.sleep({SLOW_SECONDS})\nZERO = 0\n")
        jobs = [{"source": source, "func": "solve", "inputs": [2]} for source in PROGRAMS]
        with zygo.Pool("python", python_path=[folder], preload=["slow_environment"], standing=False) as pool:
            print(f"reward  zygo, cold        {milliseconds(lambda: pool.map(jobs)):8.1f} ms")
            turns = [milliseconds(lambda: pool.map(jobs)) for _ in range(10)]
            print(f"reward  zygo, standing    {statistics.median(turns):8.1f} ms for 32 programs")
        sys.path.insert(0, folder)  # loky hands it on
        with_loky()


def with_loky() -> None:
    try:
        from joblib import Parallel, delayed
    except ImportError:
        print("reward  joblib is not installed")
        return
    warnings.simplefilter("ignore")
    work = Parallel(n_jobs=os.cpu_count())
    for name in ("cold", "reused", "reused"):
        took = milliseconds(lambda: work(delayed(run_program)(program) for program in PROGRAMS))
        print(f"reward  loky, {name:11} {took:8.1f} ms")


def data(_: int) -> None:
    try:
        import numpy as np
    except ImportError:
        print("data    numpy is not installed")
        return
    array = np.arange(131_072, dtype=float)
    pool = zygo.Pool()
    pool.call(lambda a: a, array)
    turns = [milliseconds(lambda: pool.call(lambda a: a + 1, array)) for _ in range(20)]
    print(f"data    zygo              {statistics.median(turns):8.2f} ms for a megabyte in and out")
    with multiprocessing.get_context("fork").Pool(1) as workers:
        turns = [milliseconds(lambda: workers.apply(np.negative, (array,))) for _ in range(20)]
    print(f"data    mp.Pool           {statistics.median(turns):8.2f} ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", choices=[[], "loop", "reward", "data"])
    parser.add_argument("--calls", type=int, default=1000)
    arguments = parser.parse_args()
    rows = {"loop": loop, "reward": reward, "data": data}
    for name in arguments.rows or rows:
        rows[name](arguments.calls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
