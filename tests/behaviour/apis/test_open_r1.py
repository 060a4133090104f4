"""The API of open-r1's routers, read as their two clients read it."""

from __future__ import annotations

import json
import math
import tempfile
import textwrap
import unittest
from typing import Any

from serve import Answer, Service
from zygo import ZygoTestCase

# Of the form of the trainer's evaluation script: it is indented, starts the candidate for each case, and ends with a value.
EVALUATION = """
    import json
    import subprocess

    def share_of(code, cases):
        good = 0
        for case in cases:
            ended = subprocess.run(["python3", "-c", code], input=case["input"], text=True, capture_output=True, timeout=20)
            good += ended.returncode == 0 and ended.stdout.strip() == case["output"]
        return good / len(cases)

    share_of({code}, json.loads({cases}))
    """
CASES = [{"input": "1\n", "output": "2"}, {"input": "2\n", "output": "5"}]


def evaluation(code: str) -> str:
    return EVALUATION.format(code=json.dumps(code), cases=json.dumps(json.dumps(CASES)))


def e2b_reward(element: dict[str, Any]) -> float | None:
    """An element is an execution or none; its text is that of the main result; what is no number is no reward."""
    execution = element["execution"] or {"results": []}
    main = [each["text"] for each in execution["results"] if each["is_main_result"]]
    try:
        return float(main[0])
    except (IndexError, ValueError):
        return None


def morph_reward(element: dict[str, Any]) -> float:
    """A text that is no number is 0; None would end the reading of the whole batch, and all were 0."""
    try:
        return float(element["text"])
    except ValueError:
        return 0.0


class OpenR1(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-open-r1-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--api", "open-r1", "--log", "off", ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def ask(self, *scripts: str, languages: list[str] | None = None, timeout: int = 30) -> Answer:
        return self.service.ask("POST", "/execute_batch", {
            "scripts": list(scripts), "languages": languages or ["python"] * len(scripts),
            "timeout": timeout, "request_timeout": 28})

    def run_batch(self, *scripts: str, **more: Any) -> list[dict[str, Any]]:
        answer = self.ask(*scripts, **more)
        self.assertEqual(answer.status, 200, answer.body)
        self.assertEqual(len(answer.json), len(scripts))
        return answer.json

    def test_the_value_of_the_last_expression_is_the_reward(self) -> None:
        elements = self.run_batch(evaluation("print(int(input()) * 2)"), evaluation("print(int(input()) ** 2 + 1)"),
                                  evaluation("raise SystemExit(1)"))

        self.assertEqual([e2b_reward(each) for each in elements], [0.5, 1.0, 0.0])
        self.assertEqual([morph_reward(each) for each in elements], [0.5, 1.0, 0.0])

    def test_a_refused_call_of_a_candidate_decides_about_the_candidate_only(self) -> None:
        code = "n = int(input())\nif n == 1: import socket; socket.socket()\nprint(5)"

        self.assertEqual(e2b_reward(self.run_batch(evaluation(code))[0]), 0.5)

    def test_the_fields_of_an_execution(self) -> None:
        shown, printed, raises = self.run_batch("import sys; print('a'); print('b', file=sys.stderr); display(1); 2",
                                                "print('0.25'); None", "print('1.0'); 1 / 0")

        self.assertEqual(shown["execution"], {
            "results": [{"text": "1", "is_main_result": False}, {"text": "2", "is_main_result": True}],
            "logs": {"stdout": ["a\n"], "stderr": ["b\n"]}, "error": None, "execution_count": 1})
        self.assertEqual((shown["text"], shown["exception_str"]), ("2", None))
        self.assertEqual((e2b_reward(printed), morph_reward(printed)), (None, 0.25))
        error = raises["execution"]["error"]
        self.assertEqual((error["name"], error["value"]), ("ZeroDivisionError", "division by zero"))
        self.assertIn("line 1", error["traceback"])
        self.assertEqual((e2b_reward(raises), morph_reward(raises)), (None, 0.0))
        self.assertEqual(raises["exception_str"], "ZeroDivisionError: division by zero")

    def test_what_was_shown_is_no_value(self) -> None:
        for script in ("display(1)", "display(1); 2;", "display(1); x = 2"):
            with self.subTest(script):
                self.assertIsNone(e2b_reward(self.run_batch(script)[0]))

    def test_one_that_runs_out_of_time_costs_the_others_nothing(self) -> None:
        good, late = self.run_batch("1.0", "while True: pass", timeout=5)

        self.assertEqual((e2b_reward(good), morph_reward(good)), (1.0, 1.0))
        self.assertEqual((e2b_reward(late), morph_reward(late)), (None, 0.0))
        self.assertRegex(late["exception_str"], "^TimeoutException: ")

    def test_a_language_that_is_not_offered_gets_no_reward(self) -> None:
        good, other = self.run_batch("1.0", "1.0", languages=["python", "rust"])

        self.assertEqual(morph_reward(good), 1.0)
        self.assertIsNone(e2b_reward(other))
        self.assertTrue(math.isnan(morph_reward(other)))
        self.assertIn("rust", other["exception_str"])

    def test_more_scripts_than_run_at_once_keep_their_order(self) -> None:
        elements = self.run_batch(*(str(number) for number in range(70)))

        self.assertEqual([e2b_reward(each) for each in elements], list(range(70)))
        self.assertEqual(self.ask().json, [])

    def test_scripts_wait_for_one_another_where_the_queue_is_short(self) -> None:
        with tempfile.TemporaryDirectory(prefix="behaviour-open-r1-") as home:
            service = Service("--api", "open-r1", "--log", "off", "--workers", "1", "--queue", "1", ZYGO_HOME=home)
            self.addCleanup(service.stop)
            body = {"scripts": ["1.0"] * 20, "languages": ["python"] * 20, "timeout": 30, "request_timeout": 28}

            elements = service.ask("POST", "/execute_batch", body).json

        self.assertEqual([e2b_reward(each) for each in elements], [1.0] * 20)

    def test_what_is_no_batch_is_refused(self) -> None:
        answer = self.ask("1", "2", languages=["python"])

        self.assertEqual((answer.status, answer.json), (422, {"detail": "languages: expected as many as there are scripts"}))

    def test_a_script_is_read_as_a_cell(self) -> None:
        text = 'x = """\n  kept\n"""\nx'

        self.assertEqual(self.run_batch("\n\n" + textwrap.indent(text, "    "))[0]["text"], repr("\n  kept\n"))
        self.assertEqual(self.run_batch("")[0]["execution"]["results"], [])

    def test_health(self) -> None:
        self.assertEqual(self.service.ask("GET", "/health").json, {"status": "ok"})


if __name__ == "__main__":
    unittest.main()
