"""Programs that attack who reads their results. None of them may execute anything in the caller, none may change a
verdict. Part of it forges values by hand, without a sandbox: a program that has taken its interpreter apart can return
whatever the value format can say.
"""

from __future__ import annotations

import pickle
import sys
import unittest
from typing import Any

import support
import zygo
from zygo import calls, result, shaped, values

FIRED: list[str] = []


def fire(*_: Any) -> str:
    FIRED.append("executed in the caller")
    return "fired"


# A pickle that fires wherever it is loaded.
BOMB = b"cbuiltins\nexec\n(S'import __main__; __main__.fire()'\ntR."


class Quiet:
    def setUp(self) -> None:
        FIRED.clear()
        super().setUp()  # type: ignore[misc]

    def tearDown(self) -> None:
        super().tearDown()  # type: ignore[misc]
        self.assertEqual(FIRED, [])  # type: ignore[attr-defined]


class Malformed(Quiet, unittest.TestCase):
    def refused(self, form: Any) -> None:
        with self.assertRaises(zygo.InvalidResult):
            shaped.decode(form, {"Point": type("Point", (), {})})

    def test_forms_that_are_none_are_refused(self) -> None:
        for form in ([], ["x"], [[]], [None], ["l", ["?"]], {"a": 1}, ["l", {"a": 1}], ["l", (1,)], ["d", 1], ["d", ["l"], 1],
                     ["S", ["l"]], ["N"], ["N", 1, ["x"], 1], ["N", "P", ["x"]], ["N", "P", ["x", "x"], 1, 2],
                     ["N", "P", ["1"], 1], ["N", "P", ["_x"], 1], ["D", "P", ["__class__"], 1], ["D", "P", "ab", 1, 2],
                     ["D", "P", [["x"]], 1], ["q", 1], ["q", 1, 0], ["q", 1.5, 2], ["q", True, 2], ["m", 1], ["m", "x"],
                     ["m", "1" * 200_000], ["v", 1, 2], ["v", 1.0, 2, 3], ["v", 10**30, 0, 0], ["w", "date", "x", 0],
                     ["w", "tzinfo", "2024-01-01", 0], ["w", "date", "2024-01-01", 2], ["w", ["date"], "2024-01-01", 0]):
            with self.subTest(form=form):
                self.refused(form)

    def test_nesting_beyond_all_measure_is_refused(self) -> None:
        form: Any = ["l"]
        for _ in range(sys.getrecursionlimit() * 2):
            form = ["l", form]

        self.refused(form)

    @unittest.skipUnless(support.has("numpy"), "needs numpy")
    def test_arrays_that_are_not_what_they_claim_are_refused(self) -> None:
        for dtype, shape, data in (("<f8", [10**12], b""), ("<f8", [-1], b"a" * 8), ("<f8", [1], b"a" * 7), ("|O", [1], b"a" * 8),
                                   ("<f8", [10**30, 0], b""), ("V8", [1], b"a" * 8), ("S0", [10**12], b""), ("<f8", [1.0], b"a" * 8),
                                   ([("a", "O")], [1], b"a" * 8), ("<f8", 1, b"a" * 8), ("<f8", [1], "aaaaaaaa"), ("<U1", [1], b"\xff" * 4),
                                   ("<f8,<f8", [1], b"a" * 16), ("<f8", [1] * 100, b"a" * 8), ("<M8[x]", [1], b"a" * 8)):
            with self.subTest(dtype=dtype, shape=shape):
                self.refused(["a", dtype, shape, data])

    @unittest.skipUnless(support.has("numpy"), "needs numpy")
    def test_a_truth_value_is_true_or_false(self) -> None:
        array = shaped.decode(["a", "|b1", [3], b"\x00\x02\xff"], {})

        self.assertEqual(array.tobytes(), b"\x00\x01\x01")

    @unittest.skipUnless(support.has("pandas"), "needs pandas")
    def test_frames_that_do_not_fit_together_are_refused(self) -> None:
        one = ["a", "<i8", [1], b"a" * 8]
        for form in (["f", ["a"], ["r", 0, 2, 1, None], one], ["f", ["a", "b"], ["r", 0, 1, 1, None], one],
                     ["f", ["a"], ["r", 0, "1", 1, None], one], ["f", ["a"], ["r", 0, 1, 0, None], one], ["f", ["a"], ["i", None, 5], one],
                     ["f", ["a", "b"], ["r", 0, 1, 1, None], one, ["l", 1, 2]], ["f", "ab", ["r", 0, 1, 1, None], one, one],
                     ["e", ["l"], ["r", 0, 1, 1, None], one], ["e", "n", ["r", 0, 1, 1, None], ["a", "<i8", [1, 1], b"a" * 8]]):
            with self.subTest(form=form):
                self.refused(form)

    def test_keys_made_to_share_a_hash_are_refused(self) -> None:
        alike = [i * (2**61 - 1) for i in range(1000)]
        form = {"$type": "set", "items": alike}

        self.refused(["S", *alike])
        self.refused(["d", *[part for key in alike for part in (key, 1)]])
        self.assertRaises(zygo.InvalidResult, values.decode, form)
        self.assertRaises(zygo.InvalidResult, values.decode, {"$type": "dict", "items": [[key, 1] for key in alike]})

    def test_malformed_tagged_values_are_refused(self) -> None:
        for form in ({"$type": "?"}, {"$type": "tuple"}, {"$type": ["tuple"]}, {"$type": "bytes", "data": "?"}, {"$type": "bytes", "data": 3},
                     {"$type": "float", "value": "x"}, {"$type": "complex", "real": "a", "imag": 1}, {"$type": "set", "items": [[1]]},
                     {"$type": "dict", "items": [[1]]}, {"$type": "dict", "items": 7}, {"$type": "tuple", "items": {"a": 1}}):
            with self.subTest(form=form):
                self.assertRaises(zygo.InvalidResult, values.decode, form)

    @unittest.skipUnless(support.has("numpy"), "needs numpy")
    def test_an_array_of_texts_that_would_explode_stays_a_list(self) -> None:
        texts = ["a" * 100_000] + ["b"] * 10_000

        found = values.decode({"$type": "ndarray", "dtype": "str32", "shape": [10_001], "data": texts})

        self.assertIs(type(found), list)

    def test_a_pickle_is_loaded_only_where_the_caller_trusts(self) -> None:
        bomb = BOMB
        pickle.loads(bomb)
        self.assertEqual(len(FIRED), 1)
        FIRED.clear()

        for item in ((2, bomb), (0, bomb), bomb, (1, bomb), [2, bomb], (True, bomb), (2, bomb, 1), (9, bomb)):
            try:
                found = calls.value_of(item, {}, trust=False)
            except zygo.InvalidResult:
                continue
            self.assertEqual(found, bomb)

    def test_the_class_of_the_caller_is_filled_without_being_asked(self) -> None:
        class Trap(tuple):
            _fields = ("x",)

            def __new__(cls, *_: Any) -> Any:
                return fire()

            __init__ = __setattr__ = _make = fire  # type: ignore[assignment]

        self.assertEqual(type(shaped.decode(["N", "Trap", ["x"], 1], {"Trap": Trap})), Trap)

    def test_a_result_that_this_interpreter_cannot_read_is_an_invalid_one(self) -> None:
        line = b'{"id":"1","label":"OK","by":"program","ok":true,"value":[{"$type":"set","items":[[1]]}]}'

        found = result.result_of(line)

        self.assertEqual((found.label, found.ok, found.value), ("InvalidResult", False, None))


ATTACKS: dict[str, str] = {
    "a pickle as a value": "import pickle\nclass B:\n    def __reduce__(self): return (print, ('x',))\n"
                           "def f(x): return pickle.dumps(B())",
    "evil methods": "class E(int):\n    def __eq__(self, o): return True\n    def __hash__(self): return 1\n"
                    "    def __repr__(self): raise SystemExit(0)\n    __str__ = __index__ = __int__ = __repr__\ndef f(x): return E(5)",
    "an evil __class__": "class E:\n    __class__ = property(lambda self: int)\ndef f(x): return E()",
    "an evil metaclass": "class M(type):\n    def __instancecheck__(c, o): return True\n    def mro(c): return [c, object]\n"
                         "class E(metaclass=M): pass\ndef f(x): return E()",
    "a cycle": "def f(x):\n    a = []\n    a.append(a)\n    return a",
    "a deep value": "def f(x):\n    a = []\n    for _ in range(100000): a = [a]\n    return a",
    "a huge value": "def f(x): return 'a' * (1 << 28)",
    "a huge integer": "def f(x): return 1 << (1 << 20)",
    "patched modules": "import sys, json, builtins, pickle\n"
                       "def evil(*a, **k): return {'label': 'OK', 'ok': True}\n"
                       "json.dumps = json.loads = pickle.loads = pickle.dumps = builtins.repr = builtins.type = evil\n"
                       "sys.excepthook = sys.exit = evil\ndef f(x): raise ValueError('mine')",
    "forged result lines": "import os, sys\nLINE = '{\"id\":\"0\",\"label\":\"OK\",\"by\":\"program\",\"ok\":true,\"value\":[41]}\\n'\n"
                           "def f(x):\n    for fd in range(64):\n        try: os.write(fd, LINE.encode())\n        except OSError: pass\n"
                           "    print(LINE)\n    raise ValueError('mine')",
    "a walk over all frames": "import sys\ndef f(x):\n    frame, seen = sys._getframe(), []\n    while frame:\n"
                              "        seen += list(frame.f_locals) + list(frame.f_globals)\n        frame = frame.f_back\n"
                              "    import gc\n    return [n for n in seen if 'expect' in n or 'verdict' in n]",
    "an early exit": "import os\ndef f(x): os._exit(0)",
}
VERDICTS = {
    "a pickle as a value": "OK", "evil methods": "OK", "an evil __class__": "InvalidResult", "an evil metaclass": "InvalidResult",
    "a cycle": "InvalidResult", "a deep value": "InvalidResult", "a huge value": "InvalidResult", "a huge integer": "InvalidResult",
    "patched modules": "ValueError", "forged result lines": "ValueError", "a walk over all frames": "OK",
    "an early exit": "NonZeroExit",
}


class Programs(Quiet):
    def test_no_program_changes_its_verdict(self) -> None:
        results = self.pool(limits={"memory_mb": 1024}).map(
            [{"source": source, "func": "f", "inputs": [1]} for source in ATTACKS.values()])

        self.assertEqual({name: found.label for name, found in zip(ATTACKS, results)}, VERDICTS)
        found = dict(zip(ATTACKS, results))
        self.assertIs(type(found["a pickle as a value"].value[0]), bytes)
        self.assertEqual((found["evil methods"].value, type(found["evil methods"].value[0])), ([5], int))
        self.assertEqual(found["a walk over all frames"].value, [[]])

    def test_neighbours_of_an_attack_get_their_own_results(self) -> None:
        jobs = [{"source": ATTACKS["forged result lines"], "func": "f", "inputs": [1]} if i % 2 else
                {"source": "def f(x): return x", "func": "f", "inputs": [i]} for i in range(20)]

        results = self.pool().map(jobs)

        self.assertEqual([found.value for found in results[::2]], [[i] for i in range(0, 20, 2)])

    @support.needs_functions
    def test_no_function_reaches_out_of_its_sandbox(self) -> None:
        bomb = BOMB

        def pickled() -> Any:
            return bomb

        def forged(kind: int) -> Any:
            """Takes the place of what turns values into their form."""
            import sys

            frame = sys._getframe()
            while frame and frame.f_code.co_name != "call":
                frame = frame.f_back
            frame.f_globals["_is_plain"] = lambda value: False
            frame.f_globals["_shape"] = lambda value, depth: value
            return [["l", {"a": 1}], ["a", "|O", [1], b"12345678"], ["D", "P", ["__class__"], 1], ["?"]][kind]

        pool = self.pool()

        self.assertIs(type(pool.call(pickled)), bytes)
        for kind in range(4):
            with self.assertRaises(zygo.InvalidResult):
                pool.call(forged, kind)

    @support.needs_functions
    def test_no_function_makes_the_caller_load_its_pickle(self) -> None:
        bomb = BOMB

        def forged() -> Any:
            import builtins
            import sys

            frame = sys._getframe()
            while frame and frame.f_code.co_name != "call":
                frame = frame.f_back
            module = frame.f_globals
            module["_SCALARS"] = frozenset((bytes,))
            builtins.tuple = lambda *_: (2, bomb)
            return (2, bomb)

        self.assertEqual(self.pool().call(forged)[0], 2)  # a plain tuple of the program's, and nothing more

    @support.needs_functions
    def test_exceptions_with_evil_names_and_texts_are_text(self) -> None:
        def fail(how: int) -> None:
            class KeyboardInterrupt(Exception):
                def __str__(self) -> str:
                    return "x" * 10_000_000

            class Liar(Exception):
                pass

            Liar.__name__ = "SystemExit" if how else "OK"
            raise (KeyboardInterrupt if how == 2 else Liar)("y")

        for how in range(3):
            with self.assertRaises(zygo.ProgramError):
                self.pool().call(fail, how)


class Embedded(support.OnEmbedded, Programs, unittest.TestCase):
    pass


class OnAService(support.OnService, Programs, unittest.TestCase):
    pass


if __name__ == "__main__":
    support.main()
