"""Limits belong to a job, not to its cell: the next job in the same cell has its own, whichever came first."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from pathlib import Path
from typing import Any

import host
import zygo
from zygo import Job, Result, ZygoTestCase

SMALL = {"memory_mb": 32, "pids": 4}
LARGE = {"memory_mb": 512, "pids": 64}
# Threads count as processes; each waits until all of them are there.
THREADS = """
import sys, threading
count = int(sys.argv[1])
gate = threading.Event()
threads = [threading.Thread(target=gate.wait, daemon=True) for _ in range(count)]
threading.stack_size(65536)
for thread in threads:
    thread.start()
gate.set()
for thread in threads:
    thread.join()
print(len(threads))
"""


def touch(mebibytes: int, limits: dict[str, int], **fields: Any) -> Job:
    """A job that holds so much memory, every page of it."""
    return {"source": f"print(len(bytearray(b'x') * ({mebibytes} << 20)))", "limits": limits, **fields}


def threads(count: int, limits: dict[str, int]) -> Job:
    return {"source": THREADS, "argv": [str(count)], "limits": limits}


class OneCell(ZygoTestCase):
    """Jobs one after another through one cell, which is looked at from outside between them."""

    zygo_batch: zygo.Coprocess

    def setUp(self) -> None:
        layers = json.loads(zygo.run_cli("doctor", "--json").stdout)["layers"]
        for name in ("cgroup.memory", "cgroup.pids"):
            if not layers[name].get("available", layers[name].get("ok")):
                self.skipTest(f"{name} is not given here (see `zygo doctor`)")
        # The first cell stays if a heap is asked for.
        self.zygo_batch = zygo.Coprocess("--workers", "1", "--heap", "huge")
        self.enterContext(self.zygo_batch)
        self.jobs = 0

    def run_in_cell(self, job: Job) -> Result:
        self.jobs += 1
        self.zygo_batch.send(zygo.lines_of([{"id": f"job {self.jobs}", **job}]))
        result = self.zygo_batch.result(60)
        self.assertLessEqual({"cgroup.memory", "cgroup.pids"}, set(result["enforced"]))
        return result

    def cells(self) -> set[int]:
        pid = self.zygo_batch.process.pid
        return {cell for template in host.children(pid) for cell in host.children(template)}

    def assertFine(self, job: Job) -> None:
        self.assertLabel(self.run_in_cell(job), "OK")

    def test_a_small_limit_does_not_stick(self) -> None:
        self.assertFine(touch(16, SMALL))
        self.assertFine(threads(3, SMALL))
        before = self.cells()

        self.assertFine(touch(400, LARGE))
        self.assertFine(threads(50, LARGE))

        self.assertEqual(self.cells(), before, "another cell ran the later jobs, so this proves nothing")

    def after_large_ones(self, job: Job) -> Result:
        """The job, in a cell whose earlier ones had large limits. It wears the cell out if it fails, so
        that the cell is looked at before."""
        self.assertFine(touch(400, LARGE))
        self.assertFine(threads(50, LARGE))
        before = self.cells()
        self.assertFine(threads(3, SMALL))
        self.assertEqual(self.cells(), before, "another cell ran the later jobs, so this proves nothing")
        return self.run_in_cell(job)

    def test_a_large_number_of_processes_does_not_stick(self) -> None:
        self.assertLabel(self.after_large_ones(threads(8, SMALL)), "ProcessLimitExceeded")

    def test_a_large_memory_limit_does_not_stick(self) -> None:
        too_much = self.after_large_ones(touch(100, SMALL))

        self.assertLabel(too_much, "MemoryLimitExceeded")
        self.assertEqual(too_much["detail"]["limit_bytes"], 32 << 20)

    def test_the_job_after_one_that_hit_its_limit_has_all_of_its_own(self) -> None:
        self.assertLabel(self.run_in_cell(touch(100, SMALL)), "MemoryLimitExceeded")
        self.assertFine(touch(24, SMALL))
        self.assertLabel(self.run_in_cell(threads(8, SMALL)), "ProcessLimitExceeded")
        self.assertFine(threads(3, SMALL))

    def test_what_a_job_shares_with_its_template_is_not_counted(self) -> None:
        """pandas alone is larger than the limit."""
        for _ in range(3):
            self.assertFine(touch(24, SMALL, template="python-pandas"))
        result = self.run_in_cell(touch(40, SMALL, template="python-pandas"))

        self.assertLabel(result, "MemoryLimitExceeded")

    def test_what_is_mapped_and_never_written_to_is_no_memory(self) -> None:
        mapping = "mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)"
        self.assertFine({"source": f"import mmap\n{mapping}[:9] = b'123456789'", "limits": SMALL})
        usual_stacks = THREADS.replace("threading.stack_size(65536)", "")
        self.assertFine({"source": usual_stacks, "argv": ["60"], "limits": {"memory_mb": 64, "pids": 64}})
        # A program that is executed may map any amount, too.
        self.assertFine({"template": "perl", "limits": SMALL,
                         "source": "syscall(9, 0, 1 << 36, 3, 0x4022, -1, 0) > 0 or die $!"})  # mmap of 64 GiB

    def test_what_no_limit_lets_a_program_use_is_refused_at_once(self) -> None:
        hog = {"source": "bytearray(b'x') * (8 << 30)", "limits": {"memory_mb": 4096, "cpu_ms": 1000}}
        result = self.run_in_cell(hog)

        self.assertLabel(result, "MemoryLimitExceeded")
        self.assertLess(result["usage"]["memory_peak_kb"], 40 << 10)

    def test_what_an_earlier_job_left_in_the_page_cache_or_in_scratch_is_not_counted(self) -> None:
        write = "open('large', 'wb').write(bytes(48 << 20))"
        self.assertFine({"source": write, "limits": LARGE})

        self.assertFine(touch(24, {**SMALL, "disk_mb": 64}))

    def test_the_peak_is_of_the_job_alone(self) -> None:
        large = self.run_in_cell(touch(200, LARGE))
        small = self.run_in_cell(touch(8, LARGE))

        self.assertGreater(large["usage"]["memory_peak_kb"], 190 << 10)
        self.assertGreater(small["usage"]["memory_peak_kb"], 7 << 10)
        self.assertLess(small["usage"]["memory_peak_kb"], 40 << 10)


class ALargeTemplate(ZygoTestCase):
    """What it has mapped before the fork, its jobs have on top of what their limits give."""

    SETUP = "import mmap\nKEPT = mmap.mmap(-1, 3 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"

    def test_leaves_its_jobs_all_of_their_limit(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".py") as setup:
            setup.write(self.SETUP)
            setup.flush()
            os.chmod(setup.name, 0o644)  # The template is another user.

            result = zygo.run_job("print(len(bytearray(b'x') * (100 << 20)))", "--setup", setup.name,
                                  limits={"memory_mb": 200})

        self.assertLabel(result, "OK")


V1_MEMORY = Path("/sys/fs/cgroup/memory")


class AnOuterLimit(ZygoTestCase):
    """The memory that zygo itself was given, less than its jobs may have together."""

    GIVEN = 400 << 20
    # Jobs cannot tell each other that they are there; each stays long enough for the others to come.
    HOLD = "block = bytearray(b'x') * (180 << 20)\nimport time\ntime.sleep(4)\nprint(len(block))"

    @unittest.skipUnless(os.geteuid() == 0 and (V1_MEMORY / "memory.limit_in_bytes").exists(),
                         "needs root and a memory controller of cgroup v1")
    def test_is_not_blamed_on_the_program_which_is_run_again_when_there_is_room(self) -> None:
        group = V1_MEMORY / f"zygo-behaviour-{os.getpid()}"
        group.mkdir()
        self.addCleanup(group.rmdir)
        (group / "memory.limit_in_bytes").write_text(str(self.GIVEN))
        limits = {"memory_mb": 1024, "wall_ms": 30_000}
        jobs: list[Job] = [{"id": str(n), "source": self.HOLD, "limits": limits} for n in range(3)]
        command = ["/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh", str(zygo.BINARY), "batch", "-",
                   "--workers", "3"]

        ended = zygo.run_command(command, stdin=zygo.lines_of(jobs))

        labels = [result["label"] for result in zygo.results_of(ended.out)]
        self.assertEqual(labels, ["OK"] * 3, ended.stdout + ended.stderr)
        self.assertIn("zygo: pool: 3 -> 2 cells, ENOMEM on memory\n", ended.stderr)


if __name__ == "__main__":
    unittest.main()
