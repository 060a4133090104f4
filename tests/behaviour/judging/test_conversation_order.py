"""Which side of a conversation ended first decides whose failure it is."""

from __future__ import annotations

import unittest
from collections import Counter

import zygo
from zygo import Job, ZygoTestCase

JOBS, CONVERSATIONS_EACH = 10, 100
ALL = JOBS * CONVERSATIONS_EACH
# The other side hears of either end at once, and ends, too: by the times at which the two were reaped, one verdict in a
# hundred was the wrong one.
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

    def test_a_program_that_fails_by_itself_is_not_judged_by_what_follows(self) -> None:
        self.assertEqual(self.labels_of(PROGRAM_FAILS), {"NonZeroExit": ALL})

    def test_a_program_that_fails_when_it_was_rejected_was_wrong(self) -> None:
        self.assertEqual(self.labels_of(INTERACTOR_REJECTS), {"WrongAnswer": ALL})


if __name__ == "__main__":
    unittest.main()
