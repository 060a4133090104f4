"""Functions: they travel by pickle into the sandbox, values come back in the typed form."""

from __future__ import annotations

import collections
import concurrent.futures
import contextlib
import dataclasses
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import support
import zygo

Point = collections.namedtuple("Point", "x y")


@dataclasses.dataclass
class Pair:
    left: Any
    right: Any = None

    def __post_init__(self) -> None:
        Pair.made += 1


Pair.made = 0


@dataclasses.dataclass(frozen=True)
class Frozen:
    only: int


def add(a: int, b: int = 0) -> int:
    return a + b


@support.needs_functions
class Functions:
    def test_a_function_is_called_with_its_arguments(self) -> None:
        base = 10

        self.assertEqual(self.pool().call(lambda a, b=0: base + a * b, 2, b=3), 16)
        self.assertEqual(self.pool().call(add, 1, 2), 3)

    def test_each_call_has_a_fresh_sandbox(self) -> None:
        def remember(value: int) -> int:
            import builtins

            builtins.kept = getattr(builtins, "kept", 0) + value
            return builtins.kept

        pool = self.pool()

        self.assertEqual([pool.call(remember, 1) for _ in range(3)], [1, 1, 1])

    def test_builtin_values_come_back_as_they_are(self) -> None:
        values = [None, True, 2**80, 1.5, 1j, "é", b"b", [1, [2]], (1, (2,)), {"a": {1: 2}}, {1, 2}, frozenset("a"), [], ()]

        found = self.pool().call(lambda: values)

        self.assertEqual(found, values)
        self.assertEqual(list(map(type, found)), list(map(type, values)))

    def test_records_come_back_by_their_shape(self) -> None:
        pair, point = self.pool().call(lambda: (Pair([Point(1, 2)], {"k": Frozen(3)}), Point(1, (2,))))

        self.assertEqual((pair.left, pair.left[0].y, pair.right["k"].only), ([(1, 2)], 2, 3))
        self.assertEqual((point, point.x, point._asdict()), ((1, (2,)), 1, {"x": 1, "y": (2,)}))
        self.assertRaises(AttributeError, lambda: pair.other)

    def test_records_are_put_into_classes_that_the_caller_names(self) -> None:
        Pair.made = 0
        pool = self.pool(types=[Pair, Point, Frozen])

        found = pool.call(lambda: [Pair(1, Frozen(2)), Point(3, 4)])

        self.assertEqual((type(found[0]), type(found[0].right), type(found[1])), (Pair, Frozen, Point))
        self.assertEqual(found[1], Point(3, 4))
        self.assertEqual(Pair.made, 0)  # nothing of the class was called

    @support.needs_numpy
    def test_arrays_and_scalars_come_back_as_such(self) -> None:
        import numpy as np

        arrays = [np.arange(6, dtype=np.int8).reshape(2, 3), np.array([[1.5, np.nan]], np.float32), np.array(True),
                  np.array(["a", "bcd"]), np.zeros((0, 3)), np.array([1 + 2j]), np.array(["2020-01-01"], "M8[D]"),
                  np.arange(8).reshape(2, 2, 2).T, np.array([b"x", b"yz"]), np.array([True, False])]
        scalars = [np.float32(1.5), np.int64(-3), np.bool_(True), np.complex128(1j)]

        found_arrays, found_scalars = self.pool().call(lambda: (arrays, scalars))

        for wanted, found in zip(arrays, found_arrays):
            np.testing.assert_array_equal(found, wanted)
            self.assertEqual(found.dtype, wanted.dtype)
            self.assertTrue(found.flags.writeable)
        self.assertEqual([(type(x), x) for x in found_scalars], [(type(x), x) for x in scalars])

    @support.needs_pandas
    def test_frames_come_back_by_columns(self) -> None:
        import pandas as pd

        frames = [
            pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": [0.5, float("nan")]}, index=["r", "s"]),
            pd.DataFrame({1: pd.to_datetime(["2020-01-01"])}), pd.DataFrame(index=[1, 2]), pd.DataFrame(),
            pd.DataFrame([[1, 2.5]], columns=["same", "same"]),
        ]
        series = pd.Series([1, 2], index=pd.Index([3, 4], name="i"), name="s")

        found, found_series = self.pool().call(lambda: (frames, series))

        for wanted, frame in zip(frames, found):
            pd.testing.assert_frame_equal(frame, wanted, check_column_type=False)
        pd.testing.assert_series_equal(found_series, series)

    def test_what_functions_print_is_printed_here(self) -> None:
        def speak() -> int:
            import sys

            print("to out")
            print("to err", file=sys.stderr)
            return 1

        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            future = self.pool().submit_call(speak)
            self.assertEqual(future.result(), 1)
            self.assertEqual(self.pool(echo=False).call(speak), 1)

        self.assertEqual((out.getvalue(), err.getvalue()), ("to out\n", "to err\n"))
        self.assertEqual(future.job.stdout.text, "to out\n")
        self.assertGreater(future.job.usage.wall_us, 0)

    def test_results_and_pools_are_shown_in_a_line(self) -> None:
        pool = self.pool()

        self.assertRegex(repr(pool), r"^<zygo.Pool template='.*' \(.*\)>$")
        self.assertEqual(repr(pool.run("print(1)", id="a")), "<zygo.Result OK id='a' stdout='1\\n'>")
        self.assertRegex(repr(pool.run("1 / 0")), r"^<zygo.Result ZeroDivisionError .*\(ZeroDivisionError: division by zero\)>$")
        self.assertLess(len(repr(pool.run("print('x' * 10**5)"))), 400)

    def test_any_other_type_is_an_invalid_result(self) -> None:
        for value in (object, lambda: 0, {"deep": [range(3)]}):
            with self.assertRaises(zygo.InvalidResult) as caught:
                self.pool().call(lambda: value)
            self.assertIn("cannot be encoded", str(caught.exception))
            self.assertIn("trust_results", str(caught.exception))
        with self.assertRaisesRegex(zygo.InvalidResult, "4300.*trust_results"):
            self.pool().call(lambda: 10 ** 5000)

    def test_numbers_and_times_of_the_standard_library_come_back(self) -> None:
        import datetime as dt
        from decimal import Decimal
        from fractions import Fraction

        offset = dt.timezone(dt.timedelta(hours=-3, minutes=-30))
        values = [Fraction(-1, 3), Decimal("1.10"), Decimal("-Infinity"), Decimal("1E+999"), dt.date(2024, 2, 29),
                  dt.datetime(2024, 2, 29, 1, 2, 3, 4, fold=1), dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc),
                  dt.time(1, 2, 3, 4), dt.time(1, tzinfo=offset), dt.timedelta(-1, 2, 3)]

        found = self.pool().call(lambda: values)

        self.assertEqual([(type(x), repr(x)) for x in found], [(type(x), repr(x)) for x in values])

    def test_trusted_results_are_whatever_they_are(self) -> None:
        import decimal

        pool = self.pool(trust_results=True)

        self.assertEqual(pool.call(lambda: {decimal.Decimal(1): Pair}), {decimal.Decimal(1): Pair})

    def test_exceptions_arrive_as_the_same_builtin_type(self) -> None:
        def fail(kind: str) -> None:
            import builtins

            raise getattr(builtins, kind)("the message")

        for kind in ("ValueError", "KeyError", "OSError", "ZeroDivisionError", "RecursionError", "TimeoutError"):
            with self.assertRaises(getattr(__builtins__, kind, None) or __builtins__[kind]) as caught:
                self.pool().call(fail, kind)
            self.assertIn("the message", str(caught.exception))
            self.assertIn("in fail", str(caught.exception.__cause__))

    def test_other_exceptions_arrive_as_a_program_error(self) -> None:
        class Own(Exception):
            pass

        def fail(what: Any) -> None:
            raise Own("so") if what is None else what

        for what in (None, StopIteration(1), SystemExit(3), KeyboardInterrupt()):
            with self.assertRaises(zygo.ProgramError) as caught:
                self.pool().call(fail, what)
            self.assertEqual(caught.exception.result.by, "program")

    def test_limits_have_their_own_exceptions(self) -> None:
        def spin() -> None:
            while True:
                pass

        with self.assertRaises(zygo.TimeoutException) as caught:
            self.pool().submit_call(spin, limits={"cpu_ms": 100}).result()
        self.assertEqual(caught.exception.result.detail["limit"], "cpu")
        with self.assertRaises(MemoryError):
            self.pool(limits={"memory_mb": 64}).call(lambda: len(b"x" * (1 << 30)))

    def test_what_cannot_travel_is_said_at_once(self) -> None:
        import threading

        with self.assertRaisesRegex(zygo.CannotPickle, "an argument"):
            self.pool().call(add, threading.Lock())

    def test_the_executor_is_one_of_concurrent_futures(self) -> None:
        with zygo.Executor(max_workers=2, pool=self.pool()) as executor:
            futures = [executor.submit(add, i, b=1) for i in range(10)]
            self.assertEqual({future.result() for future in concurrent.futures.as_completed(futures)},
                             set(range(1, 11)))
            self.assertEqual([future.result() for future in futures], list(range(1, 11)))
            self.assertEqual(list(executor.map(add, range(20), range(20), chunksize=6)), [2 * i for i in range(20)])
            self.assertIsInstance(executor, concurrent.futures.Executor)
            self.assertIsInstance(executor.submit(add, "x").exception(), TypeError)
        self.assertRaises(RuntimeError, executor.submit, add, 1)

    def test_an_executor_runs_no_more_at_once_than_it_may(self) -> None:
        import time

        with zygo.Executor(max_workers=1, pool=self.pool()) as executor:
            def span() -> Any:
                start = time.monotonic()
                time.sleep(0.02)
                return start, time.monotonic()

            spans = sorted(future.result() for future in [executor.submit(span) for _ in range(6)])

        self.assertTrue(all(earlier[1] <= later[0] for earlier, later in zip(spans, spans[1:])), spans)

    def test_a_call_that_waits_can_be_withdrawn(self) -> None:
        import time

        executor = zygo.Executor(max_workers=1, pool=self.pool())
        futures = [executor.submit(time.sleep, 0.1) for _ in range(20)]

        executor.shutdown(wait=True, cancel_futures=True)

        self.assertTrue(futures[-1].cancelled())
        self.assertTrue(all(future.done() for future in futures))
        self.assertRaises(concurrent.futures.CancelledError, futures[-1].result)

    def test_a_map_can_have_a_timeout(self) -> None:
        import time

        with zygo.Executor(pool=self.pool()) as executor:
            with self.assertRaises(concurrent.futures.TimeoutError):
                list(executor.map(time.sleep, [0, 2], timeout=0.2))

    def test_what_a_function_closes_over_is_as_it_is_when_it_is_called(self) -> None:
        box = [1]
        with zygo.Executor(pool=self.pool()) as executor:
            first = executor.submit(lambda: box[0])
            box[0] = 2
            second = executor.submit(lambda: box[0])

        self.assertEqual((first.result(), second.result()), (1, 2))

    def test_modules_that_the_sandbox_cannot_import_travel_by_value(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "zygo_test_local.py").write_text("FACTOR = 3\ndef times(x): return helper(x)\n"
                                                          "def helper(x): return x * FACTOR\n")
            sys.path.insert(0, folder)
            try:
                import zygo_test_local

                self.assertEqual(self.pool().call(zygo_test_local.times, 2), 6)
                self.assertEqual(self.pool().call(lambda: zygo_test_local.times(5)), 15)
            finally:
                sys.path.remove(folder)
                sys.modules.pop("zygo_test_local", None)


class Embedded(support.OnEmbedded, Functions, unittest.TestCase):
    def test_modules_of_the_python_path_are_imported_inside(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            package = Path(folder, "zygo_test_packed")
            package.mkdir()
            (package / "__init__.py").write_text("from .part import value\n")
            (package / "part.py").write_text("value = 41\n")
            pool = self.pool(python_path=[folder])

            self.assertEqual(pool.run("import zygo_test_packed as z; print(z.value + 1, z.part.__name__)").stdout.text,
                             "42 zygo_test_packed.part\n")

            def use() -> int:
                import zygo_test_packed

                return zygo_test_packed.value

            self.assertEqual(pool.call(use), 41)

    def test_the_context_is_made_once_and_seen_by_all(self) -> None:
        def context() -> Any:
            import os

            return {"pid": os.getpid(), "data": list(range(1000))}

        def use(i: int) -> Any:
            import os

            import zygo

            return zygo.context()["data"][i], zygo.context()["pid"] == os.getpid()

        pool = self.pool(context_func=context)

        self.assertEqual([pool.call(use, i) for i in (7, 8)], [(7, False), (8, False)])

    def test_a_context_that_fails_says_so(self) -> None:
        def context() -> None:
            raise ValueError("no such data")

        with self.assertRaisesRegex(zygo.BadJob, "no such data"):
            self.pool(context_func=context, standing=False).call(add, 1)

    def test_a_job_that_asks_for_a_pool_runs_in_itself(self) -> None:
        def nested() -> Any:
            import os

            import zygo

            with zygo.Executor(max_workers=4) as executor:
                pids = set(executor.map(lambda _: os.getpid(), range(3)))
            loop = zygo.parallel(ncpus=4)(lambda n: n + 1)
            return pids == {os.getpid()}, [value for _, value in loop([1, 2])], zygo.is_inside()

        self.assertEqual(self.pool().call(nested), (True, [2, 3], True))
        self.assertFalse(zygo.is_inside())

    def test_a_failing_preload_is_named(self) -> None:
        with self.assertRaisesRegex(zygo.BadJob, "no_such_module"):
            self.pool(preload=["no_such_module"], standing=False).warm()


class OnAService(support.OnService, Functions, unittest.TestCase):
    pass


@support.needs_functions
class ServiceWithSetup(unittest.TestCase):
    def test_a_service_that_has_the_setup_runs_functions_by_it(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            setup = Path(folder, "setup.py")
            setup.write_text(support.python("import zygo.__main__, sys; sys.argv[1:] = ['setup']; "
                                            "zygo.__main__.main()").stdout)
            service = support.Service("--setup", str(setup), "--template", "functions")
            self.addCleanup(service.end)

            with zygo.Pool("functions", url=service.url) as pool:
                self.assertEqual(pool.call(lambda: "zygo_setup" in __import__("sys").modules), True)
                self.assertEqual(pool.call(lambda: Point(1, 2)).y, 2)


class Setup(unittest.TestCase):
    def test_setup_code_is_there_for_programs_at_every_level_that_the_host_gives(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)  # a template may have another uid
            Path(folder, "setup.py").write_text("answer = 42")
            seen = []
            for level in ("full", "contained", "minimal"):
                ended = subprocess.run([str(support.BINARY), "run", "--quiet", "--level", level, "--setup",
                                        f"{folder}/setup.py", "-"], input="import zygo_setup; print(zygo_setup.answer)",
                                       capture_output=True, text=True, check=False)
                if ended.returncode != 125:  # the host does not give it
                    seen.append((level, ended.stdout))

        self.assertEqual({out for _, out in seen}, {"42\n"}, seen)


if __name__ == "__main__":
    support.main()
