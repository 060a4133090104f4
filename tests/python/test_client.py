"""Programs: run, map, results and their fields, against the embedded runtime and a service. Works without cloudpickle."""

from __future__ import annotations

import asyncio
import concurrent.futures
import itertools
import json
import threading
import time
import unittest

import support
import zygo

ENDLESS = "while True: pass"
PATIENT = {"wall_ms": 3_600_000, "cpu_ms": 3_600_000}
TWICE = "def f(x):\n    return x * 2"


class Programs:
    def test_a_program_has_a_result_with_the_fields_of_the_contract_as_attributes(self) -> None:
        result = self.pool().run("print('out')\nimport sys; print('err', file=sys.stderr)", id="mine", tag={"a": [1]})

        self.assertEqual((result.label, result.by, result.ok, result.id, result.tag),
                         ("OK", "program", True, "mine", {"a": [1]}))
        self.assertTrue(result)
        self.assertEqual((str(result.stdout), result.stdout.bytes, result.stderr.text), ("out\n", 4, "err\n"))
        self.assertEqual(result.exit, {"code": 0, "signal": None})
        self.assertIn("seccomp", result.enforced)
        self.assertIn("seccomp", result.evidence.enforced)
        self.assertGreater(result.usage.wall_ms + 1, 0)
        self.assertIn("run", result.timing_us)

    def test_a_job_with_an_id_has_its_line_of_zygo_under_that_id(self) -> None:
        given = 'mine "é"'

        named, nameless = self.pool().map([{"source": "print(3)", "id": given}, "print(4)"])

        line = json.loads(named.line)
        self.assertEqual((line["id"], line["label"], line["stdout"]["text"]), (given, "OK", "3\n"))
        self.assertEqual(nameless.line, b"")

    def test_a_record_has_the_whole_job_and_where_it_ran(self) -> None:
        result, plain = self.pool().map([{"source": "print(3)", "record": True, "stdin": "x"}, "print(4)"])

        assert result.record is not None
        self.assertEqual((result.record["job"]["source"], result.record["job"]["stdin"]), ("print(3)", "x"))
        self.assertEqual((result.record["template"]["id"], plain.record), (result.template, None))
        self.assertEqual(self.pool().run("print(5)", record=True).record["digests"].keys(), {"job", "source"})

    def test_inputs_are_encoded_once_for_many_jobs(self) -> None:
        inputs = zygo.Encoded([[1, "é"], (2, None), {3}])

        results = self.pool().map([{"source": TWICE.replace("x * 2", f"[{i}, x]"), "func": "f", "inputs": inputs}
                                   for i in range(3)])

        self.assertEqual([result.value for result in results],
                         [[[i, [1, "é"]], [i, (2, None)], [i, {3}]] for i in range(3)])

    def test_a_function_of_a_program_is_called_once_per_input(self) -> None:
        result = self.pool().run(TWICE, "f", [21, "ab", [1]])

        self.assertEqual(result.value, [42, "abab", [1, 1]])

    def test_values_that_json_cannot_say_come_and_go(self) -> None:
        given = [(1, (2,)), {1: "one", (2,): None}, {3}, frozenset("a"), b"\0\xff", 1 - 2j, 2**70, {"$type": "x"}, True]

        result = self.pool().run("def f(x):\n    return x", "f", given)

        self.assertEqual(result.value, given)
        self.assertEqual([type(value) for value in result.value], [type(value) for value in given])

    def test_values_that_are_no_numbers_come_and_go(self) -> None:
        result = self.pool().run("def f(x):\n    return [x, str(x)]", "f", [float("nan"), float("inf"), -float("inf")])

        self.assertEqual([text for _, text in result.value], ["nan", "inf", "-inf"])
        self.assertEqual(str(result.value[0][0]), "nan")

    def test_labels_say_how_a_program_ended(self) -> None:
        pool = self.pool()
        ends = {"[][3]": "IndexError", "while True: pass": "TimeoutException", "import socket; socket.socket()":
                "UnsafeCode", "x = b'x' * (1 << 30)": "MemoryLimitExceeded", "raise SystemExit(3)": "NonZeroExit",
                "def": "SyntaxError"}

        results = pool.map([{"source": source, "limits": {"cpu_ms": 3000, "memory_mb": 64}} for source in ends])

        self.assertEqual([result.label for result in results], list(ends.values()))
        self.assertEqual(results[0].exception.type, "IndexError")

    def test_check_raises_what_the_label_says(self) -> None:
        pool = self.pool()

        self.assertRaises(zygo.TimeoutException, pool.run("while True: pass", limits={"cpu_ms": 100}).check)
        self.assertRaises(TimeoutError, pool.run("while True: pass", limits={"cpu_ms": 100}).check)
        self.assertRaises(KeyError, pool.run("{}['a']").check)
        self.assertRaises(zygo.BadJob, pool.run({"source": "1", "stdin": {"b64": "!"}}).check)
        with self.assertRaises(zygo.ProgramError) as caught:
            pool.run("class Mine(Exception): pass\nraise Mine('so')").check()
        self.assertIn("Mine: so", str(caught.exception))
        self.assertIn("line 2, in <module>", caught.exception.remote_traceback)

    def test_limits_of_the_pool_lie_under_those_of_the_job(self) -> None:
        pool = self.pool(limits={"cpu_ms": 200, "stdout_kb": 1})

        self.assertEqual(pool.run("while True: pass", limits={"stdout_kb": 2}).detail["limit_ms"], 200)
        self.assertEqual(pool.run("print('a' * 1500)").label, "OutputLimitExceeded")
        self.assertEqual(pool.run("print('a' * 1500)", limits={"stdout_kb": 2}).label, "OK")

    def test_results_of_a_map_are_in_the_order_of_its_jobs(self) -> None:
        jobs = [zygo.Job(f"import time; time.sleep({0.02 * (i % 3)}); print({i})", id="same") for i in range(40)]

        results = self.pool().map(jobs, progress=False)

        self.assertEqual([int(result.stdout.text) for result in results], list(range(40)))
        self.assertEqual({result.id for result in results}, {"same"})

    def test_unordered_results_are_all_there_once(self) -> None:
        jobs = [{"source": f"print({i})", "tag": i} for i in range(40)]

        tags = [result.tag for result in self.pool().imap_unordered(jobs)]

        self.assertEqual(sorted(tags), list(range(40)))

    def test_jobs_without_an_end_are_taken_little_by_little(self) -> None:
        taken = itertools.count()
        jobs = ({"source": f"print({next(taken)})"} for _ in itertools.count())
        pool = self.pool()

        for results in (pool.imap(jobs), pool.imap_unordered(jobs)):
            self.assertTrue(all(next(results) for _ in range(5)))
            results.close()

        self.assertLess(next(taken), 10 + 4 * pool._ahead())

    def test_a_malformed_job_fails_alone_and_names_its_field(self) -> None:
        results = self.pool().map(["print(1)", {"source": "1", "sauce": 2}, {"source": "1", "limits": {"wall_ms": 0}}])

        self.assertEqual([result.label for result in results], ["OK", "BadJob", "BadJob"])
        self.assertIn("sauce", results[1].detail["message"])

    def test_values_of_tests_keep_their_types_both_ways(self) -> None:
        values = [1, 1.0, True, (1, 2), [1, 2], {1: "a"}, float("nan"), b"x", {2, 1}]
        tests = [{"name": f"{i} {j}", "args": [given], "expect": wanted, "compare": "exact"}
                 for i, given in enumerate(values) for j, wanted in enumerate(values)]

        result = self.pool().run("def same(x): return x", "same", tests=tests)

        passed = {test["name"] for test in result.tests if test["label"] == "OK"}
        self.assertEqual(passed, {f"{i} {i}" for i in range(len(values))})

    def test_half_a_character_is_the_bad_luck_of_its_job_alone(self) -> None:
        results = self.pool().map(["print(1)", "#\ud800", {"source": "pass", "stdin": "\udfff"}, "print(2)"])

        self.assertEqual([result.label for result in results], ["OK", "BadJob", "BadJob", "OK"])

    def test_a_job_that_cannot_be_a_line_is_a_bad_job(self) -> None:
        result = self.pool().run("#" * (64 << 20))

        self.assertEqual(result.label, "BadJob")

    def test_an_input_that_has_no_form_is_refused_here(self) -> None:
        with self.assertRaisesRegex(TypeError, "object"):
            self.pool().run(TWICE, "f", [object()])

    def test_large_jobs_and_results_pass(self) -> None:
        text = "é" * 500_000

        results = self.pool().map([{"source": "def f(x):\n    return x", "func": "f", "inputs": [text + str(i)]}
                                   for i in range(8)])

        self.assertEqual([result.value for result in results], [[text + str(i)] for i in range(8)])

    def test_many_threads_share_a_pool(self) -> None:
        pool, seen = self.pool(), []

        def work(number: int) -> None:
            for i in range(5):
                seen.append(pool.run(f"print({number * 100 + i})").stdout.text == f"{number * 100 + i}\n")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(support.PATIENCE)

        self.assertEqual(seen, [True] * 40)

    def test_a_job_that_waits_can_be_withdrawn(self) -> None:
        pool = self.pool()
        busy = [pool.submit("import time; time.sleep(0.01)") for _ in range(2000)]

        withdrawn = [future.cancel() for future in reversed(busy)]

        self.assertTrue(withdrawn[0])
        self.assertTrue(busy[-1].cancelled())
        self.assertEqual(pool.run("print(1)").label, "OK")

    def test_jobs_that_run_are_cancelled(self) -> None:
        """Else those that come after them would wait."""
        pool = self.pool()
        futures = [pool.submit(ENDLESS, limits=PATIENT) for _ in range(2 * pool.workers)]
        for future in futures[:pool.workers]:
            while not future.running():
                time.sleep(0.01)  # There is no event for a job that is sent.

        self.assertEqual({future.cancel() for future in futures}, {True})

        self.assertTrue(all(future.cancelled() and not future.running() for future in futures))
        self.assertEqual(concurrent.futures.wait(futures, support.PATIENCE).not_done, set())
        self.assertEqual(pool.submit("print(1)").result(support.PATIENCE).label, "OK")

    def test_a_future_that_is_done_is_not_cancelled(self) -> None:
        future = self.pool().submit("print(1)")
        future.result(support.PATIENCE)

        self.assertFalse(future.cancel())
        self.assertEqual(future.result().label, "OK")

    def test_what_asyncio_waits_for_no_longer_is_cancelled(self) -> None:
        async def main() -> str:
            async with zygo.AsyncPool(**self.options()) as pool:
                for _ in range(pool.pool.workers):
                    with self.assertRaises(asyncio.TimeoutError):
                        await asyncio.wait_for(pool.run(ENDLESS, limits=PATIENT), 0.05)
                return (await asyncio.wait_for(pool.run("print(1)"), support.PATIENCE)).label

        self.assertEqual(asyncio.run(main()), "OK")

    def test_tests_of_a_job_are_compared_outside(self) -> None:
        result = self.pool().run("def f(x): return (x, x)", "f", tests=[
            {"args": [1], "expect": (1, 1)}, {"args": [2], "expect": (2, 3)}])

        self.assertEqual((result.label, [test["label"] for test in result.tests]), ("WrongAnswer", ["OK", "WrongAnswer"]))

    def test_asyncio_has_the_same(self) -> None:
        async def main() -> None:
            async with zygo.AsyncPool(**self.options()) as pool:
                self.assertEqual((await pool.run(TWICE, "f", [2])).value, [4])
                jobs = [{"source": f"print({i})"} for i in range(20)]
                self.assertEqual([int(result.stdout.text) for result in await pool.map(jobs)], list(range(20)))
                seen = {int(result.stdout.text) async for result in pool.imap_unordered(jobs)}
                self.assertEqual(seen, set(range(20)))
                both = await asyncio.gather(pool.run("print(1)"), pool.run("print(2)"))
                self.assertEqual([result.stdout.text for result in both], ["1\n", "2\n"])

        asyncio.run(main())


class Embedded(support.OnEmbedded, Programs, unittest.TestCase):
    pass


class OnAService(support.OnService, Programs, unittest.TestCase):
    def test_what_the_runtime_is_made_of_is_not_said_here(self) -> None:
        with self.assertRaises(zygo.ZygoError):
            zygo.Pool(url="unix:/nowhere", preload=["json"])


if __name__ == "__main__":
    support.main()
