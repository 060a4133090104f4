"""Other languages: tests, checkers and conversations; the files that a job asks for."""

from __future__ import annotations

import json
import unittest
from typing import Any

import zygo
from zygo import Result, run_batch, run_job


class Outputs(unittest.TestCase):
    def test_files_are_collected_and_others_refused_by_name(self) -> None:
        source = ("import os\nopen('a.txt', 'w').write('one')\nos.mkdir('d')\nopen('d/b.bin', 'wb').write(b'\\xff')\n"
                  "os.chmod('a.txt', 0o755)\nos.symlink('/etc/passwd', 'd/link')\nos.mkfifo('d/pipe')\n")

        result = run_job(source, outputs=["*.txt", "d/*"])

        self.assertEqual(result["outputs"], {"a.txt": {"text": "one", "bytes": 3, "executable": True},
                                             "d/b.bin": {"b64": "/w==", "bytes": 1, "executable": False}})
        self.assertEqual(result["outputs_refused"], [{"path": "d/link", "why": "a symbolic link"},
                                                     {"path": "d/pipe", "why": "a pipe"}])

    def test_empty_directories_are_made(self) -> None:
        files = {"logs": {"directory": True}, "in/deep": {"directory": True}, "in/x": {"text": "y"}}
        sources = {"python": "import os; print([(d, sorted(n)) for d, n, f in sorted(os.walk('.'))], os.listdir('logs'))",
                   "bash": "echo y > logs/z; cat in/x logs/z; ls -d in/deep/"}

        python, bash = (run_job(source, template=name, files=files) for name, source in sources.items())

        self.assertEqual(python["stdout"]["text"],
                         "[('.', ['in', 'logs']), ('./in', ['deep']), ('./in/deep', []), ('./logs', [])] []\n")
        self.assertEqual(bash["stdout"]["text"], "yy\nin/deep/\n", zygo.brief(bash))

    def test_their_size_is_limited(self) -> None:
        result = run_job("open('big', 'w').write('x' * 5000)", outputs=["*"], limits={"outputs_kb": 4})

        self.assertEqual(result["label"], "OK")
        self.assertEqual(result["outputs"], {})
        self.assertEqual([each["path"] for each in result["outputs_refused"]], ["big"])

    def test_the_next_job_of_the_cell_finds_nothing_of_it(self) -> None:
        keep = {"source": "open('left', 'w').write('x')", "outputs": ["left"]}
        look = {"source": "import os; print(os.listdir('.'))"}

        results = run_batch([{"id": "keep", **keep}, {"id": "look", **look}], "--workers", "1")

        self.assertEqual(results["look"]["stdout"]["text"], "[]\n")


class Tests(unittest.TestCase):
    ADD = "#include <cstdio>\nint main() { long a, b; scanf(\"%ld %ld\", &a, &b); printf(\"%ld\\n\", a + b); }\n"

    def run_tests(self, tests: list[dict[str, Any]], source: str = ADD, template: str = "cpp", **fields: Any) -> Result:
        return run_job(source, template=template, tests=tests, **fields)

    def labels(self, result: Result) -> list[str]:
        return [test.get("label", "skipped") for test in result["tests"]]

    def test_a_hundred_tests_cost_one_compile(self) -> None:
        result = self.run_tests([{"stdin": f"{i} 1\n", "expect": f"{i + 1}\n"} for i in range(100)])

        self.assertEqual((result["label"], result["ok"]), ("OK", True))
        self.assertEqual(result["summary"], {"total": 100, "passed": 100, "failed": 0, "skipped": 0})
        self.assertEqual(set(self.labels(result)), {"OK"})

    def test_the_first_failure_in_order_is_the_label(self) -> None:
        result = self.run_tests([{"name": "good", "stdin": "1 2", "expect": "3"},
                                 {"name": "wrong", "stdin": "1 2", "expect": "4"},
                                 {"name": "worse", "stdin": "1 2", "expect": "5"}])

        self.assertEqual((result["label"], result["by"]), ("WrongAnswer", "program"))
        self.assertEqual(result["detail"], {"test": "wrong", "where": "line 1", "expected": "4", "got": "3"})
        self.assertEqual(self.labels(result), ["OK", "WrongAnswer", "WrongAnswer"])

    def test_stop_at_the_first_failure_skips_the_rest(self) -> None:
        result = self.run_tests([{"stdin": "1 2", "expect": "4"}, {"stdin": "1 2", "expect": "3"}], stop="first_fail")

        self.assertEqual(self.labels(result), ["WrongAnswer", "skipped"])
        self.assertEqual(result["summary"], {"total": 2, "passed": 0, "failed": 1, "skipped": 1})

    def test_each_test_has_a_run_and_a_verdict_of_its_own(self) -> None:
        source = "n = int(input())\nif n == 1: 1 / 0\nwhile n == 2: pass\nopen('seen', 'x'); print(n)\n"

        result = self.run_tests([{"stdin": str(i), "expect": str(i)} for i in range(4)], source, "python",
                                limits={"cpu_ms": 500})

        self.assertEqual(self.labels(result), ["OK", "ZeroDivisionError", "TimeoutException", "OK"])

    def test_calls_are_compared_by_value(self) -> None:
        source = "def half(x, *, up=False): return {'half': x / 2 + (0.5 if up else 0)}\n"

        result = self.run_tests([{"args": [4], "expect": {"half": 2}},
                                 {"args": [5], "kwargs": {"up": True}, "expect": {"half": 3.0}},
                                 {"args": [1], "expect": {"half": 0.5000001}, "compare": "float:1e-3"},
                                 {"args": [1], "expect": {"half": 0.6}},
                                 {"args": ["x"], "expect": None}],
                                source, "python", mode="call", func="half")

        self.assertEqual(self.labels(result), ["OK", "OK", "OK", "WrongAnswer", "TypeError"])
        self.assertEqual(result["detail"]["where"], '["half"]')

    def test_values_that_look_alike_differ_where_types_count(self) -> None:
        source = "def f(which): return {'one': 1, 'real': 1.0, 'true': True, 'tuple': (1, float('nan'))}[which]\n"
        nan = {"$type": "float", "value": "nan"}
        asked = [("one", 1, "OK"), ("real", 1, "WrongAnswer"), ("true", 1, "WrongAnswer"), ("real", 1.0, "OK"),
                 ("tuple", [1, nan], "WrongAnswer"), ("tuple", {"$type": "tuple", "items": [1, nan]}, "OK")]

        result = self.run_tests([{"args": [which], "expect": expect, "compare": "exact"} for which, expect, _ in asked],
                                source, "python", mode="call", func="f")

        self.assertEqual(self.labels(result), [label for *_, label in asked])
        self.assertEqual(result["detail"], {"test": "test-2", "where": "the value", "expected": "1 (int)",
                                            "got": "1.0 (float)"})

    def test_an_array_that_becomes_a_list_is_compared_as_one(self) -> None:
        source = "import numpy\ndef f(grid): return numpy.rot90(grid)\n"
        tests = [{"args": [[[1, 2], [3, 4]]], "expect": [[2, 4], [1, 3]], "compare": "exact"}]

        as_lists, as_arrays = (self.run_tests(tests, source, "python-numpy", mode="call", func="f", array=array)
                               for array in (True, False))

        self.assertEqual(self.labels(as_lists), ["OK"], zygo.brief(as_lists))
        self.assertNotEqual(self.labels(as_arrays), ["OK"])

    def test_a_program_that_cannot_be_compiled_fails_as_a_whole(self) -> None:
        result = self.run_tests([{"stdin": "1 2", "expect": "3"}] * 1, source="int main( {")

        self.assertEqual(result["label"], "CompilationError")
        self.assertEqual(self.labels(result), ["skipped"])
        self.assertIn("error", result["stderr"]["text"])

    def test_a_checker_decides_and_sees_input_output_and_answer(self) -> None:
        checker = {"template": "python", "source": (
            "import sys\ninput, output, answer = (open(path).read() for path in sys.argv[1:4])\n"
            "print(input, answer, file=sys.stderr)\nsys.exit(0 if sorted(output) == sorted(answer) else 1)\n")}

        result = self.run_tests([{"stdin": "1 2", "expect": "3\n", "compare": "checker"},
                                 {"stdin": "10 2", "expect": "21\n", "compare": "checker"},
                                 {"stdin": "1 1", "expect": "3\n", "compare": "checker"}], checker=checker)

        self.assertEqual(self.labels(result), ["OK", "OK", "WrongAnswer"])

    def test_a_checker_that_breaks_is_the_callers_and_never_the_programs(self) -> None:
        job = {"source": self.ADD, "template": "cpp", "tests": [{"stdin": "1 2", "expect": "", "compare": "checker"}],
               "checker": {"template": "python", "source": "import sys; sys.exit(9)"}}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertEqual((result["label"], result["by"]), ("BadJob", "caller"))
        self.assertIn("checker: ended as NonZeroExit", result["detail"]["message"])

    def test_a_checker_may_give_points(self) -> None:
        """As testlib's quitp does, or in the file of the ICPC protocol."""
        checker = {"template": "python", "source": (
            "import sys\nright = open(sys.argv[2]).read() == open(sys.argv[3]).read()\n"
            "sys.stderr.write(f'points {2.5 if right else 0.5} of 3\\n')\nsys.exit(7)\n")}
        icpc = {"template": "python", "protocol": "icpc", "source": (
            "import sys\nopen(sys.argv[3] + 'score_multiplier.txt', 'w').write('0.25')\nsys.exit(42)\n")}
        tests = [{"stdin": "1 2", "expect": "3\n", "compare": "checker"},
                 {"stdin": "1 1", "expect": "3\n", "compare": "checker"}, {"stdin": "1 1", "expect": "2"}]

        result = self.run_tests(tests, checker=checker)
        other = self.run_tests(tests[:1], checker=icpc)

        self.assertEqual(self.labels(result), ["OK", "OK", "OK"])
        self.assertEqual([test.get("score") for test in result["tests"]], [2.5, 0.5, None])
        self.assertEqual(result["summary"], {"total": 3, "passed": 3, "failed": 0, "skipped": 0, "score": 3})
        self.assertEqual(other["tests"][0]["score_multiplier"], 0.25)
        self.assertNotIn("score", other["summary"])

    def test_the_files_of_an_interactor_come_back_where_they_are_wanted(self) -> None:
        """However the program ends; what it writes itself is not among them."""
        interactor = {"template": "python", "protocol": "icpc", "feedback": True, "source": (
            "import sys\nprint(1, flush=True)\nopen(sys.argv[3] + 'report', 'w').write(sys.stdin.readline())\nsys.exit(42)\n")}
        says = "import os\nos.mkdir('feedback')\nopen('feedback/own', 'w').write('no')\nprint(input() + '!', flush=True)\n"
        job = {"source": says, "tests": [{}], "interactor": interactor}

        ended, looped = (json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([one])).out)["tests"][0] for one in (
            job, {**job, "source": says + "while True: pass", "limits": {"cpu_ms": 200}}))

        self.assertEqual([ended["label"], looped["label"]], ["OK", "TimeoutException"])
        for found in (ended, looped):
            files = found["feedback"]
            self.assertEqual(files.pop("feedback/.keep", {}).get("text", ""), "")
            self.assertEqual([(path, file["text"]) for path, file in files.items()], [("feedback/report", "1!\n")])

    def test_files_of_a_judge_are_wanted_of_the_protocol_that_has_a_folder(self) -> None:
        job = {"source": "1", "tests": [{}], "interactor": {"template": "python", "source": "1", "feedback": True}}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertEqual((result["label"], result["detail"]["message"]),
                         ("BadJob", "interactor: feedback: only in protocol icpc"))

    def test_points_that_are_no_number_are_the_callers_mistake(self) -> None:
        checker = {"template": "python", "source": "import sys\nsys.stderr.write('points many')\nsys.exit(7)\n"}

        job = {"source": "print(3)", "tests": [{"expect": "3\n", "compare": "checker"}], "checker": checker}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertEqual((result["label"], result["detail"]["message"]), ("BadJob", "checker: points: expected a number"))

    def test_a_checker_may_have_further_sources_and_flags(self) -> None:
        checker = {"template": "cpp", "source": '#include "right.h"\nint main() { return right(LIMIT) ? 0 : 1; }\n',
                   "sources": {"right.h": "bool right(int);\n", "right.cpp": "bool right(int n) { return n == 7; }\n"}}
        tests = [{"stdin": "1 2", "expect": "3\n", "compare": "checker"}]

        results = [self.run_tests(tests, checker={**checker, "compiler_flags": [f"-DLIMIT={limit}"]}) for limit in (7, 8)]

        self.assertEqual([self.labels(result) for result in results], [["OK"], ["WrongAnswer"]], zygo.brief(results[0]))

    def test_the_expected_answer_is_nowhere_in_the_sandbox(self) -> None:
        source = ("import os\nfound = []\nfor root, _, names in os.walk('/tmp'): found += names\n"
                  "print(found, 'needle-' + '42' in str(globals()))\n")

        result = self.run_tests([{"stdin": "", "expect": "needle-42"}], source, "python")

        self.assertEqual(result["tests"][0]["stdout"]["text"], "[] False\n")

    def test_what_is_wrong_with_a_test_is_named(self) -> None:
        wrong = {
            '"tests": 1': "tests: expected a list of tests",
            '"tests": [{"stdin": 1}]': "tests[0].stdin: expected a string",
            '"tests": [{}, {"nome": "x"}]': "tests[1].nome: unknown field",
            '"tests": [{"compare": "similar"}]': "tests[0].compare: expected exact, lines, tokens",
            '"tests": [{"name": "a"}, {"name": "a"}]': "tests[1]: name: another test has it",
            '"tests": [{"args": [1]}]': "tests: args and kwargs only in call mode",
            '"tests": [{"expect": "", "compare": "checker"}]': "checker: required",
            '"checker": {"source": "x"}': "checker: template: required",
            '"stop": "now"': "stop: expected one of",
        }
        for text, message in wrong.items():
            with self.subTest(text):
                line = b'{"source": "x", ' + text.encode() + b"}\n"
                result = json.loads(zygo.run_cli("batch", "-", stdin=line).out)
                self.assertEqual(result["label"], "BadJob")
                self.assertIn(message, result["detail"]["message"])


class Conversations(unittest.TestCase):
    """A program guesses a number; the interactor answers with -1, 0 or 1, and counts."""

    INTERACTOR = {"template": "python", "source": """
import sys
secret = int(open(sys.argv[1]).read())
for asked in range(20):
    line = sys.stdin.readline()
    if not line: print("the program left", file=sys.stderr); sys.exit(1)
    guess = int(line)
    print((secret > guess) - (secret < guess), flush=True)
    if guess == secret: sys.exit(0)
print("too many questions", file=sys.stderr); sys.exit(1)
"""}
    BISECT = """
#include <iostream>
int main() { int low = 0, high = 1000, answer; do { int middle = (low + high) / 2; std::cout << middle << std::endl;
  std::cin >> answer; if (answer > 0) low = middle + 1; else high = middle - 1; } while (answer != 0); }
"""

    def converse(self, source: str, template: str = "python", secrets: tuple[int, ...] = (7,), **fields: Any) -> Result:
        tests = [{"name": str(secret), "stdin": str(secret)} for secret in secrets]
        return run_job(source, "--workers", "4", template=template, tests=tests,
                       **{"interactor": self.INTERACTOR, **fields})

    def test_a_program_that_asks_well_is_right(self) -> None:
        result = self.converse(self.BISECT, "cpp", tuple(range(0, 1000, 97)))

        self.assertEqual((result["label"], result["summary"]["passed"]), ("OK", 11), zygo.brief(result))

    def test_one_that_asks_too_much_is_wrong_and_says_what_the_interactor_said(self) -> None:
        result = self.converse("for i in range(1000): print(i, flush=True); input()", secrets=(500,))

        self.assertEqual((result["label"], result["detail"]["interactor"]), ("WrongAnswer", "too many questions"))

    def test_one_that_leaves_early_is_wrong(self) -> None:
        stays = "import time; print(1, flush=True); input(); time.sleep(0.2)"
        for source, said in (("print(1, flush=True)", "the program left before the conversation was over"),
                             (stays, "the program left")):
            with self.subTest(source):
                result = self.converse(source)
                self.assertEqual(result["label"], "WrongAnswer")
                self.assertIn(result["detail"]["interactor"], {said, "the program left"})

    def test_two_that_wait_for_each_other_are_a_deadlock(self) -> None:
        result = self.converse("input()", limits={"wall_ms": 500})

        self.assertEqual((result["label"], result["detail"]["limit"]), ("TimeoutException", "wall"))

    def test_both_waiting_is_said(self) -> None:
        silent = {"template": "python", "source": "import time; time.sleep(60)"}

        result = self.converse("input()", limits={"wall_ms": 500}, interactor=silent)

        self.assertEqual(result["detail"].get("reason"), "deadlock: each waited for the other", zygo.brief(result))

    def test_the_programs_own_ends_stay_its_own(self) -> None:
        ends = {"1 / 0": "ZeroDivisionError", "while True: pass": "TimeoutException",
                "import os; os.fork()": "UnsafeCode", "import sys; sys.exit(3)": "NonZeroExit"}
        for source, label in ends.items():
            with self.subTest(source):
                result = self.converse(source, limits={"cpu_ms": 300})
                self.assertEqual(result["label"], label, zygo.brief(result))

    def test_an_interactor_that_cannot_be_built_is_the_callers(self) -> None:
        job = {"source": "1", "tests": [{}], "interactor": {"template": "cpp", "source": "int main( {"}}

        result = json.loads(zygo.run_cli("batch", "-", stdin=zygo.lines_of([job])).out)

        self.assertEqual((result["label"], result["detail"]["message"]), ("BadJob", "interactor: CompilationError"))

    def test_one_worker_is_too_few(self) -> None:
        job = {"source": "1", "tests": [{}], "interactor": self.INTERACTOR}

        result = json.loads(zygo.run_cli("batch", "-", "--workers", "1", stdin=zygo.lines_of([job])).out)

        self.assertIn("two workers", result["detail"]["message"])

    def test_many_at_once_do_not_starve_each_other(self) -> None:
        jobs = [{"id": f"job-{i}", "source": self.BISECT, "template": "cpp", "interactor": self.INTERACTOR,
                 "tests": [{"stdin": str(i)}]} for i in range(40)]

        results = run_batch(jobs, "--workers", "2")

        self.assertEqual({result["label"] for result in results.values()}, {"OK"})


if __name__ == "__main__":
    unittest.main()
