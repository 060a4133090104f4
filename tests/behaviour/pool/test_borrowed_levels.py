"""Memory is lent on the lesser levels as at level full, also where Docker's filter refuses clone3 and userfaultfd."""

from __future__ import annotations

import os
import unittest
from collections.abc import Sequence, Set
from pathlib import Path
from typing import Any
from unittest import mock

import zygo
from address_space import NATIVE
from containers import environments, seccomp
from isolation.test_unprivileged import OrdinaryUser, as_user
from pool import test_borrowed_memory as memory
from pool.test_borrowed_memory import UNVERIFIED, was_borrowed
from zygo import Job, Result

CLONE3, USERFAULTFD = "435", "323"


def refused_by_docker(capabilities: Set[str]) -> str:
    return ",".join(map(str, seccomp.refused_numbers(capabilities))) or f"{CLONE3},{USERFAULTFD}"


class InDocker:
    """By its default profile from 2025 on, which allows mseal."""

    level = "contained"
    refused = refused_by_docker(environments.DOCKER_CAPABILITIES)


class InARestrictedPod:
    level = "minimal"
    refused = refused_by_docker(frozenset())


class AsAnOrdinaryUser:
    """Job and holder have one uid; no control group counts."""

    level = "full"

    @classmethod
    def batch(cls: Any, jobs: Sequence[Job], *options: str, **how: Any) -> dict[str, Result]:
        its_own = zygo.environment(HOME=cls.home, TMPDIR=cls.home)
        with mock.patch.object(zygo, "BINARY", cls.binary):
            return zygo.run_batch(jobs, "--level", cls.level, *options, around=as_user(), env=its_own, cwd=cls.home, **how)


class TheNextJobInDocker(InDocker, memory.TheNextJob):
    share = (0, 4)

    def test_finds_no_page_that_the_kernel_has_put_into_a_large_one(self) -> None:
        """It would have been written to with nobody's fault, and be searched for in vain."""
        ask = NATIVE + "print(call(157, 42, 0, 0, 0, 0))\n"  # PR_GET_THP_DISABLE

        results = self.batch([{"id": str(n), "source": ask} for n in range(3)], *UNVERIFIED)

        self.assertEqual({result["stdout"]["text"] for result in results.values() if was_borrowed(result)}, {"1\n"})


class TheNextJobInARestrictedPod(InARestrictedPod, memory.TheNextJob):
    share = (1, 4)


class EveryProgramInDocker(InDocker, memory.EveryProgram):
    share = (0, 3)


class EveryProgramInARestrictedPod(InARestrictedPod, memory.EveryProgram):
    share = (1, 3)


class TheNextJobOfAnOrdinaryUser(AsAnOrdinaryUser, memory.TheNextJob, OrdinaryUser):
    share = (2, 4)


# Its first thread ends, under a name that looks like a line of /proc/PID/status.
NAMED = """
import ctypes, mmap, threading, time
libc = ctypes.CDLL(None)
def work():
    maps = []
    for _ in range(20):
        maps.append(mmap.mmap(-1, 8 << 20))
        for at in range(0, 8 << 20, 4096): maps[-1][at] = 1
    time.sleep(5)
    libc.syscall(231, 0)
threading.Thread(target=work).start()
libc.prctl(15, b"VmRSS:", 0, 0, 0)
libc.syscall(60, 0)
"""
SHARED = "import mmap, time\nm = mmap.mmap(-1, 120 << 20)\nfor at in range(0, len(m), 4096): m[at] = 1\ntime.sleep(5)\n"
IMAGE = "DATA = [bytearray([i % 251 + 1]) * 3000 for i in range(20000)]\n"
READS = "from zygo_setup import DATA\nimport time\nprint(sum(each[100] + each[2900] for each in DATA) > 0)\ntime.sleep(0.5)\n"
WRITES = "from zygo_setup import DATA\nimport time\nfor each in DATA: each[100] = each[2900] = 9\ntime.sleep(5)\n"
NEAR = "import mmap, time\nm = mmap.mmap(-1, 13 << 20)\nfor at in range(0, len(m), 4096): m[at] = 1\ntime.sleep(0.5)\n"


def numbered(sources: Sequence[str], memory_mb: int) -> list[Job]:
    """The jobs, after two that have their cell lend."""
    return [{"id": str(n), "source": source, "limits": {"memory_mb": memory_mb}} for n, source in enumerate(["pass", "pass", *sources])]


class TheMemoryOfAnOrdinaryUser(AsAnOrdinaryUser, memory.BorrowedMemory, OrdinaryUser):
    """What no control group counts is read from texts that a job has a hand in."""

    def labels(self, sources: Sequence[str], memory_mb: int, *options: str) -> list[str]:
        results = self.batch(numbered(sources, memory_mb), *UNVERIFIED, *options)
        borrowed = [results[str(n + 2)] for n in range(len(sources))]
        self.assertTrue(all(was_borrowed(result) or result["label"] != "OK" for result in borrowed), borrowed)
        return [result["label"] for result in borrowed]

    def test_is_counted_whatever_its_threads_are_called(self) -> None:
        self.assertEqual(self.labels([SHARED, "pass", NAMED], 64), ["MemoryLimitExceeded", "OK", "MemoryLimitExceeded"])

    @unittest.skipUnless(os.geteuid() == 0, "to be in many groups needs root")
    def test_is_counted_however_many_groups_the_user_is_in(self) -> None:
        groups = ",".join(str(2_000_000_000 + n) for n in range(400))
        crowded = [word if word != "--clear-groups" else f"--groups={groups}" for word in as_user()]
        with mock.patch(f"{__name__}.as_user", return_value=crowded):
            self.assertEqual(self.labels([SHARED], 64), ["MemoryLimitExceeded"])

    def test_is_what_it_writes_of_the_image_and_not_what_it_reads(self) -> None:
        """Whoever read it before."""
        setup = Path(self.home, "setup.py")
        setup.write_text(IMAGE)
        large = ("--template", "large", "--setup", str(setup))

        self.assertEqual(self.labels([READS, READS, WRITES, "pass", READS], 32, *large),
                         ["OK", "OK", "MemoryLimitExceeded", "OK", "OK"])

    def test_of_the_first_borrower_is_that_of_the_tenth(self) -> None:
        self.assertEqual(self.labels([NEAR] * 4, 16), ["OK"] * 4)


class TheMemoryOfAnOrdinaryUserInAPod(TheMemoryOfAnOrdinaryUser):
    level = "minimal"


class TheNextJobOfAnOrdinaryUserInAPod(TheNextJobOfAnOrdinaryUser):
    level = "minimal"
    share = (3, 4)


class EveryProgramOfAnOrdinaryUser(AsAnOrdinaryUser, memory.EveryProgram, OrdinaryUser):
    share = (2, 3)


if __name__ == "__main__":
    unittest.main()
