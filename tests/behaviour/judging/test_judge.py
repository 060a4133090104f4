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
                               "std::cout << a + b + down(40000) << std::endl; }\n")

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
    """One program in several files. How long its runtime takes to start is not the question, so the time limit is long."""

    MAIN = "int main() { long long a, b; std::cin >> a >> b; std::cout << add(a, b) << std::endl; }\n"
    ADD = "long long add(long long a, long long b) { return a + b; }\n"

    def verdict(self, files: dict[str, str], package: str = "sum") -> dict[str, Any]:
        for name, source in files.items():
            self.submission("many/" + name, source)
        if not (self.folder / package).exists():
            (self.copy(package, submissions=False) / ".timelimit").write_text("30\n")
        result = objects(judge("--json", self.folder / package, self.folder / "many"))[0]
        self.assertEqual(result["time_limit_ms"], 30_000)
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
