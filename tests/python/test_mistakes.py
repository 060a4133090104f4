"""A caller's mistake raises where it is made, and zygo's own trouble is tried again and then raised: neither ends as a row
of programs that are wrong."""

from __future__ import annotations

import asyncio
import os
import signal
import unittest
from typing import Any
from unittest import mock

import support
from faults import failing

import zygo
from zygo import grade

NO_LIMIT: dict[str, Any] = {"cpu_msx": 1}
NEGATIVE: dict[str, Any] = {"cpu_ms": -1}
ECHO = "def task(x): return x"
ALWAYS = 1 << 30


class Mistakes(support.Place):
    def test_of_a_pool_raise_where_it_is_made(self) -> None:
        for options, words in (({"limits": NO_LIMIT}, "did you mean cpu_ms"), ({"limits": NEGATIVE}, "from 1 to"),
                               ({"limits": {"cpu_ms": 1.5}}, "integer"), ({"template": "pythn"}, "pythn"),
                               ({"defaults": {"sauce": 1}}, "sauce"), ({"defaults": {"limits": None}}, "object")):
            with self.subTest(options=options), self.assertRaisesRegex(zygo.BadJob, words) as caught:
                zygo.Pool(**{**self.options(), **options})
            self.assertIsInstance(caught.exception, ValueError)

    def test_of_a_job_raise_where_it_is_given_to_the_pool(self) -> None:
        pool = self.pool()
        for job, fields in (({"source": "pass", "tmplate": "cpp"}, {}), ("pass", {"tmplate": "cpp"}),
                            ("pass", {"limits": NEGATIVE}), (zygo.Job("pass", limits=NO_LIMIT), {}),
                            ("pass", {"template": "pythn"}), ("pass", {"policy": {"profile": "lax"}}),
                            ("pass", {"tests": [{"input": "1", "expect": "1"}]}),
                            ("pass", {"tests": [{"stdin": "1", "expect": "1", "compare": "nearly"}]})):
            for give in (pool.submit, pool.run):
                with self.subTest(job=job, fields=fields, give=give.__name__), self.assertRaises(zygo.BadJob):
                    give(job, **fields)

    def test_in_the_first_job_of_a_map_raise(self) -> None:
        pool = self.pool()
        jobs = [{"source": "pass", "limts": {}}] * 3
        for each in (pool.map, pool.imap, pool.imap_unordered):
            with self.subTest(each=each.__name__), self.assertRaisesRegex(zygo.BadJob, "limts"):
                list(each(jobs))

    def test_for_asyncio_raise_as_well(self) -> None:
        pool = zygo.AsyncPool(pool=self.pool())

        async def mistaken() -> None:
            with self.assertRaises(zygo.BadJob):
                await pool.run("pass", limits=NEGATIVE)
            with self.assertRaises(zygo.BadJob):
                await pool.map([{"source": "pass", "sauce": 1}])

        asyncio.run(mistaken())

    def test_in_the_data_of_a_job_are_its_result(self) -> None:
        pool = self.pool()
        for data in ({"stdin": {"b64": "!"}}, {"files": {"../x": {"text": ""}}}, {"source": None}):
            with self.subTest(data=data):
                self.assertEqual(pool.run({"source": "pass", **data}).label, "BadJob")

    def test_of_functions_raise_before_the_first_call(self) -> None:
        pool = self.pool()
        self.assertRaises(ValueError, zygo.parallel, len, timeout=-1)
        self.assertRaises(TypeError, zygo.parallel, len, timeout="2")
        self.assertRaises(ValueError, zygo.parallel, len, ncpus=0)
        self.assertRaises(TypeError, zygo.parallel, len, ncpuss=2)
        self.assertRaises(zygo.BadJob, zygo.parallel, len, limits=NO_LIMIT, pool=pool)
        self.assertRaises(zygo.BadJob, zygo.Executor, pool=pool, limits=NO_LIMIT)
        self.assertRaises(ValueError, zygo.Executor, max_workers=0, pool=pool)

    def test_of_a_grader_raise_where_it_is_made(self) -> None:
        pool = self.pool()
        for options in ({"memory_limit_mb": -1}, {"determinism_runs": 9}, {"timeout_duration": 0},
                        {"timeout_duration": float("nan")}, {"trouble": "ignore"}):
            with self.subTest(options=options), self.assertRaises(ValueError):
                grade.CodeRunner(pool=pool, **options)
        self.assertRaises(ValueError, grade.CodeRunner, n_jobs=0)
        self.assertRaises(ValueError, grade.safe_code_execution, ECHO, [1], timeout_duration=-1, pool=pool)
        self.assertRaises(ValueError, grade.check_stdin, "pass", [], timeout=-1, pool=pool)

    def test_are_asked_about_once(self) -> None:
        pool = self.pool()
        fields = {"limits": {"cpu_ms": 1234}, "tests": [{"stdin": "1", "expect": "1"}] * 9}
        pool.check(fields)

        def refusal(*_: Any) -> None:
            raise AssertionError("asked again")

        transport = pool.transport
        transport.refusal = refusal  # type: ignore[method-assign]
        self.addCleanup(transport.__dict__.pop, "refusal")
        pool.check({**fields, "tests": [{"stdin": "2", "expect": "4"}]})


class Trouble(support.Place):
    """`failing` makes it."""

    def troubled(self, times: int, words: bytes = b"") -> Any:
        pool = self.pool(standing=False)
        return pool, failing(pool, times, words)

    @support.needs_numpy
    def test_twice_is_tried_again(self) -> None:
        program = grade.Program("t", ECHO, [1], [1])
        for judge in (lambda pool: grade.CodeRunner(pool=pool).run([program]).outcomes[0].label == "OK",
                      lambda pool: grade.safe_code_execution(ECHO, [1], pool=pool) == [1],
                      lambda pool: grade.check_stdin("print(1)", [{"input": "", "output": "1"}], pool=pool) == ["OK"]):
            pool, faults = self.troubled(2)
            with self.assertLogs("zygo", "WARNING"):
                self.assertTrue(judge(pool))
            self.assertEqual(faults.failed, 2)

    @support.needs_numpy
    def test_that_stays_is_raised_after_all_others_have_their_outcomes(self) -> None:
        programs = [grade.Program("t", f"{ECHO}  # {i}", [1], [1]) for i in range(5)]
        pool, faults = self.troubled(ALWAYS, b"# 1")
        labels = []

        with self.assertLogs("zygo", "WARNING"), self.assertRaises(zygo.SandboxError) as caught:
            for outcome in grade.CodeRunner(pool=pool).outcomes(programs):
                labels.append(outcome.label)

        self.assertEqual((labels, faults.failed), (["OK"] * 4, 3))
        self.assertEqual(caught.exception.result.by, "sandbox")

    @support.needs_numpy
    def test_can_be_reported_apart(self) -> None:
        programs = [grade.Program("t", f"{ECHO}  # {i}", [1], [1]) for i in range(3)]
        pool, _ = self.troubled(ALWAYS, b"# 1")

        with self.assertLogs("zygo", "WARNING"):
            report = grade.CodeRunner(pool=pool, trouble="report").run(programs)

        self.assertEqual([outcome.correct for outcome in report.outcomes], [[True], None, [True]])
        self.assertEqual([outcome.label for outcome in report.not_judged], ["SandboxError"])

    @support.needs_numpy
    def test_by_name_alone_is_the_programs_own(self) -> None:
        lies = "class SandboxError(Exception): pass\ndef task(x): raise SandboxError('not mine')"

        report = grade.CodeRunner(pool=self.pool()).run([grade.Program("t", lies, [1], [1])])

        self.assertEqual([outcome.correct for outcome in report.outcomes], [[False]])
        self.assertEqual(report.not_judged, [])

    @support.needs_numpy
    def test_is_raised_where_a_problem_is_checked(self) -> None:
        pool, faults = self.troubled(ALWAYS)
        problem = {"test_list": ["assert f() == 1"]}
        for check in (lambda: grade.check_stdin("pass", [{"input": "", "output": ""}], pool=pool),
                      lambda: grade.check_correctness(problem, "def f(): return 1", 1, pool=pool),
                      lambda: grade.safe_code_execution(ECHO, [1], pool=pool)):
            faults.failed = 0
            with self.assertLogs("zygo", "WARNING"), self.assertRaises(zygo.SandboxError):
                check()
            self.assertEqual(faults.failed, 3)

    def test_of_one_test_behind_a_wrong_answer_is_raised_as_well(self) -> None:
        from zygo.grade.trouble import is_ours, raised

        found = zygo.Result("WrongAnswer", "program", False, tests=[
            {"name": "test-1", "label": "WrongAnswer", "by": "program", "detail": {}},
            {"name": "test-2", "label": "SandboxError", "by": "sandbox", "detail": {"step": "cell"}}])

        self.assertTrue(is_ours(found))
        with self.assertRaisesRegex(zygo.SandboxError, "test-2"):
            raised(found)

    @support.needs_functions
    def test_in_a_parallel_loop_is_tried_again_and_then_raised(self) -> None:
        pool, faults = self.troubled(2)
        loop = zygo.parallel(pool=pool)(abs)
        self.assertEqual(sorted(value for _, value in loop([-1, -2, -3])), [1, 2, 3])
        self.assertEqual(faults.failed, 2)

        faults.left = ALWAYS
        with self.assertRaises(zygo.SandboxError):
            list(loop([-1, -2]))


class Embedded(support.OnEmbedded, Mistakes, unittest.TestCase):
    def test_what_the_runtime_cannot_do_raises_where_the_pool_is_made(self) -> None:
        for options in ({"require": "fulll"}, {"python": "/nonexistent/python3"}, {"binary": "/bin/false", "limits": {}},
                        {"binary": "/nonexistent/zygo", "require": "full"}):
            with self.subTest(options=options), self.assertRaises(zygo.NoRuntime):
                zygo.Pool(**options).run("pass")

    def test_a_template_that_cannot_start_is_raised_by_programs_too(self) -> None:
        pool = self.pool(preload=["no_such_module"], standing=False)
        for run in (pool.run, lambda source: pool.map([source]), lambda source: next(pool.imap_unordered([source]))):
            with self.assertRaisesRegex(zygo.BadJob, "no_such_module"):
                run("pass")

    @support.needs_functions
    def test_a_lost_runtime_is_raised_by_a_parallel_loop(self) -> None:
        pool = self.pool(standing=False, workers=2)

        @zygo.parallel(pool=pool)
        def wait(n: int) -> int:
            import time

            time.sleep(0 if n == 0 else 60)
            return n

        results = wait(iter([0, 1, 2]))
        next(results)
        os.kill(pool.transport.pid, signal.SIGKILL)
        with self.assertRaises(zygo.RuntimeLost):
            list(results)


class OnAService(support.OnService, Mistakes, unittest.TestCase):
    def test_one_that_cannot_be_reached_says_so_with_the_first_job(self) -> None:
        pool = zygo.Pool(url="http://127.0.0.1:1", limits=NO_LIMIT)

        with self.assertRaises(zygo.RuntimeLost):
            pool.run("pass")

    def test_one_that_is_busy_is_not_asked_and_jobs_wait_for_it_themselves(self) -> None:
        pool = self.pool()
        with mock.patch.object(type(pool.transport), "_answer", return_value=(429, b"{}")) as asked:
            for _ in range(3):
                self.assertTrue(pool.run("pass", limits={"cpu_ms": 777}))

        self.assertEqual(asked.call_count, 1)

    def test_every_template_that_it_knows_is_known_here(self) -> None:
        pool = self.pool()
        with self.assertRaises(zygo.BadJob) as caught:
            pool.run("pass", template="nosuch")
        known = str(caught.exception).partition("known are ")[2].rstrip(")").split(", ")
        by_itself = pool._submit("pass", fields={"template": "nosuch"}).result()  # the service's own word
        told = by_itself.detail["message"].partition("known are ")[2].partition(" (")[0].split(", ")

        self.assertIn("functions", told)
        self.assertLessEqual(set(told), set(known))


class TroubleOfTheEmbedded(support.OnEmbedded, Trouble, unittest.TestCase):
    pass


if __name__ == "__main__":
    support.main()
