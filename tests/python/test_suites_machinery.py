"""Programs that reach for what decides about tests: operands, names, modules, reports."""

from __future__ import annotations

import textwrap
import unittest
from typing import Any

import support
from test_suites import suite
from zygo import grade

STAR = "import unittest\nfrom program import *\n"


class Machinery(support.OnEmbedded, unittest.TestCase):
    def run_tests(self, program: Any, tests: Any, **how: Any) -> grade.SuiteResult:
        program = textwrap.dedent(program) if isinstance(program, str) else program
        return grade.run_tests(program, tests, **{"timeout": 3, "framework": "unittest", "strict": True, **how})

    def test_arithmetic_with_what_is_expected_is_testimony(self) -> None:
        program = """
            class Difference:
                def __sub__(self, other): return 0
                __rsub__ = __rxor__ = __sub__
            def f(): return Difference()
        """
        tests = suite("""
            def test_almost(self): self.assertAlmostEqual(f(), 3.14)
            def test_within(self): self.assertTrue(abs(f() - 3.14) < 1e-6)
            def test_reflected(self): self.assertFalse(3 - f())
            def test_sets(self): self.assertFalse({1} ^ f())
        """)

        found = self.run_tests(program, tests, strict=False)
        strictly = self.run_tests(program, tests)

        self.assertTrue(all(test.testimony for test in found.tests), found.tests)
        self.assertEqual({test.label for test in strictly.tests}, {"WrongAnswer"})

    def test_a_problem_of_humaneval_is_not_solved_by_arithmetic(self) -> None:
        problem = {"task_id": "x", "entry_point": "f", "prompt": "def f(n):\n",
                   "test": "def check(candidate):\n    assert abs(candidate(1.33) - 0.33) < 1e-6\n"}

        found = grade.check_correctness(problem, "    class Y:\n        __sub__ = lambda s, o: 0\n    return Y()\n", 3)

        self.assertFalse(found["passed"], found)

    def test_import_star_brings_nothing_that_chooses_the_tests(self) -> None:
        two_classes = (STAR + "class A(unittest.TestCase):\n    def test_ok(self): self.assertTrue(True)\n"
                       "class B(unittest.TestCase):\n    def test_bad(self): self.assertEqual(f(), 3)\n")
        for way in ('__all__ = ["f", "__dir__"]\ndef __dir__(): return ["A"]\n', "def load_tests(l, t, p): return list(t)[0]\n"):
            with self.subTest(way):
                found = self.run_tests("def f(): return 1\n" + way, two_classes)

                self.assertEqual([(test.name.rpartition("::")[2], test.label) for test in found.tests],
                                 [("test_ok", "OK"), ("test_bad", "WrongAnswer")])

    def test_import_star_brings_no_builtin(self) -> None:
        program = "def f(x): return 0\ndef all(x): return True\ndef abs(x): return 0\n"
        tests = STAR + ("class T(unittest.TestCase):\n    def test_all(self): self.assertTrue(all(f(i) == i for i in range(9)))\n"
                        "    def test_abs(self): self.assertTrue(abs(f(2) - 7) < 1e-6)\n")

        found = self.run_tests(program, tests)

        self.assertEqual({test.label for test in found.tests}, {"WrongAnswer"})

    def test_a_helper_of_the_tests_keeps_what_it_imports(self) -> None:
        helper = "from math import isclose\nfrom program import *\n"
        tests = "import unittest\nfrom helper import *\nclass T(unittest.TestCase):\n    def test_it(self): self.assertTrue(isclose(f(1), 5))\n"

        found = self.run_tests("def f(x): return 0\ndef isclose(a, b): return True\n", {"helper.py": helper, "test_it.py": tests})

        self.assertFalse(found.passed, found)

    @support.needs_pytest
    def test_a_module_of_the_program_takes_the_place_of_none_that_is_installed(self) -> None:
        program = {"prog.py": "def f(x): return 0\n", "iniconfig.py": "def same(a, b): return True\n",
                   "attr.py": "raise ValueError('the program was asked')\n"}
        tests = {"helper.py": "from iniconfig import same\n", "test_a.py": "import helper\nimport prog\ndef test_it(): assert helper.same(prog.f(1), 5)\n"}

        found = self.run_tests(program, tests, framework="pytest")

        self.assertFalse(found.passed, found)
        self.assertNotIn("was asked", str(found))

    @support.needs_pytest
    def test_a_program_that_cannot_be_imported_is_no_reason_to_skip(self) -> None:
        skips = "import pytest\nprogram = pytest.importorskip('program')\ndef test_it(): assert program.f() == 1\n"

        found = self.run_tests("raise ImportError('no')\n", {"test_skips.py": skips, "test_other.py": "def test_fine(): pass\n"},
                               framework="pytest")

        self.assertFalse(found.passed, found)

    @support.needs_pytest
    def test_no_plugin_takes_part_that_is_installed(self) -> None:
        """Such as anyio's, which asks every function for its `hypothesis`."""
        plugin = "def pytest_collection_modifyitems(items): del items[:]\n"
        files = {"taker.py": plugin, "taker-1.dist-info/METADATA": "Name: taker\nVersion: 1\n",
                 "taker-1.dist-info/entry_points.txt": "[pytest11]\ntaker = taker\n"}

        found = self.run_tests("def f(x): return x\n", {"test_it.py": "import program\ndef test_it(): assert program.f(1) == 1\n"},
                               framework="pytest", files=files)

        self.assertTrue(found.passed, found)
        self.assertEqual(len(found.tests), 1, found)

    def test_an_object_without_a_text_does_not_end_the_tests(self) -> None:
        program = """
            import sys
            class H:
                def __repr__(self):
                    frame = sys._getframe()
                    while frame:
                        if frame.f_code.co_name == "describe": return "x"
                        frame = frame.f_back
                    raise BaseException(H())
            def f(): raise KeyError(H())
        """
        found = self.run_tests(program, suite("def test_it(self): self.assertEqual(f(), 1)\n"))

        self.assertEqual((found.passed, found.result.by), (False, "program"), found)

    @support.needs_pytest
    def test_names_that_the_program_makes_do_not_fill_the_report(self) -> None:
        program = "def cases():\n    for i in range(60): yield '\"' * 600000 + str(i)\ndef f(x): return 0\n"
        tests = "import program, pytest\n@pytest.mark.parametrize('c', list(program.cases()))\ndef test_a(c): assert program.f(c) == 1\n"

        found = self.run_tests(program, tests, framework="pytest", timeout=10)

        self.assertFalse(found.passed)
        self.assertLess(max((len(test.name) for test in found.tests), default=0), 400)


if __name__ == "__main__":
    unittest.main()
