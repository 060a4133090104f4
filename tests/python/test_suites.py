"""Suites of tests against a program in another cell: what crosses between them, and that tests run there as they do with
the program beside them. What hostile programs try is in test_suites_hostile.py.
"""

from __future__ import annotations

import textwrap
import unittest
from typing import Any

import support
from zygo import grade


def suite(body: str, imports: str = "") -> str:
    """A file of unittest, of one class with these methods."""
    return (f"import unittest\nfrom program import *\n{imports}\n\nclass Tests(unittest.TestCase):\n"
            + textwrap.indent(textwrap.dedent(body), "    "))


class OnSuites(support.OnEmbedded):
    def labels(self, program: str, tests: str, **how: Any) -> dict[str, str]:
        found = grade.run_tests(textwrap.dedent(program), tests, **how)
        return {test.name.rpartition("::")[2]: test.label for test in found.tests}

    def passes(self, program: str, body: str, imports: str = "", **how: Any) -> grade.SuiteResult:
        found = grade.run_tests(textwrap.dedent(program), suite(body, imports), **how)
        self.assertTrue(found.passed, [test for test in found.tests if not test.ok] or found)  # type: ignore[attr-defined]
        return found


class Values(OnSuites, unittest.TestCase):
    def test_values_that_can_be_copied_come_as_themselves(self) -> None:
        self.passes("def same(x): return x", """
            def check(self, value):
                found = same(value)
                self.assertIs(type(found), type(value))
                self.assertEqual(found, value)
            def test_all(self):
                for value in (None, True, 0, -7, 2**63, -2**70, 1.5, "a\\ud800\\u00e9", b"\\x00a", bytearray(b"b"), 1-2j, [1, [2]],
                              (1, ("a",)), {1, 2}, frozenset({3}), {(1,): {2: 3}}, range(1, 9, 2), slice(1, None),
                              collections.deque([1, 2], maxlen=3), collections.OrderedDict(b=1, a=2),
                              collections.Counter("aab"), decimal.Decimal("1.10"), fractions.Fraction(1, 3),
                              datetime.date(2024, 2, 29), datetime.datetime(2024, 1, 2, 3, 4, 5, 6),
                              datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), datetime.time(1, 2),
                              datetime.timedelta(1, 2, 3), int, list, ValueError, decimal.Decimal, type(None), NotImplemented, ...):
                    with self.subTest(value=value):
                        self.check(value)
            def test_odd_floats(self):
                self.assertEqual(str(same([float("nan"), float("-inf"), -0.0])), "[nan, -inf, -0.0]")
            def test_bool_is_not_int(self):
                self.assertEqual(repr(same([True, 1, 1.0])), "[True, 1, 1.0]")
            def test_big(self):
                self.assertTrue(same(1 << 100_000) == 1 << 100_000)
        """, "import collections, datetime, decimal, fractions")

    def test_named_tuples_have_their_names(self) -> None:
        self.passes("""
            import collections
            P = collections.namedtuple("P", "x y")
            def make(): return [P(1, 2)]
        """, """
            def test_it(self):
                found, = make()
                self.assertEqual((found, found.x, found._fields, type(found).__name__), ((1, 2), 1, ("x", "y"), "P"))
        """)

    def test_named_tuples_are_of_their_class_on_both_sides(self) -> None:
        self.passes("""
            import collections, typing
            P = collections.namedtuple("P", "x y z", defaults=([], 3))
            class Typed(typing.NamedTuple):
                name: str
                size: int = 4
            class Loud(typing.NamedTuple):
                x: int
                def __str__(self): return "loud"
                def __eq__(self, other): return isinstance(other, Loud) and self.x % 2 == other.x % 2
            def make(): return P(1, 2), Typed("a"), Loud(1)
            def know(*values): return [type(value) in (P, Typed, Loud) for value in values]
            def same(value): return value
        """, """
            def test_of_the_program(self):
                found, typed, loud = make()
                self.assertIsInstance(found, program.P)
                self.assertIs(type(typed), program.Typed)
                self.assertIsInstance(loud, program.Loud)
                self.assertEqual((program.P(1), program.P(y=2, x=0, z=1), program.Typed("b")), ((1, [], 3), (0, 2, 1), ("b", 4)))
                self.assertEqual(program.P._field_defaults, {"y": [], "z": 3})
                self.assertEqual((str(loud), loud == program.Loud(3), loud == program.Loud(2)), ("loud", True, False))
                self.assertEqual(know(found, program.P(1), typed, program.Typed("b"), program.Loud(1), loud, (1, 2, 3)), [True] * 6 + [False])
            def test_of_the_tests(self):
                Mine = collections.namedtuple("Mine", "a", defaults=(1,))
                self.assertIsInstance(same(Mine(2)), Mine)
                self.assertIs(same(Mine), Mine)
                self.assertEqual(Mine(), (1,))
        """, "import collections, program")

    def test_values_of_subclasses_are_their_builtin_values(self) -> None:
        labels = self.labels("""
            class Yes(int):
                def __eq__(self, other): return True
                __hash__ = int.__hash__
            class Text(str):
                def __eq__(self, other): return True
            class Row(list):
                def __eq__(self, other): return True
                def total(self): return sum(self)
            def number(): return Yes(7)
            def text(): return Text("a")
            def row(): return Row([1, 2])
        """, suite("""
            def test_number(self): self.assertEqual(number(), 7)
            def test_wrong_number(self): self.assertEqual(number(), 8)
            def test_wrong_text(self): self.assertEqual(text(), "b")
            def test_row(self):
                self.assertEqual(row(), [1, 2])
                self.assertEqual(row().total(), 3)
            def test_wrong_row(self): self.assertEqual(row(), [1, 3])
        """))

        self.assertEqual(labels, {"test_number": "OK", "test_wrong_number": "WrongAnswer", "test_wrong_text": "WrongAnswer",
                                  "test_row": "OK", "test_wrong_row": "WrongAnswer"})

    def test_arguments_that_the_program_changed_come_back(self) -> None:
        self.passes("""
            def change(rows, names, *, seen, data, queue):
                rows[1].append(9); rows.append([]); names["b"] = names.pop("a"); seen.add(True); data[0] = 65; queue.popleft()
            def retype(items): items[0] = True
            def inner(pair): pair[0].sort()
            class Sorter:
                def sort(self, items): items.sort()
        """, """
            def test_it(self):
                inner_row = [2]
                rows, names, seen, data, queue = [[1], inner_row], {"a": 1}, set(), bytearray(b"b"), deque([1, 2])
                change(rows, names, seen=seen, data=data, queue=queue)
                self.assertEqual((rows, names, seen, data, queue), ([[1], [2, 9], []], {"b": 1}, {True}, b"A", deque([2])))
                self.assertIs(rows[1], inner_row)
            def test_types_count(self):
                items = [1]
                retype(items)
                self.assertIs(items[0], True)
            def test_within_a_tuple(self):
                items = [3, 1]
                inner((items, 1))
                self.assertEqual(items, [1, 3])
            def test_of_a_method(self):
                items = [2, 1]
                Sorter().sort(items)
                self.assertEqual(items, [1, 2])
        """, "from collections import deque")


class Handles(OnSuites, unittest.TestCase):
    def test_instances_have_methods_attributes_and_operators(self) -> None:
        self.passes("""
            class V:
                kind = "vector"
                def __init__(self, *c): self.c = list(c)
                def __add__(self, o): return V(*[a + b for a, b in zip(self.c, o.c)])
                def __radd__(self, o): return V(*[o + a for a in self.c])
                def __neg__(self): return V(*[-a for a in self.c])
                def __eq__(self, o): return isinstance(o, V) and self.c == o.c
                def __hash__(self): return hash(tuple(self.c))
                def __lt__(self, o): return self.c < o.c
                def __len__(self): return len(self.c)
                def __getitem__(self, i): return self.c[i]
                def __setitem__(self, i, x): self.c[i] = x
                def __contains__(self, x): return x in self.c
                def __iter__(self): return iter(self.c)
                def __repr__(self): return "V%r" % self.c
                def __format__(self, how): return how + "!"
                def __bool__(self): return any(self.c)
                def __call__(self, x): return x * 2
                def __enter__(self): self.open = True; return self
                def __exit__(self, *a): self.open = False; return a[0] is KeyError
                @property
                def first(self): return self.c[0]
                @classmethod
                def zero(cls): return cls(0, 0)
            class W(V): pass
        """, """
            def test_all(self):
                a = V(1, 2)
                self.assertEqual(a + V(3, 4), V(4, 6))
                self.assertEqual((repr(5 + a), str(-a), f"{a:x}", len(a), a[1], a[0:1], list(a), 2 in a, a(4)),
                                 ("V[6, 7]", "V[-1, -2]", "x!", 2, 2, [1], [1, 2], True, 8))
                a[0] = 7
                a.extra = [1]
                self.assertEqual(vars(V(3)), {"c": [3]})
                self.assertEqual((a.first, a.extra, V.kind, hasattr(a, "none"), bool(V.zero()), callable(a)),
                                 (7, [1], "vector", False, False, True))
                self.assertEqual({V(1): "x"}[V(1)], "x")
                self.assertEqual(sorted([V(2), V(1)]), [V(1), V(2)])
                self.assertIsInstance(W(), V)
                self.assertNotIsInstance(a, W)
                self.assertIs(type(a), V)
                self.assertNotEqual(a, 5)
                with V() as inside:
                    self.assertTrue(inside.open)
                    raise KeyError
                self.assertFalse(inside.open)
                self.assertRaises(AttributeError, lambda: a.none)
                self.assertRaises(TypeError, lambda: a - a)
                self.assertRaises(TypeError, lambda: len(V.zero))
        """)

    def test_modules_classes_and_enums_are_reached(self) -> None:
        self.passes("""
            import enum
            class Color(enum.Enum):
                RED = 1
                BLUE = 2
            class Level(enum.IntEnum):
                LOW = 1
            LIMIT = 3
            def over(x): return x > LIMIT
            def kind(x): return type(x)
        """, """
            def test_enum(self):
                self.assertIs(Color.RED, Color["RED"])
                self.assertEqual([c.name for c in Color], ["RED", "BLUE"])
                self.assertEqual((Color(2), len(Color), Color.RED in Color, Level.LOW), (Color.BLUE, 2, True, 1))
            def test_module(self):
                self.assertTrue(over(4))
                program.LIMIT = 9
                self.assertFalse(over(4))
                self.assertIs(kind(1), int)
                self.assertIs(kind(Color.RED), Color)
                self.assertEqual((over.__name__, Color.__name__), ("over", "Color"))
        """, "import program")

    def test_iterators_and_generators_are_lazy(self) -> None:
        self.passes("""
            def count():
                n = 0
                while True:
                    n += 1
                    yield n
        """, """
            def test_it(self):
                numbers = count()
                self.assertEqual([next(numbers), next(numbers)], [1, 2])
                self.assertEqual(list(zip("ab", numbers)), [("a", 3), ("b", 4)])
                self.assertEqual(list(itertools.islice(count(), 3)), [1, 2, 3])
        """, "import itertools")

    def test_lists_of_objects_are_arguments_whatever_these_say_of_equality(self) -> None:
        self.passes("""
            class Node:
                def __init__(self, *below): self.below = below[0] if below else []
                def __eq__(self, other): return self.below == other.below
            def put(numbers): numbers[0] = Node()
        """, """
            def test_it(self):
                self.assertEqual(len(Node([Node(), Node()]).below), 2)
                numbers = [1, 2]
                put(numbers)
                self.assertIsInstance(numbers[0], Node)
        """)

    def test_copies_are_the_programs(self) -> None:
        self.passes("""
            class Box:
                def __init__(self): self.items = [1]
                def add(self): self.items.append(2)
        """, """
            def test_it(self):
                box = Box()
                deep = copy.deepcopy(box)
                box.add()
                self.assertEqual((box.items, deep.items), ([1, 2], [1]))
                with self.assertRaises(TypeError):
                    class Derived(Box): pass
        """, "import copy")

    def test_objects_that_are_dropped_are_dropped_in_the_program(self) -> None:
        self.passes("""
            import gc, weakref
            alive = weakref.WeakSet()
            class Thing:
                def __init__(self): alive.add(self)
            def count(): gc.collect(); return len(alive)
        """, """
            def test_it(self):
                kept = Thing()
                for _ in range(1000): Thing()
                count()
                self.assertEqual(count(), 1)
        """)

    def test_threads_of_the_tests_take_turns(self) -> None:
        self.passes("""
            class Counter:
                n = 0
                def up(self): self.n += 1
        """, """
            def test_it(self):
                counter = Counter()
                threads = [threading.Thread(target=lambda: [counter.up() for _ in range(100)]) for _ in range(4)]
                for one in threads: one.start()
                for one in threads: one.join()
                self.assertEqual(counter.n, 400)
        """, "import threading")


class Exceptions(OnSuites, unittest.TestCase):
    def test_exceptions_have_class_arguments_and_text(self) -> None:
        self.passes("""
            class Base(ValueError):
                def __init__(self, text, code): super().__init__(text, code); self.code = code
                def __str__(self): return "says " + self.args[0]
            class Derived(Base): pass
            def fail(which):
                raise {"own": Derived("a", 7), "key": KeyError("k", 1), "os": FileNotFoundError(2, "no", "f"),
                       "object": TypeError(fail), "exit": SystemExit(3)}[which]
        """, """
            def test_own(self):
                with self.assertRaises(Base) as caught: fail("own")
                error = caught.exception
                self.assertEqual((error.args, str(error), error.code, type(error)), (("a", 7), "says a", 7, Derived))
                self.assertIsInstance(error, ValueError)
                with self.assertRaisesRegex(ValueError, "^says a$"): fail("own")
            def test_builtin(self):
                with self.assertRaises(KeyError) as caught: fail("key")
                self.assertEqual(caught.exception.args, ("k", 1))
                with self.assertRaises(OSError) as caught: fail("os")
                self.assertEqual((type(caught.exception), caught.exception.errno), (FileNotFoundError, 2))
            def test_argument_that_is_a_handle(self):
                with self.assertRaises(TypeError) as caught: fail("object")
                self.assertIs(caught.exception.args[0], fail)
            def test_exit(self):
                with self.assertRaises(SystemExit) as caught: fail("exit")
                self.assertEqual(caught.exception.code, 3)
            def test_they_go_back(self):
                def raising(): raise Derived("b", 8)
                self.assertRaises(Derived, raising)
        """)

    def test_a_test_that_fails_has_the_class_of_what_the_program_raised(self) -> None:
        labels = self.labels("""
            class OwnError(Exception): pass
            class OK(Exception): pass
            def fail(what): raise what
            def own(): raise OwnError("x")
            def ok(): raise OK
            def asserts(): assert False
        """, suite("""
            def test_value(self): fail(ValueError)
            def test_own(self): own()
            def test_ok(self): ok()
            def test_programs_assertion(self): asserts()
            def test_ours(self): self.assertEqual(1, 2)
            def test_skipped(self): self.skipTest("no")
        """))

        self.assertEqual(labels, {"test_value": "ValueError", "test_own": "OwnError", "test_ok": "program.OK", "test_ours": "WrongAnswer",
                                  "test_programs_assertion": "AssertionError", "test_skipped": "Skipped"})


class Callbacks(OnSuites, unittest.TestCase):
    def test_functions_and_iterators_are_arguments(self) -> None:
        self.passes("""
            def keep(items, f): return [x for x in items if f(x)]
            def total(numbers, start=0): return sum(numbers, start)
            def first_two(i): return [next(i), next(i)]
            def call(f, *a, **k): return f(*a, **k)
            def back(f): return f
            def name(f): return f.__name__
        """, """
            def test_all(self):
                self.assertEqual(keep(range(5), lambda x: x % 2), [1, 3])
                self.assertEqual(keep(["a", "B"], str.isupper), ["B"])
                self.assertEqual(total(x * x for x in range(4)), 14)
                self.assertEqual(total(map(int, "12"), start=1), 4)
                self.assertEqual(first_two(iter("abc")), ["a", "b"])
                self.assertEqual(call(dict, a=1), {"a": 1})
                mine = lambda: 1
                self.assertIs(back(mine), mine)
                self.assertIs(back(self), self)
                self.assertEqual(name(len), "len")
                heard = mock.Mock(return_value=5)
                self.assertEqual(call(heard, 1, x=[2]), 5)
                heard.assert_called_once_with(1, x=[2])
        """, "from unittest import mock")

    def test_exceptions_of_callbacks_come_back_as_the_same(self) -> None:
        self.passes("""
            def call(f): return f()
            def swallow(f):
                try: f()
                except ZeroDivisionError: return "zero"
        """, """
            def test_it(self):
                class Mine(Exception): pass
                error = Mine("x")
                def fail(): raise error
                with self.assertRaises(Mine) as caught: call(fail)
                self.assertIs(caught.exception, error)
                self.assertEqual(swallow(lambda: 1 / 0), "zero")
        """)

    def test_they_may_call_each_other_to_a_depth(self) -> None:
        self.passes("""
            def down(f, n): return n if n == 0 else f(n - 1) + 1
        """, """
            def test_it(self):
                def again(n): return down(again, n)
                self.assertEqual(down(again, 20), 20)
                with self.assertRaises(RecursionError): down(again, 10_000)
                self.assertEqual(down(again, 5), 5)
        """)


class Ready(OnSuites, unittest.TestCase):
    """Where the harness is in the tests' memory already, and where the job brings it."""

    NAMES = suite("""
        def test_of_the_package(self): self.assertIn("zygo.grade.suites.tests_side", sys.modules)
        def test_brought(self): self.assertIn("zygo_suite.tests_side", sys.modules)
        def test_works(self): self.assertEqual(f(), 1)
    """, "import sys\n")

    def test_the_tests_of_a_grader_without_a_pool_find_the_harness_in_their_memory(self) -> None:
        labels = self.labels("def f(): return 1", self.NAMES, framework="unittest")

        self.assertEqual(list(labels.values()), ["WrongAnswer", "OK", "OK"], labels)

    def test_another_pool_is_brought_the_harness(self) -> None:
        with self.pool(workers=2) as pool:
            labels = self.labels("def f(): return 1", self.NAMES, framework="unittest", pool=pool)

        self.assertEqual(list(labels.values()), ["OK", "WrongAnswer", "OK"], labels)

    def test_the_program_of_a_grader_without_a_pool_has_none_of_its_templates_modules(self) -> None:
        self.passes("def names():\n    import sys\n    return sorted(sys.modules)", """
            def test_names(self): self.assertFalse([name for name in names() if name.partition(".")[0] in ("zygo", "pytest")])
        """)


if __name__ == "__main__":
    support.main()
