"""`zygo judge` with problems that give points, by both formats."""

from __future__ import annotations

import unittest
from pathlib import Path
from typing import Any

from judging.test_judge import PACKAGES, WithACopy, judge, objects


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


if __name__ == "__main__":
    unittest.main()
