"""Mixed hostile jobs through four cells: each gets exactly one correct label, the good ones between them are all OK,
and afterwards everything that can be counted is where it was.

    /usr/bin/python3 tests/behaviour/isolation/test_hostile.py                  # 2,000 jobs
    /usr/bin/python3 tests/behaviour/isolation/test_hostile.py --jobs 20000
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import unittest
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import host
import zygo
from crimes import CRIMES, SEED, Crime, draw
from zygo import Coprocess, Job, Result, ZygoTestCase

JOBS = 2_000
CELLS = 4
WINDOW = 200  # jobs under way at a time
# A neighbour's load may come first: then the wall limit says so.
STARVED = "TimeoutException"
# Memory that the allocator and the kernel keep, and do not need twice.
RESIDENT_SLACK_KB = 24 << 10
GROUP_SLACK = 24 << 20  # above that a cell is renewed
# Idle cells of other profiles and sizes that a shard keeps; shards times four cells each, and some.
MOST_CELLS = CELLS * (4 * CELLS + 4)
DESCRIPTORS_PER_CELL = 26  # two of them once the filter has asked about a call of it


def fault(result: Result, job: Job, crime: Crime) -> str | None:
    starved = result["label"] == STARVED and result["usage"]["contended"]
    if result["label"] not in crime.labels and not starved:
        return f"is none of {crime.labels}: {zygo.brief(result)}"
    if faults := zygo.shape_faults(result):
        return f"{faults}: {zygo.brief(result)}"
    if not starved and not crime.check(result, job):
        return f"is not its own: {zygo.brief(result)} value {result['value']!r:.200}"
    return None


@dataclass
class Counts:
    """What can be counted of a running zygo when no job runs."""

    descriptors: int
    templates: int
    cells: int
    jobs: int
    groups: int
    group_bytes: int
    resident_kb: int
    mounts: int

    @classmethod
    def take(cls, pid: int) -> Counts:
        templates = host.children(pid)
        cells = [cell for template in templates for cell in host.children(template)]
        groups = groups_of(pid)
        jobs = sum(len(host.jobs_of(cell)) for cell in cells)
        return cls(host.open_descriptors(pid), len(templates), len(cells), jobs, len(groups), bytes_in(groups),
                   host.resident_kb(pid), len(Path(f"/proc/{pid}/mountinfo").read_text().splitlines()))

    @classmethod
    def settled(cls, pid: int, templates: float = math.inf, patience: float = 5) -> Counts:
        """Cells that were thrown away are buried, and a template that has made many is replaced by another, beside
        which it stays for a moment: there is no event for that."""
        deadline = time.monotonic() + patience
        while not (now := cls.take(pid)).is_settled(templates) and time.monotonic() < deadline:
            time.sleep(0.02)
        return now

    def is_settled(self, templates: float) -> bool:
        return self.jobs == 0 and self.templates <= templates and self.groups == self.cells * self.controllers()

    def controllers(self) -> int:
        """Directories per cell: one for each v1 hierarchy in use, one in all for v2; none without cgroups."""
        return round(self.groups / self.cells) if self.cells else 0


def groups_of(pid: int) -> list[Path]:
    """The groups of a zygo's cells."""
    return [Path(folder) for folder, _, _ in os.walk("/sys/fs/cgroup")
            if Path(folder).name.startswith("cell-") and Path(folder).parent.name.startswith(f"zygo-{pid}-")]


def is_ours(leftover: str, pid: int) -> bool:
    """Another zygo on this host has groups and temporary files of its own."""
    kind, _, path = leftover.partition(": ")
    if kind in ("processes", "mounts") or f"zygo-{pid}-" in path:
        return True
    others = any(host.name_of(int(name)) == "zygo" for name in os.listdir("/proc") if name.isdigit())
    return kind == "temporary" and not others


def bytes_in(groups: list[Path]) -> int:
    total = 0
    for group in groups:
        for name in ("memory.usage_in_bytes", "memory.current"):
            try:
                total += int((group / name).read_text())
            except OSError:
                continue
    return total


class TheMix(ZygoTestCase):
    jobs = JOBS

    def feed(self, batch: Coprocess, jobs: list[Job]) -> list[Result]:
        """A window of jobs is under way at any time, so that neither side waits for the other's pipe."""
        results: list[Result] = []
        sent = 0
        while len(results) < len(jobs):
            more = jobs[sent:len(results) + WINDOW]
            if len(more) >= WINDOW // 4 or (more and sent + len(more) == len(jobs)):
                batch.send(zygo.lines_of(more))
                sent += len(more)
            results.append(batch.result(timeout=120))
        return results

    def test_every_job_gets_one_correct_label_and_nothing_is_left(self) -> None:
        jobs, crimes = draw(self.jobs)
        warm_up, _ = draw(len(CRIMES) * 4, seed=SEED + 1)
        by_id = {job["id"]: job for job in jobs}
        host.adopt_orphans()
        before = host.Snapshot.take()

        with Coprocess("--quiet", "--workers", str(CELLS)) as batch:
            self.feed(batch, [{**job, "id": f"warm-up {job['id']}"} for job in warm_up])
            first = Counts.settled(batch.process.pid)
            began = time.monotonic()
            results = self.feed(batch, jobs)
            seconds = time.monotonic() - began
            last = Counts.settled(batch.process.pid, first.templates)
            batch.stdin.close()
            self.assertEqual(batch.line(), b"", "a result too many")
            code = batch.process.wait(30)

        self.assertEqual(Counter(result["id"] for result in results), Counter(by_id.keys()), "not one result each")
        wrong = [f"{result['id']} {said}" for result in results
                 if (said := fault(result, by_id[result["id"]], crimes[result["id"]]))]
        self.assertEqual(wrong[:20], [], f"{len(wrong)} of {len(results)}")
        self.assertEqual(code, 0)
        starved = sum(result["usage"]["contended"] for result in results)
        print(f"{len(results)} jobs in {seconds:.1f} s, {len(results) / seconds:.0f}/s, {starved} starved; "
              f"{json.dumps(Counter(result['label'] for result in results).most_common())}\n"
              f"  before: {first}\n  after:  {last}", file=sys.stderr)
        self.assertGrownBy(first, last)
        self.assertEqual([item for item in before.leftovers() if is_ours(item, batch.process.pid)], [])

    def assertGrownBy(self, first: Counts, last: Counts) -> None:
        """Which cells are kept changes from moment to moment, so what each of them has is counted per cell."""
        self.assertEqual(last.jobs, 0)
        self.assertLessEqual(last.templates, first.templates)
        self.assertLessEqual(last.cells, MOST_CELLS)
        self.assertEqual(last.controllers(), first.controllers())
        more = max(2, last.cells - first.cells)
        self.assertLessEqual(last.descriptors, first.descriptors + DESCRIPTORS_PER_CELL * more)
        self.assertEqual(last.mounts, first.mounts)
        self.assertLessEqual(last.resident_kb, first.resident_kb + RESIDENT_SLACK_KB)
        self.assertLessEqual(last.group_bytes, max(1, last.cells) * GROUP_SLACK)


# A process can make the kernel allocate these for it, none of it in its own address space.
KERNEL_MEMORY = {
    "pipes full of data": """
import os
held = []
while True:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    held.append(writer)
    try:
        os.write(writer, b"x" * 65536)
    except BlockingIOError:
        pass
""",
    "sockets full of data": """
import socket
held = []
while True:
    a, b = socket.socketpair()
    a.setblocking(False)
    held += [a, b]
    try:
        while True:
            a.send(b"x" * 4096)
    except BlockingIOError:
        pass
""",
    "page tables": """
import mmap
held = []
while True:
    held.append(mmap.mmap(-1, 1 << 36, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ))
    for place in range(0, 1 << 36, 1 << 21):
        held[-1][place]
""",
    "watched descriptors": """
import os, select
events, held = [os.eventfd(0) for _ in range(2000)], []
while True:
    held.append(select.epoll())
    for event in events:
        held[-1].register(event)
""",
}


class WhatTheKernelHoldsForAJob(ZygoTestCase):
    def test_counts_as_its_memory(self) -> None:
        limits = {"memory_mb": 24, "open_files": 8192, "cpu_ms": 10_000, "wall_ms": 60_000}
        jobs = [{"id": kind, "source": source, "limits": limits} for kind, source in KERNEL_MEMORY.items()]

        results = zygo.run_batch(jobs)

        if "cgroup.memory" not in results["page tables"]["enforced"]:
            self.skipTest("no cgroup counts memory here, and nothing else sees what the kernel allocates")
        for kind, result in results.items():
            with self.subTest(kind):
                self.assertEqual(result["label"], "MemoryLimitExceeded", zygo.brief(result))
                self.assertEqual(result["detail"]["source"], "oom counter")


class TheTimeOfChildrenNobodyWaitsFor(ZygoTestCase):
    def test_is_the_jobs_own(self) -> None:
        """Ignoring SIGCHLD takes their time out of every figure but the cgroup's."""
        source = """
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    if os.fork() == 0:
        while time.process_time() < 0.05:
            pass
        os._exit(0)
    try:
        os.wait()
    except ChildProcessError:
        pass
"""
        result = zygo.run_job(source, policy={"profile": "subprocess"}, limits={"cpu_ms": 400, "wall_ms": 60_000})

        if "cgroup.cpu" not in result["enforced"]:
            self.skipTest("no cgroup counts CPU time here; such a job has its wall limit")
        self.assertEqual((result["label"], result["detail"]["limit"]), ("TimeoutException", "cpu"), zygo.brief(result))
        self.assertGreaterEqual(result["detail"]["measured_ms"], 400)


if __name__ == "__main__":
    if "--jobs" in sys.argv:
        at = sys.argv.index("--jobs")
        TheMix.jobs = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main()
