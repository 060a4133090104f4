"""The specification by example: every program of tests/programs ends with the label it was written for."""

from __future__ import annotations

import unittest

import zoo
import zygo
from zygo import Result, ZygoTestCase


class EveryProgram(ZygoTestCase):
    """All programs, good and bad, go through one `zygo batch`, side by side."""

    results: dict[str, Result]
    zoo: list[zoo.Program]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.zoo = zoo.programs()
        cls.results = zygo.run_batch([program.job() for program in cls.zoo], timeout=400)

    def test_ends_as_its_header_says(self) -> None:
        for program in self.zoo:
            with self.subTest(program.id):
                result = self.results[program.id]
                faults = zoo.differences(program, result)
                self.assertEqual(faults, [], zygo.brief(result))

    def test_gets_a_result_of_the_documented_shape(self) -> None:
        for program in self.zoo:
            with self.subTest(program.id):
                self.assertEqual(zygo.shape_faults(self.results[program.id]), [])

    def test_gets_its_tag_back(self) -> None:
        for program in self.zoo:
            self.assertEqual(self.results[program.id]["tag"], {"file": program.id})

    def test_an_exception_is_described(self) -> None:
        """A label that names no outcome of the table is an exception's, and type, message and traceback are there."""
        for program in self.zoo:
            result = self.results[program.id]
            if result["by"] == "program" and result["label"].endswith("Error"):
                with self.subTest(program.id):
                    self.assertLessEqual({"type", "message", "traceback"}, set(result.get("exception") or {}))

    def test_a_wall_limit_is_never_cut_short(self) -> None:
        for program in self.zoo:
            result = self.results[program.id]
            if (result.get("detail") or {}).get("limit") == "wall":
                limit = program.expect["job"]["limits"]["wall_ms"]
                with self.subTest(program.id):
                    self.assertGreaterEqual(result["usage"]["wall_ms"], limit)

    def test_a_cpu_limit_was_really_used_up(self) -> None:
        for program in self.zoo:
            result = self.results[program.id]
            if (result.get("detail") or {}).get("limit") == "cpu":
                limit = program.expect["job"]["limits"]["cpu_ms"]
                with self.subTest(program.id):
                    self.assertGreaterEqual(result["usage"]["cpu_ms"], limit)
                    self.assertLess(result["usage"]["cpu_ms"], limit + 1000 * zygo.PATIENCE)


class TheZoo(unittest.TestCase):
    """The collection itself is complete: no label of the contract without a program."""

    def test_has_a_program_for_every_label_that_python_can_reach(self) -> None:
        wanted = {"OK", "NonZeroExit", "Signalled", "InvalidResult", "SyntaxError", "MemoryError", "program.OK"}
        wanted |= zygo.LIMIT_LABELS | zygo.POLICY_LABELS

        labels = {program.expect.get("label") for program in zoo.programs()}

        self.assertEqual(wanted - labels, set())

    def test_marks_a_crime_at_most_once(self) -> None:
        for program in zoo.programs():
            with self.subTest(program.id):
                self.assertLessEqual(program.source.count(zoo.CRIME), 1)

    def test_states_an_expectation_for_each_program(self) -> None:
        for program in zoo.programs():
            with self.subTest(program.id):
                self.assertTrue({"label", "labels", "label_not"} & set(program.expect))


if __name__ == "__main__":
    unittest.main()
