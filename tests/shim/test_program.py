"""The program runner inside a job's process, without a sandbox: what a program sees, how it ends,
what it may return, and that nothing it patches changes what is reported."""

import contextlib
import math
import os
import resource
import shutil
import struct
import sys
import tempfile
import unittest

with contextlib.suppress(ImportError):
    import numpy
import concurrent.futures.thread  # noqa: F401  both register something to be done at the end,
import logging  # noqa: F401                    as they do in a template
import random  # noqa: F401

import _zygo_test

NOTHING, FINISHED, VALUE, EXCEPTION, INVALID, EXITED = range(6)
BY_INTERPRETER_MEMORY, BY_INTERPRETER_SPACE, COULD_NOT_START, NO_THREAD = 1, 2, 4, 8
HAS_NUMPY = "numpy" in sys.modules


def encode(value):
    if value is None or isinstance(value, bool):
        return {None: b"N", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        if 0 <= value < 256:
            return b"u" + bytes([value])
        if -(2**63) <= value < 2**63:
            return b"i" + struct.pack("<q", value)
        return b"I" + counted(str(value).encode())
    if isinstance(value, float):
        return b"d" + struct.pack("<d", value)
    if isinstance(value, complex):
        return b"c" + struct.pack("<dd", value.real, value.imag)
    if isinstance(value, str):
        return b"s" + counted(value.encode())
    if isinstance(value, bytes):
        return b"b" + counted(value)
    if isinstance(value, dict):
        pairs = b"".join(encode(k) + encode(v) for k, v in value.items())
        return b"D" + struct.pack("<I", len(value)) + pairs
    items = [encode(item) for item in value]
    tag = {list: b"l", tuple: b"t", set: b"S", frozenset: b"Z"}[type(value)]
    if tag in b"SZ":
        items.sort()
    return tag + struct.pack("<I", len(items)) + b"".join(items)


def counted(content):
    return struct.pack("<I", len(content)) + content


class Array:
    def __init__(self, dtype, shape, value):
        self.parts = (dtype, shape, value)


def decode(data):
    value, rest = decode_one(data)
    assert not rest, rest
    return value


def decode_one(data):
    tag, data = data[:1], data[1:]
    if tag in b"NTF":
        return {b"N": None, b"T": True, b"F": False}[tag], data
    if tag == b"u":
        return data[0], data[1:]
    if tag in b"id":
        return struct.unpack("<q" if tag == b"i" else "<d", data[:8])[0], data[8:]
    if tag == b"c":
        return complex(*struct.unpack("<dd", data[:16])), data[16:]
    if tag == b"A":
        parts = []
        for _ in range(3):
            part, data = decode_one(data)
            parts.append(part)
        return Array(*parts), data
    (count,), data = struct.unpack("<I", data[:4]), data[4:]
    if tag in b"Isb":
        content, data = data[:count], data[count:]
        return {b"I": int, b"s": bytes.decode, b"b": bytes}[tag](content), data
    items = []
    for _ in range(count * (2 if tag == b"D" else 1)):
        item, data = decode_one(data)
        items.append(item)
    if tag == b"D":
        return dict(zip(items[::2], items[1::2])), data
    return {b"l": list, b"t": tuple, b"S": set, b"Z": frozenset}[tag](items), data


class Result:
    def __init__(self, status, kind, payload, note, out, err):
        self.code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        self.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        self.kind, self.payload, self.note = kind, payload, note
        self.out, self.err = out.decode(), err.decode()
        self.value = decode(payload) if kind == VALUE else None
        self.type = self.message = self.traceback = self.line = self.flags = None
        if kind == EXCEPTION:
            self.type, self.message, self.traceback, self.line, self.flags = decode(payload)
        self.reason, self.path = decode(payload) if kind == INVALID else (None, None)


def run_request(request, **options):
    with scratch() as directory:
        return Result(*_zygo_test.run_for_test(request=request, directory=directory, **options))


@contextlib.contextmanager
def scratch():
    # Not a TemporaryDirectory: that registers a callback for the end, which every fork would run.
    directory = tempfile.mkdtemp()
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


def script(source, argv=("main.py",), env=None, files=(), **options):
    request = [source, 0, "", [], False, list(argv), env or {}, [list(f) for f in files]]
    return run_request(encode(request), **options)


def calls(source, *calls, func="f", array=False, **options):
    listed = [[list(args), kwargs] for args, kwargs in calls]
    return run_request(encode([source, 1, func, listed, array, ["main.py"], {}, []]), **options)


def call(source, *args, **options):
    return calls(source, (args, {}), **options)


def returned(expression, setup="", **options):
    return call(f"{setup}\ndef f():\n    return {expression}\n", **options)


class Case(unittest.TestCase):
    def assert_finished(self, result, out=None, code=0):
        self.assertEqual((result.kind, result.code), (FINISHED, code), result.err)
        if out is not None:
            self.assertEqual(result.out, out)

    def assert_raised(self, result, name):
        self.assertEqual((result.kind, result.type), (EXCEPTION, name), result.err)
        return result

    def assert_value(self, result, value):
        self.assertEqual(result.kind, VALUE, (result.err, result.payload))
        self.assertEqual(result.value, [value])
        self.assertEqual(result.payload[5:], encode(value))

    def assert_invalid(self, result, reason, path=None):
        self.assertEqual(result.kind, INVALID, (result.err, result.payload[:500]))
        self.assertIn(reason, result.reason)
        if path is not None:
            self.assertEqual(result.path, path)
        self.assertEqual(result.code, 0)


class AScriptIsMain(Case):
    def test_in_name_modules_and_frames(self):
        self.assert_finished(script(
            "import sys\n"
            "assert __name__ == '__main__' and __file__ == 'main.py' and __spec__ is None\n"
            "assert sys.modules['__main__'].__dict__ is globals()\n"
            "assert sys._getframe().f_back is None\n"
            "assert __builtins__ is __import__('builtins')\n"
            "exit, quit, help\n"
        ))

    def test_with_pickle_dataclasses_and_annotations(self):
        self.assert_finished(script(
            "import pickle, dataclasses\n"
            "@dataclasses.dataclass\n"
            "class P:\n    x: int\n"
            "assert pickle.loads(pickle.dumps(P(3))) == P(3)\n"
            "assert 'annotations' not in globals()\n"
        ))

    def test_with_its_arguments_environment_and_input(self):
        result = script(
            "import sys, os, ctypes\n"
            "libc = ctypes.CDLL(None)\nlibc.getenv.restype = ctypes.c_char_p\n"
            "print(sys.argv, os.environ['COLOUR'], libc.getenv(b'COLOUR'), input(), sys.stdin.read())",
            argv=["main.py", "-x", "é"], env={"COLOUR": "blue"}, stdin=b"one\ntwo\nthree",
        )
        self.assert_finished(result, "['main.py', '-x', 'é'] blue b'blue' one two\nthree\n")

    def test_without_buffers_when_its_environment_says_so(self):
        for value in ("1", ""):
            result = script(
                "import os, sys\n"
                "for s in (sys.stdin, sys.stdout, sys.stderr):\n"
                "    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.write_through, type(s.buffer).__name__)\n"
                "assert sys.__stdout__ is sys.stdout and sys.__stderr__ is sys.stderr\n"
                "print('a', end='')\n"
                "os.write(1, b'b')\n"
                "print('c', file=sys.stderr, end='')\n"
                "os.write(2, b'd')\n",
                env={"PYTHONUNBUFFERED": value},
            )
            writer, end = ("FileIO", "ab") if value else ("BufferedWriter", "a")
            stdin = "<stdin> r utf-8 strict False False BufferedReader\n"
            lines = f"<stdout> w utf-8 strict False {bool(value)} {writer}\n<stderr> w utf-8 backslashreplace {not value} {bool(value)} {writer}\n"
            self.assertEqual(result.out, stdin + lines + end if value else "b" + stdin + lines + end)
            self.assertEqual(result.err, "cd" if value else "dc")

    def test_with_its_files(self):
        result = script(
            "import os, helper\n"
            "print(open('data/in.txt').read(), os.access('tool', os.X_OK), helper.x)",
            files=[("data/in.txt", b"hello", False), ("tool", b"#!", True), ("helper.py", b"x=5", False)],
        )
        self.assert_finished(result, "hello True 5\n")

    def test_whose_files_stay_in_the_working_directory(self):
        for path in ("/etc/x", "../x", "a/../../x", ""):
            result = self.assert_raised(script("print(1)", files=[(path, b"", False)]), "ValueError")
            self.assertEqual((result.flags, result.out), (COULD_NOT_START, ""))

    def test_with_standard_streams_for_pipes(self):
        result = script(
            "import sys\n"
            "for s in (sys.stdin, sys.stdout, sys.stderr):\n"
            "    print(s.name, s.mode, s.encoding, s.errors, s.line_buffering, s.seekable(), s.fileno())\n"
            "assert sys.__stdout__ is sys.stdout\n"
        )
        self.assert_finished(
            result,
            "<stdin> r utf-8 strict False False 0\n<stdout> w utf-8 strict False False 1\n"
            "<stderr> w utf-8 backslashreplace True False 2\n",
        )

    def test_with_sources_in_its_own_tracebacks(self):
        result = script("import traceback, inspect\ndef f(): pass\ntry:\n    1/0  # here\n"
                        "except Exception:\n    print(traceback.format_exc())\n"
                        "print(inspect.getsource(f))")
        self.assertIn("1/0  # here", result.out)
        self.assertIn("def f(): pass", result.out)

    def test_without_the_future_of_others(self):
        self.assert_finished(script("def f(x: 1 + 1): pass\nprint(f.__annotations__)"), "{'x': 2}\n")

    def test_with_callbacks_from_c(self):
        self.assert_finished(script(
            "import ctypes\n"
            "T = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)\n"
            "seen = []\n"
            "a = (ctypes.c_int * 3)(3, 1, 2)\n"
            "for library in (ctypes.CDLL(None), ctypes.PyDLL(None)):\n"
            "    library.qsort(a, 3, 4, T(lambda x, y: seen.append(1) or 0))\n"
            "print(len(seen) > 2)"
        ), "True\n")


class AScriptEnds(Case):
    def test_by_falling_off_its_end(self):
        self.assert_finished(script(""), "")
        self.assert_finished(script("print('x', end='')"), "x")

    def test_by_exit_codes(self):
        for source, code in [("exit()", 0), ("quit(3)", 3), ("import sys; sys.exit(257)", 1),
                             ("raise SystemExit(None)", 0), ("raise SystemExit(-1)", 255),
                             ("raise SystemExit(10**30)", 255), ("raise SystemExit(True)", 1)]:
            self.assert_finished(script(source), code=code)
        result = script("import sys; sys.exit('out of paint')")
        self.assert_finished(result, code=1)
        self.assertEqual(result.err, "out of paint\n")

    def test_by_an_exception(self):
        result = self.assert_raised(script("x = 1\nraise ValueError('bad')"), "ValueError")
        text = ('Traceback (most recent call last):\n  File "main.py", line 2, in <module>\n'
                "    raise ValueError('bad')\nValueError: bad\n")
        self.assertEqual((result.code, result.message, result.line, result.flags), (1, "bad", 2, 0))
        self.assertEqual((result.traceback, result.err), (text, text))

    def test_without_an_answer_by_os_exit_and_signals(self):
        self.assertEqual(script("import os; os._exit(0)").kind, NOTHING)
        result = script("import os; os.kill(os.getpid(), 9)")
        self.assertEqual((result.kind, result.signal), (NOTHING, 9))

    def test_after_its_threads_and_callbacks(self):
        self.assert_finished(script(
            "import threading, atexit, logging, time\n"
            "class Late(logging.Handler):\n    def flush(self): print('logging', flush=True)\n"
            "logging.getLogger().addHandler(Late())\n"
            "def work():\n    time.sleep(0.05); print('thread')\n"
            "threading.Thread(target=work).start()\n"
            "atexit.register(print, 'atexit')\nprint('main')\n"
        ), "main\nthread\natexit\nlogging\n")
        result = script("import atexit; atexit.register(print, 'bye')\nraise KeyError")
        self.assert_raised(result, "KeyError")
        self.assertEqual(result.out, "bye\n")

    def test_with_executors_joined(self):
        self.assert_finished(script(
            "import concurrent.futures as c, time\n"
            "e = c.ThreadPoolExecutor(2)\ne.submit(lambda: (time.sleep(.05), print('done')))\n"
        ), "done\n")

    def test_with_open_files_flushed(self):
        with scratch() as directory:
            source = "f = open('x', 'w'); f.write('text'); g = open('y', 'wb'); g.write(b'bytes')"
            request = encode([source, 0, "", [], False, [], {}, []])
            _zygo_test.run_for_test(request=request, directory=directory)
            with open(directory + "/x") as x, open(directory + "/y") as y:
                self.assertEqual((x.read(), y.read()), ("text", "bytes"))

    def test_with_its_own_excepthook(self):
        result = script("import sys\nsys.excepthook = lambda t, v, tb: print(t.__name__, v, tb.tb_lineno)\n1/0")
        self.assert_raised(result, "ZeroDivisionError")
        self.assertEqual((result.out, result.err), ("ZeroDivisionError division by zero 3\n", ""))
        result = script("import sys\ndef hook(*a): raise OSError('hook')\nsys.excepthook = hook\n1/0")
        self.assert_raised(result, "ZeroDivisionError")
        self.assertIn("Error in sys.excepthook:", result.err)
        self.assertIn("Original exception was:", result.err)

    def test_with_its_verdict_although_streams_are_broken(self):
        for source in ("import os; print('x'); os.close(1)", "import sys; sys.stdout = None",
                       "import sys; print('x'); sys.stdout.close()", "import sys; del sys.stdout",
                       "import sys; sys.stdout = sys.stderr = 5",
                       "import sys\nclass B:\n    def flush(self): raise SystemExit(9)\n"
                       "    def write(self, t): raise OSError\nsys.stdout = sys.stderr = B()"):
            self.assert_finished(script(source))
            self.assert_raised(script(source + "\nraise LookupError"), "LookupError")

    def test_once_although_it_forked(self):
        result = script("import os\nif os.fork() == 0:\n    raise ValueError\nos.wait()\nprint('parent')")
        self.assert_finished(result, "parent\n")
        result = script("import os\nif os.fork():\n    os.wait(); os._exit(0)\n")
        self.assertEqual(result.kind, NOTHING)

    def test_with_the_signals_that_python_has(self):
        source = "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhile True: pass"
        self.assert_raised(script(source), "KeyboardInterrupt")
        source = "import os\nr, w = os.pipe()\nos.close(r)\nos.write(w, b'x')"
        self.assert_raised(script(source), "BrokenPipeError")

    def test_as_could_not_start_for_broken_sources(self):
        result = self.assert_raised(script("x = 1\ndef f(x)  # here\n    return x"), "SyntaxError")
        self.assertEqual((result.flags, result.line), (COULD_NOT_START, 2))
        self.assertIn('  File "main.py", line 2\n    def f(x)  # here\n              ^', result.traceback)
        self.assertEqual(result.err, result.traceback)
        self.assert_raised(script("def f():\nreturn 1"), "IndentationError")
        self.assert_raised(script("\n  x = 'no end"), "IndentationError")
        self.assertEqual(script("x = 'a\0b'").kind, EXCEPTION)
        self.assertEqual(script("(" * 5000).kind, EXCEPTION)

    def test_with_the_requests_own_bugs_told_apart(self):
        for request in (b"", b"l", b"l\x08\0\0\0", encode(["x", 7, "", [], False, [], {}, []]),
                        encode(["x", 0, "", [], False, [], {}, []]) + b"N"):
            result = run_request(request)
            self.assertEqual((result.kind, result.code), (NOTHING, 70))


class Calls(Case):
    def test_give_their_results_in_order(self):
        result = calls("def f(x, y=1, *, z=2): return [x, y, z]", ([1], {}), ([3, 4], {"z": 5}))
        self.assertEqual(result.value, [[1, 1, 2], [3, 4, 5]])
        self.assertEqual(calls("def f(): pass").value, [])

    def test_run_in_main_that_is_not_called_so(self):
        self.assert_value(returned(
            "[__name__, sys.modules['__main__'] is sys.modules['program'], "
            "pickle.loads(pickle.dumps(P(1))) == P(1), sys._getframe().f_back is None]",
            "import sys, pickle, dataclasses\nif __name__ == '__main__': 1/0\n"
            "@dataclasses.dataclass\nclass P:\n    x: int"),
            ["program", True, True, True])

    def test_are_plain_and_fresh(self):
        self.assert_raised(call("def f(x): return next(iter([]))", 1), "StopIteration")
        result = calls("seen = []\ndef f(x):\n    x.append(1)\n    return seen or seen.append(x) or x",
                       ([[]], {}), ([[]], {}))
        self.assertEqual(result.value, [[1], [[1]]])

    def test_encode_each_result_at_once(self):
        result = calls("kept = []\ndef f(x):\n    kept.append(x)\n    return kept", ([1], {}), ([2], {}))
        self.assertEqual(result.value, [[1], [1, 2]])

    def test_end_with_the_first_exception(self):
        result = calls("def f(x):\n    print(x)\n    return 1/x", ([1], {}), ([0], {}), ([2], {}))
        self.assert_raised(result, "ZeroDivisionError")
        self.assertEqual((result.out, result.err, result.line), ("1\n0\n", "", 3))

    def test_need_a_function(self):
        result = self.assert_raised(call("def g(): pass"), "NameError")
        self.assertEqual(result.message, "name 'f' is not defined")
        self.assert_raised(call("f = 12"), "TypeError")
        self.assert_raised(call("def f(): pass", 1), "TypeError")
        self.assert_raised(call("X = Y"), "NameError")
        result = self.assert_raised(call("def f(:"), "SyntaxError")
        self.assertEqual((result.flags, result.err), (COULD_NOT_START, ""))

    def test_that_exit_have_no_value(self):
        for source, code in [("import sys\ndef f(): sys.exit(0)", 0), ("exit(3)\ndef f(): pass", 3)]:
            result = call(source)
            self.assertEqual((result.kind, result.code), (EXITED, code))
        self.assertEqual(call("import os\ndef f(): os._exit(0)").kind, NOTHING)

    def test_take_every_kind_of_value(self):
        value = [None, True, False, 0, 255, 256, -1, 2**63, -(10**50), 1.5, math.inf, 2j, "é\0", b"\xff",
                 [], (1, (2,)), {1, 2}, frozenset({3}), {"a": [1], 2: {}}]
        result = call("def f(x):\n    return x", value)
        self.assert_value(result, value)


@unittest.skipUnless(HAS_NUMPY, "needs numpy")
class Arrays(Case):
    SHOW = "import numpy\ndef f(x):\n    return [type(x).__name__] + (" \
           "[str(x.dtype), list(x.shape), x.flags.owndata, x.flags.writeable, x.tolist()]" \
           " if isinstance(x, numpy.ndarray) else [x])"

    def test_are_made_of_rectangular_lists_of_integers(self):
        for value, shape in [([1, -2], [2]), ([[1, 2], [3, 400]], [2, 2]), ([], [0]), ([[], []], [2, 0]),
                             ([[[1]], [[2]]], [2, 1, 1])]:
            result = call(self.SHOW, value, array=True)
            self.assert_value(result, ["ndarray", "int64", shape, True, True, value])

    def test_are_not_made_of_anything_else(self):
        for value in ([[1], [2, 3]], [1.5], [True], ["a"], [[1], 2], [1, [2]], [2**70], (1, 2), {"a": [1]}, 5,
                      [[[1]], [2]], [[], [1]]):
            self.assertEqual(call(self.SHOW, value, array=True).value[0][1], value)
        self.assertEqual(call(self.SHOW, [1]).value, [["list", [1]]])

    def test_are_made_of_keyword_arguments_too(self):
        result = calls("def f(*, grid): return type(grid).__name__", ([], {"grid": [[1]]}), array=True)
        self.assertEqual(result.value, ["ndarray"])

    def test_are_encoded_with_dtype_and_shape(self):
        for expression, dtype, shape, value in [
            ("np.arange(4).reshape(2, 2)", "int64", [2, 2], [[0, 1], [2, 3]]),
            ("np.array(5, dtype=np.uint8)", "uint8", [], 5),
            ("np.array([True])", "bool", [1], [True]),
            ("np.array([1.5, 2])[::-1]", "float64", [2], [2.0, 1.5]),
            ("np.array(['ab'])", "str64", [1], ["ab"]),
            ("np.array([[1], 'x'], dtype=object)", "object", [2], [[1], "x"]),
            ("np.matrix([[1, 2]])", "int64", [1, 2], [[1, 2]]),
            ("np.zeros((0, 3))", "float64", [0, 3], []),
        ]:
            result = returned(expression, "import numpy as np")
            self.assertEqual(result.kind, VALUE, result.payload)
            self.assertEqual(result.value[0].parts, (dtype, shape, value))

    def test_scalars_become_plain(self):
        self.assert_value(
            returned("[np.int32(-7), np.float32(.5), np.bool_(True), np.str_('a'), np.complex64(1j), np.float64(2)]",
                     "import numpy as np"), [-7, 0.5, True, "a", 1j, 2.0])

    def test_of_strange_types_are_invalid(self):
        setup = "import numpy as np"
        self.assert_invalid(returned("np.datetime64('2020-01-01')", setup), "type 'date' cannot be encoded")
        name = numpy.longdouble.__name__
        self.assert_invalid(returned("[np.longdouble(1)]", setup), f"type '{name}'", "[0][0]")
        self.assert_invalid(returned("np.broadcast_to(np.int8(1), (10**6, 10**6))", setup), "larger than")
        self.assert_invalid(returned("a", setup + "\na = np.empty(1, object)\na[0] = a"), "a cycle")


class Values(Case):
    def test_of_subclasses_encode_as_their_base(self):
        setup = (
            "import collections, enum\n"
            "class L(list):\n    def __iter__(self): raise Exception\n    def __len__(self): return 9**9\n"
            "class D(dict):\n    def items(self): raise Exception\n    def __iter__(self): raise Exception\n"
            "class T(tuple):\n    def __getitem__(self, i): raise Exception\n"
            "class S(set):\n    def __iter__(self): raise Exception\n"
            "class I(int):\n    def __index__(self): raise Exception\n    def __neg__(self): return 0\n"
            "class Text(str):\n    def encode(self, *a): raise Exception\n"
            "class F(float):\n    def __float__(self): raise Exception\n"
            "class E(enum.IntEnum):\n    A = 3\n"
            "class Flag(enum.IntFlag):\n    A = 4\n"
            "N = collections.namedtuple('N', 'x y')\n"
        )
        self.assert_value(
            returned("[L([1]), D(a=1), T((1,)), S([1]), I(5), I(-2**70), Text('t'), F(.5), E.A, Flag.A, N(1, 2),"
                     "collections.OrderedDict(b=1), collections.Counter('a'), bytearray(b'x'), memoryview(b'abcd')[::2]]",
                     setup),
            [[1], {"a": 1}, (1,), {1}, 5, -(2**70), "t", 0.5, 3, 4, (1, 2), {"b": 1}, {"a": 1}, b"x", b"ac"])

    def test_have_sets_in_the_order_of_their_bytes(self):
        self.assert_value(returned("{'b', 'a', 300, 2, None, (1, 2)}"), {"b", "a", 300, 2, None, (1, 2)})
        self.assert_value(returned("frozenset(range(1000))"), frozenset(range(1000)))

    def test_have_integers_of_any_size_up_to_4300_digits(self):
        setup = "import sys\ngetattr(sys, 'set_int_max_str_digits', id)(640)"
        limit = getattr(sys, "get_int_max_str_digits", lambda: 0)()
        for expression in ("10**4300 - 1", "-(10**4300) + 1", "2**63", "-2**63 - 1", "10**18", "-2**64", "2**64 + 1"):
            result = returned(expression, setup)
            self.assertEqual(result.value, [eval(expression)])
        for expression in ("10**4300", "-10**4300", "1 << 10**6"):
            self.assert_invalid(returned(expression, setup), "an integer with more than 4300 digits")
        self.assertIn(limit, (0, 4300))

    def test_that_cannot_be_encoded_say_why_and_where(self):
        for expression, reason, path in [
            ("{'x': [0, iter([])]}", "type 'list_iterator' cannot be encoded", "[0].x[1]"),
            ("(i for i in [])", "type 'generator' cannot be encoded", "[0]"),
            ("[f]", "type 'function' cannot be encoded", "[0][0]"),
            ("{'a b': {5: object}}", "type 'type' cannot be encoded", '[0]["a b"][5]'),
            ("{frozenset([print]): 1}", "type 'builtin_function_or_method'", "[0].keys(){}"),
            ("'\\ud800'", "a string with a lone surrogate", "[0]"),
            ("__import__('datetime').date(2020, 1, 1)", "type 'date' cannot be encoded", "[0]"),
            ("__import__('enum').Enum('Colour', 'RED').RED", "type 'Colour' cannot be encoded", "[0]"),
        ]:
            self.assert_invalid(returned(expression), reason, path)

    def test_of_the_second_call_are_named_so(self):
        self.assert_invalid(calls("def f(x): return x or f", ([1], {}), ([0], {})), "type 'function'", "[1]")

    def test_with_cycles_are_invalid_but_sharing_is_fine(self):
        self.assert_invalid(returned("x", "x = [1, {}]\nx[1]['k'] = x"), "a cycle", "[0][1].k")
        self.assert_value(returned("[x, x, (x,)]", "x = [1]"), [[1], [1], ([1],)])

    def test_are_at_most_200_levels_deep(self):
        deep = "def nest(n):\n    x = 1\n    for _ in range(n): x = [x]\n    return x"
        self.assertEqual(returned("nest(199)", deep).kind, VALUE)
        self.assert_invalid(returned("nest(200)", deep), "deeper than 200 levels")
        self.assert_invalid(returned("nest(10**6)", deep), "deeper than 200 levels")

    def test_are_at_most_as_large_as_the_space_for_them(self):
        for expression in ("'x' * 2000", "b'x' * 2000", "[0] * 2000", "['é' * 600]", "[0.5] * 200", "set(range(2000))",
                           "10**2000", "'x' * 10**8"):
            self.assert_invalid(returned(expression, capacity=1000), "larger than 1000 bytes")
        laughs = "x = [0]\nfor _ in range(150): x = [x, x]"
        self.assert_invalid(returned("x", laughs), "larger than 1048576 bytes")
        self.assertEqual(returned("b'x' * 990", capacity=1000).kind, VALUE)

    def test_are_not_fooled_by_hostile_classes(self):
        setup = (
            "class M(type):\n    def __instancecheck__(c, o): return True\n    @property\n    def __name__(c): return 'OK'\n"
            "    def __getattribute__(c, n): raise SystemExit(0)\n"
            "class H(metaclass=M):\n    @property\n    def __class__(self): return list\n"
            "    def __getattr__(self, n): raise SystemExit(0)\n    __getattribute__ = __getattr__\n"
        )
        self.assert_invalid(returned("[H()]", setup), "type 'H' cannot be encoded", "[0][0]")
        self.assert_invalid(returned("H", setup), "type 'M' cannot be encoded")


class Exceptions(Case):
    def test_show_their_chain(self):
        result = self.assert_raised(call(
            "def f(x):\n    try:\n        return x / 0\n    except ZeroDivisionError as e:\n"
            "        raise LookupError('no row') from e", 1), "LookupError")
        self.assertRegex(result.traceback, r"(?s)ZeroDivisionError.*direct cause.*LookupError: no row\n$")
        result = call("def f():\n    try: 1/0\n    except Exception: {}['a']")
        self.assertRegex(result.traceback, r"(?s)ZeroDivisionError.*During handling.*KeyError: 'a'\n$")
        result = call("def f():\n    try: 1/0\n    except Exception: raise KeyError from None")
        self.assertNotIn("ZeroDivisionError", result.traceback)

    def test_show_chains_and_recursion_within_bounds(self):
        result = self.assert_raised(call("def f():\n    return f()"), "RecursionError")
        self.assertRegex(result.traceback, r"\[Previous line repeated \d+ more times\]")
        self.assertLess(len(result.traceback), 2000)
        result = call("def a(n): return b(n)\ndef b(n): return c(n)\ndef c(n):\n    return a(n - 1) if n else 1/0\n"
                      "def f(): a(100)")
        self.assertRegex(result.traceback, r"\[\d+ frames not shown\]")
        result = call("def f():\n    e = ValueError()\n    e.__cause__ = KeyError(); e.__cause__.__cause__ = e\n    raise e")
        self.assert_raised(result, "ValueError")
        result = call("def f():\n    e = None\n    for i in range(9999):\n        n = ValueError('m' * 9999); n.__cause__ = e; e = n\n    raise e")
        self.assertLessEqual(len(result.traceback), 32 << 10)

    def test_have_bounded_texts(self):
        result = self.assert_raised(call("def f(): raise ValueError('x' * (1 << 22))"), "ValueError")
        self.assertEqual(len(result.message), 8 << 10)
        self.assertLessEqual(len(result.traceback), 32 << 10)
        result = call("def f(): raise ValueError('é' * (1 << 20))", capacity=300)
        self.assert_raised(result, "ValueError")
        result = call("def f(): raise type('E' * (1 << 20), (Exception,), {})")
        self.assertLess(len(result.type), 256)

    def test_survive_hostile_texts(self):
        result = self.assert_raised(call(
            "class Mute(Exception):\n    def __str__(self): raise SystemExit(0)\n    __repr__ = __str__\n"
            "def f(): raise Mute"), "Mute")
        self.assertEqual(result.message, "<unprintable>")
        result = self.assert_raised(call("def f(): raise ValueError('\\ud800')"), "ValueError")
        self.assertEqual(result.message, "\\ud800")
        result = self.assert_raised(call("def f(): raise ValueError('\\x1b[31m\\0\\a\\n')"), "ValueError")
        self.assertEqual(result.message, "\x1b[31m\0\a\n")
        self.assert_raised(call(
            "class Liar(type):\n    @property\n    def __name__(cls): return 'OK'\n    def __getattribute__(c, n): raise SystemExit(0)\n"
            "class Plain(Exception, metaclass=Liar): pass\ndef f(): raise Plain"), "Plain")
        self.assert_raised(call("class E(Exception):\n    def __init__(self): pass\n    __cause__ = __context__ = 3\n"
                                "    __traceback__ = 5\ndef f(): raise E"), "E")

    def test_name_their_module_where_it_is_not_the_programs(self):
        result = call("import json\ndef f(): json.loads('{')")
        self.assert_raised(result, "JSONDecodeError")
        self.assertIn("json.decoder.JSONDecodeError: Expecting", result.traceback)
        self.assertEqual(result.line, 2)
        result = call("class Mine(Exception): pass\ndef f(): raise Mine('x')")
        self.assertIn("\nMine: x", result.traceback)

    @unittest.skipUnless(sys.version_info >= (3, 11), "needs exception groups")
    def test_show_groups_and_notes(self):
        result = self.assert_raised(call(
            "def f():\n    e = ExceptionGroup('several', [ValueError('a'), TypeError('b')])\n    e.add_note('a note')\n    raise e"),
            "ExceptionGroup")
        self.assertIn("  + Exception Group Traceback (most recent call last):\n  |   File ", result.traceback)
        self.assertIn("  | ExceptionGroup: several (2 sub-exceptions)\n  | a note\n"
                      "  +-+---------------- 1 ----------------\n    | ValueError: a\n"
                      "    +---------------- 2 ----------------\n    | TypeError: b\n", result.traceback)

    def test_blame_the_interpreter_only_for_what_it_raised(self):
        no_space = BY_INTERPRETER_SPACE
        torch = "DefaultCPUAllocator: can't allocate memory"

        def by_c_code(name, message):
            return f"import ctypes; ctypes.pythonapi.PyErr_SetString(ctypes.py_object({name}), {message.encode()!r})"

        for body, flags in [
            ("[0] * (1 << 60)", BY_INTERPRETER_MEMORY),
            ("try: bytearray(1 << 60)\n    except MemoryError: raise", BY_INTERPRETER_MEMORY),
            ("raise MemoryError", 0), ("raise MemoryError('x')", 0),
            ("import mmap; mmap.mmap(-1, 1 << 47)", BY_INTERPRETER_MEMORY),
            ("import errno; raise OSError(errno.ENOMEM, 'mine')", 0),
            ("import errno; raise OSError(errno.ENOSPC, 'full')", 0),
            ("os.write(os.open('/dev/full', os.O_WRONLY), b'x')", no_space),
            ("open('/dev/full', 'w').write('x' * 99999)", no_space),
            ("raise RuntimeError(\"can't start new thread\")", 0), ("{}['x']", 0),
            (by_c_code("RuntimeError", f"[enforce fail at alloc_cpu.cpp:66] . {torch}: you tried"), BY_INTERPRETER_MEMORY),
            (by_c_code("RuntimeError", "can't allocate"), 0), (by_c_code("ValueError", torch), 0),
            (f"raise RuntimeError(\"{torch}\")", 0),
            ("error = type('error', (Exception,), {}); "
             + by_c_code("error", "OpenCV(4.6.0) alloc.cpp:73: error: (-4:Insufficient memory) Failed"), BY_INTERPRETER_MEMORY),
        ]:
            result = call(f"import os\ndef f():\n    {body}")
            self.assertEqual((result.kind, result.flags), (EXCEPTION, flags), body)
        self.assertEqual(calls("f = bytearray", ([1 << 60], {})).flags, BY_INTERPRETER_MEMORY)
        self.assertEqual(call("class MemoryError(Exception): pass\ndef f(): raise MemoryError").flags, 0)

    def test_of_exhausted_memory_still_answer(self):
        limits = [(resource.RLIMIT_AS, 600 << 20)]
        result = call("def f():\n    x = []\n    while True: x.append(bytearray(1000) + b'x')", limits=limits)
        self.assert_raised(result, "MemoryError")
        self.assertEqual((result.flags, result.line), (BY_INTERPRETER_MEMORY, 3))
        result = call("def f():\n    x = {}\n    while True: x[len(x)] = [1.5] * 9", limits=limits)
        self.assert_raised(result, "MemoryError")

    def test_of_full_files_are_the_interpreters(self):
        limits = [(resource.RLIMIT_FSIZE, 1000)]
        result = script("f = open('x', 'wb', 0)\nfor i in range(9): f.write(b'x' * 900)", limits=limits)
        self.assert_raised(result, "OSError")
        self.assertEqual(result.flags, BY_INTERPRETER_SPACE)
        result = script("print(1)", files=[("x", b"x" * 2000, False)], limits=limits)
        self.assert_raised(result, "OSError")
        self.assertEqual(result.flags, BY_INTERPRETER_SPACE | COULD_NOT_START)


class APatchedInterpreter(Case):
    PATCH = (
        "import sys, builtins, json, traceback, atexit, io, threading, os, logging, gc, linecache, random, types\n"
        "def evil(*a, **k): os._exit(77)\n"
        "for m in (json, traceback, atexit, io, threading, logging, gc, random, linecache):\n"
        "    for n in list(vars(m)):\n"
        "        if isinstance(vars(m)[n], (types.FunctionType, types.BuiltinFunctionType)): setattr(m, n, evil)\n"
        "for n in ('compile', 'repr', 'str', 'isinstance', 'type', 'print', 'id', 'list', 'BaseException'):\n"
        "    setattr(builtins, n, evil)\n"
        "sys.modules.clear() if CLEAR else None\n"
        "sys.setrecursionlimit(60)\n"
        "sys.flags = sys.path = sys.modules = None\n"
    )

    def test_changes_nothing_for_the_answer(self):
        for clear in (0, 1):
            patch = self.PATCH.replace("CLEAR", str(clear))
            self.assert_value(call(patch + "def f(): return {'a': [1, 'x']}"), {"a": [1, "x"]})
            self.assert_raised(call(patch + "def f(): return {}['a']"), "KeyError")
            self.assert_finished(script(patch + "sys.stdout.write('out')"), "out")
            result = self.assert_raised(script(patch + "{}['a']"), "KeyError")
            self.assertIn("KeyError: 'a'", result.err)

    def test_does_not_show_what_runs_it(self):
        self.assert_finished(script(
            "import sys, traceback\n"
            "assert len(traceback.extract_stack()) == 1\n"
            "try: sys._getframe(1)\nexcept ValueError: print('alone')\n"), "alone\n")


class Forks(Case):
    def test_have_random_numbers_of_their_own(self):
        source = "import random, sys\nprint(random.random())\n"
        if HAS_NUMPY:
            source += "import numpy\nprint(numpy.random.rand(), numpy.random.randn(), numpy.random.permutation(9))\n"
            source += "assert 0.4 < numpy.random.rand(9999).mean() < 0.6\n"
        lines = [script(source).out.split() for _ in range(3)]
        for column in zip(*lines):
            if "." in column[0]:
                self.assertEqual(len(set(column)), 3)

    def test_know_their_own_thread(self):
        self.assert_finished(script(
            "import threading, os\nassert threading.main_thread().native_id == os.getpid() == threading.get_native_id()\n"
            "assert threading.current_thread() is threading.main_thread()"))


class TheAuditNote(Case):
    def test_names_the_last_sensitive_event_and_its_line(self):
        for source, event, line in [
            ("\n\nopen('x', 'w')", "open", 3),
            ("import shutil\ndef g():\n    shutil.rmtree('none', True)\ng()", "shutil.rmtree", 3),
            ("import os\n\nos.open('y', os.O_CREAT | os.O_RDWR)", "open", 3),
            ("import os\ntry: os.remove('z')\nexcept OSError: pass", "os.remove", 2),
            ("import socket\nsocket.socket()", "socket.__new__", 2),
            ("import os\nos.system('true')", "os.system", 2),
            ("import os\nos.kill(os.getpid(), 0)", "os.kill", 2),
            ("import subprocess\n\nsubprocess.run(['/bin/true'])", None, 3),
        ]:
            count, where, name = script(source).note
            self.assertGreater(count, 0, source)
            self.assertEqual(where, line, (source, name))
            if event:
                self.assertEqual(name, event)

    def test_is_empty_for_harmless_programs(self):
        result = script("import os\nid(1); os.listdir('.'); compile('1', 'x', 'eval'); exec('1')\n"
                        "open('/dev/null').read(); os.environ['A'] = 'b'\nimport sys\nsys.audit('open', 1)\n"
                        "sys.audit('open', None, None, 'x'); sys.audit('mine'); sys.audit('open', 1, 2, 10**40)")
        self.assertEqual(result.note[0], 0, result.err)
        self.assert_finished(result)

    def test_cuts_endless_names(self):
        self.assertEqual(len(script("import sys\nsys.audit('os.' + 'x' * 1000)").note[2]), 59)


if __name__ == "__main__":
    this = sys.modules["__main__"]  # prepare() puts a program's in its place
    _zygo_test.prepare()
    unittest.main(this, testRunner=unittest.TextTestRunner(sys.stderr))
