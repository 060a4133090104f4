"""Which side of a conversation ended first decides whose failure it is."""

from __future__ import annotations

import unittest
from collections import Counter

import zygo
from zygo import Job, ZygoTestCase

JOBS, CONVERSATIONS_EACH = 10, 100
# Between the moment when the kernel closes the pipes of one that ends, and the one when it counts as ended, the other
# side can end as well, if a host takes the CPU away just then: about one in two thousand on shared cores. Told by the
# times at which either was reaped, it is one in a hundred.
MOST_MISTAKEN = 8

# The other side hears of either end at once, and ends, too.
PROGRAM_FAILS: Job = {
    "source": "import os\nos._exit(3)",
    "interactor": {"template": "python", "source": "import os\nos._exit(0 if os.read(0, 1) else 1)"}}
INTERACTOR_REJECTS: Job = {
    "source": "import os\nos.read(0, 1)\nos._exit(3)",
    "interactor": {"template": "python", "source": "import os\nos._exit(1)"}}


class WhoEndedFirst(ZygoTestCase):
    def labels_of(self, job: Job) -> Counter[str]:
        jobs = [{"id": str(number), "tests": [{}] * CONVERSATIONS_EACH, **job} for number in range(JOBS)]
        results = zygo.run_batch(jobs, "--workers", "4").values()
        return Counter(test["label"] for result in results for test in result["tests"])

    def assertNearlyAll(self, labels: Counter[str], label: str) -> None:
        self.assertEqual(labels.total(), JOBS * CONVERSATIONS_EACH)
        self.assertGreaterEqual(labels[label], JOBS * CONVERSATIONS_EACH - MOST_MISTAKEN, labels)

    def test_a_program_that_fails_by_itself_is_not_judged_by_what_follows(self) -> None:
        self.assertNearlyAll(self.labels_of(PROGRAM_FAILS), "NonZeroExit")

    def test_a_program_that_fails_when_it_was_rejected_was_wrong(self) -> None:
        self.assertNearlyAll(self.labels_of(INTERACTOR_REJECTS), "WrongAnswer")


if __name__ == "__main__":
    unittest.main()
