"""Long arrays and bytes travel raw beside their line, both ways, embedded and over HTTP: whole, and within limits."""

from __future__ import annotations

import threading
import unittest
from unittest import mock

import support
import zygo
from zygo.transport import stream

MIB = 1 << 20


class Parts(support.Place):
    @support.needs_numpy
    def test_arrays_of_every_kind_come_back_as_they_went_and_can_be_written(self) -> None:
        import numpy

        pool = self.pool()
        for dtype in ("b1", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c16", "M8[s]", "S7", "U5"):
            sent = (numpy.arange(200_000) % 100).astype(dtype).reshape(2, -1)
            with self.subTest(dtype=dtype):
                back = pool.call(lambda array: array, sent)
                self.assertEqual((back.dtype, back.shape), (sent.dtype, sent.shape))
                self.assertTrue((back == sent).all())
                back[0, 0] = back[1, 1]

    @support.needs_numpy
    def test_a_job_may_write_into_what_it_was_sent(self) -> None:
        import numpy

        sent = numpy.zeros(MIB)

        def fill(array: numpy.ndarray) -> float:
            array += 1
            return float(array.sum())

        self.assertEqual(self.pool().call(fill, sent), MIB)
        self.assertEqual(sent.sum(), 0)

    @support.needs_functions
    def test_bytes_of_every_length_around_the_least_part_come_back(self) -> None:
        pool = self.pool()
        for length in (0, stream.LEAST_PART - 1, stream.LEAST_PART, stream.LEAST_PART + 1, 3 * MIB):
            sent = bytes(range(256)) * (length // 256) + bytes(length % 256)
            with self.subTest(length=length):
                self.assertEqual(pool.call(lambda data: data, sent), sent)
                self.assertEqual(pool.call(lambda data: [b"small", (data, {"x": data})], sent),
                                 [b"small", (sent, {"x": sent})])
                self.assertEqual(pool.call(bytes, bytearray(sent)), sent)

    @support.needs_functions
    def test_bytes_with_newlines_and_announcements_in_them_are_bytes(self) -> None:
        sent = b'\n{"parts":[5]}\n{"id":"0","label":"OK"}\n' * 5000

        self.assertEqual(self.pool().call(lambda data: data * 2, sent), sent * 2)

    @support.needs_numpy
    def test_long_and_short_jobs_of_many_threads_are_not_mixed_up(self) -> None:
        import numpy

        pool, wrong = self.pool(), []

        def work(number: int) -> None:
            for turn in range(6):
                length = 7 if turn % 2 else 100_000
                back = pool.call(lambda array: array * 2, numpy.full(length, number))
                if back.shape != (length,) or (back != 2 * number).any():
                    wrong.append((number, turn))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(support.PATIENCE)
        self.assertEqual(wrong, [])

    def test_a_program_that_returns_bytes_and_has_an_id_has_them_in_its_line(self) -> None:
        found = self.pool(template="python").run("def f(n): return [b'\\xff' * n, '\"part\":0}', b'x' * n]", "f", [100_000],
                                                 id="mine", tag='"part":1}')

        self.assertEqual(found.value, [[b"\xff" * 100_000, '"part":0}', b"x" * 100_000]])
        from zygo.result import result_of

        self.assertEqual(result_of(found.line).value, found.value)
        self.assertEqual(found.id, "mine")

    @support.needs_functions
    def test_a_value_longer_than_its_limit_is_refused_and_the_limit_named(self) -> None:
        with self.assertRaisesRegex(zygo.InvalidResult, "limits.value_kb"):
            self.pool(limits={"value_kb": 1024}).call(lambda: b"x" * MIB)

    @support.needs_functions
    def test_arguments_longer_than_parts_may_be_are_refused_and_the_limit_named(self) -> None:
        with mock.patch("zygo.transport.base.MOST_PART_BYTES", MIB), self.assertRaisesRegex(zygo.BadJob, "1 MiB"):
            self.pool().call(len, b"x" * (2 * MIB))

    @support.needs_numpy
    def test_an_array_that_is_not_what_it_claims_is_refused(self) -> None:
        def lie() -> object:
            import sys

            (sys.modules.get("zygo_setup") or sys.modules["__main__"])._shape = (
                lambda value, depth: ["a", "<f8", [10**9], b"x" * 100_000])
            return {1: 2}.items()

        with self.assertRaises(zygo.InvalidResult):
            self.pool().call(lie)


class Embedded(Parts, support.OnEmbedded, unittest.TestCase):
    @support.needs_numpy
    def test_arrays_beyond_64_mib_come_and_go(self) -> None:
        import numpy

        sent = numpy.arange(12 * MIB, dtype=numpy.int64)  # 96 MiB

        back = self.pool().call(lambda array: array[::-1], sent)

        self.assertTrue((back == sent[::-1]).all())

    @support.needs_functions
    def test_what_a_job_is_sent_and_makes_of_it_counts_against_its_memory(self) -> None:
        with self.assertRaises(zygo.MemoryLimitExceeded):
            self.pool(limits={"memory_mb": 128}).call(len, bytes(120 * MIB))


class OverHttp(Parts, support.OnService, unittest.TestCase):
    @support.needs_functions
    def test_a_job_longer_than_the_service_takes_is_refused_and_the_limit_named(self) -> None:
        with self.assertRaisesRegex(zygo.BadJob, f"bodies of {64 * MIB} bytes"):
            self.pool().call(len, bytes(80 * MIB))

    @support.needs_functions
    def test_a_service_that_knows_no_parts_is_sent_base64(self) -> None:
        pool = self.pool()
        self.assertTrue(pool.transport.takes_parts())
        pool.transport._info = {"workers": 1}

        self.assertEqual(pool.call(lambda data: data, b"x" * MIB), b"x" * MIB)
        pool.transport._info = None


if __name__ == "__main__":
    support.main()
