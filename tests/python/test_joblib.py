"""joblib on zygo: Parallel runs unchanged, under the rules of the backend."""

from __future__ import annotations

import math
import sys
import unittest
import warnings
from typing import Any

import support
import zygo

if support.has("joblib"):
    import joblib
    from joblib import Parallel, delayed
    from zygo.joblib_backend import ZygoBackend, mebibytes

    config = getattr(joblib, "parallel_config", joblib.parallel_backend)


@unittest.skipUnless(support.has("joblib") and support.FUNCTIONS, "needs joblib and cloudpickle")
class Backend:
    def setUp(self) -> None:
        zygo.register_joblib()
        warnings.simplefilter("ignore", UserWarning)
        self.using = self.pool()

    def test_results_are_in_order(self) -> None:
        with config("zygo", pool=self.using):
            self.assertEqual(Parallel(n_jobs=2)(delayed(math.sqrt)(i**2) for i in range(30)), [float(i) for i in range(30)])

    def test_all_kinds_of_batches_and_dispatch_give_the_same(self) -> None:
        for options in ({"n_jobs": -1}, {"n_jobs": 1}, {"n_jobs": 3, "batch_size": 4}, {"n_jobs": 2, "pre_dispatch": "all"},
                        {"n_jobs": 2, "batch_size": "auto"}):
            with self.subTest(options=options), config("zygo", pool=self.using):
                self.assertEqual(Parallel(**options)(delayed(abs)(-i) for i in range(10)), list(range(10)))

    @support.needs_numpy
    def test_arrays_go_in_and_come_out(self) -> None:
        import numpy as np

        with config("zygo", pool=self.using):
            found = Parallel(n_jobs=2)(delayed(lambda a: a * 2)(np.full(3, i)) for i in range(3))

        np.testing.assert_array_equal(found, [[0] * 3, [2] * 3, [4] * 3])

    def test_an_exception_arrives_and_ends_the_loop(self) -> None:
        def fail(i: int) -> int:
            return [0, 1][i]

        with config("zygo", pool=self.using):
            self.assertRaises(IndexError, lambda: Parallel(n_jobs=2)(delayed(fail)(i) for i in range(50)))
            self.assertEqual(Parallel(n_jobs=2)(delayed(fail)(i) for i in range(2)), [0, 1])

    def test_nested_parallelism_runs_in_the_job(self) -> None:
        def outer(i: int) -> Any:
            import os

            def inner(j: int) -> Any:
                return i * 10 + j, os.getpid()

            found = Parallel(n_jobs=4)(delayed(inner)(j) for j in range(3))
            return [value for value, _ in found], {pid for _, pid in found} == {os.getpid()}

        with config("zygo", pool=self.using):
            found = Parallel(n_jobs=2)(delayed(outer)(i) for i in range(2))

        self.assertEqual(found, [([0, 1, 2], True), ([10, 11, 12], True)])

    def test_requests_are_limits(self) -> None:
        with config("zygo", pool=self.using, request_memory="64MB", request_disk="1GB", throttle=[2, 1]):
            with self.assertRaises(MemoryError):
                Parallel(n_jobs=4)(delayed(lambda: len(b"x" * (1 << 30)))() for _ in range(1))


class Embedded(support.OnEmbedded, Backend, unittest.TestCase):
    def test_sizes_are_read_as_people_write_them(self) -> None:
        sizes = {"2GB": 2048, "512MB": 512, "1GiB": 1024, "8KB": 1, 100: 100, "1.5g": 1536, "3 MB": 3}

        self.assertEqual({size: mebibytes(size) for size in sizes}, sizes)
        for wrong in ("much", "", "5X"):
            self.assertRaises(ValueError, mebibytes, wrong)

    def test_parameters_that_have_another_answer_are_named_with_it(self) -> None:
        for name in ("poll_interval", "shared_data_dir", "schedd", "initial_dir", "log_dir_prefix"):
            with self.assertWarnsRegex(UserWarning, name):
                ZygoBackend(**{name: 1})

    def test_parameters_of_the_pool_of_htcondor_name_what_has_them(self) -> None:
        for name in ("pool", "schedd", "universe", "extra_directives"):
            with self.assertWarnsRegex(UserWarning, rf"{name} has no effect: zygo\.cluster\.HTCondor has it"):
                ZygoBackend(**{name: "collector.example"})

    def test_what_a_script_says_to_htcondor_is_understood(self) -> None:
        with self.assertWarnsRegex(UserWarning, "pool has no effect"):
            backend = ZygoBackend(pool="collector.example", python_path=sys.executable, throttle=[2, 1])

        self.assertEqual(backend.effective_n_jobs(-1), 2)
        self.assertIn(sys.executable, str(backend.pool._options))

    def test_the_number_of_jobs_is_bounded_by_throttle_and_cpus(self) -> None:
        pool = self.pool(workers=4)

        self.assertEqual(ZygoBackend(pool).effective_n_jobs(-1), 4)
        self.assertEqual(ZygoBackend(pool).effective_n_jobs(-2), 3)
        self.assertEqual(ZygoBackend(pool).effective_n_jobs(7), 7)
        self.assertEqual(ZygoBackend(pool, throttle=3).effective_n_jobs(-1), 3)
        self.assertEqual(ZygoBackend(pool, request_cpus=2).effective_n_jobs(-1), 2)


class OnAService(support.OnService, Backend, unittest.TestCase):
    pass


if __name__ == "__main__":
    support.main()
