"""`zygo test`: files of tests against a program in another sandbox. What crosses between them is tests/python/test_suites.py's."""

from __future__ import annotations

import importlib.util
import json
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path
from typing import NamedTuple

import zygo

PROGRAM = "class Odd(Exception): pass\ndef half(n):\n    if n % 2: raise Odd(n)\n    return n // 2\n"
TESTS = ("import unittest\nfrom numbers_ import *\nclass Half(unittest.TestCase):\n"
         "    def test_even(self): self.assertEqual(half(4), 2)\n    def test_odd(self): self.assertRaises(Odd, half, 3)\n")
MORE = ("    def test_wrong(self): self.assertEqual(half(4), '<3>')\n    def test_raises(self): half(1)\n"
        "    @unittest.skip('why')\n    def test_skipped(self): pass\n")


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def test(*arguments: str) -> Ended:
    ended = zygo.run_cli("test", *arguments)
    return Ended(ended.code, ended.out.decode(), ended.err.decode())


class Suites(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path)

    def run_tests(self, tests: str, program: str, *options: str) -> Ended:
        return test(self.write("numbers_test.py", tests), self.write("numbers_.py", program), *options)

    def test_all_that_pass_end_with_0(self) -> None:
        ended = self.run_tests(TESTS, PROGRAM)

        self.assertEqual((ended.code, ended.err), (0, ""))
        self.assertEqual([line.split() for line in ended.out.splitlines()],
                         [["test", "label", "detail"], ["numbers_test.py::Half::test_even", "OK"],
                          ["numbers_test.py::Half::test_odd", "OK"], "2 of 2 tests passed: OK".split()])

    def test_each_that_does_not_has_its_label_in_every_form(self) -> None:
        junit = self.folder / "results.xml"
        shown = self.run_tests(TESTS + MORE, PROGRAM)
        ended = self.run_tests(TESTS + MORE, PROGRAM, "--json", "--junit", str(junit))
        found = json.loads(ended.out)
        cases = {case.get("name"): [child for child in case] for case in xml.parse(junit).iter("testcase")}

        self.assertEqual((ended.code, shown.code), (1, 1))
        self.assertEqual({one["name"].rpartition("::")[2]: one["label"] for one in found["tests"]},
                         {"test_even": "OK", "test_odd": "OK", "test_wrong": "WrongAnswer", "test_raises": "Odd", "test_skipped": "Skipped"})
        self.assertEqual(found["summary"], {"total": 5, "passed": 2, "failed": 2, "skipped": 1})
        self.assertEqual((found["label"], found["passed"]), ("Odd", False))
        self.assertIn("2 of 4 tests passed, 1 skipped: Odd (numbers_test.py::Half::test_raises: Odd: 1)", shown.out)
        self.assertEqual({name: [child.tag for child in children] for name, children in cases.items()},
                         {"test_even": [], "test_odd": [], "test_wrong": ["failure"], "test_raises": ["error"], "test_skipped": ["skipped"]})
        self.assertEqual(cases["test_wrong"][0].get("message"), "AssertionError: 2 != '<3>'")

    def test_a_program_that_ends_early_or_meets_a_limit_fails_what_is_left(self) -> None:
        for deed, wanted in (("__import__('os')._exit(0)", "NonZeroExit"), ("while True: pass", "TimeoutException"),
                             ("__import__('socket').socket()", "UnsafeCode")):
            with self.subTest(deed=deed):
                ended = self.run_tests(TESTS, f"class Odd(Exception): pass\ndef half(n):\n    if n == 4: return 2\n    {deed}\n",
                                       "--json", "--timeout", "500ms")
                found = json.loads(ended.out)
                self.assertEqual(([one["label"] for one in found["tests"]], ended.code), (["OK", wanted], 1), found)

    def test_strictly_the_programs_own_equality_decides_nothing(self) -> None:
        program = "class Yes:\n    def __eq__(self, other): return True\ndef half(n): return Yes()\n"
        tests = TESTS.replace("    def test_odd(self): self.assertRaises(Odd, half, 3)\n", "")

        lenient, strict = self.run_tests(tests, program), self.run_tests(tests, program, "--strict")

        self.assertEqual((lenient.code, strict.code), (0, 1))
        self.assertIn("testimony: == 1", lenient.out)

    def test_folders_are_taken_whole(self) -> None:
        self.write("tests/test_shop.py", "import unittest, helper\nfrom shop.cart import total\nclass T(unittest.TestCase):\n"
                                         "    def test_it(self): self.assertEqual(total(), helper.WANTED)\n")
        self.write("tests/helper.py", "WANTED = 3\n")
        self.write("src/shop/__init__.py", "")
        self.write("src/shop/cart.py", "def total(): return 3\n")

        ended = test(str(self.folder / "tests"), str(self.folder / "src"), "--quiet")

        self.assertEqual((ended.code, ended.out, ended.err), (0, "", ""))

    @unittest.skipUnless(importlib.util.find_spec("pytest"), "needs pytest")
    def test_pytest_runs_what_is_its_own(self) -> None:
        ended = self.run_tests("import pytest\nfrom numbers_ import Odd, half\n@pytest.mark.parametrize('n', [2, 3])\n"
                               "def test_half(n): assert half(n) == 1\n", PROGRAM, "--json")

        self.assertEqual([(one["name"], one["label"]) for one in json.loads(ended.out)["tests"]],
                         [("numbers_test.py::test_half[2]", "OK"), ("numbers_test.py::test_half[3]", "Odd")])

    def test_what_cannot_be_run_is_said(self) -> None:
        two = self.write("empty/a.py", "") and self.write("empty/b.py", "") and str(self.folder / "empty")
        program = self.write("numbers_.py", PROGRAM)
        for arguments, code, words in (((str(self.folder / "none.py"), program), 2, "none.py: No such file or directory"),
                                       ((two, program), 2, "no file of tests: none is called test_*.py or *_test.py"),
                                       ((program,), 2, "PROGRAM"),
                                       ((program, program, "--framework", "nose"), 2, "nose")):
            with self.subTest(arguments=arguments):
                ended = test(*arguments)
                self.assertEqual((ended.code, ended.out), (code, ""))
                self.assertIn(words, ended.err)


if __name__ == "__main__":
    unittest.main()
