"""`zygo judge` with submissions that run several times for one test, alone or in conversations."""

from __future__ import annotations

import unittest

from judging.test_judge import PACKAGES, WithACopy, judge, objects


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


if __name__ == "__main__":
    unittest.main()
