"""Memory is lent on the lesser levels as at level full, also where Docker's filter refuses clone3 and userfaultfd."""

from __future__ import annotations

import unittest
from collections.abc import Set

from address_space import NATIVE
from containers import environments, seccomp
from pool import test_borrowed_memory as memory
from pool.test_borrowed_memory import UNVERIFIED, was_borrowed

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


if __name__ == "__main__":
    unittest.main()
