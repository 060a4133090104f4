"""What a program is made of: flags for its compiler, further sources, files of a test; sources that are no plain UTF-8."""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import languages
import zygo
from zygo import run_batch, run_job

AFRESH = ("--build-cache", "0")  # whatever earlier runs of the tests have left on this host
STANDARD = "int main() { return __cplusplus / 100 % 100; }\n"


@functools.cache
def available(name: str) -> bool:
    listed = json.loads(zygo.run_cli("runtime", "list", "--json").out)
    return any(each["name"] == name and each["available"] for each in listed)


def refusal(source: str, **fields: Any) -> str:
    """What is said of a job that must be BadJob."""
    ended = zygo.run_cli("batch", "-", stdin=zygo.lines_of([{"id": "only", "source": source, **fields}]))
    result = json.loads(ended.out)
    if result["label"] != "BadJob":
        raise AssertionError(zygo.brief(result))
    return json.dumps([result["detail"], result.get("tests")]).replace('\\"', '"')


class CompilerFlags(unittest.TestCase):
    def test_a_standard_of_the_job_wins_over_the_templates(self) -> None:
        wanted = {"11": "-std=c++11", "14": "-std=c++14", "17": "-std=c++17", "20": "-std=c++20"}
        jobs = [{"id": year, "template": "cpp17", "source": STANDARD, "compiler_flags": [flag]} for year, flag in wanted.items()]

        results = run_batch(jobs, *AFRESH)

        self.assertEqual({year: result["exit"]["code"] for year, result in results.items()}, {year: int(year) for year in wanted})

    def test_standards_have_names_of_their_own(self) -> None:
        names = {"c++11": 11, "c++14": 14, "c++17": 17, "cpp23": 21}  # as g++ 12 counts
        results = run_batch([{"id": name, "template": name, "source": STANDARD} for name in names], *AFRESH)

        self.assertEqual({name: result["exit"]["code"] for name, result in results.items()}, names)

    def test_other_flags_are_another_program(self) -> None:
        jobs = [{"id": str(i), "template": "c", "source": "int main(void) { return X; }\n", "compiler_flags": [f"-DX={i % 3}"]}
                for i in range(9)]

        results = run_batch(jobs, *AFRESH)

        self.assertEqual({key: result["exit"]["code"] for key, result in results.items()}, {str(i): i % 3 for i in range(9)})
        self.assertEqual(sum(not result["compile"]["cached"] for result in results.values()), 3)

    def test_a_library_may_be_named(self) -> None:
        source = '#include <pthread.h>\n#include <stdio.h>\nint main(void) { puts(LINE); }\n'
        result = run_job(source, template="c", compiler_flags=['-DLINE="a b; $(c)"', "-pthread", "-lm"])
        self.assertEqual(result["stdout"]["text"], "a b; $(c)\n", zygo.brief(result))

    def test_java_has_them_too(self) -> None:
        source = "public class Main { public static void main(String[] a) { var x = 1; System.out.println(x); } }"
        jobs = [{"id": release, "template": "java", "source": source, "compiler_flags": ["--release", release],
                 "limits": languages.LIMITS} for release in ("8", "11")]
        results = run_batch(jobs, *AFRESH)
        self.assertEqual({key: result["label"] for key, result in results.items()}, {"8": "CompilationError", "11": "OK"})

    def test_a_wrong_flag_is_the_compilers_to_tell(self) -> None:
        result = run_job(STANDARD, template="cpp", compiler_flags=["-std=c++1"])
        self.assertEqual(result["label"], "CompilationError", zygo.brief(result))
        self.assertIn("-std=c++1", result["stderr"]["text"])

    def test_an_object_file_is_no_program(self) -> None:
        result = run_job(STANDARD, template="cpp", compiler_flags=["-c"])
        self.assertEqual((result["label"], result["by"]), ("CompilationError", "program"), zygo.brief(result))

    def test_a_language_without_a_compiler_refuses_them_by_name(self) -> None:
        for template in ("python", "bash", "perl"):
            with self.subTest(template):
                self.assertIn(f"compiler_flags: {template} has no compiler", refusal("", template=template, compiler_flags=["-O3"]))

    def test_zygo_run_takes_them(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.cpp")
            path.write_text(STANDARD)
            ended = zygo.run_cli("run", "--compiler-flag=-std=c++14", "--compiler-flag=-O0", str(path))
        self.assertEqual(ended.code, 14, ended.stderr)


class FurtherSources(unittest.TestCase):
    PARTS = {"b.cc": '#include "lib/b.h"\nint b() { return B; }\n', "lib/c.cpp": "int c() { return 40; }\n",
             "lib/b.h": "#pragma once\n#define B 2\nint b();\nint c();\n"}
    MAIN = '#include "lib/b.h"\nint main() { return b() + c(); }\n'

    def test_all_of_cpp_are_compiled_but_headers(self) -> None:
        for template in ("cpp", "cpp17", "c++14"):
            with self.subTest(template):
                result = run_job(self.MAIN, template=template, sources=self.PARTS)
                self.assertEqual(result["exit"]["code"], 42, zygo.brief(result))

    def test_each_is_part_of_the_program(self) -> None:
        other = self.PARTS | {"lib/c.cpp": "int c() { return 30; }\n"}
        jobs = [{"id": str(i), "template": "cpp", "source": self.MAIN, "sources": parts}
                for i, parts in enumerate((self.PARTS, other, self.PARTS))]

        results = run_batch(jobs, *AFRESH)

        self.assertEqual([results[str(i)]["exit"]["code"] for i in range(3)], [42, 32, 42])
        self.assertEqual(sum(not result["compile"]["cached"] for result in results.values()), 2)

    def test_a_file_of_the_same_text_is_not_compiled(self) -> None:
        files = {path: {"text": text} for path, text in self.PARTS.items()}
        result = run_job(self.MAIN, template="cpp", files=files)
        self.assertEqual(result["label"], "CompilationError", zygo.brief(result))

    def test_of_other_languages(self) -> None:
        programs = {
            "c": ("int b(void);\nint main(void) { return b(); }\n", {"b.c": "int b(void) { return 42; }\n"}),
            "java": ("import util.B; public class S { public static void main(String[] a) { System.exit(B.b()); } }",
                     {"util/B.java": "package util; public class B { public static int b() { return 42; } }"}),
            "go": ("package main\nimport \"os\"\nfunc main() { os.Exit(b()) }\n", {"b.go": "package main\nfunc b() int { return 42 }\n"}),
            "rust": ("mod b;\nfn main() { std::process::exit(b::b()); }\n", {"b.rs": "pub fn b() -> i32 { 42 }\n"})}
        there = {name: program for name, program in programs.items() if available(name)}
        jobs = [{"id": name, "template": name, "source": source, "sources": more, "limits": languages.LIMITS}
                for name, (source, more) in there.items()]

        results = run_batch(jobs)

        self.assertEqual({name: result["exit"]["code"] for name, result in results.items()}, {name: 42 for name in there},
                         {name: zygo.brief(result) for name, result in results.items()})

    def test_mistakes_are_named(self) -> None:
        for fields, words in (
                ({"template": "python", "sources": {"b.py": ""}}, "sources: python has no compiler; further files go into files"),
                ({"template": "bash", "sources": {"b.sh": ""}}, "sources: bash has no compiler; further files go into files"),
                ({"template": "cpp", "sources": {"main.cpp": ""}}, 'sources["main.cpp"]: this is what the program\'s source'),
                ({"template": "cpp", "sources": {"main.cpp/b.cc": ""}}, 'sources["main.cpp/b.cc"]: its folder has the name')):
            with self.subTest(words):
                self.assertIn(words, refusal("int main() {}", **fields))

    def test_a_file_in_a_folder_that_is_called_like_the_source_is_refused(self) -> None:
        source = "public class S { public static void main(String[] a) { } }"
        for field in ({"files": {"S.java/x": {"text": ""}}}, {"files": {"S.java": {"directory": True}}},
                      {"tests": [{"files": {"S.java/x": {"text": ""}}}]}):
            with self.subTest(str(field)):
                self.assertIn('files["S.java/', refusal(source, template="java", limits=languages.LIMITS, **field))


class FilesOfATest(unittest.TestCase):
    SHOWS = {"python": "import os\nfor name in sorted(os.listdir()): print(name, open(name).read())\n",
             "bash": "for name in *; do echo \"$name $(<$name)\"; done\n",
             "perl": "for (sort glob '*') { open F, $_; print \"$_ \", <F>, \"\\n\" unless /^main/ }\n"}

    def test_are_there_in_its_run_alone_and_over_the_jobs(self) -> None:
        files = {"all": {"text": "1"}, "some": {"text": "2"}}
        tests = [{"files": {"some": {"text": "3"}, "own": {"text": "4"}}, "expect": "all 1\nown 4\nsome 3\n"},
                 {"expect": "all 1\nsome 2\n"}, {"files": {"other": {"text": "5"}}, "expect": "all 1\nother 5\nsome 2\n"}]
        for template in ("python", "perl"):
            with self.subTest(template):
                result = run_job(self.SHOWS[template], template=template, files=files, tests=tests * 4)
                self.assertEqual(result["label"], "OK", zygo.brief(result))

    def test_of_a_compiled_program_cost_no_compile(self) -> None:
        source = "#include <cstdio>\nint main() { puts(fopen(\"own\", \"r\") ? \"there\" : \"none\"); }\n"
        tests = [{"files": {"own": {"text": ""}}, "expect": "there"}, {"expect": "none"}, {"files": {"own": {"b64": "/w=="}}, "expect": "there"}]
        result = run_job(source, template="cpp", tests=tests)
        self.assertEqual((result["label"], result["summary"]["passed"]), ("OK", 3), zygo.brief(result))

    def test_of_calls(self) -> None:
        source = "def f(name):\n    return open(name).read()\n"
        tests = [{"args": ["a"], "files": {"a": {"text": str(i)}}, "expect": str(i)} for i in range(3)]
        result = run_job(source, mode="call", func="f", tests=tests)
        self.assertEqual(result["label"], "OK", zygo.brief(result))


class Encodings(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="behaviour-sources-"))
        self.addCleanup(shutil.rmtree, self.home)

    def run_file(self, source: bytes, *options: str, name: str = "a.py") -> zygo.Finished:
        (self.home / name).write_bytes(source)
        return zygo.run_cli("run", *options, str(self.home / name))

    def test_a_mark_of_utf8_is_no_part_of_a_python_program(self) -> None:
        self.assertEqual(self.run_file(b"\xef\xbb\xbfprint('\xc3\xa9')\n").stdout, "é\n")
        self.assertEqual(run_job("\ufeffprint(1)")["stdout"]["text"], "1\n")
        self.assertEqual(run_job("\ufeffdef f(): return 1\n", mode="call", func="f", calls=[{}])["value"], [1])

    def test_python_files_are_in_the_encoding_that_they_name(self) -> None:
        for coding, letter in (("latin-1", b"\xe9"), ("cp1251", b"\xe9"), ("shift_jis", b"\x83\x5c"), ("koi8-r", b"\xc3\xa9")):
            with self.subTest(coding):
                source = b"#!/usr/bin/python3\n# -*- coding: " + coding.encode() + b" -*-\nx = '" + letter + b"'\nprint(x)\nassert not x\n"
                ended = self.run_file(source)
                text = letter.decode(coding)
                self.assertEqual(ended.stdout, text + "\n", ended.stderr)
                self.assertIn("line 5", ended.stderr)
                self.assertIn("assert not x", ended.stderr)

    def test_calls_of_such_a_file(self) -> None:
        (self.home / "inputs").write_text("[1]")
        ended = self.run_file(b"# coding: latin-1\ndef f(x):\n    return '\xe9' * x\n", "--call", "f", "--inputs", str(self.home / "inputs"))
        self.assertEqual(ended.stdout, '["é"]\n', ended.stderr)

    def test_what_cpython_refuses_is_a_syntax_error_in_its_words(self) -> None:
        for source, words in ((b"# coding: nonsense\n", "unknown encoding: nonsense"),
                              (b"# coding: ascii\nx = '\xe9'\n", "'ascii' codec can't decode"),
                              (b"# coding: rot13\n", "'rot13' is not a text encoding")):
            with self.subTest(words):
                ended = self.run_file(source)
                self.assertIn("SyntaxError", ended.stderr)
                self.assertIn(words, ended.stderr)

    def test_a_file_that_names_no_encoding_is_utf8(self) -> None:
        ended = self.run_file(b"print('\xe9')\n")
        self.assertEqual((ended.code, "byte 7 is not UTF-8" in ended.stderr), (125, True), ended.stderr)

    def test_a_job_line_is_text_whatever_its_coding_line_says(self) -> None:
        self.assertEqual(run_job("# coding: latin-1\nprint('é')\n")["stdout"]["text"], "é\n")

    def test_other_languages_get_their_bytes(self) -> None:
        self.assertEqual(self.run_file(b"\xef\xbb\xbf#include <stdio.h>\nint main(void) { puts(\"ok\"); }\n", name="a.c").stdout, "ok\n")


if __name__ == "__main__":
    unittest.main()
