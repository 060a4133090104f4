"""The API of NeMo-Skills' local sandbox, as its client uses it."""

from __future__ import annotations

import tempfile
import unittest
from typing import Any

from serve import Answer, Service
from zygo import ZygoTestCase


class Nemo(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-nemo-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--api", "nemo", "--log", "off", ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def ask(self, code: str, session: str | None = None, **more: Any) -> Answer:
        """The client names a session in a header, always for ipython and never for the others."""
        body = {"generated_code": code, "std_input": "", "timeout": 20.0, "language": "python",
                "max_output_characters": 1000, "traceback_verbosity": "Plain"} | more
        headers = {"Content-Type": "application/json"} | ({"X-Session-ID": session} if session else {})
        return self.service.ask("POST", "/execute", body, headers)

    def execute(self, code: str, **more: Any) -> dict[str, Any]:
        answer = self.ask(code, **more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_python(self) -> None:
        answer = self.execute("import sys; print(input()[::-1]); print('x', file=sys.stderr)", std_input="abc")

        self.assertEqual([answer[name] for name in ("process_status", "stdout", "stderr")], ["completed", "cba\n", "x\n"])
        self.assertEqual(answer["zygo"]["label"], "OK")

    def test_an_exception_completes_with_its_traceback(self) -> None:
        answer = self.execute("1 / 0", language="python3")

        self.assertEqual(answer["process_status"], "completed")
        self.assertTrue(answer["stderr"].endswith("ZeroDivisionError: division by zero\n"), answer["stderr"])

    def test_shell(self) -> None:
        for code, status, out in (("echo a | tr a b", "completed", "b\n"), ("echo c; exit 3", "error", "c\n")):
            with self.subTest(code):
                answer = self.execute(code, language="shell")

                self.assertEqual((answer["process_status"], answer["stdout"]), (status, out))

    def test_nothing_stays_from_one_request_to_the_next(self) -> None:
        self.execute("echo a > file", language="shell")

        self.assertEqual(self.execute("ls file", language="shell")["process_status"], "error")

    def test_a_program_that_runs_out_of_time_keeps_its_output(self) -> None:
        answer = self.execute("print('here', flush=True)\nwhile True: pass", timeout=5)

        self.assertEqual([answer[name] for name in ("process_status", "stdout", "stderr")],
                         ["timeout", "here\n", "Execution timed out after 5 seconds\n"])

    def test_long_output_is_cut(self) -> None:
        answer = self.execute("print('ä' * 50)", max_output_characters=10)

        self.assertEqual(answer["stdout"], "ä" * 10 + "<output cut>")

    def test_what_is_not_offered_says_so_in_the_clients_form(self) -> None:
        for more, name in (({"language": "ipython", "session": "5f3e"}, "ipython"), ({"language": "lean4"}, "lean4"),
                           ({"language": "pypy3"}, "pypy3"), ({"session": "5f3e"}, "X-Session-ID")):
            with self.subTest(more):
                answer = self.ask("x = 1", **more)

                self.assertEqual((answer.status, answer.json["process_status"], answer.json["stdout"]), (501, "error", ""))
                self.assertIn(name, answer.json["stderr"])
        # The client takes this for a session that has ended.
        self.assertEqual(self.service.ask("DELETE", "/sessions/5f3e").status, 404)

    def test_health(self) -> None:
        self.assertEqual(self.service.ask("GET", "/health").json, {"status": "healthy"})


if __name__ == "__main__":
    unittest.main()
