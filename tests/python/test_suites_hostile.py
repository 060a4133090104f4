"""What programs try so that the tests of another cell pass, end or blame somebody else."""

from __future__ import annotations

import json
import random
import textwrap
import unittest
from typing import Any

import support
from test_suites import suite
from zygo import grade
from zygo.grade.suites import session, wire

# What a program needs to speak in the harness's place: the stream that answers go to.
FORGES = """
    import gc, json, os, sys
    def answers():
        return next(one for one in gc.get_objects() if type(one).__name__ == "Server")._answers
    def say(line):
        answers().write(line + b"\\n")
        answers().flush()
"""
THREE = suite("""
    def test_1(self): self.assertEqual(one(), 1)
    def test_2(self): self.assertEqual(two(), 2)
    def test_3(self): self.assertEqual(one(), 1)
""")


class Forgery(support.OnEmbedded, unittest.TestCase):
    def run_tests(self, program: str, tests: str, **how: Any) -> grade.SuiteResult:
        return grade.run_tests(textwrap.dedent(program), tests, **{"timeout": 3, "framework": "unittest", **how})

    def labels(self, program: str, tests: str = THREE, **how: Any) -> dict[str, str]:
        found = self.run_tests(program, tests, **how)
        self.assertFalse(found.passed)
        return {test.name.rpartition("::")[2]: test.label for test in found.tests}

    def test_an_equality_of_the_programs_own_is_testimony_and_strictly_a_failure(self) -> None:
        program = """
            class Yes:
                def __eq__(self, other): return True
                def __ne__(self, other): return True
                def __lt__(self, other): return True
                def __contains__(self, item): return True
                def __bool__(self): return True
                __hash__ = None
            def one(): return Yes()
            class Fair:
                pass
            def fair(): return Fair()
        """
        tests = suite("""
            def test_equal(self): self.assertEqual(one(), 1)
            def test_reflected(self): self.assertEqual([1], [one()])
            def test_member(self): self.assertIn(5, one())
            def test_less(self): self.assertLess(one(), 3)
            def test_swallowed(self):
                try: self.assertEqual(one(), 1)
                except TypeError: pass
            def test_truth(self): self.assertTrue(one())
            def test_both_are_the_programs(self): self.assertEqual(one(), one())
            def test_without_any(self): self.assertNotEqual(fair(), 1)
        """)

        found = self.run_tests(program, tests)
        strictly = self.run_tests(program, tests, strict=True)

        self.assertTrue(found.passed, found)
        self.assertEqual({test.name.rpartition("test_")[2]: test.testimony for test in found.tests}, {
            "equal": {"==": 1}, "reflected": {"==": 1}, "member": {"in": 1}, "less": {"<": 1}, "swallowed": {"==": 1},
            "truth": {"bool": 1}, "both_are_the_programs": {}, "without_any": {}})
        self.assertEqual({test.name.rpartition("test_")[2] for test in strictly.tests if test.ok},
                         {"truth", "both_are_the_programs", "without_any"})
        self.assertEqual({test.label for test in strictly.tests}, {"OK", "WrongAnswer"})

    def test_a_program_that_ends_fails_the_rest_with_its_own_label(self) -> None:
        for deed, wanted in (("os._exit(0)", "NonZeroExit"), ("os._exit(3)", "NonZeroExit"), ("os.kill(os.getpid(), 9)", "Signalled"),
                             ("os.close(0); [os.close(fd) for fd in range(3, 30) if valid(fd)]", "NonZeroExit"),
                             ("while True: pass", "TimeoutException"), ("bytearray(1 << 30)", None),
                             ("import socket; socket.socket()", "UnsafeCode")):
            program = (f"import os\ndef valid(fd):\n    try: os.fstat(fd)\n    except OSError: return False\n    return True\n"
                       f"def one(): return 1\ndef two():\n    {deed}\n    return 2\n")
            with self.subTest(deed=deed):
                found = self.run_tests(program, THREE, timeout=2, memory_mb=64)
                labels = [test.label for test in found.tests]
                self.assertFalse(found.passed)
                self.assertEqual(labels[0], "OK")
                if wanted:
                    self.assertEqual((labels[1:], found.label), ([wanted, wanted], wanted), found)
                else:
                    self.assertEqual(found.label, "MemoryLimitExceeded", found)

    def test_a_program_that_ends_at_once_or_between_tests_passes_none_of_the_rest(self) -> None:
        alone = suite("def test_1(self): pass\ndef test_2(self): one()\ndef test_3(self): pass\n")
        for program in ("import os; os._exit(0)", "import os\ndef one(): os._exit(0)\n",
                        "import os, threading\ndef one(): threading.Timer(0, lambda: os._exit(0)).start()\n"
                        "import time\ndef __getattr__(name): time.sleep(1)\n"):
            with self.subTest(program=program):
                self.assertNotEqual(self.labels(program, alone).get("test_3"), "OK")

    def test_lines_of_its_own_end_the_conversation_and_no_test_passes_by_them(self) -> None:
        for line in (b"", b"junk", b"\xff\xfe", b"[" * 100_000, b'["ok"]', b'["ok",1]', b"[1,2]", b"{}", b'["ok",2,[],[],[]]',
                     b'["call",0,[],{},[]]', b'["call",-1,[],{},[]]', b'["next",99,[]]', b'["iter","0",[]]', b'["call",true,[],{},[]]',
                     b'["ok",{"h":[1,99]},[],[]]', b'["ok",{"h":[1,0]},[],[[0,"E","m",["Exception"],[],[],null,false]]]',
                     b'["ok",{"k":5},[],[]]', b'["ok",{"zz":1},[],[]]', b'["ok",{"n":["a b",[],[]]},[],[]]',
                     b'["ok",{"N":["P",["x"],[["y",1]]]},[],[]]', b'["ok",{"N":["P","x",[]]},[],[]]',
                     b'["ok",{"n":["P",["x","x"],[1,2]]},[],[]]', b'["ok",2,[[9,0,1]],[]]', b'["ok",2,[[0,"__class__",1]],[]]',
                     b'["error",["NoError",null,[],"",null],[],[]]', b'["error",5,[],[]]', b'["error",["OSError",7,[],"",null],[],[]]',
                     b'["ok",2,[],[[0,"E","m",[0],[],[],null,false]]]', b'["ok",2,[],[[0,"E","m",["Exception","ValueError","OSError"],1,2,3,4]]]',
                     b'["ok",{"T":"eval"},[],[]]', b'["ok",{"D":"1e9999999999"},[],[]]', b'["ok",{"i":"__import__"},[],[]]',
                     b'["ok",' + b"9" * 5000 + b",[],[]]"):
            with self.subTest(line=line[:60]):
                program = textwrap.dedent(FORGES) + f"def one(): return 1\ndef two():\n    say({line[:60]!r} + b'[' * {max(0, len(line) - 60)}"
                program += ")\n    return 2\n" if set(line[60:]) <= {91} else f" * 0 + b'9' * 5000)\n    return 2\n"
                found = self.run_tests(program, THREE)
                self.assertEqual([test.label for test in found.tests], ["OK", "InvalidResult", "InvalidResult"], found)
                self.assertEqual(found.label, "InvalidResult")

    def test_a_line_without_end_is_not_read_to_its_end(self) -> None:
        labels = self.labels(textwrap.dedent(FORGES) + "def one(): return 1\ndef two():\n    for i in range(40): answers().write(b'[' * (1 << 20))\n"
                             "    return 2\n")

        self.assertEqual(labels, {"test_1": "OK", "test_2": "InvalidResult", "test_3": "InvalidResult"})

    def test_a_right_answer_said_in_advance_is_not_counted_twice(self) -> None:
        labels = self.labels(textwrap.dedent(FORGES) + "def one():\n    say(b'[\"ok\",1,[],[]]')\n    return 5\ndef two(): return 2\n")

        self.assertNotIn("OK", list(labels.values())[1:])

    def test_the_end_of_an_iteration_answers_nothing_but_next(self) -> None:
        tests = suite("""
            def test_all(self): self.assertTrue(all(map(one, [1, 2])))
            def test_sum(self): self.assertEqual(sum(one(i) for i in [1]), 0)
            def test_list(self): self.assertEqual(list(filter(one, [1])), [])
            def test_callback(self): self.assertEqual([one(lambda: next(iter([]))) for i in [1]], [])
        """)
        for program in ("def one(x): raise StopIteration", "class Own(StopIteration): pass\ndef one(x): raise Own(7)",
                        "def one(x): raise StopAsyncIteration", "def one(x):\n    x() if callable(x) else next(iter([]))",
                        textwrap.dedent(FORGES) + "def one(x): say(b'[\"stop\",[],[]]')", "def one(x): raise GeneratorExit"):
            with self.subTest(program=program):
                self.assertNotIn("OK", self.labels(program, tests).values())

    def test_no_exception_of_the_program_stops_the_other_tests(self) -> None:
        for error in ("KeyboardInterrupt", "SystemExit", "SystemExit(0)", "GeneratorExit", "Own", "SkipTest", "unittest.SkipTest", "Exit"):
            program = ("import unittest\nclass Own(BaseException): pass\nclass SkipTest(Exception): pass\nclass Exit(Exception): pass\n"
                       f"def one(): return 1\ndef two(): raise {error}\n")
            for framework in ("unittest", "pytest") if support.has("pytest") else ("unittest",):
                with self.subTest(error=error, framework=framework):
                    labels = self.labels(program, framework=framework)
                    self.assertEqual([labels["test_1"], labels["test_3"]], ["OK", "OK"])
                    self.assertNotIn(labels["test_2"], ("OK", "Skipped"))

    def test_an_exception_of_a_callback_ends_no_other_call_than_its_own(self) -> None:
        """Or the program could have any later test skipped."""
        labels = self.labels("""
            kept = []
            def call(f):
                try: f()
                except BaseException as error: kept.append(error)
            def one(): raise kept[0]
        """, suite("""
            def test_1(self):
                def skip(): raise unittest.SkipTest("here")
                call(skip)
            def test_2(self): one()
        """))

        self.assertEqual(labels, {"test_1": "OK", "test_2": "RuntimeError"})

    def test_texts_of_objects_end_no_framework(self) -> None:
        program = ("class Odd:\n    def __repr__(self): raise SystemExit\n    __str__ = __len__ = __eq__ = __repr__\n"
                   "    __hash__ = None\ndef one(): return 1\ndef two(): return Odd()\n")
        for framework in ("unittest", "pytest") if support.has("pytest") else ("unittest",):
            with self.subTest(framework=framework):
                labels = self.labels(program, framework=framework)
                self.assertEqual([labels["test_1"], labels["test_3"]], ["OK", "OK"])
                self.assertNotEqual(labels["test_2"], "OK")

    def test_exceptions_that_cannot_cross_are_still_exceptions(self) -> None:
        program = """
            class Odd(Exception):
                def __str__(self): raise ValueError
            class Unmade(UnicodeDecodeError):
                def __init__(self): pass
            deep = []
            for _ in range(5000): deep = [deep]
            def fail(which): raise [Odd(deep, 1), Unmade(), ExceptionGroup("g", [ValueError(1)]), Exception("x" * (20 << 20)),
                                    type("a b", (Exception,), {})(), type("E" * 5000, (ValueError, KeyError), {})()][which]
            def value(which): return [deep, "x" * (20 << 20), int("9" * 4000)][which]
            loop = []
            loop.append(loop)
            def endless(): return loop
        """
        tests = suite("""
            def test_errors(self):
                for which in range(6):
                    with self.subTest(which=which), self.assertRaises(Exception): fail(which)
            def test_values(self):
                self.assertRaises(RecursionError, lambda: value(0) == 1)
                self.assertEqual(len(value(0)[0][0]), 1)
                self.assertRaises(OverflowError, value, 1)
                self.assertEqual(value(2) % 10, 9)
                self.assertIs(endless()[0], endless())
        """)

        found = self.run_tests(program, tests)

        self.assertTrue(found.passed, found)

    def test_what_the_tests_gave_for_a_call_can_only_be_called(self) -> None:
        found = self.run_tests("""
            def look(f):
                reached = []
                for name in ("__globals__", "__code__", "__self__", "__dict__", "secret", "__class__"):
                    try: found = getattr(f, name)
                    except AttributeError: continue
                    if "WANTED" in repr(found): reached.append(name)
                return reached
        """, suite("""
            def test_it(self):
                def mine(): pass
                mine.secret = WANTED
                self.assertEqual(look(mine), [])
                self.assertEqual(look(self), [])
        """, "WANTED = 'WANTED'"))

        self.assertTrue(found.passed, found)

    def test_the_machinery_of_the_tests_asks_the_program_for_nothing(self) -> None:
        program = """
            asked = []
            class Spy:
                def __getattr__(self, name):
                    asked.append(name)
                    return lambda *a, **k: True
            test_spy = spy = Spy()
        """
        tests = ("import pytest\nfrom program import spy, test_spy, asked\n@pytest.mark.parametrize('one', [spy], ids=['it'])\n"
                 "def test_it(one):\n    import program\n    assert program.asked == []\n")
        if not support.has("pytest"):
            self.skipTest("needs pytest")

        found = self.run_tests(program, tests, framework="pytest")

        self.assertTrue(found.passed, found)

    def test_the_tests_own_time_and_memory_are_bounded_and_the_label_says_which(self) -> None:
        tests = suite("def test_1(self): self.assertEqual(one(), 1)\ndef test_2(self): self.assertEqual(sum(1 for _ in two()), 0)\n"
                      "def test_3(self): self.assertEqual(one(), 1)\n")
        for body, wanted in (("import itertools; return itertools.count()", "TimeoutException"),
                             ("while True: yield 1", "TimeoutException")):
            with self.subTest(body=body):
                labels = self.labels(f"def one(): return 1\ndef two():\n    {body}\n", tests, timeout=1)
                self.assertEqual(labels, {"test_1": "OK", "test_2": wanted, "test_3": wanted})

    def test_tests_that_do_not_end_while_they_are_read_have_no_time_either(self) -> None:
        labels = self.labels("def one(): return 1\n", "import program\nwhile True: pass\n", timeout=1)

        self.assertEqual(labels, {"(the run)": "TimeoutException"})

    def test_memory_that_the_tests_hold_for_the_program_is_bounded(self) -> None:
        tests = suite("def test_1(self): self.assertEqual(one(), 1)\ndef test_2(self): self.assertEqual(list(two()), 0)\n")

        found = self.run_tests("def one(): return 1\ndef two():\n    while True: yield '[]' * (4 << 20)\n", tests, timeout=20)

        self.assertEqual([test.label for test in found.tests], ["OK", "MemoryError"], found)
        self.assertEqual((found.label, found.passed), ("MemoryError", False))

    def test_what_it_writes_in_its_own_cell_is_no_report(self) -> None:
        labels = self.labels("import os\nos.mkdir('feedback')\nopen('feedback/tests.jsonl', 'w').write('{\"name\":\"a\",\"label\":\"OK\"}\\n')\n"
                             "print('{\"name\":\"b\",\"label\":\"OK\"}')\ndef one(): return 0\ndef two(): return 0\n")

        self.assertEqual(labels, dict.fromkeys(("test_1", "test_2", "test_3"), "WrongAnswer"))

    def test_answers_that_ask_for_more_answers_end(self) -> None:
        """Each set that is built asks for a hash, whose answer is a set; an exception's arguments are iterated without end."""
        for line in (b'["ok",{"s":[{"h":[1,0]}]},[],NEWS]', b'["ok",{"d":[[{"h":[1,0]},1]]},[],NEWS]',
                     b'["error",["SyntaxError",null,["x",{"h":[1,0]}],"",null],[],NEWS]',
                     b'["error",["OSError",null,[{"h":[1,0]},{"h":[1,0]}],"",null],[],NEWS]'):
            news = b'[[0,"C","m",[],["__hash__","__eq__","__iter__","__next__","__len__","__getitem__","__bool__"],[],true,false]]'
            program = textwrap.dedent(FORGES) + (
                f"def one():\n    line, news = {line!r}, {news!r}\n    say(line.replace(b'NEWS', news))\n"
                "    while True:\n        say(line.replace(b'NEWS', b'[]'))\n")
            with self.subTest(line=line):
                self.assertNotIn("OK", self.labels(program, "import unittest\nfrom program import one\nclass T(unittest.TestCase):\n"
                                                            "    def test_1(self): one()\n", timeout=1).values())

    def test_names_of_a_module_that_are_none_are_no_names(self) -> None:
        for names in ("[1, None]", "7", "['one', 'one']", "['__builtins__', '__name__', '__spec__', '_zygo']", "iter(int, 1)"):
            with self.subTest(names=names):
                found = self.run_tests(f"__all__ = {names}\ndef one(): return 0\ndef two(): return 0\n", THREE, timeout=1)
                self.assertFalse(found.passed, found)

    def test_its_files_take_the_place_of_no_module_of_the_tests(self) -> None:
        forged = ("def __getattr__(name):\n    if name[:2] == '__': raise AttributeError\n    class Yes:\n        def __eq__(self, other): return True\n"
                  "        def __call__(self, *args): return self\n    return Yes()\n")
        tests = "import unittest, program\nimport {name}\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(program.f(), {name}.g())\n"
        for name in ("math", "random", "this", "unittest", "helper", "pip"):
            with self.subTest(name=name):
                found = grade.run_tests({"program.py": "def f(): return 1\n", f"{name}.py": forged},
                                        {"test_it.py": tests.format(name=name), "helper.py": "def g(): return 2\n"})
                self.assertFalse(found.passed, found)

    def test_an_import_of_everything_replaces_nothing_that_the_tests_import(self) -> None:
        found = self.run_tests("unittest = isclose = None\n__all__ = ['unittest', 'isclose', 'f']\ndef f(): return 0.3\n",
                               "import unittest\nfrom math import isclose\nfrom program import *\nclass T(unittest.TestCase):\n"
                               "    def test_it(self): self.assertTrue(isclose(f(), 0.1 + 0.2))\n")

        self.assertTrue(found.passed, found)

    def test_threads_of_the_program_do_not_speak(self) -> None:
        found = self.run_tests("""
            import threading
            def call(f):
                got = []
                def run():
                    try: f()
                    except RuntimeError as error: got.append(str(error))
                thread = threading.Thread(target=run)
                thread.start()
                thread.join()
                return got
        """, suite("""
            def test_it(self): self.assertEqual(len(call(lambda: 1)), 1)
        """))

        self.assertTrue(found.passed, found)


class Decoder(unittest.TestCase):
    """The tests' side of the wire alone, against bytes of chance."""

    PARTS = ('"ok"', '"error"', '"stop"', '"call"', '"next"', "[", "]", "{", "}", ":", ",", "0", "-1", "1e999", "NaN", '"T"', '"int"', '"h"',
             '"K"', '"k"', '"e"', '"n"', '"N"', '"t"', '"d"', '"s"', '"D"', '"F"', '"moment"', '"i"', '"0xff"', '"P"', "null", "true", '"r"', '"q"')

    def session(self, stream: bytes) -> session.Session:
        import io

        return session.Session(io.BytesIO(), io.BytesIO(stream), False)

    def test_no_bytes_do_more_than_end_the_conversation(self) -> None:
        chance = random.Random(7)
        for _ in range(20_000):
            if chance.random() < 0.3:
                text = bytes(chance.randrange(256) for _ in range(chance.randrange(60)))
            else:
                text = "".join(chance.choice(self.PARTS) for _ in range(chance.randrange(30))).encode()
            self.ends_well(text + b"\n")

    def test_no_mutation_of_a_right_answer_does_either(self) -> None:
        chance = random.Random(11)
        classes = [[0, "C", "m", [], ["__eq__", "__len__"], ["f"], True, False], [1, "E", "m", ["ValueError"], [], [], None, False]]
        right = [["ok", {"h": [1, 0]}, [], classes], ["error", ["ValueError", 1, [1, {"t": [2]}], "x", 2], [], classes],
                 ["ok", {"d": [[1, {"n": ["P", ["x"], [1]]}], [{"f": []}, {"moment": [2024, 1, 1, 0, 0, 0, 0, 0, [0, 3600, 0]]}]]}, [], []],
                 ["ok", {"N": ["P", ["x", "y"], [["y", {"t": [1]}]]]}, [], []],
                 ["ok", {"q": [[{"D": "1.5"}, {"F": [1, 2]}, {"r": [0, 1, 2]}], 3]}, [[1, 0, [1]]], []]]
        for _ in range(20_000):
            text = bytearray(json.dumps(chance.choice(right)), "ascii")
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(text))
                text[at:at + chance.randrange(3)] = bytes(chance.choice(b'0123456789"[]{},:tsnNkheKTdq') for _ in range(chance.randrange(3)))
            self.ends_well(bytes(text) + b"\n")

    def ends_well(self, stream: bytes) -> None:
        ours = self.session(stream)
        try:
            ours.request("call", None, ([1],), {}, changed=(None, ([1],), {}))
        except session.ProgramGone:
            self.assertIn(ours.broken, ("", "InvalidResult"))
        except (StopIteration, wire.WireError, wire.Closed) as error:
            self.fail(f"{stream!r}: {error!r}")
        except BaseException as error:  # one that it says the program raised
            self.assertIn("_zygo_remote", vars(error), stream)


if __name__ == "__main__":
    support.main()
