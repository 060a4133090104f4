"""Suites that hand streams in memory to the program, or put them in the place of files that it opens."""

from __future__ import annotations

import textwrap
import unittest

import support
from test_suites import OnSuites, suite
from zygo import grade

GREP = """
def grep(pattern, names):
    found = ""
    for name in names:
        with open(name) as file:
            for number, line in enumerate(file.readlines(), start=1):
                if pattern in line: found += f"{name}:{number}:{line}"
    return found
"""
GREP_TESTS = r"""
import io, unittest
from unittest import mock
from grep import grep

FILES = {"a.txt": "one\ntwo\n", "b.txt": "three\nzwei"}

def open_file(name, *args, **kwargs):
    return io.StringIO(FILES[name])

@mock.patch("grep.open", name="open", side_effect=open_file, create=True)
@mock.patch("io.StringIO", name="StringIO", wraps=io.StringIO)
class Tests(unittest.TestCase):
    def test_it(self, stream, file):
        self.assertEqual(grep("e", ["a.txt", "b.txt"]), "a.txt:1:one\nb.txt:1:three\nb.txt:2:zwei")
        self.assertEqual(file.call_count, 2)
"""


class Files(OnSuites, unittest.TestCase):
    def test_that_are_mocks_are_opened_by_the_program(self) -> None:
        for framework in ("unittest", "pytest") if support.has("pytest") else ("unittest",):
            with self.subTest(framework):
                found = grade.run_tests({"grep.py": GREP}, GREP_TESTS, framework=framework)
                self.assertTrue(found.passed, found)


class Streams(OnSuites, unittest.TestCase):
    def test_are_read_and_come_back_as_far_as_they_were_read(self) -> None:
        self.passes("""
            def first(file): return file.readline()
            def all_of(file):
                with file: return file.read()
            def total(file): return sum(map(int, file))
            def same(file): return file
            def both(one, other): return one is other
            def inner(files): return files[0].read(2)
            def kind(file): return type(file).__name__
        """, r"""
            def test_text(self):
                file = io.StringIO("1\n2\n3\n")
                self.assertEqual(file.readline(), "1\n")
                self.assertEqual(first(file), "2\n")
                self.assertEqual(file.tell(), 4)
                self.assertEqual(file.read(), "3\n")
                self.assertEqual(first(file), "")
                self.assertEqual(total(io.StringIO("1\n2\n3\n")), 6)
            def test_bytes(self):
                file = io.BytesIO(b"ab\xffc")
                self.assertEqual(inner([file]), b"ab")
                self.assertEqual(file.read(1), b"\xff")
                self.assertEqual(first(file), b"c")
            def test_closed(self):
                file = io.StringIO("x")
                self.assertEqual(all_of(file), "x")
                self.assertTrue(file.closed)
            def test_is_the_tests_own(self):
                file = io.StringIO("x")
                self.assertIs(same(file), file)
                self.assertTrue(both(file, file))
                self.assertFalse(both(file, io.StringIO("x")))
            def test_that_change_their_text_or_are_of_a_class_of_the_tests_are_handles(self):
                class Own(io.StringIO): pass
                closed = io.StringIO("x")
                closed.close()
                for file in (io.StringIO("1\n2", newline="\r\n"), Own("1\n2"), closed):
                    self.assertEqual(kind(file), "TestsObject")
                self.assertEqual(total(Own("1\n2")), 3)
        """, "import io")

    def test_are_written_to_where_nothing_is_left_to_read(self) -> None:
        self.passes("""
            def say(*words, file): print(*words, file=file)
            def twice(one, other):
                one.write("a"); other.write("b")
            def each(files):
                for at, file in enumerate(files): file.write(str(at))
            class Kept:
                def __init__(self, file): self.file = file
                def say(self): self.file.write("x")
            def calls(file, f):
                f(); file.write("mine")
        """, r"""
            def test_text(self):
                out = io.StringIO()
                say(1, 2, file=out)
                say("\u00e9", file=out)
                self.assertEqual(out.getvalue(), "1 2\n\u00e9\n")
                twice(out, out)
                self.assertEqual(out.getvalue(), "1 2\n\u00e9\nab")
            def test_several(self):
                files = [io.StringIO(), io.StringIO("full"), io.StringIO()]
                each(files)
                self.assertEqual([file.getvalue() for file in files], ["0", "full", "2"])
            def test_later_than_the_call_is_lost(self):
                out = io.StringIO()
                Kept(out).say()
                self.assertEqual(out.getvalue(), "")
            def test_beside_a_callback(self):
                out = io.StringIO()
                calls(out, lambda: out.write("theirs "))
                self.assertEqual(out.getvalue(), "theirs mine")
        """, "import io")


FORGES = """
import gc, json

server = next(one for one in gc.get_objects() if type(one).__name__ == "Server")
number = None

def say(line):
    server._answers.write(json.dumps(line).encode() + b"\\n")
    server._answers.flush()

def one(file):
    global number
    number = server._copies[file]
    file.write("1")
"""


class Hostile(OnSuites, unittest.TestCase):
    def test_programs_reach_no_attribute_of_other_objects_and_are_told_so(self) -> None:
        found = grade.run_tests("def use(socket): socket.recv(3)\ndef enter(socket):\n    with socket: pass\n", suite("""
            class Socket:
                def recv(self, size): return b"x"
                def __enter__(self): return self
                def __exit__(self, *error): pass
            def test_attribute(self): use(self.Socket())
            def test_manager(self): enter(self.Socket())
            def test_mock(self): enter(mock.MagicMock())
            def test_file(self):
                with mock.patch("program.open", mock.mock_open(read_data="x"), create=True) as opened: use(opened())
        """, "import program\nfrom unittest import mock"))

        said = {test.name.rpartition("::")[2]: test.detail for test in found.tests}
        attribute = "AttributeError: an object of the tests has no attribute 'recv' that the program can reach"
        manager = "TypeError: 'TestsObject' object does not support the context manager protocol"
        self.assertEqual(said, {"test_attribute": attribute, "test_file": attribute, "test_manager": manager, "test_mock": manager})

    def test_programs_change_nothing_that_a_stream_held_and_see_nothing_that_was_read(self) -> None:
        self.passes("""
            def spoil(file):
                seen = file.getvalue()
                file.seek(0); file.truncate(0); file.write("forged"); file.seek(0)
                return seen
            def rewind(file): file.seek(0)
        """, r"""
            def test_it(self):
                file = io.StringIO("secret\nrest")
                file.readline()
                self.assertEqual(spoil(file), "rest")
                self.assertEqual(file.getvalue(), "secret\nrest")
                rewind(file)
                self.assertEqual(file.read(), "rest")
                rewind(file)
                self.assertEqual(file.read(), "")
                self.assertEqual(file.getvalue(), "secret\nrest")
        """, "import io")

    def test_a_stream_comes_back_from_no_call_that_it_was_not_given_in(self) -> None:
        tests = suite("""
            out = io.StringIO()
            def test_1(self):
                one(self.out)
                self.assertEqual(self.out.getvalue(), "1")
            def test_2(self):
                two([])
                self.assertEqual(self.out.getvalue(), "12")
            def test_3(self): self.assertEqual(self.out.getvalue(), "12")
        """, "import io")
        stream = "{'y': [number, 't', '2', 1]}"
        for said in (f"None, [[1, 0, {stream}]]", f"{stream}, []", f"None, [[1, 0, [{stream}]]]", f"[{stream}], []"):
            with self.subTest(said):
                labels = self.labels(FORGES + f"def two(items): say(['ok', {said}, []])\n", tests)
                self.assertEqual(labels, {"test_1": "OK", "test_2": "InvalidResult", "test_3": "InvalidResult"})

    def test_what_no_stream_can_be_ends_the_conversation(self) -> None:
        tests = suite("""
            def test_1(self): two(io.StringIO())
            def test_2(self): three()
        """, "import io")
        for state in ("'b', '61', 1", "'t', 5, 1", "'t', 'x', '1'", "'t', 'x', True", "'t', 'x'", "'t', None, 0", "['t'], 'x', 1"):
            with self.subTest(state):
                forged = f"{{'y': [server._copies[file], {state}]}}"
                labels = self.labels(FORGES + f"def two(file): say(['ok', None, [[1, 0, {forged}]], []])\ndef three(): pass\n", tests)
                self.assertEqual(labels, {"test_1": "InvalidResult", "test_2": "InvalidResult"})


if __name__ == "__main__":
    unittest.main()
