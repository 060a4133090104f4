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
        for name in ("sum", "float", "custom", "custom_python", "guess"):
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
        for text, why in (("validation: custom score\n", "scoring problems are not supported yet"),
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
