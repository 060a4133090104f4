"""NonDeterministicCode is found by experiment: two runs under different seeds, compared outside."""

from __future__ import annotations

import unittest
from typing import Any

import zoo
import zygo
from zygo import Job, ZygoTestCase

TWICE = {"runs": 2}


def call(name: str, body: str, **fields: Any) -> Job:
    return {"id": name, "source": f"def f(x):\n    {body}\n", "mode": "call", "func": "f", "inputs": [1],
            "determinism": TWICE, **fields}


class Repeated(ZygoTestCase):
    def test_the_labels_come_out_the_same_every_time(self) -> None:
        """The experiment itself must not be a matter of luck: five rounds over all programs about chance."""
        programs = zoo.programs("random", "same")
        jobs = [{**program.job(), "id": f"{program.id} {n}"} for program in programs for n in range(5)]

        results = zygo.run_batch(jobs, timeout=240)

        for program in programs:
            labels = {results[f"{program.id} {n}"]["label"] for n in range(5)}
            with self.subTest(program.id):
                self.assertEqual(labels, {program.expect["label"]})


class TwoRuns(ZygoTestCase):
    def test_see_two_hash_seeds(self) -> None:
        """Eight jobs that return a hash: equal hashes in both runs would be eight coincidences."""
        results = zygo.run_batch([call(f"h{n}", f"return hash('text {n}')") for n in range(8)])

        self.assertEqual({r["label"] for r in results.values()}, {"NonDeterministicCode"})

    def test_name_the_first_difference(self) -> None:
        body = "import random; return {'a': [1, 2, 3], 'b': [0, {'c': random.random()}]}"

        result = zygo.run_batch([call("deep", body)])["deep"]

        self.assertLabel(result, "NonDeterministicCode")
        self.assertEqual(result["determinism"]["axis"], "value")
        self.assertRegex(result["determinism"]["where"], r"^\[0\]\W+b\W+\[?1\]?\W+c\W*$")

    def test_compare_label_value_and_stdout_but_not_stderr(self) -> None:
        jobs = [call("stdout", "import os; print(os.urandom(4)); return 1"),
                call("stderr", "import os, sys; print(os.urandom(4), file=sys.stderr); return 1"),
                call("value", "import os; return os.urandom(4).hex()"),
                call("outcome", "import os; raise type('E' + os.urandom(8).hex(), (Exception,), {})")]

        results = zygo.run_batch(jobs)

        axes = {name: result["determinism"].get("axis") for name, result in results.items()}
        self.assertEqual(axes, {"stdout": "stdout", "stderr": None, "value": "value", "outcome": "outcome"})
        self.assertLabel(results["stderr"], "OK")

    def test_leave_a_verdict_by_limit_or_policy_alone(self) -> None:
        jobs = [call("cpu", "while True: x = hash(str(x))", limits={"cpu_ms": 300}),
                call("memory", "return len(bytearray(1 << 60))"),
                call("unsafe", "import os; os.fork()")]

        results = zygo.run_batch(jobs)

        labels = {name: result["label"] for name, result in results.items()}
        self.assertEqual(labels, {"cpu": "TimeoutException", "memory": "MemoryLimitExceeded", "unsafe": "UnsafeCode"})

    def test_that_agree_on_a_failure_keep_its_label(self) -> None:
        jobs = [call("error", "raise KeyError(hash('a'))"), call("signal", "import os; os.kill(os.getpid(), 9)"),
                call("exit", "import os; os._exit(0)"), call("invalid", "return f")]

        results = zygo.run_batch(jobs)

        labels = {name: result["label"] for name, result in results.items()}
        self.assertEqual(labels, {"error": "KeyError", "signal": "Signalled", "exit": "NonZeroExit",
                                  "invalid": "InvalidResult"})

    def test_do_not_share_scratch(self) -> None:
        """What the first run wrote is not there for the second."""
        body = "import os; n = len(os.listdir('.')); open('a', 'w'); return n"

        result = zygo.run_batch([call("files", body)])["files"]

        self.assertLabel(result, "OK")
        self.assertEqual(result["value"], [0])


class OneRun(ZygoTestCase):
    def test_passes_no_judgement_on_chance(self) -> None:
        result = zygo.run_batch([call("once", "return hash('a')", determinism={"runs": 1})])["once"]

        self.assertLabel(result, "OK")

    def test_of_the_same_job_again_draws_other_numbers(self) -> None:
        """Forks of one warm interpreter must not share generator state."""
        body = "import random, numpy as np; return [random.random(), float(np.random.rand()), random.getrandbits(64)]"
        jobs = [call(f"draw {n}", body, determinism={"runs": 1}, template="python-numpy") for n in range(20)]

        results = zygo.run_batch(jobs)

        for place in range(3):
            drawn = {result["value"][0][place] for result in results.values()}
            self.assertEqual(len(drawn), len(jobs))


if __name__ == "__main__":
    unittest.main()
