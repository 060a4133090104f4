"""Which jobs make room for others on the CPU: one that computes stands back, one that waits or answers does not."""

from __future__ import annotations

import os
import subprocess
import time
import unittest
from collections.abc import Callable, Sequence
from pathlib import Path

import host
import zygo
from limits.test_pressure import Pressure, needs
from zygo import Job

GROUPS = Path("/sys/fs/cgroup")
PATIENCE = 30
LOWEST = 19
MOST_WEIGHT = 10_000
COMPUTES: Job = {"source": "while True: pass", "limits": {"cpu_ms": 60_000, "wall_ms": 60_000}}
WAITS: Job = {"source": "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\ntime.sleep(60)",
              "limits": {"cpu_ms": 60_000, "wall_ms": 60_000}}
TALKS: Job = {"source": "input()", "tests": [{}], "interactor": {"template": "python", "source": "input()"},
              "limits": {"wall_ms": 60_000}}


def cpu_group(pid: int) -> Path | None:
    """The directory of a process's CPU group, None where no such controller is in force or the process is gone."""
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    of = {name: path for _, names, path in (line.split(":", 2) for line in lines) for name in names.split(",")}
    for folder in ("cpu", "cpu,cpuacct", "."):
        group = GROUPS / folder / of.get("cpu", of.get("", "/")).strip("/")
        if "cell-" in group.name and (group / "cpu.idle").exists():
            return group
    return None


def is_idle_class(pid: int) -> bool:
    try:
        return os.sched_getscheduler(pid) == os.SCHED_IDLE
    except ProcessLookupError:
        return False


def nice_of(pid: int) -> int | None:
    try:
        return os.getpriority(os.PRIO_PROCESS, pid)
    except ProcessLookupError:
        return None


class Scheduling(Pressure):
    def start(self, job: Job, command: Sequence[str] = (str(zygo.BINARY), "batch", "-")) -> zygo.Coprocess:
        """A batch of this one job, which goes on until the test is over."""
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, env=zygo.environment())
        batch = self.enterContext(zygo.Coprocess(process=process))
        batch.send(zygo.lines_of([job]))
        return batch

    def until(self, batch: zygo.Coprocess, holds: Callable[[set[int]], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not holds(host.descendants(batch.process.pid)):
            self.assertLess(time.monotonic(), end, f"waited in vain for {what}")
            time.sleep(0.005)


@needs("cpu")
class Standing(Scheduling):
    """In a group that outweighs whatever else the machine does: a job that is kept from the CPU does not stand back."""

    def start_before_others(self, job: Job) -> zygo.Coprocess:
        return self.start(job, self.command(self.enterContext(self.group("cpu", MOST_WEIGHT))))

    def back(self, pids: set[int]) -> bool:
        groups = {group for pid in pids if (group := cpu_group(pid))}
        return any((group / "cpu.idle").read_text().strip() == "1" for group in groups)

    def test_a_job_that_computes_stands_back(self) -> None:
        batch = self.start_before_others(COMPUTES)

        self.until(batch, self.back, "a cell whose job computes to stand back")

    def test_a_job_that_has_computed_and_waits_stands_in_front_again(self) -> None:
        batch = self.start_before_others(WAITS)

        self.until(batch, self.back, "a cell whose job computes to stand back")
        self.until(batch, lambda pids: not self.back(pids), "a cell whose job waits to stand in front")


class Classes(Scheduling):
    def test_jobs_are_of_the_lowest_class(self) -> None:
        batch = self.start(COMPUTES)

        self.until(batch, lambda pids: any(map(is_idle_class, pids)), "a process of the idle class")

    def test_both_sides_of_a_conversation_are_of_the_usual_class_with_the_least_weight(self) -> None:
        batch = self.start(TALKS)

        def talk(pids: set[int]) -> bool:
            self.assertFalse([pid for pid in pids if is_idle_class(pid)])
            return sum(nice_of(pid) == LOWEST for pid in pids) == 2

        self.until(batch, talk, "two processes of the least weight")


if __name__ == "__main__":
    unittest.main()
