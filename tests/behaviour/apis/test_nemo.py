"""The API of NeMo-Skills' local sandbox, as its client uses it."""

from __future__ import annotations

import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
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
        cls.service = Service("--api", "nemo", "--log", "off", "--nodes-memory", "64M", ZYGO_HOME=home.name)
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
        code = "import sys; print(input()[::-1]); print('x', file=sys.stderr)"
        expected = {"process_status": "completed", "stdout": "cba\n", "stderr": "x\n"}

        self.assertEqual(self.execute(code, std_input="abc"), expected)
        answer = self.execute(code, std_input="abc", zygo=True)
        self.assertEqual(answer.pop("zygo")["label"], "OK")
        self.assertEqual(answer, expected)

    def test_an_exception_completes_with_its_traceback(self) -> None:
        answer = self.execute("1 / 0", language="python3")

        self.assertEqual(answer, {"process_status": "completed", "stdout": "", "stderr":
                                  'Traceback (most recent call last):\n  File "<string>", line 1, in <module>\n'
                                  "ZeroDivisionError: division by zero\n"})

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
        for more, name in (({"language": "lean4"}, "lean4"), ({"language": "pypy3"}, "pypy3")):
            with self.subTest(more):
                answer = self.ask("x = 1", **more)

                self.assertEqual((answer.status, answer.json["process_status"], answer.json["stdout"]), (501, "error", ""))
                self.assertIn(name, answer.json["stderr"])

    def cell(self, session: str, code: str, **more: Any) -> dict[str, Any]:
        answer = self.ask(code, session, language="ipython", **more)
        self.assertEqual(answer.status, 200, answer.body)
        # The tool for models wants texts, when the client has taken this field.
        self.assertEqual({type(value) for name, value in answer.json.items() if name != "new_session_created"}, {str})
        return answer.json

    def test_a_session_keeps_what_its_cells_did(self) -> None:
        self.assertEqual(self.cell("first", "x = 6\nopen('note', 'w').write('kept')\nprint('set')"),
                         {"process_status": "completed", "stdout": "set\n", "stderr": "", "new_session_created": True})
        self.assertEqual(self.cell("first", "print(open('note').read())\nx * 7"),
                         {"process_status": "completed", "stdout": "kept\n42\n", "stderr": "", "new_session_created": False})
        other = self.cell("second", "x")
        self.assertEqual((other["process_status"], other["stderr"], other["new_session_created"]), ("error", "", True))
        self.assertEqual(other["stdout"], "Traceback (most recent call last):\n    x\nNameError: name 'x' is not defined\n")

    def test_tracebacks_are_as_long_as_they_are_asked_for(self) -> None:
        code = "\n    def f():\n        return json.loads('{')\n    import json\n    f()\n    "
        for verbosity, lines in (("Minimal", 1), ("Plain", 8), ("Context", 10)):
            with self.subTest(verbosity):
                out = self.cell("wordy", code, traceback_verbosity=verbosity)["stdout"].splitlines()

                self.assertIn("JSONDecodeError: Expecting property name enclosed in double quotes", out[-1])
                self.assertEqual("    f()" in out, verbosity != "Minimal")
                self.assertEqual(any("step " in line for line in out), verbosity == "Context", out)
                self.assertLessEqual(len(out), lines)

    def test_a_traceback_is_told_also_where_errors_go_elsewhere(self) -> None:
        self.cell("moved", "import io, sys\nsys.stderr = io.StringIO()\ndef f():\n    1 / 0")
        self.assertEqual(self.cell("moved", "f()"), {
            "process_status": "error", "stderr": "", "new_session_created": False,
            "stdout": "Traceback (most recent call last):\n    f()\n  File step 2:4 in f\nZeroDivisionError: division by zero\n"})

    def test_a_value_is_not_shown_behind_a_semicolon(self) -> None:
        self.assertEqual([self.cell("quiet", code)["stdout"] for code in ("x = 1; x", "x;")], ["1\n", ""])

    def test_a_cell_that_does_not_compile_shows_where(self) -> None:
        self.assertEqual(self.cell("wrong", "a = 2\n b = 3"),
                         {"process_status": "error", "stderr": "", "new_session_created": True,
                          "stdout": "    b = 3\n    ^\nIndentationError: unexpected indent\n"})

    def test_a_time_out_keeps_the_session(self) -> None:
        self.cell("late", "x = [1]")
        stopped = self.cell("late", "x.append(2); print('here', flush=True)\nwhile True: pass", timeout=1)
        self.assertEqual(stopped, {"process_status": "timeout", "stdout": "here\n", "new_session_created": False,
                                   "stderr": "Execution timed out after 1 seconds\n"})
        self.assertEqual(self.cell("late", "x")["stdout"], "[1]\n")
        crashed = self.cell("late", "import os\nx.append(3)\nos.kill(os.getpid(), 9)")
        self.assertEqual((crashed["process_status"], crashed["new_session_created"]), ("error", False))
        self.assertEqual(self.cell("late", "x")["stdout"], "[1]\n")

    def test_cells_of_one_session_that_come_at_once_follow_one_another(self) -> None:
        self.cell("many", "seen = []")
        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda number: self.cell("many", f"seen.append({number})"), range(24)))
        self.assertEqual(self.cell("many", "sorted(seen) == list(range(24))")["stdout"], "True\n")

    def test_sessions_are_listed_and_end(self) -> None:
        self.cell("short", "x = 1")
        session = self.service.ask("GET", "/sessions").json["sessions"]["short"]
        self.assertEqual((session["backend"], session["alive"]), ("ipython", True))
        self.assertLessEqual(session["created"], session["last_used"])
        self.assertEqual([self.service.ask("DELETE", "/sessions/short").status for _ in range(2)], [200, 404])
        self.assertTrue(self.cell("short", "1")["new_session_created"])

    def test_a_session_whose_state_had_to_go_begins_anew(self) -> None:
        self.cell("old", "import random\ndata = random.randbytes(20 << 20)")
        for number in range(3):
            self.cell(f"new {number}", "import random\ndata = random.randbytes(20 << 20)")
        again = self.cell("old", "'data' in globals()")
        self.assertEqual((again["stdout"], again["new_session_created"]), ("False\n", True))

    def test_health(self) -> None:
        self.assertEqual(self.service.ask("GET", "/health").json, {"status": "healthy"})


if __name__ == "__main__":
    unittest.main()
