"""Files of tests and files of programs: what is run, by which framework, and under which names a program is imported."""

from __future__ import annotations

import tempfile
import textwrap
import unittest
from pathlib import Path

import support
from test_suites import OnSuites
from zygo import BadJob, grade


class Files(OnSuites, unittest.TestCase):
    def test_a_program_of_one_file_is_what_the_tests_import(self) -> None:
        found = grade.run_tests("def f(): return 1", "import unittest\nfrom leap import f\nclass T(unittest.TestCase):\n"
                                "    def test_f(self): self.assertEqual(f(), 1)\n")

        self.assertTrue(found.passed, found)

    def test_what_is_not_installed_is_no_other_name_of_the_program(self) -> None:
        found = grade.run_tests("def f(): return 1", "import unittest\nfrom program import f\ntry:\n    import not_installed\nexcept ImportError:\n"
                                "    not_installed = None\nclass T(unittest.TestCase):\n    def test_f(self): self.assertIsNone(not_installed)\n")

        self.assertTrue(found.passed, found)

    def test_tests_may_print_much(self) -> None:
        self.passes("def f(): return 1", """
            def test_it(self):
                for stream in (sys.stdout, sys.stderr): print("x" * 5_000_000, file=stream, flush=True)
                self.assertEqual(f(), 1)
        """, "import sys")

    def test_a_program_may_be_packages_and_tests_may_have_files(self) -> None:
        program = {"shop/__init__.py": "from .cart import Cart\n", "shop/cart.py": "class Cart:\n    total = 3\n", "one.py": "X = 1\n"}
        tests = {"test_shop.py": "import unittest, shop.cart, one, helper\nfrom shop import Cart\nclass T(unittest.TestCase):\n"
                                 "    def test_it(self):\n        self.assertIs(shop.cart.Cart, Cart)\n"
                                 "        self.assertEqual((Cart().total, one.X), (helper.WANTED, 1))\n"}

        found = grade.run_tests(program, tests, files={"helper.py": "WANTED = 3\n"})

        self.assertTrue(found.passed, found)

    def test_a_file_that_cannot_be_imported_has_a_label(self) -> None:
        for program, tests, wanted in (("def f(:", "from program import f", "SyntaxError"), ("x = 1", "from program import f", "ImportError"),
                                       ("1 / 0", "import program", "ZeroDivisionError"), ("", "def f(:", "SyntaxError")):
            for framework in ("unittest", "pytest") if support.has("pytest") else ("unittest",):
                with self.subTest(program=program, tests=tests, framework=framework):
                    found = grade.run_tests(program, tests, framework=framework)
                    self.assertEqual((found.label, found.passed), (wanted, False), found)

    def test_no_test_is_no_success(self) -> None:
        for tests in ("import program, unittest\n", "import unittest\n@unittest.skip('all')\nclass T(unittest.TestCase):\n"
                      "    def test_it(self): pass\n"):
            found = grade.run_tests("", tests, framework="unittest")
            self.assertEqual((found.label, found.passed), ("WrongAnswer", False), found)

    @support.needs_pytest
    def test_pytest_has_its_fixtures_parameters_and_marks(self) -> None:
        labels = self.labels("""
            class Err(Exception): pass
            def half(n):
                if n % 2: raise Err("odd: %d" % n)
                return n // 2
        """, textwrap.dedent("""
            import pytest
            import program
            @pytest.fixture
            def two(): return 2
            @pytest.mark.parametrize("n, wanted", [(2, 1), (4, 3)])
            def test_half(n, wanted): assert program.half(n) == wanted
            def test_raises():
                with pytest.raises(program.Err, match="odd: 3"): program.half(3)
            class TestMore:
                def test_fixture(self, two): assert program.half(two) == pytest.approx(1.0)
            def test_fails(): pytest.fail("no")
            @pytest.mark.xfail
            def test_expected(): assert program.half(2) == 5
            @pytest.mark.skip
            def test_skipped(): pass
            def test_own(): program.half(1)
            def test_patched(monkeypatch):
                monkeypatch.setattr(program, "half", lambda n: 77)
                assert program.half(1) == 77
        """))

        self.assertEqual(labels, {
            "test_half[2-1]": "OK", "test_half[4-3]": "WrongAnswer", "test_raises": "OK", "test_fixture": "OK", "test_fails": "WrongAnswer",
            "test_expected": "OK", "test_skipped": "Skipped", "test_own": "Err", "test_patched": "OK"})

    def test_a_link_out_of_a_folder_is_not_followed(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "program.py").symlink_to("/etc/hostname")
            with self.assertRaisesRegex(ValueError, "program.py: a link that leads out of"):
                grade.run_tests(Path(folder), "import program")

    def test_what_is_asked_for_wrongly_is_said(self) -> None:
        with self.assertRaisesRegex(BadJob, "no file of tests"):
            grade.run_tests("", {"a.py": "", "b.py": ""})
        with self.assertRaisesRegex(ValueError, "framework='nose'"):
            grade.run_tests("", "", framework="nose")


if __name__ == "__main__":
    support.main()
