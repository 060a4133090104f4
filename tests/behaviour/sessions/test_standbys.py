"""Processes that are put to a node before a step asks for one there, and stand by: the step is as in a process of its own, but sooner."""

from __future__ import annotations

import contextlib
import os
import signal
import unittest
from typing import Any

import zygo
from sessions.client import SessionTestCase
from sessions.test_residents import ResidentsTestCase
from sessions.test_steps import State


class StandbysTestCase(ResidentsTestCase):
    options: tuple[str, ...] = ("--workers", "1", "--steps-stay", "200ms")  # one that waits is in the way of the next node's for so long

    def made(self) -> int:
        return int(self.service.metric("zygo_standbys_made_total "))

    def is_made(self, made: int) -> bool:
        """Whether one is made beyond those, soon: there may be no room for it."""
        return any(self.made() > made for _ in range(50))

    def step_by_standby(self, node: str, source: str, **fields: Any) -> zygo.Result:
        """After others, which branch off there. The node stays what it is, so that there can be more of them until a process is there in time."""
        while True:
            made = self.made()
            SessionTestCase.step(self, node, "None", **fields)
            if not self.is_made(made):
                continue
            stood_by = int(self.service.metric("zygo_steps_stood_by_total "))
            result = SessionTestCase.step(self, node, source, **fields)
            if int(self.service.metric("zygo_steps_stood_by_total ")) > stood_by:
                return result


class Standbys(StandbysTestCase):
    def test_where_steps_branch_off(self) -> None:
        node = self.node("", "seen = [1]")
        for number in range(3):
            result = self.step_by_standby(node, f"seen.append({number})\nseen")
            self.assertEqual(result["timing_us"]["confine"], 0)
            self.assertEqual(result["value"], [1, number])
            self.assertEqual(self.value(result["session"]["node"], "seen"), [1, number])

    def test_where_a_step_runs_into_a_limit(self) -> None:
        for source, label, limits in (("seen.clear()\nwhile True: pass", "TimeoutException", {"wall_ms": 300}),
                                      ("seen.clear()\nx = bytearray(1 << 30)", "MemoryLimitExceeded", {})):
            with self.subTest(label=label):
                node = self.node("", "seen = list(range(39))")
                was_there = False
                while not was_there:
                    made = self.made()
                    self.assertLabel(self.step(node, source, limits=limits), label)
                    if self.is_made(made):
                        result = self.step(node, "len(seen)")
                        self.assertEqual(result["value"], 39)
                        was_there = result["timing_us"]["confine"] == 0

    def test_one_that_was_killed(self) -> None:
        node = self.node("", "seen = 1")
        for _ in range(5):
            self.step_by_standby(node, "None")
            for pid in self.residents():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.assertEqual(self.value(node, "seen"), 1)

    def test_nothing_of_the_program_runs_before_its_step(self) -> None:
        """What lets the process go on is a signal, which no program has been sent."""
        node = self.node("", "import signal\ncaught = []\nsignal.signal(signal.SIGCONT, lambda *a: caught.append(1))",
                         "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCONT])")
        look = "[caught, [int(s) for s in signal.sigpending()], [int(s) for s in signal.pthread_sigmask(signal.SIG_UNBLOCK, [])]]"
        self.assertEqual(self.step_by_standby(node, look)["value"], [[], [], [int(signal.SIGCONT)]])
        self.assertEqual(self.step_by_standby(node, "signal.pthread_sigmask(signal.SIG_SETMASK, [])\ncaught")["value"], [])

    def test_chance_begins_with_the_step(self) -> None:
        node = self.node("", "import os, random")
        seen = [self.step_by_standby(node, "[random.random(), os.urandom(8).hex()]", **({"seed": seed} if seed else {}))["value"]
                for seed in (5, 6, 5, None, None)]
        self.assertEqual(seen[0][0], seen[2][0])
        self.assertEqual(len({drawn for drawn, _ in seen}), 4)
        self.assertEqual(len({taken for _, taken in seen}), 5)

    def test_memory_counts_as_in_a_process_of_its_own(self) -> None:
        limits = {"memory_mb": 64}
        node = self.node("", "held = [bytearray(b'x' * 1000) for _ in range(12_000)]", limits=limits)
        for more, label in ((30, "OK"), (46, "OK"), (56, "MemoryLimitExceeded")):
            with self.subTest(more=more):
                source = f"more = b'x' * {more << 20}\nlen(held)"
                own = self.service_of_its_own(node, source, limits)
                stood = self.step_by_standby(node, source, limits=limits)
                self.assertLabel(stood, label)
                self.assertEqual(own["label"], label)
                if label == "OK":
                    self.assertAlmostEqual(stood["usage"]["memory_peak_kb"], own["usage"]["memory_peak_kb"], delta=512)

    def service_of_its_own(self, node: str, source: str, limits: dict[str, int]) -> zygo.Result:
        """An input is for a process of its own."""
        result = self.step(node, source, limits=limits, stdin="x")
        self.assertNotEqual(result["timing_us"]["confine"], 0)
        return result


class StateStoodBy(StandbysTestCase, State):
    """All that a node has is there in such a process."""

    test_the_heap_ends_where_its_allocator_takes_it_to_end = None  # its nodes are too large for one
    def step(self, node: str, source: str, **fields: Any) -> zygo.Result:
        if not node or fields:
            return super().step(node, source, **fields)
        return self.step_by_standby(node, source)


if __name__ == "__main__":
    unittest.main()
