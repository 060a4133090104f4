"""A machine with far more to do than CPUs changes no verdict: a program answers for what it did, not for how long it waited."""

from __future__ import annotations

import os
import unittest

import host
import zygo
from zygo import Job, Result, ZygoTestCase, brief

# Zygo jobs at once for each CPU.
LOAD = 16
CPUS = len(os.sched_getaffinity(0))
WALL_MS = 1000

# It needs half of its wall limit, and sixteen beside it need eight times the limit.
COMPUTES = "import time\nwhile time.process_time() < 0.5: pass\nprint('done')\n"
COMPUTES_AND_SLEEPS = "import time\ntime.sleep(0.2)\nwhile time.process_time() < 0.4: pass\nprint('done')\n"
# Each side waits for the other to compute.
ASKS = "import time\nwhile time.process_time() < 0.3: pass\nprint('go', flush=True)\nassert input() == 'done'\n"
ANSWERS = "import time\nassert input() == 'go'\nwhile time.process_time() < 0.3: pass\nprint('done', flush=True)\n"
NEVER_ENDS = "while True: pass\n"
SLEEPS_TOO_LONG = "import time\ntime.sleep(60)\n"


def job(name: str, source: str, cpu_ms: int = 60_000) -> Job:
    return {"id": name, "source": source, "limits": {"wall_ms": WALL_MS, "cpu_ms": cpu_ms}}


class ABusyMachine(ZygoTestCase):
    results: dict[str, Result]

    @classmethod
    def setUpClass(cls) -> None:
        if not host.counts_waiting():
            raise unittest.SkipTest("this kernel does not count how long a thread waits for a CPU (schedstat)")
        jobs = [job(f"computes {n}", COMPUTES_AND_SLEEPS if n % 4 == 0 else COMPUTES) for n in range(LOAD * CPUS - 3)]
        jobs += [job("sleeps", SLEEPS_TOO_LONG), job("loops", NEVER_ENDS), job("loops on its CPU time", NEVER_ENDS, 300)]
        jobs += [{**job(f"converses {n}", ASKS), "tests": [{}], "interactor": {"template": "python", "source": ANSWERS}} for n in range(CPUS)]
        cls.results = zygo.run_batch(jobs, "--workers", str(len(jobs)), timeout=120)

    def test_a_program_that_would_end_in_time_alone_ends_well(self) -> None:
        late = 0
        for name, result in self.results.items():
            if not name.startswith("computes"):
                continue
            with self.subTest(name):
                self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "done\n"), brief(result))
            late += result["usage"]["wall_ms"] > WALL_MS
        self.assertGreater(late, 0, "the machine was not busy")

    def test_a_conversation_waits_for_the_side_that_has_no_cpu(self) -> None:
        for n in range(CPUS):
            result = self.results[f"converses {n}"]
            self.assertEqual(result["label"], "OK", brief(result))

    def test_a_program_that_sleeps_too_long_has_waited_for_nothing(self) -> None:
        result = self.results["sleeps"]

        self.assertEqual((result["label"], result["detail"]["limit"]), ("TimeoutException", "wall"), brief(result))
        self.assertGreaterEqual(result["detail"]["measured_ms"], WALL_MS)
        self.assertFalse(result["detail"]["contended"])

    def test_an_endless_program_has_its_wall_limit_and_what_it_waited(self) -> None:
        detail = self.results["loops"]["detail"]

        self.assertEqual((self.results["loops"]["label"], detail["limit"], detail["contended"]), ("TimeoutException", "wall", True))
        self.assertGreaterEqual(detail["measured_ms"], WALL_MS + detail["waited_ms"])
        self.assertGreater(detail["waited_ms"], WALL_MS)

    def test_a_limit_of_cpu_time_comes_first(self) -> None:
        detail = self.results["loops on its CPU time"]["detail"]

        self.assertEqual((detail["limit"], detail["measured_ms"] >= 300), ("cpu", True))


if __name__ == "__main__":
    unittest.main()
