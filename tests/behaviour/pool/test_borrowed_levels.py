"""Memory is lent on the lesser levels as at level full, also where Docker's filter refuses clone3 and userfaultfd."""

from __future__ import annotations

import unittest
from collections.abc import Sequence, Set
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
    def test_finds_no_page_that_the_kernel_has_put_into_a_large_one(self) -> None:
        """It would have been written to with nobody's fault, and be searched for in vain."""
        ask = NATIVE + "print(call(157, 42, 0, 0, 0, 0))\n"  # PR_GET_THP_DISABLE

        results = self.batch([{"id": str(n), "source": ask} for n in range(3)], *UNVERIFIED)

        self.assertEqual({result["stdout"]["text"] for result in results.values() if was_borrowed(result)}, {"1\n"})


class TheNextJobInARestrictedPod(InARestrictedPod, memory.TheNextJob):
    pass


class EveryProgramInDocker(InDocker, memory.EveryProgram):
    pass


class EveryProgramInARestrictedPod(InARestrictedPod, memory.EveryProgram):
    pass


class TheNextJobOfAnOrdinaryUser(AsAnOrdinaryUser, memory.TheNextJob, OrdinaryUser):
    pass


class TheNextJobOfAnOrdinaryUserInAPod(TheNextJobOfAnOrdinaryUser):
    level = "minimal"


class EveryProgramOfAnOrdinaryUser(AsAnOrdinaryUser, memory.EveryProgram, OrdinaryUser):
    pass


if __name__ == "__main__":
    unittest.main()
