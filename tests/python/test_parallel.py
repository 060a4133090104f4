"""`@zygo.parallel`: the semantics of Sage's decorator."""

from __future__ import annotations

import time
import unittest
from typing import Any

import support
import zygo


@support.needs_functions
class Loop:
    def test_inputs_come_back_with_their_values(self) -> None:
        @zygo.parallel(ncpus=2, pool=self.pool())
        def f(n: int, m: int = 1) -> int:
            return n * m

        pairs = list(f([1, (2, 3), {"n": 4, "m": 5}, ((6,), {"m": 7})]))

        self.assertEqual(sorted(pairs, key=lambda pair: pair[1]), [
            (((1,), {}), 1), (((2, 3), {}), 6), (((), {"n": 4, "m": 5}), 20), (((6,), {"m": 7}), 42)])

    def test_anything_but_inputs_calls_the_function_itself(self) -> None:
        @zygo.parallel
        def f(n: int) -> int:
            """Its words."""
            return n + 1

        self.assertEqual((f(1), f(n=2), f.__doc__, f.__name__), (2, 3, "Its words.", "f"))

    def test_a_call_without_a_value_yields_a_result_that_says_why(self) -> None:
        def f(n: int) -> Any:
            if n == 1:
                time.sleep(60)
            if n == 2:
                raise ValueError("not two")
            return object() if n == 3 else n

        unhurried = zygo.parallel(ncpus=2, pool=self.pool())(f)
        hurried = zygo.parallel(ncpus=2, timeout=0.2, pool=self.pool())(f)
        found = {args[0]: value for (args, _), value in (*unhurried([0, 2, 3]), *hurried([1]))}

        self.assertEqual(found.pop(0), 0)
        self.assertEqual({n: result.label for n, result in found.items()},
                         {1: "TimeoutException", 2: "ValueError", 3: "InvalidResult"})
        self.assertFalse(any(found.values()))

    def test_what_says_nothing_about_a_call_is_raised(self) -> None:
        for pool, wanted in ((zygo.Pool(binary="/nonexistent/zygo"), zygo.NoRuntime),
                             (zygo.Pool(binary="/bin/false"), zygo.NoRuntime),
                             (self.pool(), zygo.BadJob)):
            with self.subTest(wanted=wanted), self.assertRaises(wanted):
                list(zygo.parallel(pool=pool, limits={"cpu": 300})(lambda n: n)([1, 2]))

    def test_values_come_as_they_are_ready(self) -> None:
        @zygo.parallel(ncpus=2, pool=self.pool())
        def f(seconds: float) -> float:
            time.sleep(seconds)
            return seconds

        self.assertEqual([value for _, value in f([0.5, 0.0])], [0.0, 0.5])

    def test_a_generator_is_taken_little_by_little(self) -> None:
        taken = []

        @zygo.parallel(ncpus=2, pool=self.pool())
        def f(n: int) -> int:
            return n

        def endless() -> Any:
            while True:
                taken.append(1)
                yield len(taken)

        results = f(endless())
        for _ in range(10):
            next(results)
        results.close()

        self.assertLess(len(taken), 40)

    def test_the_function_is_pickled_once_for_a_loop(self) -> None:
        pickled = []

        class Weight:
            def __reduce__(self) -> Any:
                pickled.append(1)
                return int, ()

        weight = Weight()

        @zygo.parallel(ncpus=2, pool=self.pool())
        def f(n: int) -> Any:
            return weight + n

        self.assertEqual(sorted(value for _, value in f(list(range(20)))), list(range(20)))
        self.assertEqual(len(pickled), 1)


class Embedded(support.OnEmbedded, Loop, unittest.TestCase):
    def test_the_pool_has_as_many_workers_as_there_are_cpus_asked_for(self) -> None:
        self.assertEqual(zygo.parallel(ncpus=3)(len).pool().workers, 3)
        self.assertEqual(zygo.parallel(3)(len).pool().workers, 3)


class OnAService(support.OnService, Loop, unittest.TestCase):
    pass


if __name__ == "__main__":
    support.main()
