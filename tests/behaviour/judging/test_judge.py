"""`zygo judge`: problem packages of the ICPC format, with the words of a contest."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Finished

PACKAGES = zygo.CHECKOUT / "tests/packages"
TEST_FIELDS = {"name", "verdict", "label", "by", "detail", "cpu_ms", "wall_ms", "memory_peak_kb", "contended"}


def judge(*arguments: str | Path, timeout: float = 120) -> Finished:
    return zygo.run_cli("judge", *map(str, arguments), timeout=timeout)


def objects(ended: Finished) -> list[dict[str, Any]]:
    return zygo.results_of(ended.out)


class WithACopy(unittest.TestCase):
    """A package that the test may spoil."""

    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="zygo-judge-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def copy(self, name: str, submissions: bool = True) -> Path:
        package = self.folder / name
        shutil.copytree(PACKAGES / name, package)
        if not submissions:
            shutil.rmtree(package / "submissions")
        return package

    def submission(self, name: str, source: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        return path


class ThePackagesOwnSubmissions(WithACopy):
    def test_each_ends_as_its_folder_says(self) -> None:
        for name in ("sum", "float", "custom", "custom_python", "guess", "points", "spread", "draft", "passes",
                     "divisor", "guess_twice"):
            with self.subTest(package=name):
                ended = judge("--self", PACKAGES / name)

                self.assertEqual(ended.code, 0, ended.stdout + ended.stderr)
                self.assertIn("all as expected", ended.stdout)

    def test_one_in_the_wrong_folder_is_named(self) -> None:
        package = self.copy("custom")
        (package / "submissions/accepted/same.py").write_text("n = int(input())\nprint(n, n)\n")

        ended = judge("--self", package)

        self.assertEqual(ended.code, 1)
        bad = [line for line in ended.stdout.splitlines() if "not as expected" in line]
        self.assertEqual(len(bad), 2, ended.stdout)
        self.assertRegex(bad[0], r"submissions/accepted/same\.py .* AC +WA ")
        self.assertRegex(bad[1], r"^7 submissions, 1 not as expected")

    def test_one_may_say_itself_how_it_ends(self) -> None:
        package = self.copy("sum", submissions=False)
        for name, source in {"mixed/a.py": "# @EXPECTED_RESULTS@: WRONG-ANSWER, TIMELIMIT\nprint(1)\n",
                             "mixed/b.py": "print(1)  # @EXPECTED_RESULTS@: CORRECT\n",
                             "accepted/c.py": "print(1)\n# @EXPECTED_RESULTS@: PERFECT\n"}.items():
            path = package / "submissions" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(source)

        ended = judge("--self", "--json", package)

        results = objects(ended)
        self.assertEqual([(each["expected"], each["verdict"], each["as_expected"]) for each in results],
                         [("AC", "JE", False), ("WA or TLE", "WA", True), ("AC", "WA", False)])
        self.assertIn('"PERFECT" is the name of no result', results[0]["detail"]["message"])

    def test_what_cannot_be_judged_is_no_verdict(self) -> None:
        package = self.copy("custom_python")
        shutil.rmtree(package / "submissions")
        for name in ("accepted/a.unknown", "mixed/b.py"):
            path = package / "submissions" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("print(1, 2)\n")
        (package / "output_validators/validate.py").write_text("raise ValueError('broken')\n")

        ended = judge("--self", "--json", package)

        self.assertEqual(ended.code, 1)
        self.assertEqual([(each["verdict"], each["as_expected"]) for each in objects(ended)],
                         [("JE", False), ("JE", False)])
        self.assertIn("no language has this extension", objects(ended)[0]["detail"]["message"])
        self.assertIn("checker: ended as ValueError", objects(ended)[1]["detail"]["message"])

    def test_the_time_limit_is_derived_from_the_slowest_accepted_one(self) -> None:
        package = self.copy("custom", submissions=False)
        accepted = package / "submissions/accepted/slow.py"
        accepted.parent.mkdir(parents=True)
        accepted.write_text("import time\nwhile time.process_time() < 0.5:\n    pass\nprint(int(input()), 0)\n")

        ended = judge("--self", "--json", package)

        self.assertEqual(ended.code, 0, ended.stdout)
        slow = objects(ended)[0]
        self.assertGreaterEqual(slow["time_limit_ms"], 5 * slow["cpu_ms"])
        self.assertLess(slow["time_limit_ms"], 5 * slow["cpu_ms"] + 10)
        self.assertGreaterEqual(slow["cpu_ms"], 450)


class ASubmission(WithACopy):
    def test_a_right_one_is_accepted(self) -> None:
        ended = judge(PACKAGES / "sum", PACKAGES / "sum/submissions/accepted/sum.cpp")

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertIn("Sum of two numbers: 4 tests, time limit 1.000 s", ended.stdout)
        self.assertRegex(ended.stdout.splitlines()[-1], r"sum\.cpp +cpp +AC .* OK$")

    def test_a_wrong_one_is_judged_too_and_stops_at_its_first_failure(self) -> None:
        path = self.submission("wrong.py", "print(sum(map(int, input().split())) % 2 ** 31)\n")

        ended = judge("--json", PACKAGES / "sum", path)
        whole = judge("--json", "--all", PACKAGES / "sum", path)

        self.assertEqual((ended.code, whole.code), (0, 0))
        result, all_tests = objects(ended)[0], objects(whole)[0]
        self.assertEqual((result["verdict"], result["label"], result["test"]), ("WA", "WrongAnswer", "secret/big/02"))
        self.assertEqual([test["verdict"] for test in result["tests"]], ["AC", "AC", "WA"])
        self.assertEqual([test["verdict"] for test in all_tests["tests"]], ["AC", "AC", "WA", "WA"])
        self.assertEqual(all_tests["test"], "secret/big/02")

    def test_the_json_of_one(self) -> None:
        path = self.submission("crash.c", "int main(void) { __builtin_trap(); }\n")

        ended = judge("--json", PACKAGES / "sum", path, PACKAGES / "sum/submissions/accepted/in_two_files")

        crash, good = objects(ended)
        self.assertEqual((crash["verdict"], crash["label"], crash["by"]), ("RTE", "Signalled", "program"))
        self.assertEqual((crash["submission"], crash["language"]), (str(path), "c"))
        self.assertEqual(crash["time_limit_ms"], 1000)
        self.assertNotIn("expected", crash)
        self.assertEqual(set(crash["tests"][0]), TEST_FIELDS)
        self.assertEqual((good["verdict"], good["label"], len(good["tests"])), ("AC", "OK", 4))

    def test_what_the_compiler_says_is_in_the_json(self) -> None:
        path = self.submission("no.cpp", "int main() { return nothing; }\n")

        result = objects(judge("--json", PACKAGES / "sum", path))[0]

        self.assertEqual(result["verdict"], "CE")
        self.assertIn("was not declared", result["stderr"])

    def test_what_the_validator_says_is_in_the_detail(self) -> None:
        for name, message in (("custom", "the sum is another"), ("custom_python", "the sum is another")):
            with self.subTest(package=name):
                result = objects(judge("--json", PACKAGES / name, PACKAGES / name / "submissions/wrong_answer/same.py"))[0]

                self.assertEqual((result["verdict"], result["detail"]), ("WA", {"checker": message, "code": 43}))

    def test_it_recurses_as_deep_as_its_memory_lets_it(self) -> None:
        path = self.submission("deep.cpp", "#include <iostream>\n"
                               "long long down(long long n) { volatile char frame[1000]; frame[0] = 0; "
                               "return n ? down(n - 1) + frame[0] : 0; }\n"
                               "int main() { long long a, b; std::cin >> a >> b; "
                               "std::cout << a + b + down(100000) << std::endl; }\n")

        self.assertEqual(objects(judge("--json", PACKAGES / "sum", path))[0]["verdict"], "AC")

    def test_of_java_may_call_its_class_as_it_likes(self) -> None:
        path = self.submission("whatever.java", "package contest;\nimport java.util.Scanner;\n"
                               "public class Solution { public static void main(String[] a) { "
                               "Scanner in = new Scanner(System.in); System.out.println(in.nextLong() + in.nextLong()); } }\n")

        self.assertEqual(objects(judge("--json", PACKAGES / "sum", path))[0]["verdict"], "AC")

    def test_the_answer_is_not_in_its_reach(self) -> None:
        path = self.submission("looks.py", "import os, sys\n"
                               "print(sorted(os.listdir('.')), len(sys.argv), file=sys.stderr)\nprint(8)\n")

        result = objects(judge("--json", PACKAGES / "sum", path))[0]

        self.assertEqual(result["verdict"], "WA")
        self.assertEqual(result["stderr"], "[] 1\n")

    def test_without_examples_the_time_limit_is_ten_seconds(self) -> None:
        package = self.copy("custom", submissions=False)

        ended = judge("--json", package, PACKAGES / "custom/submissions/accepted/half.py")

        self.assertEqual(objects(ended)[0]["time_limit_ms"], 10000)


class AFolder(WithACopy):
    """One program in several files."""

    MAIN = "int main() { long long a, b; std::cin >> a >> b; std::cout << add(a, b) << std::endl; }\n"
    ADD = "long long add(long long a, long long b) { return a + b; }\n"

    def verdict(self, files: dict[str, str], package: str = "sum") -> dict[str, Any]:
        for name, source in files.items():
            self.submission("many/" + name, source)
        result = objects(judge("--json", PACKAGES / package, self.folder / "many"))[0]
        self.assertEqual(result["submission"], str(self.folder / "many"))
        return result

    def accepted(self, language: str, files: dict[str, str]) -> None:
        result = self.verdict(files)
        self.assertEqual((result["verdict"], result["language"]), ("AC", language), result)

    def test_of_c_plus_plus(self) -> None:
        self.accepted("cpp", {"sum.h": "#include <iostream>\nlong long add(long long a, long long b);\n",
                              "adds.cpp": '#include "sum.h"\n' + self.ADD,
                              "program.cc": '#include "sum.h"\n' + self.MAIN})

    def test_of_c_with_a_folder_in_it(self) -> None:
        self.accepted("c", {"lib/add.c": self.ADD, "lib/add.h": "long long add(long long, long long);\n",
                            "main.c": '#include <stdio.h>\n#include "lib/add.h"\nint main(void) { long long a, b; '
                                      'return scanf("%lld%lld", &a, &b) == 2 && printf("%lld\\n", add(a, b)) > 0 ? 0 : 1; }\n'})

    def test_of_python(self) -> None:
        self.accepted("python", {"__main__.py": "from sums.add import add\nprint(add(*map(int, input().split())))\n",
                                 "sums/__init__.py": "", "sums/add.py": "def add(a, b): return a + b\n"})

    @unittest.skipUnless(shutil.which("javac"), "javac is not installed (Debian package default-jdk-headless)")
    def test_of_java(self) -> None:
        """A class that only its name leads to is compiled, too."""
        self.accepted("java", {
            "Main.java": "import java.util.*;\npublic class Main { public static void main(String[] a) throws Exception { "
                         "Scanner in = new Scanner(System.in); Adder adder = "
                         "(Adder) Class.forName(\"Sum\").getDeclaredConstructor().newInstance(); "
                         "System.out.println(adder.add(in.nextLong(), in.nextLong())); } }\n",
            "Adder.java": "interface Adder { long add(long a, long b); }\n",
            "Sum.java": "public class Sum implements Adder { public long add(long a, long b) { return a + b; } }\n"})

    @unittest.skipUnless(shutil.which("javac"), "javac is not installed (Debian package default-jdk-headless)")
    def test_of_java_without_a_class_main(self) -> None:
        self.accepted("java", {
            "Adder.java": "public class Adder { static long add(long a, long b) { return a + b; } }\n",
            "Summing.java": "public class Summing { public static void main(String[] a) { "
                            "var in = new java.util.Scanner(System.in); "
                            "System.out.println(Adder.add(in.nextLong(), in.nextLong())); } }\n"})

    @unittest.skipUnless(shutil.which("go"), "go is not installed (Debian package golang-go)")
    def test_of_go(self) -> None:
        self.accepted("go", {"add.go": "package main\nfunc add(a, b int64) int64 { return a + b }\n",
                             "sum.go": "package main\nimport \"fmt\"\n"
                                       "func main() { var a, b int64; fmt.Scan(&a, &b); fmt.Println(add(a, b)) }\n"})

    def test_with_the_script_build(self) -> None:
        """It is run once, in a copy of the folder; other scripts of the folder can be executed."""
        self.submission("many/help.sh", "#!/bin/sh\nexec cc -O1 -o run add.c\n").chmod(0o755)
        self.accepted("build-and-run", {
            "build": "#!/bin/sh\n./help.sh\n",
            "add.c": '#include <stdio.h>\nint main(void) { long long a, b; '
                     'return scanf("%lld%lld", &a, &b) == 2 && printf("%lld\\n", a + b) > 0 ? 0 : 1; }\n'})

    def test_with_the_script_run_alone(self) -> None:
        self.accepted("build-and-run", {"run": "#!/usr/bin/python3\nimport add\nadd.main()\n",
                                        "add.py": "def main(): print(sum(map(int, input().split())))\n"})

    def test_whose_build_fails_or_leaves_no_run(self) -> None:
        for build, message in (("#!/bin/sh\necho no >&2\nexit 1\n", "no"), ("#!/bin/sh\n", "left no run")):
            with self.subTest(build):
                result = self.verdict({"build": build})
                self.assertEqual((result["verdict"], message in result["stderr"]), ("CE", True), result)

    def test_of_shell_is_executed_by_its_own_first_line(self) -> None:
        self.accepted("bash-executed", {"main.sh": "#!/usr/bin/python3\nfrom add import add\nprint(add(*map(int, input().split())))\n",
                                        "add.py": "def add(a, b): return a + b\n"})

    def test_of_shell_calls_its_other_scripts(self) -> None:
        self.submission("many/add.sh", "#!/bin/bash\necho $(($1 + $2))\n").chmod(0o755)
        self.accepted("bash-executed", {"main.sh": "#!/bin/sh\nread a b\n./add.sh $a $b\n"})

    def test_with_build_and_run_may_be_a_validator(self) -> None:
        package = self.copy("custom")
        folder = package / "output_validators/validate_cpp"
        (folder / "build").write_text("#!/bin/sh\nc++ -o checks validate.cpp\n")
        (folder / "run").write_text("#!/bin/sh\nexec ./checks \"$@\"\n")

        ended = judge("--self", package)

        self.assertEqual(ended.code, 0, ended.stdout + ended.stderr)

    def test_a_source_that_does_not_compile_is_a_compiler_error(self) -> None:
        result = self.verdict({"main.cpp": "#include <iostream>\nlong long add(long long, long long);\n" + self.MAIN,
                               "add.cpp": "long long add(\n"})

        self.assertEqual(result["verdict"], "CE")
        self.assertIn("add.cpp", result["stderr"])

    def test_whose_beginning_nobody_knows(self) -> None:
        self.submission("many/a.py", "print(1)\n")
        self.submission("many/b.py", "print(1)\n")

        ended = judge(PACKAGES / "sum", self.folder / "many")

        self.assertEqual(ended.code, 2)
        self.assertIn("a.py and b.py could each be the program", ended.stderr)


class Scores(WithACopy):
    """Problems of type scoring: by groups, with the default grader."""

    NARROW = PACKAGES / "points/submissions/partially_accepted/narrow.c"

    def test_a_part_of_the_groups_gives_a_part_of_the_points(self) -> None:
        result = objects(judge("--json", PACKAGES / "points", self.NARROW))[0]

        self.assertEqual((result["verdict"], result["label"], result["score"]), ("PAC", "OK", 40))
        self.assertEqual(result["groups"], [
            {"name": "sample", "verdict": "AC", "score": 1}, {"name": "secret", "verdict": "AC", "score": 40},
            {"name": "secret/1-small", "verdict": "AC", "score": 40}, {"name": "secret/2-large", "verdict": "WA", "score": 0}])
        # The test after the one that failed in its group is not run.
        self.assertEqual([(test["name"], test["verdict"]) for test in result["tests"]],
                         [("sample/1", "AC"), ("secret/1-small/1", "AC"), ("secret/1-small/2", "AC"), ("secret/2-large/1", "WA")])

    def test_all_tests_at_once_give_the_same(self) -> None:
        result = objects(judge("--json", "--all", PACKAGES / "points", self.NARROW))[0]

        self.assertEqual((result["verdict"], result["score"], len(result["tests"])), ("PAC", 40, 5))

    def test_the_table_shows_them(self) -> None:
        ended = judge(PACKAGES / "points", self.NARROW, PACKAGES / "points/submissions/wrong_answer/same.py")

        lines = ended.stdout.splitlines()
        self.assertRegex(lines[2], r"narrow\.c +c +PAC +40 .* OK$")
        self.assertRegex(lines[6], r"^ +secret/2-large +WA +0$")
        self.assertRegex(lines[7], r"same\.py +python +WA +- .* WrongAnswer .* on secret/1-small/1$")

    def test_a_validator_gives_them(self) -> None:
        results = objects(judge("--json", PACKAGES / "spread", *sorted((PACKAGES / "spread/submissions").glob("*/*.py"))))

        self.assertEqual([(result["verdict"], result["score"]) for result in results], [("AC", 4), ("PAC", 1), ("WA", None)])
        self.assertEqual([test["score"] for test in results[0]["tests"]], [2, 3, 5])

    def test_a_validator_gives_them_as_points_of_testlib(self) -> None:
        package = self.copy("spread")
        validator = package / "output_validators/validate.py"
        validator.write_text("import sys\nsys.stderr.write(f'points {len(set(sys.stdin.read().split()))} of them\\n')\nsys.exit(7)\n")

        results = objects(judge("--json", package, *sorted((package / "submissions").glob("*/*.py"))))

        self.assertEqual([test["score"] for test in results[0]["tests"]], [2, 3, 5])

    def test_a_score_that_is_no_number_or_out_of_range_is_no_verdict(self) -> None:
        package = self.copy("spread")
        submission = package / "submissions/accepted/most.py"
        validator = package / "output_validators/validate.py"
        source = validator.read_text()
        for score, message in (("many", "checker: score.txt: expected a number"), ("7", "data/: its score 7 is outside of its range, 0 to 4")):
            with self.subTest(score):
                validator.write_text(source.replace("{len(set(numbers))}", score))
                ended = judge("--json", package, submission)
                self.assertEqual((ended.code, objects(ended)[0]["verdict"]), (1, "JE"), ended.stdout)
                self.assertIn(message, objects(ended)[0]["detail"]["message"])

    def test_a_grader_of_its_own_is_refused_by_name(self) -> None:
        package = self.copy("points")
        (package / "data/secret/testdata.yaml").write_text("grading: custom\n")

        ended = judge("--self", package)

        self.assertEqual(ended.code, 2)
        self.assertIn("data/secret/testdata.yaml: grading: graders of a package's own are not supported yet", ended.stderr)


class ScoresFrom2023(WithACopy):
    """Problems of type scoring in the format from 2023-07 on: max_score, score_aggregation, require_pass."""

    DIVISOR = PACKAGES / "divisor"

    def run_one(self, name: str, *options: str, package: Path = DIVISOR) -> dict[str, Any]:
        return objects(judge("--json", *options, package, self.DIVISOR / "submissions" / name))[0]

    def test_groups_give_all_a_share_or_the_least(self) -> None:
        result = self.run_one("accepted/itself.py")

        self.assertEqual((result["verdict"], result["label"], result["score"]), ("PAC", "OK", 55))
        self.assertEqual([(group["name"], group["verdict"], group["score"]) for group in result["groups"]],
                         [("sample", "AC", 0), ("secret", "AC", 55), ("secret/1-small", "AC", 20),
                          ("secret/2-near", "AC", 25), ("secret/3-best", "AC", 10)])
        given = [(test.get("score"), test.get("score_multiplier")) for test in result["tests"]]
        self.assertEqual(given, [(None, None)] * 3 + [(None, 0.5)] * 2 + [(10, None)] * 2)

    def test_a_group_is_not_run_without_those_that_it_requires(self) -> None:
        result = self.run_one("wrong_answer/three.py")

        self.assertEqual((result["verdict"], result["score"]), ("PAC", 25))
        self.assertEqual([test["name"] for test in result["tests"]],
                         ["sample/1", "secret/1-small/1", "secret/2-near/1", "secret/2-near/2"])
        self.assertEqual(result["groups"][-1], {"name": "secret/3-best", "verdict": "WA", "score": 0})

    def test_all_tests_at_once_give_the_same(self) -> None:
        result = self.run_one("wrong_answer/three.py", "--all")

        self.assertEqual((result["score"], len(result["tests"])), (25, 7))

    def test_no_points_are_the_verdict_of_the_first_failure(self) -> None:
        result = self.run_one("rejected/one.py")

        self.assertEqual((result["verdict"], result["score"], result["test"]), ("WA", 0, "sample/1"))

    def test_another_score_than_promised_is_told(self) -> None:
        package = self.copy("divisor")
        (package / "submissions/submissions.yaml").write_text("accepted/itself.py: {score: [56, 100]}\n")

        ended = judge("--self", package)

        self.assertEqual(ended.code, 1)
        bad = [line for line in ended.stdout.splitlines() if "not as expected" in line]
        self.assertRegex(bad[0], r"itself\.py .* PAC +55 .* <- not as expected \(score 56 to 100\)$")
        self.assertEqual(len(bad), 2, ended.stdout)

    def test_what_a_validator_may_not_give_is_no_verdict(self) -> None:
        package = self.copy("divisor")
        validator = package / "output_validator/validate.py"
        source = validator.read_text()
        score = 'score_multiplier.txt").write_text("1\\n" if divisor == smallest else "0.5\\n")'
        self.assertIn(score, source)
        for instead, message in (('score_multiplier.txt").write_text("2")', "its score_multiplier.txt is not from 0 to 1"),
                                 ('score.txt").write_text("26")', "its score 26 is not from 0 to 25"),
                                 ('score.txt").write_text("")', "checker: score.txt: expected a number")):
            with self.subTest(instead):
                validator.write_text(source.replace(score, instead))
                result = self.run_one("accepted/smallest.py", package=package)
                self.assertEqual((result["verdict"], result["label"]), ("JE", "BadJob"), result)
                self.assertIn(message, result["detail"]["message"])
        self.assertNotIn("sample", result["detail"]["message"])

    def test_samples_give_no_points_whatever_the_validator_writes(self) -> None:
        package = self.copy("divisor")
        (package / "data/sample/test_group.yaml").write_text("output_validator_args: [multiplier]\n")

        result = self.run_one("accepted/smallest.py", package=package)

        self.assertEqual((result["verdict"], result["score"]), ("AC", 100))
        self.assertNotIn("score_multiplier", result["tests"][0])

    def test_what_is_wrong_with_a_group_is_named(self) -> None:
        package = self.copy("divisor")
        (package / "data/secret/3-best/test_group.yaml").write_text("max_score: 30\nrequire_pass: secret/2-near\n")

        ended = judge("--self", package)

        self.assertEqual(ended.code, 2)
        self.assertIn('data/secret/3-best/test_group.yaml: require_pass: "secret/2-near" does not have pass-fail', ended.stderr)


class SeveralPasses(WithACopy):
    """Problems of type multi-pass: the validator makes the input of the next pass."""

    def test_the_failing_pass_is_told(self) -> None:
        result = objects(judge("--json", PACKAGES / "passes", PACKAGES / "passes/submissions/wrong_answer/forgets.py"))[0]

        self.assertEqual((result["verdict"], result["detail"]), ("WA", {"checker": "decoded 0", "code": 43, "pass": 2}))

    def test_a_validator_that_breaks_the_rules_is_no_verdict(self) -> None:
        package = self.copy("passes")
        submission = self.submission("letters.py", "print('x')\n")
        validator = package / "output_validator/validate.py"
        source = validator.read_text()
        for broken, message in ((source.replace("sys.exit(42)  # first", "sys.exit(43)"), "ended with exit code 43"),
                                (source.replace("seen.exists()", "False"), "wrote nextpass.in after pass 2 of 2")):
            with self.subTest(message):
                validator.write_text(broken)
                ended = judge("--json", package, submission)
                self.assertEqual((ended.code, objects(ended)[0]["verdict"]), (1, "JE"), ended.stdout)
                self.assertIn(message, objects(ended)[0]["detail"]["message"])


class SeveralConversations(WithACopy):
    """Problems that are interactive and multi-pass."""

    TWICE = PACKAGES / "guess_twice"

    def test_the_pass_that_failed_is_told_by_whichever_side_failed(self) -> None:
        names = ("wrong_answer/one_by_one.py", "run_time_error/far.py", "time_limit_exceeded/waits.py")
        results = objects(judge("--json", self.TWICE, *(self.TWICE / "submissions" / name for name in names)))

        self.assertEqual([(result["verdict"], result["detail"].get("pass")) for result in results],
                         [("WA", 2), ("RTE", 2), ("TLE", 2)])
        self.assertEqual(results[0]["detail"]["interactor"], "more than twenty guesses")

    def test_feedback_stays_from_one_to_the_next(self) -> None:
        package = self.copy("guess_twice")
        validator = package / "output_validator/validate.py"
        validator.write_text(validator.read_text().replace(
            'end(RIGHT, f"found both with {asked}")', 'end(WRONG, f"in all {asked}")'))

        result = objects(judge("--json", package, self.TWICE / "submissions/accepted/bisect.py"))[0]

        self.assertEqual((result["verdict"], result["test"]), ("WA", "sample/1"))
        self.assertEqual(result["detail"], {"interactor": "in all 10", "code": 43, "pass": 2})

    def test_a_pass_too_many_is_no_verdict(self) -> None:
        package = self.copy("guess_twice")
        validator = package / "output_validator/validate.py"
        validator.write_text(validator.read_text().replace("if not seen.exists():", "if True:"))
        submission = self.TWICE / "submissions/accepted/bisect.py"

        two = objects(judge("--json", package, submission))[0]
        yaml = package / "problem.yaml"
        yaml.write_text(yaml.read_text() + "  validation_passes: 3\n")
        three = objects(judge("--json", package, submission))[0]

        self.assertEqual((two["verdict"], three["verdict"]), ("JE", "JE"))
        self.assertIn("wrote nextpass.in after pass 2 of 2", two["detail"]["message"])
        self.assertIn("wrote nextpass.in after pass 3 of 3", three["detail"]["message"])


class Mistakes(WithACopy):
    def refused(self, *arguments: str | Path) -> str:
        ended = judge(*arguments)
        self.assertEqual((ended.code, ended.out), (2, b""), ended.stderr)
        return ended.stderr

    def test_of_the_command_line(self) -> None:
        program = PACKAGES / "sum/submissions/accepted/sum.py"
        self.assertIn("no SUBMISSION", self.refused(PACKAGES / "sum"))
        self.assertIn("excludes", self.refused("--self", PACKAGES / "sum", program))
        self.assertIn("nowhere", self.refused("nowhere", program))
        self.assertIn("absent.py", self.refused(PACKAGES / "sum", "absent.py"))
        self.assertIn("no language", self.refused(PACKAGES / "sum", PACKAGES / "sum/problem.yaml"))
        self.assertIn("no example submission", self.refused("--self", self.copy("sum", submissions=False)))

    def test_of_a_package(self) -> None:
        package = self.copy("sum")
        yaml = package / "problem.yaml"
        for text, why in (("validation: custom score\n", "score is for problems of type scoring"),
                          ("limits: {memory: much}\n", "problem.yaml: limits.memory: expected a number"),
                          ("a: &a [*a, *a]\n", "problem.yaml: line 1: anchors are not accepted"),
                          ("validator_flags: float_tolerance\n", "problem.yaml: validator_flags: float_tolerance wants"),
                          ("validation: custom\n", "output_validators/: 0 programs")):
            with self.subTest(yaml=text):
                yaml.write_text(text)
                self.assertIn(why, self.refused("--self", package))

    def test_a_link_out_of_the_package(self) -> None:
        package = self.copy("sum")
        (package / "data/secret/9.in").symlink_to("/etc/passwd")

        self.assertIn("data/secret/9.in: a link that leads out", self.refused("--self", package))

    def test_files_that_are_not_used_are_named(self) -> None:
        ended = judge(PACKAGES / "sum", PACKAGES / "sum/submissions/accepted/sum.py")

        self.assertIn("not used: input_format_validators/", ended.stderr)


if __name__ == "__main__":
    unittest.main()
