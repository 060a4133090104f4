"""E2B's API of sandboxes that keep their state, as its SDKs use it, in plain HTTP: code and contexts."""

from __future__ import annotations

import concurrent.futures
import http.client
import json
import unittest
from typing import Any, BinaryIO

from apis.e2b_client import ANN, E2bCase


class Code(E2bCase):
    def test_a_sandbox_keeps_its_state(self) -> None:
        sandbox = self.create(envVars={"GREETING": "hi"})

        first = self.run_code(sandbox, "import os, sys\nx = 41\nprint(os.environ['GREETING'])\nprint('e', file=sys.stderr)\nx + 1")
        second = self.run_code(sandbox, "x += 1\nx")

        self.assertEqual((first.stdout, first.stderr, first.text, first.error, first.count), ("hi\n", "e\n", "42", None, 1))
        self.assertEqual((second.text, second.count), ("42", 2))

    def test_two_sandboxes_know_nothing_of_each_other(self) -> None:
        one, other = self.create(), self.create()
        self.run_code(one, "x = 1\nopen('f', 'w').write('1')")

        self.assertEqual(self.run_code(other, "import os\n'x' in globals(), os.path.exists('f')").text, "(False, False)")
        self.assertEqual(self.run_code(one, "x").text, "1")

    def test_a_value_is_shown_by_types(self) -> None:
        told = self.run_code(self.create(), "class A:\n    def _repr_html_(self): return '<b>'\n    def _repr_png_(self): return b'png'\n"
                                            "    def __repr__(self): return 'an A'\nA()")

        self.assertEqual({name: told.results[0][name] for name in ("text", "html", "png")},
                         {"text": "an A", "html": "<b>", "png": "cG5n"})

    def test_an_exception_leaves_what_was_done_before_it(self) -> None:
        sandbox = self.create()
        told = self.run_code(sandbox, "y = 1\n1 / 0")

        self.assertEqual((told.error["name"], told.error["value"]), ("ZeroDivisionError", "division by zero"))
        self.assertIn("1 / 0", told.error["traceback"])
        self.assertEqual(self.run_code(sandbox, "y").text, "1")

    def test_code_that_a_limit_ends_leaves_the_sandbox_as_it_was(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "x = 1")

        told = self.run_code(sandbox, "x = 2\nhuge = bytearray(1 << 32)")

        self.assertIn(told.error["name"], ("MemoryLimitExceeded", "MemoryError"))
        self.assertEqual(self.run_code(sandbox, "x").text, "1" if told.error["name"] == "MemoryLimitExceeded" else "2")

    def test_what_cannot_be_kept_is_said(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "x = 1")

        told = self.run_code(sandbox, "import threading\nx = 2\nevent = threading.Event()\n"
                                      "threading.Thread(target=event.wait, daemon=True).start()")

        self.assertEqual(told.error["name"], "StateNotKept")
        self.assertIn("thread", told.error["value"])
        self.assertEqual(self.run_code(sandbox, "x").text, "1")

    def test_what_is_not_offered_says_so(self) -> None:
        sandbox = self.create()

        language = self.run_code(sandbox, "console.log(1)", language="javascript").error
        shell = self.run_code(sandbox, "!pip install x").error

        self.assertEqual(language["name"], "LanguageNotOffered")
        self.assertIn("javascript", language["value"])
        self.assertIn("there is no network", shell["value"])

    def test_variables_of_one_execution_are_not_those_of_the_next(self) -> None:
        sandbox = self.create(envVars={"A": "a"})
        code = "import os\n[os.environ.get(name) for name in 'AB']"

        self.assertEqual(self.run_code(sandbox, code, env_vars={"A": "b", "B": "c"}).text, "['b', 'c']")
        self.assertEqual(self.run_code(sandbox, code).text, "['a', None]")

    def test_code_may_be_indented_and_a_text_has_no_quotes(self) -> None:
        self.assertEqual(self.run_code(self.create(), "\n    if True:\n        x = 'a'\n\n    x\n").text, "a")

    def test_there_is_no_network(self) -> None:
        sandbox = self.create()
        told = self.run_code(sandbox, "x = 1\nimport socket\nsocket.create_connection(('127.0.0.1', 1))")

        self.assertEqual(told.error["name"], "PermissionError")
        self.assertIn("there is no network", told.error["value"])
        self.assertEqual(self.run_code(sandbox, "x").text, "1")
        for code in ("import urllib.request\nurllib.request.urlopen('http://example.com')", "import socket\nsocket.getaddrinfo('example.com', 80)"):
            self.assertIn("there is no network", self.run_code(sandbox, code).error["value"], code)

    def test_requests_that_come_at_once_are_run_in_turn(self) -> None:
        sandbox = self.create()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            told = list(pool.map(lambda _: self.run_code(sandbox, "n = globals().get('n', 0) + 1\nn"), range(8)))

        self.assertEqual(sorted(int(each.text or 0) for each in told), list(range(1, 9)))
        self.assertEqual(sorted(each.count or 0 for each in told), list(range(1, 9)))

    def begin_endless(self, sandbox: dict[str, Any], **wish: Any) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """The client of code that never ends, and the answer, once it runs."""
        client = self.service.client(60)
        self.addCleanup(client.close)
        client.request("POST", "/execute", json.dumps({"code": "x = 2\nwhile True: pass", **wish}),
                       {"E2b-Sandbox-Id": sandbox["sandboxID"], "X-Access-Token": sandbox["envdAccessToken"]})
        response = client.getresponse()
        self.assertIn(b"number_of_executions", response.readline())
        return client, response

    def test_a_client_that_is_told_may_change_the_sandbox_at_once(self) -> None:
        """Two requests in one write: the first is told that it was dropped, then the second removes what is dropped."""
        for asked, then in (("/sandboxes/{sandbox}/pause", "/sandboxes/{sandbox}"), ("/contexts/{context}/restart", "/contexts/{context}"),
                            ("/contexts/{context}/restart", "/sandboxes/{sandbox}")):
            with self.subTest(asked=asked, then=then):
                sandbox = self.create()
                names = {"sandbox": sandbox["sandboxID"], "context": self.inside(sandbox, "POST", "/contexts", {}).json["id"]}
                _, endless = self.begin_endless(sandbox, context_id=names["context"])
                with self.service.connect(60) as client:
                    answers = client.makefile("rb")
                    client.sendall(self.written(sandbox, "GET", "/health"))
                    self.assertEqual(self.status_in(answers), 204)  # from here on it is heard before who comes later
                    code = {"code": "1", "context_id": names["context"]}
                    client.sendall(self.written(sandbox, "POST", "/execute", code) + self.written(sandbox, "DELETE", then.format(**names)))
                    first = self.inside(sandbox, "POST", asked.format(**names), **{"X-API-Key": ANN})

                    self.assertEqual(self.status_in(answers), 409)
                    self.assertEqual(self.status_in(answers), 204)
                self.assertIn(first.status, (204, 409, 500, 502))
                endless.close()
                self.assertEqual(self.run_code(self.create(), "1").text, "1")

    @staticmethod
    def written(sandbox: dict[str, Any], method: str, path: str, body: Any = None) -> bytes:
        """A request, as it is sent."""
        data = json.dumps(body).encode() if body else b""
        return (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nE2b-Sandbox-Id: {sandbox['sandboxID']}\r\nX-API-Key: {ANN}\r\n"
                f"X-Access-Token: {sandbox['envdAccessToken']}\r\nContent-Length: {len(data)}\r\n\r\n").encode() + data

    @staticmethod
    def status_in(answers: BinaryIO) -> int:
        """The status of the next answer, whose body is read."""
        status = int(answers.readline().split()[1])
        length = 0
        while (line := answers.readline().strip()):
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        answers.read(length)
        return status

    def test_a_client_that_leaves_withdraws_its_code(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "x = 1")

        client, response = self.begin_endless(sandbox)
        response.close()
        client.close()

        self.assertEqual(self.run_code(sandbox, "x").text, "1")

    def test_a_sandbox_that_is_killed_breaks_off_what_runs(self) -> None:
        sandbox = self.create()
        _, response = self.begin_endless(sandbox)

        self.assertEqual(self.ask("DELETE", "/sandboxes/" + sandbox["sandboxID"]).status, 204)

        with self.assertRaises((http.client.IncompleteRead, ConnectionResetError)):
            response.read()

    def test_what_is_sent_may_be_long(self) -> None:
        sandbox = self.create()
        words = ["x" * 100_000] * 3

        told = self.run_code(sandbox, "#" * 300_000 + "\nx = 1\nx")
        wrong = self.inside(sandbox, "POST", "/execute", {"code": 1, "context_id": "x" * 300_000})
        command = self.run_command(sandbox, "", process={"cmd": "/bin/sh", "args": ["-c", "echo $# ${#2}", *words]})
        written = self.inside(sandbox, "POST", "/files?path=f", bytes(300_000), Content_Type="application/octet-stream")

        self.assertEqual((told.text, wrong.status, command["stdout"], written.status), ("1", 400, b"2 100000\n", 200))
        self.assertEqual(self.run_code(sandbox, "len(open('f', 'rb').read()), x").text, "(300000, 1)")

    def test_requests_that_are_wrong(self) -> None:
        sandbox = self.create()
        for body in ({}, {"code": 1}, {"code": "", "env_vars": []}):
            with self.subTest(body):
                self.assertEqual(self.inside(sandbox, "POST", "/execute", body).status, 400)
        self.assertEqual(self.inside(sandbox, "POST", "/execute", {"code": "1", "context_id": "none"}).status, 404)
        self.assertEqual(self.inside(sandbox, "POST", "/execute", {"code": "1"}, E2b_Sandbox_Id="").status, 400)


class Contexts(E2bCase):
    def test_contexts_do_not_share_variables(self) -> None:
        sandbox = self.create()
        made = self.inside(sandbox, "POST", "/contexts", {"language": "python"})
        self.assertEqual(made.status, 201)
        context = made.json["id"]

        self.run_code(sandbox, "x = 1")
        self.run_code(sandbox, "x = 2", context_id=context)

        self.assertEqual(self.run_code(sandbox, "x").text, "1")
        self.assertEqual(self.run_code(sandbox, "x", context_id=context).text, "2")
        self.assertIn(context, [each["id"] for each in self.inside(sandbox, "GET", "/contexts").json])

    def test_a_context_is_restarted_and_removed(self) -> None:
        sandbox = self.create()
        context = self.inside(sandbox, "POST", "/contexts", {}).json["id"]
        self.run_code(sandbox, "x = 1\nopen('f', 'w').write('1')", context_id=context)

        self.assertEqual(self.inside(sandbox, "POST", f"/contexts/{context}/restart").status, 204)
        again = self.run_code(sandbox, "'x' in globals()", context_id=context)
        self.assertEqual((again.text, again.count), ("False", 1))
        self.assertEqual(self.run_code(sandbox, "open('f').read()", context_id=context).text, "1")
        self.assertEqual(self.inside(sandbox, "DELETE", f"/contexts/{context}").status, 204)
        self.assertEqual(self.inside(sandbox, "POST", "/execute", {"code": "1", "context_id": context}).status, 404)

    def test_a_context_begins_with_the_files_that_are_there(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "import os\nos.makedirs('a/b')\nopen('a/b/c', 'wb').write(bytes(range(256)))\nx = 1")

        context = self.inside(sandbox, "POST", "/contexts", {}).json["id"]

        told = self.run_code(sandbox, "'x' in globals(), open('a/b/c', 'rb').read() == bytes(range(256))", context_id=context)
        self.assertEqual(told.text, "(False, True)")
        usual = self.inside(sandbox, "GET", "/contexts").json[0]["id"]
        self.assertEqual(self.inside(sandbox, "POST", f"/contexts/{usual}/restart").status, 204)
        self.assertEqual(self.run_code(sandbox, "import os\n'x' in globals(), os.path.exists('a')").text, "(False, True)")

    def test_a_working_directory(self) -> None:
        sandbox = self.create()
        made = self.inside(sandbox, "POST", "/contexts", {"cwd": "/tmp"})
        self.assertEqual(made.status, 201, made.body)
        self.assertEqual(self.run_code(sandbox, "import os\nos.path.realpath('.') == os.path.realpath('/tmp')",
                                       context_id=made.json["id"]).text, "True")
        self.assertEqual(self.inside(sandbox, "POST", "/contexts", {"cwd": "/nowhere"}).status, 400)
        self.assertEqual(len(self.inside(sandbox, "GET", "/contexts").json), 2)

    def test_another_language_is_refused(self) -> None:
        answer = self.inside(self.create(), "POST", "/contexts", {"language": "r"})
        self.assertEqual(answer.status, 501)
        self.assertIn('"r"', answer.json["message"])


if __name__ == "__main__":
    unittest.main()
