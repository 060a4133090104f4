"""Limits of time are kept whatever the neighbours have the daemon do, and nobody is charged for its pace."""
from __future__ import annotations

import contextlib
import os
import shutil
import signal
import statistics
import time
import unittest
from pathlib import Path

import host
import zygo
from zygo import Coprocess, Result, ZygoTestCase

NEIGHBOUR_MS = 100

# As many names as a job may collect from, and globs that are compared with each of them to the end.
CROWDED = """
import os
for i in range(20000): os.close(os.open("a" * 100 + str(i), os.O_CREAT | os.O_WRONLY))
"""
GLOBS = [f"*a*a*a*{i}b" for i in range(1000)]

WAITS = """
import signal
def leave(*_):
    print("ended")
    raise SystemExit
signal.signal(signal.SIGUSR1, leave)
while True: signal.pause()
"""

# A path of a chain of links to long paths; the kernel walks all of it whoever asks.
WINDING = """
import os, time
os.mkdir("d"); os.mkdir("e")
os.symlink("d/../" * 800 + "d", "l0")
for i in range(1, 38): os.symlink("d/../" * 800 + f"l{i - 1}", f"l{i}")
open("d/f", "w").close(); open("d/g", "w").close()
took, end = [], time.monotonic() + 3
while time.monotonic() < end:
    began = time.monotonic()
    try:
        os.rename("l37/f", "l37/g")
        os.rename("d/g", "d/f")
    except OSError:  # ELOOP: what the kernel has to walk twice, it counts twice
        pass
    took.append(time.monotonic() - began)
print(sum(took) / len(took))
"""


def late_ms(result: Result) -> float:
    """How long after its limit a neighbour was ended."""
    return result["usage"]["stopped_us"] / 1000 - NEIGHBOUR_MS


@unittest.skipUnless(shutil.which("taskset"), "needs taskset(1)")
class BesideNeighboursThatKeepTheDaemonBusy(ZygoTestCase):
    """One core, so that all jobs are one thread's."""

    def neighbours_of(self, job: zygo.Job, times: int = 1) -> tuple[Result, list[Result]]:
        """The job's first result, and those of jobs that slept past their limits meanwhile, one after another."""
        one_core = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        process = zygo.subprocess.Popen([*one_core, str(zygo.BINARY), "batch", "-", "--quiet", "--workers", str(times + 1)],
                                        stdin=zygo.subprocess.PIPE, stdout=zygo.subprocess.PIPE, bufsize=0,
                                        env=zygo.environment())
        sleeper = {"source": "import time\ntime.sleep(3600)", "limits": {"wall_ms": NEIGHBOUR_MS}}
        neighbours: list[Result] = []
        with Coprocess(process=process) as batch:
            batch.send(zygo.lines_of([{"id": f"busy-{i}", **job} for i in range(times)]))
            batch.send(zygo.lines_of([{"id": "first", **sleeper}]))
            while not (result := batch.result(timeout=120))["id"].startswith("busy"):
                self.assertLabel(result, "TimeoutException")
                neighbours.append(result)
                batch.send(zygo.lines_of([{"id": f"neighbour-{len(neighbours)}", **sleeper}]))
        return result, neighbours[1:]

    def test_collecting_outputs_delays_nobody_elses_deadline(self) -> None:
        job = {"source": CROWDED, "outputs": GLOBS, "limits": {"wall_ms": 60000, "files": 30000}}

        busy, neighbours = self.neighbours_of(job)

        self.assertLabel(busy, "OK")
        collecting_ms = busy["timing_us"]["collect"] / 1000
        self.assertGreater(collecting_ms, 3 * NEIGHBOUR_MS, "the collecting was over before anybody was due")
        self.assertLess(max(map(late_ms, neighbours)), collecting_ms / 2)
        self.assertIn("more work", busy["outputs_refused"][-1]["why"])

    def test_a_long_way_through_links_delays_nobody_elses_deadline(self) -> None:
        job = {"source": WINDING, "limits": {"wall_ms": 60000, "cpu_ms": 60000}}

        busy, neighbours = self.neighbours_of(job, times=4)

        self.assertLabel(busy, "OK")
        question_ms = 1000 * float(busy["stdout"]["text"])
        self.assertGreater(len(neighbours), 5)
        self.assertLess(statistics.median(map(late_ms, neighbours)), question_ms / 5)


class StoppedAndReaped(ZygoTestCase):
    def test_the_result_says_when_a_program_was_stopped_and_when_it_was_reaped(self) -> None:
        result = zygo.run_batch([{"id": "loop", "source": "while True: pass", "limits": {"wall_ms": 200}}])["loop"]

        self.assertLabel(result, "TimeoutException")
        self.assertGreaterEqual(result["usage"]["stopped_us"], 200_000)
        self.assertLessEqual(result["usage"]["stopped_us"], result["usage"]["wall_us"])

    def test_a_program_that_ended_by_itself_was_not_stopped(self) -> None:
        result = zygo.run_batch([{"id": "short", "source": "pass"}])["short"]
        self.assertLabel(result, "OK")
        self.assertNotIn("stopped_us", result["usage"])


@unittest.skipUnless(os.geteuid() == 0, "needs root to stop another user's process")
class AStoppedCell(ZygoTestCase):
    """A cell's first process, which reaps the program, may be starved or frozen: that is no time of the program's."""

    WALL_MS = int(10000 * zygo.PATIENCE)

    def test_its_program_has_ended_when_it_has_ended(self) -> None:
        with Coprocess("--quiet", "--workers", "1") as batch:
            batch.send(zygo.lines_of([{"id": "warm-up", "source": "pass"}]))
            batch.result()
            batch.send(zygo.lines_of([{"id": "a", "source": WAITS, "limits": {"wall_ms": self.WALL_MS}}]))
            end = time.monotonic() + self.WALL_MS / 1000
            while not (waiting := [chain for chain in host.chains_of(batch.process.pid) if is_waiting(chain[2])]):
                self.assertLess(time.monotonic(), end, "the program has not begun")
                time.sleep(0.01)  # /proc gives no event.
            _, cell, job = waiting[0]
            frozen = os.pidfd_open(cell)
            self.addCleanup(os.close, frozen)
            signal.pidfd_send_signal(frozen, signal.SIGSTOP)
            os.kill(job, signal.SIGUSR1)
            while (stat := host.stat_of(job)) and stat[1] != "Z":
                time.sleep(0.001)
            time.sleep(1.2 * self.WALL_MS / 1000)  # until its limit is over
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(frozen, signal.SIGCONT)
            result = batch.result()

        self.assertLabel(result, "OK")
        self.assertEqual(result["stdout"]["text"], "ended\n")


def is_waiting(pid: int) -> bool:
    """For SIGUSR1, which it catches."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return False
    caught = next(line.split()[1] for line in lines if line.startswith("SigCgt:"))
    return bool(int(caught, 16) & 1 << (signal.SIGUSR1 - 1))


if __name__ == "__main__":
    unittest.main()
