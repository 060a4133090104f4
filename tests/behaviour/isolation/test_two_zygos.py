"""Two zygos that cannot see each other, as in two containers of one host: each in a pid namespace of its own, where both
have the same pid, and both below one control group. Neither may notice the other."""

from __future__ import annotations

import os
import subprocess
import threading
import unittest
from pathlib import Path

import host
import zygo
from zygo import Coprocess, Job, Result, ZygoTestCase

NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
GROUPS = Path("/sys/fs/cgroup")
JOBS = 30
SUBPROCESS = {"profile": "subprocess"}
LIMITS = {"cpu_ms": 20_000, "wall_ms": 60_000}


def honest(number: int) -> tuple[Job, str, str]:
    """A job, its label and what it prints. Each memory limit is another, so that cells are made anew all the time."""
    kind = number % 6
    limits = {**LIMITS, "memory_mb": 48 + number}
    if kind == 1:
        return ({"source": "x = []\nwhile True: x.append(bytearray(1 << 20))", "limits": limits},
                "MemoryLimitExceeded", "")
    if kind == 2:
        source = "import threading, time\nwhile True:\n  threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
        return {"source": source, "limits": {**limits, "pids": 8}}, "ProcessLimitExceeded", ""
    if kind == 3:
        source = ("import os\nfor n in range(5):\n  if os.fork() == 0: os._exit(n)\n"
                  "print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(5)))")
        return {"source": source, "policy": SUBPROCESS, "limits": {**limits, "pids": 12}}, "OK", "[0, 1, 2, 3, 4]\n"
    if kind == 4:
        return {"source": "raise KeyError(1)", "limits": limits}, "KeyError", ""
    return {"source": f"x = bytearray(20 << 20)\nprint({number} * {number})", "limits": limits}, "OK", f"{number ** 2}\n"


def can_make_namespaces() -> bool:
    if os.geteuid() != 0:
        return False
    try:
        return subprocess.run([*NAMESPACE, "true"], capture_output=True, timeout=30, check=False).returncode == 0
    except FileNotFoundError:
        return False


def groups() -> set[Path]:
    """Of all daemons of this host."""
    return {Path(folder) for folder, _, _ in os.walk(GROUPS)
            if Path(folder).name.startswith("zygo-") and Path(folder).name.split("-")[1].isdigit()}


def group_of(pid: int) -> set[str]:
    """The daemons' groups that a process is below, by any of its hierarchies."""
    text = Path(f"/proc/{pid}/cgroup").read_text()
    return {part for line in text.splitlines() for part in line.split(":", 2)[2].split("/")
            if part.startswith("zygo-") and part.split("-")[1].isdigit()}


def uids_below(pid: int) -> set[int]:
    """Of the cells and jobs of a zygo, as the host counts them."""
    found: set[int] = set()
    for each in host.descendants(pid):
        try:
            lines = Path(f"/proc/{each}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            continue
        found |= {int(uid) for line in lines if line.startswith("Uid:") for uid in line.split()[1:]}
    return found - {0}


class Apart(Coprocess):
    """A `zygo batch` in a pid namespace of its own, with as many cells as it needs."""

    def __init__(self, *options: str) -> None:
        command = [*NAMESPACE, str(zygo.BINARY), "batch", "-", "--quiet", "--workers", "2", *options]
        super().__init__(process=subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                  stderr=subprocess.DEVNULL, env=zygo.environment(), bufsize=0))

    def __exit__(self, *_: object) -> None:
        try:
            super().__exit__()
        finally:
            self.stdin.close()
            self.process.kill()  # and with it all that is in its namespace
            self.process.wait()

    def run(self, name: str, source: str) -> Result:
        self.send(zygo.lines_of([{"id": name, "source": source, "limits": LIMITS}]))
        return self.result(60)

    def zygos(self) -> list[int]:
        return [pid for pid in host.descendants(self.process.pid) if host.name_of(pid) == "zygo"]


@unittest.skipUnless(can_make_namespaces(), "pid namespaces need root")
class TwoZygosOfOnePid(ZygoTestCase):
    options: tuple[str, ...] = ()

    def start(self) -> Apart:
        started = Apart(*self.options)
        self.addCleanup(started.__exit__, None, None, None)
        return started

    def test_judge_as_if_each_were_alone(self) -> None:
        with Apart(*self.options) as alone:
            layers = alone.run("first", "print(1)")["enforced"]
        pair = [self.start(), self.start()]
        first = [each.run("first", "print(1)") for each in pair]
        results: list[list[Result]] = [[], []]

        def work(number: int) -> None:
            each = pair[number]
            each.send(zygo.lines_of([{"id": str(n), **honest(n)[0]} for n in range(JOBS)]))
            results[number] = [each.result(120) for _ in range(JOBS)]

        threads = [threading.Thread(target=work, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        self.assertEqual([result["enforced"] for result in first], [layers, layers])
        for number, ended in enumerate(results):
            wrong = []
            for result in ended:
                _, label, stdout = honest(int(result["id"]))
                if (result["label"], result["stdout"]["text"]) != (label, stdout):
                    wrong.append(f"{label} expected: {zygo.brief(result)}")
            self.assertEqual((len(ended), wrong), (JOBS, []), f"zygo {number}")

    def test_have_groups_and_uids_of_their_own(self) -> None:
        pair = [self.start(), self.start()]
        for each in pair:
            each.run("first", "print(1)")
            each.send(zygo.lines_of([{"id": "held", "source": "import time\ntime.sleep(600)",
                                      "limits": {"wall_ms": 900_000}}]))
        jobs = [host.job_of(each.zygos()[0]) for each in pair]

        uids, of_jobs = [uids_below(each.process.pid) for each in pair], [group_of(job) for job in jobs]
        for job in jobs:
            host.kill_and_await(job)
        self.assertTrue(all(uids), uids)
        self.assertEqual(uids[0] & uids[1], set())
        if not of_jobs[0]:
            self.skipTest("uids are checked; there is no control group here")
        self.assertEqual(of_jobs[0] & of_jobs[1], set())


@unittest.skipUnless(can_make_namespaces(), "pid namespaces need root")
class TwoZygosOfOnePidAtLevelContained(TwoZygosOfOnePid):
    """Where uids are those of the host."""

    options = ("--level", "contained")


@unittest.skipUnless(can_make_namespaces(), "pid namespaces need root")
class WhatACrashLeaves(ZygoTestCase):
    def test_in_another_pid_namespace_is_swept_and_who_lives_there_keeps_all(self) -> None:
        before = groups()
        with Apart() as living:
            result = living.run("first", "print(1)")
            if not {"cgroup.memory", "cgroup.pids"} & set(result["enforced"]):
                self.skipTest("there is no control group here")
            of_living = groups() - before
            with Apart() as crashed:
                crashed.run("first", "print(1)")
                left = groups() - before - of_living
                self.assertTrue(left)
                for pid in crashed.zygos():
                    host.kill_and_await(pid)
                crashed.process.wait(30)
            self.assertEqual(groups() - before, of_living | left, "it has crashed and left them")
            there = {str(path): path.stat().st_ino for group in of_living for path in (group, *group.glob("cell-*"))}

            self.assertLabel(zygo.run_job("print(1)"), "OK")

            self.assertEqual(groups() & left, set())
            now = {str(path): path.stat().st_ino for group in of_living for path in (group, *group.glob("cell-*"))}
            self.assertEqual(now, there)
            self.assertLabel(living.run("second", "print(2)"), "OK")
            self.assertEqual(zygo.finish(living.process), 0)
        self.assertEqual(groups() & of_living, set())


if __name__ == "__main__":
    unittest.main()
