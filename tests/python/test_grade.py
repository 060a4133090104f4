"""The graders' toolkit. What programs try in order to pass is among the tests."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import signal
import textwrap
import unittest
from typing import Any

import support
import zygo
from zygo import grade

ADD = {"task_id": "T/1", "entry_point": "add",
       "prompt": "def helper(x):\n    return x + 1\n\ndef add(a, b):\n    \"\"\"Adds.\"\"\"\n",
       "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate([1], [2]) == [1, 2]\n"
               "    assert candidate((1,), ()) == (1,)\n    assert helper(1) == 2\n"}
COMPLETIONS = {
    "    return a + b\n": "passed",
    "    print('{\"value\": 3}')\n    return a + b\n": "passed",
    "    return a - b\n": "failed: AssertionError",
    "    import os; os._exit(0)\n": "failed",
    "    import sys; sys.exit(0)\n": "failed",
    "    raise ValueError('no')\n": "failed: ValueError: no",
    "    class Yes:\n        def __eq__(self, other): return True\n    return Yes()\n": "failed: TypeError",
    "    class Yes(int):\n        def __eq__(self, other): return True\n    return Yes(7)\n": "failed: AssertionError",
    "    return a + b\nimport builtins, os\nbuiltins.AssertionError = Exception\nos._exit(0)\n": "failed",
    "    import sys\n    f = sys._getframe(1)\n    f.f_globals['pack'] = lambda v: {'t': [3]}\n    return 0\n": "failed: AssertionError",
    "    import os\n    [os.write(fd, b'{\"value\": 3}\\n') for fd in (1, 2)]\n    return 0\n": "failed: AssertionError",
    "    while True: pass\n": "timed out",
    "    return (\n": "failed: SyntaxError",
}


class Checking(support.OnEmbedded, unittest.TestCase):
    def test_completions_are_judged_by_tests_that_they_cannot_reach(self) -> None:
        pool = self.pool(template="python")
        for completion, wanted in COMPLETIONS.items():
            with self.subTest(completion=completion):
                found = grade.check_correctness(ADD, completion, timeout=1, completion_id=7, pool=pool)
                self.assertEqual((found["task_id"], found["completion_id"]), ("T/1", 7))
                self.assertEqual(found["passed"], wanted == "passed")
                self.assertTrue(found["result"].startswith(wanted), found)

    def test_mbpp_problems_are_lists_of_assertions(self) -> None:
        problem = {"task_id": 2, "test_setup_code": "import math", "test_list": [
            "assert area(2) == math.pi * 4", "assert sorted(pairs([1, 2])) == [(1, 1), (2, 4)]"]}
        code = "import math\ndef area(r): return math.pi * r * r\ndef pairs(x): return {(i, i * i) for i in x}\n"
        pool = self.pool(template="python")

        self.assertTrue(grade.check_correctness(problem, code, 2, pool=pool)["passed"])
        self.assertFalse(grade.check_correctness(problem, code.replace("* r *", "+ r *"), 2, pool=pool)["passed"])

    def test_stdin_tests_have_a_label_each(self) -> None:
        tests = [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "7\n"}, {"input": "x\n", "output": ""}]

        found = grade.check_stdin("print(int(input()) * 2)", tests, pool=self.pool(template="python"))

        self.assertEqual(found, ["OK", "WrongAnswer", "ValueError"])

    def test_an_iterator_of_the_tests_does_not_end_with_the_program(self) -> None:
        for tests in ("assert all(map(candidate, [1, 2]))", "assert not list(filter(candidate, [1]))",
                      "assert sum(candidate(i) for i in [1]) == 0"):
            problem = {"task_id": 1, "prompt": "def f(x):\n", "entry_point": "f",
                       "test": f"def check(candidate):\n    {tests}\n"}
            for error in ("StopIteration", "StopAsyncIteration"):
                with self.subTest(tests=tests, error=error):
                    told = grade.check_correctness(problem, f"    raise {error}\n", 3, pool=self.pool())
                    self.assertFalse(told["passed"], told)

    def test_helpers_of_a_prompt_are_there_whatever_it_is_indented_with(self) -> None:
        for indent in ("\t", "  ", "    ", "        "):
            problem = {"task_id": 1, "entry_point": "f", "prompt": f'def twice(x):\n{indent}return 2 * x\n\ndef f(x):\n'
                                                                   f'{indent}"""Doubles.\n\n{indent}{indent}>>> f(1)\n{indent}"""\n',
                       "test": "def check(candidate):\n    assert candidate(3) == twice(3)\n"}
            with self.subTest(indent=indent):
                told = grade.check_correctness(problem, f"{indent}return x + x\n", 3, pool=self.pool())
                self.assertTrue(told["passed"], told)

    def test_pass_at_k_is_the_unbiased_estimate(self) -> None:
        self.assertEqual([grade.pass_at_k(4, 1, 1), grade.pass_at_k(5, 5, 3), grade.pass_at_k(5, 0, 5)], [0.25, 1, 0])
        self.assertAlmostEqual(grade.pass_at_k(4, 2, 2), 1 - 1 / 6)
        self.assertRaises(ValueError, grade.pass_at_k, 3, 4, 1)


@support.needs_numpy
class Execution(support.OnEmbedded, unittest.TestCase):
    def test_a_task_gets_arrays_and_gives_its_outputs(self) -> None:
        import numpy as np

        outputs = grade.safe_code_execution("def task(grid):\n    return twice(grid.T)", [[[1, 2], [3, 4]], [[5]]],
                                            dsl="def twice(x): return x * 2")

        np.testing.assert_array_equal(outputs[0], [[2, 6], [4, 8]])
        np.testing.assert_array_equal(outputs[1], [[10]])

    def test_a_module_is_as_good_as_its_source(self) -> None:
        outputs = grade.safe_code_execution("def task(x): return dedent('  a') + str(x)", [1], dsl=textwrap)

        self.assertEqual(outputs, ["a1"])
        with self.assertRaisesRegex(TypeError, "dsl: expected source text or a module, not int"):
            grade.safe_code_execution("def task(x): return x", [1], dsl=3)  # type: ignore[arg-type]

    def test_what_goes_wrong_is_raised_by_its_name(self) -> None:
        for code, wanted in {"while True: pass": grade.TimeoutException, "open('/etc/x', 'w')": grade.UnsafeCode,
                             "return id(object()), hash('a')": grade.NonDeterministicCode,
                             "return len(b'x' * (1 << 30))": grade.MemoryLimitExceeded, "return {}[1]": KeyError}.items():
            with self.subTest(code=code), self.assertRaises(wanted):
                grade.safe_code_execution(f"def task(x):\n    {code}", [1], timeout_duration=1, memory_limit_mb=48)

    def test_a_runner_groups_by_task_and_counts_how_programs_ended(self) -> None:
        right = "def task(x): return x + 1"
        inputs = [[[1]], [[2]]]
        programs = [grade.Program("a", right, inputs, [[[2]], [[3]]]), grade.Program("a", right, inputs, [[[2]], [[3]]]),
                    grade.Program("b", "def task(x): return x", [[[1]]], [[[2]]]),
                    grade.Program("b", "def task(x): return x[9]", [[[1]]], [[[2]]])]

        report = grade.CodeRunner().run(programs)

        self.assertEqual([outcome.label for outcome in report.outcomes], ["OK", "OK", "WrongAnswer", "IndexError"])
        self.assertEqual(report.error_table()[0], ("OK", 2, 0.5))
        self.assertEqual([outcome.correct for outcome in report.by_task["a"]], [[True, True]] * 2)
        self.assertEqual(str(report).splitlines()[:2], ["label          count    share",
                                                        "OK                 2   50.00%"])

    def test_a_twin_that_comes_late_has_the_result_of_the_first(self) -> None:
        pool, inputs = self.pool(), [1]
        first, last = (grade.Program("a", "def task(x): return x[0]", inputs) for _ in range(2))
        others = [grade.Program("a", f"def task(x): return {i}", inputs) for i in range(2 * pool._ahead())]

        outcomes = grade.CodeRunner(pool=pool).run([first, *others, last]).outcomes

        self.assertEqual(outcomes[0].label, "TypeError")
        self.assertIs(outcomes[0].result, outcomes[-1].result)

    def test_an_answer_without_a_program_is_counted_and_not_run(self) -> None:
        programs = [grade.Program("a", None, [[1]]), grade.Program("a", "def task(x): return x", [[1]])]

        report = grade.CodeRunner(pool=self.pool()).run(programs)

        self.assertEqual([outcome.label for outcome in report.outcomes], ["ParsingCodeFailed", "OK"])

    def test_programs_are_taken_little_by_little_and_outcomes_come_as_they_are_there(self) -> None:
        taken = itertools.count()
        programs = (grade.Program("a", f"def task(x): return {next(taken)}", [1]) for _ in itertools.count())
        pool = self.pool()
        outcomes = grade.CodeRunner(pool=pool).outcomes(programs)

        found = [next(outcomes) for _ in range(3)]
        outcomes.close()

        self.assertEqual({outcome.label for outcome in found}, {"OK"})
        self.assertLess(next(taken), 10 + 2 * pool._ahead())

    def test_a_program_with_an_id_is_a_job_of_its_own(self) -> None:
        inputs = [1]
        programs = [grade.Program("a", "def task(x): return x", inputs, id=name) for name in "pqr"]
        programs += [grade.Program("a", "def task(x): return x", inputs)] * 2

        report = grade.CodeRunner(pool=self.pool()).run(programs)

        self.assertEqual([outcome.result.id for outcome in report.outcomes[:3]], ["p", "q", "r"])
        self.assertEqual(len({id(outcome.result) for outcome in report.outcomes}), 4)

    def test_jobs_whose_runtime_is_lost_are_run_again(self) -> None:
        pool = self.pool(standing=False, workers=2)
        programs = [grade.Program("a", f"def task(x): return {i}", [1], id=str(i)) for i in range(300)]
        labels = []

        with self.assertLogs("zygo", "WARNING"):
            for outcome in grade.CodeRunner(pool=pool).outcomes(programs):
                if not labels:
                    os.kill(pool.transport.pid, signal.SIGKILL)
                labels.append((outcome.program.id, outcome.label))

        self.assertEqual(sorted(labels), sorted((str(i), "OK") for i in range(300)))

    def test_what_would_refuse_any_program_is_raised_and_no_row(self) -> None:
        programs = [grade.Program("t", "def task(x): return x", [1], [1])]
        for options in ({"limits": {"cpu": 300}}, {"template": "python-numpyy"}, {"defaults": {"sauce": 1}}):
            with self.subTest(options=options), self.assertRaises(zygo.BadJob):
                grade.CodeRunner(pool=self.pool(**options)).run(programs)

    def test_a_program_that_is_no_job_is_a_row_of_its_own(self) -> None:
        programs = [grade.Program("t", "def task(x): return x", [1], [1]), grade.Program("t", "#" * (70 << 20), [1], [1])]

        report = grade.CodeRunner(pool=self.pool()).run(programs)

        self.assertEqual([outcome.label for outcome in report.outcomes], ["OK", "BadJob"])

    def test_graders_have_jobs_and_rules_of_their_own(self) -> None:
        class Runner(grade.CodeRunner):
            def job(self, program: grade.Program, code: str) -> Any:
                return {"source": code, "stdin": "7"}

            def judge(self, program: grade.Program, result: zygo.Result) -> grade.Outcome:
                said = result.stdout.text.strip()
                return grade.Outcome(program, "Right" if said == program.expected else "Wrong", None, [], result, said)

        report = Runner(pool=self.pool()).run([grade.Program("a", "print(input() * 2)", [], "77"),
                                               grade.Program("a", "print(1)", [], "77")])

        self.assertEqual([(outcome.label, outcome.detail) for outcome in report.outcomes],
                         [("Right", "77"), ("Wrong", "1")])


ARC_TASK = {"train": [{"input": [[1, 2]], "output": [[2, 1]]}], "test": [{"input": [[3, 4]], "output": [[4, 3]]}]}


@support.needs_numpy
class Predictions(support.OnEmbedded, unittest.TestCase):
    """As trainers with arc25's runner call it."""

    def run_all(self, *bodies: str, **how: Any) -> Any:
        texts = [f"So:\n```python\nfrom common import *\ndef transform(grid):\n    print('on a line that goes')\n    {body}\n```"
                 if body else "No program." for body in bodies]
        runner = grade.CodeRunner(n_jobs=-1, memory_limit_mb=64)
        return runner.run([ARC_TASK] * len(texts), ["t"] * len(texts), texts, [None] * len(texts), disable_tqdm=True, **how)

    def test_each_has_a_dict_that_says_what_came_of_it(self) -> None:
        grouped = self.run_all("return grid[:, ::-1]", "return grid", "return grid[9]", "while True: pass", "", "return [[77]]",
                               "x = bytearray(1 << 30)\n    return grid")

        self.assertEqual(list(grouped), ["t"])
        right, wrong, *failed = grouped["t"]
        self.assertEqual((right["train_is_correct"], right["test_is_correct"], right["test_pixel_score"]), (1, 1, 1))
        self.assertEqual(right["test_output_grids"][0].tolist(), [[4, 3]])
        self.assertEqual((wrong["train_is_correct"], wrong["test_correct_grids"]), (0, 0))
        self.assertNotEqual(right["fingerprint"], wrong["fingerprint"])
        self.assertEqual([one["error_type"] for one in failed],
                         ["IndexError", "TimeoutException", "ParsingCodeFailed", "ValueError", "MemoryError"])
        self.assertNotIn("code", failed[2])

    def test_ungrouped_they_are_in_their_order_with_their_task(self) -> None:
        told = self.run_all("return grid", "return grid[:, ::-1]", "return grid", group_results_by_task=False)

        self.assertEqual([(one["task_id"], one["train_is_correct"]) for one in told], [("t", 0), ("t", 1), ("t", 0)])

    def test_what_does_not_fit_together_is_said(self) -> None:
        with self.assertRaisesRegex(ValueError, "differ in their number"):
            grade.CodeRunner().run([ARC_TASK], ["a", "b"], ["x"])
        with self.assertRaisesRegex(ValueError, "arc25.data_augmentation is not installed"):
            grade.CodeRunner().run([ARC_TASK], ["a"], ["```python\n1\n```"], [{"hflip": True}], disable_tqdm=True)

    @support.needs_pandas
    def test_metrics_are_frames_by_task(self) -> None:
        from zygo.grade import arc

        grouped = self.run_all("return grid[:, ::-1]", "return grid", "return grid[9]", "")

        found = arc.aggregate_metrics(grouped)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            errors = arc.error_analysis(grouped)

        self.assertEqual(found.loc["t", ["n_preds", "valid code", "valid outputs", "test_pass_rate", "is_correct"]].tolist(),
                         [4, 0.75, 0.5, 0.25, 1])
        self.assertEqual(errors.loc["MEAN", ["error_rate", "ParsingCodeFailed"]].tolist(), [0.5, 0.25])
        self.assertIn("IndexError", said.getvalue())


if __name__ == "__main__":
    support.main()
