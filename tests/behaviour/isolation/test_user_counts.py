"""What the kernel counts by user and not by process: no job uses up the share of others."""

from __future__ import annotations

import unittest

import zygo
from isolation.test_unprivileged import OrdinaryUser
from zygo import Job, Result, ZygoTestCase

MOST_SIGNALS = 256  # sandbox/rlimits.h
WORKERS = 3
MOST_PIPES = 768 // WORKERS  # runtime/cell/rules/pipe_count.h
AS_LEVEL = {"full": (), "contained": ("--level", "contained"), "minimal": ("--level", "minimal")}

TIMERS = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
made, timer = 0, ctypes.c_void_p()
while made < 3000 and libc.timer_create(1, None, ctypes.byref(timer)) == 0:
    made += 1
print(made, errno.errorcode.get(ctypes.get_errno()))
"""
PIPES = """
import errno, os
made = []
try:
    while len(made) < 1000: made.append(os.pipe())
except OSError as error:
    print(len(made), errno.errorcode[error.errno])
for ends in made[:100]:
    os.close(ends[0]); os.close(ends[1])
print(len([os.pipe() for _ in range(90)]))  # stdin, stdout and stderr may be pipes, too
"""
PIPES_OF_MANY = """
import os, signal
reads, writes = os.pipe()
for _ in range(8):
    if os.fork() == 0:
        made = []
        try:
            while len(made) < 120: made.append(os.pipe())
        except OSError:
            pass
        os.write(writes, len(made).to_bytes(1, "little"))
        signal.pause()
print(sum(os.read(reads, 1)[0] for _ in range(8)))
"""
ONE_AFTER_THE_OTHER = """
import os
for _ in range(3000):
    ends = os.pipe(); os.close(ends[0]); os.close(ends[1])
print("all")
"""
FILES = {"open_files": 3000, "wall_ms": 60_000, "cpu_ms": 20_000}


def of_pipes() -> list[Job]:
    return [{"id": "many", "source": PIPES, "limits": FILES},
            {"id": "of many", "source": PIPES_OF_MANY, "limits": {**FILES, "pids": 16}, "policy": {"profile": "subprocess"}},
            {"id": "one after the other", "source": ONE_AFTER_THE_OTHER, "limits": FILES}]


class Counts(ZygoTestCase):
    def assert_pipes_are_counted(self, results: dict[str, Result]) -> None:
        said = {name: result["stdout"]["text"].split() for name, result in results.items()}
        self.assertEqual(said["many"], [str(MOST_PIPES), "EMFILE", "90"], results["many"])
        self.assertLessEqual(int(said["of many"][0]), MOST_PIPES + 8, results["of many"])  # eight ask at once
        self.assertGreater(int(said["of many"][0]), MOST_PIPES // 2, results["of many"])
        self.assertEqual(said["one after the other"], ["all"], results["one after the other"])

    def assert_timers_are_few(self, result: Result) -> None:
        """Those of the user's other processes count where there is no namespace."""
        made, error = result["stdout"]["text"].split()
        self.assertEqual(error, "EAGAIN", result)
        self.assertTrue(0 < int(made) <= MOST_SIGNALS, result)


class OnEachLevel(Counts):
    def test_timers_and_queued_signals_of_a_job_are_few(self) -> None:
        for level, options in AS_LEVEL.items():
            with self.subTest(level):
                self.assert_timers_are_few(zygo.run_job(TIMERS, *options))

    def test_pipes_are_counted_where_jobs_share_a_uid(self) -> None:
        self.assert_pipes_are_counted(zygo.run_batch(of_pipes(), "--level", "minimal", "--workers", str(WORKERS)))


class OfAnOrdinaryUser(OrdinaryUser, Counts):
    def test_timers_and_pipes_of_a_job_are_few(self) -> None:
        jobs = [*of_pipes(), Job({"id": "timers", "source": TIMERS})]

        ended = self.zygo("batch", "-", "--workers", str(WORKERS), stdin=zygo.lines_of(jobs))

        results = zygo.by_id(zygo.results_of(ended.out))
        self.assert_timers_are_few(results.pop("timers"))
        self.assert_pipes_are_counted(results)


if __name__ == "__main__":
    unittest.main()
