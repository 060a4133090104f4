"""The Model Context Protocol, in raw JSON-RPC: what its tools do, over `zygo mcp` and over a service."""

from __future__ import annotations

import base64
import json
import signal
import subprocess
import unittest
from typing import Any

import zygo
from apis.mcp_client import NEWEST, Client, HttpClient, StdioClient, events_in, message
from serve import Service
from zygo import ZygoTestCase

PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(each["text"] for each in result["content"] if each["type"] == "text")


class Tools:
    """Over both transports."""

    client: Client

    def test_variables_stay_and_values_are_shown(self: Any) -> None:
        self.assertEqual(self.client.python("x = 6\nprint('set')")["structuredContent"],
                         {"label": "OK", "stdout": "set\n", "stderr": "", "value": None, "error": None, "left_out": 0,
                          "kept": True, "step": 1})
        result = self.client.python("x * 7")
        self.assertEqual((result["structuredContent"]["value"], text_of(result)), ("42", "=> 42\n"))

    def test_an_exception_is_an_error_with_its_traceback_and_keeps_what_was_done(self: Any) -> None:
        result = self.client.python("x = 1\n1 / 0")
        self.assertTrue(result["isError"])
        self.assertIn("ZeroDivisionError: division by zero", text_of(result))
        self.assertEqual(result["structuredContent"]["error"]["type"], "ZeroDivisionError")
        self.assertEqual(self.client.value("x"), "1")

    def test_a_limit_leaves_the_state_before_the_call(self: Any) -> None:
        self.client.python("x = [1]")
        result = self.client.python("x.append(2)\nwhile True: pass", timeout_ms=300)
        self.assertTrue(result["isError"])
        self.assertIn("TimeoutException: limit ", text_of(result))
        self.assertIn("The state of the session is that before this call", text_of(result))
        self.assertEqual(self.client.value("x"), "[1]")

    def test_what_cannot_be_kept_is_named(self: Any) -> None:
        self.client.python("x = 1")
        result = self.client.python("x = 2\nimport os; ends = os.pipe()\nprint('done')")
        self.assertTrue(result["isError"])
        self.assertEqual(result["structuredContent"]["label"], "OK")
        self.assertIn("before this call: an open pipe.", text_of(result))
        self.assertEqual(self.client.value("x"), "1")

    def test_many_programs_are_tried_from_one_state(self: Any) -> None:
        self.client.python("x = [1]")
        codes = [f"x.append({i})\nsum(x)" for i in range(10)] + ["1 / 0"]
        tried = self.client.call("try_many", codes=codes)
        results = tried["structuredContent"]["results"]
        self.assertEqual([each["value"] for each in results], [str(1 + i) for i in range(10)] + [None])
        self.assertEqual(results[10]["label"], "ZeroDivisionError")
        self.assertEqual(self.client.value("x"), "[1]")
        kept = self.client.call("try_many", codes=codes, keep=4)
        self.assertEqual(kept["structuredContent"]["kept"], 4)
        self.assertEqual(self.client.value("x"), "[1, 4]")

    def test_undo_takes_variables_and_files_back(self: Any) -> None:
        self.client.python("x = 1")
        self.client.python("x = 2\nopen('f', 'w').write('two')")
        self.client.call("write_file", path="g", text="three")
        self.assertEqual(self.client.call("undo", steps=2)["structuredContent"], {"undone": 2, "step": 1})
        self.assertEqual(self.client.value("import os; x, os.listdir('.')"), "(1, [])")
        self.assertTrue(self.client.call("undo", steps=5)["structuredContent"]["undone"] == 2)
        self.assertTrue(self.client.call("undo")["isError"])

    def test_files_go_in_and_out(self: Any) -> None:
        self.client.call("write_file", path="d/text", text="héllo\n")
        self.client.call("write_file", path="bytes", base64=base64.b64encode(b"\xff\x00").decode())
        self.assertEqual(self.client.value("open('d/text').read(), open('bytes', 'rb').read()"), r"('héllo\n', b'\xff\x00')")
        self.client.python("open('image.png', 'wb').write(bytes.fromhex('" + PNG.hex() + "'))\nopen = None")
        read = self.client.call("read_file", path="d/text")
        self.assertEqual((text_of(read), read["structuredContent"]["size"]), ("héllo\n", 7))
        part = self.client.call("read_file", path="d/text", offset=1, length=1)
        self.assertEqual(part["structuredContent"]["base64"], base64.b64encode("é".encode()[:1]).decode())
        image = self.client.call("read_file", path="image.png")["content"][0]
        self.assertEqual((image["type"], image["mimeType"], base64.b64decode(image["data"])), ("image", "image/png", PNG))
        missing = self.client.call("read_file", path="none")
        self.assertTrue(missing["isError"])
        self.assertIn("FileNotFoundError", text_of(missing))
        self.assertTrue(self.client.call("write_file", path="../up", text="")["isError"])
        self.assertEqual(self.client.value("'_zygo_read' in dir()"), "False")

    def test_a_session_that_reads_files_in_its_own_way_tells_no_more_than_may_be(self: Any) -> None:
        self.client.python("import io\nclass File:\n  def __enter__(self): return self\n  def __exit__(self, *_): pass\n"
                           "  def fileno(self): return 0\n  def read(self, _): return b'a' * (3 << 20)\n"
                           "io.open = lambda *_: File()")
        read = self.client.call("read_file", path="f")
        self.assertTrue(read["isError"])
        self.assertIn("InvalidResult", text_of(read))
        self.assertLess(len(text_of(read)), 2000)

    def test_an_image_is_shown_as_one(self: Any) -> None:
        result = self.client.python("class Plot:\n  def _repr_png_(self): return bytes.fromhex('" + PNG.hex() + "')\n"
                                    "  def __repr__(self): return '<Plot>'\nPlot()")
        image = result["content"][1]
        self.assertEqual((image["type"], image["mimeType"], base64.b64decode(image["data"])), ("image", "image/png", PNG))
        self.assertEqual(text_of(result), "=> <Plot>\n")

    def test_long_output_says_how_much_is_left_out(self: Any) -> None:
        result = self.client.python("print('a' * 100000)\nprint('the end')")
        structure = result["structuredContent"]
        self.assertEqual(structure["left_out"], 100000 + 9 - 32768)
        self.assertIn(f"{structure['left_out']} bytes are left out here", structure["stdout"])
        self.assertTrue(structure["stdout"].endswith("the end\n"))

    def test_a_program_of_another_language(self: Any) -> None:
        result = self.client.call("run_program", language="sh", source="read x; echo got $x; exit 3", stdin="this\n")
        self.assertTrue(result["isError"])
        self.assertEqual((result["structuredContent"]["label"], result["structuredContent"]["stdout"]),
                         ("NonZeroExit", "got this\n"))
        unknown = self.client.call("run_program", language="cobol", source="")
        self.assertTrue(unknown["isError"])
        self.assertIn("cobol", text_of(unknown))

    def test_progress(self: Any) -> None:
        self.client.request("tools/call", {"name": "try_many", "arguments": {"codes": ["1", "2", "3"]},
                                           "_meta": {"progressToken": "p"}})
        told = [each["params"] for each in self.client.notified]
        self.assertEqual(told, [{"progressToken": "p", "progress": i, "total": 3} for i in range(3)])

    def test_mistakes_have_the_codes_of_json_rpc(self: Any) -> None:
        for method, params, code in (("resources/list", {}, -32601), ("tools/call", {"name": "rm"}, -32602),
                                     ("tools/call", {"name": "run_python", "arguments": {"code": 1}}, -32602)):
            with self.subTest(method=method, params=params):
                self.assertEqual(self.client.request(method, params)["error"]["code"], code)
        self.assertEqual(self.client.request("ping")["result"], {})

    def test_tools_are_listed_with_schemas(self: Any) -> None:
        tools = {each["name"]: each for each in self.client.request("tools/list")["result"]["tools"]}
        self.assertEqual(sorted(tools), ["read_file", "run_program", "run_python", "try_many", "undo", "write_file"])
        for tool in tools.values():
            self.assertEqual((tool["inputSchema"]["type"], tool["outputSchema"]["type"]), ("object", "object"))
        self.assertTrue(tools["read_file"]["annotations"]["readOnlyHint"])


class OverStdio(Tools, ZygoTestCase):
    def setUp(self) -> None:
        self.client = StdioClient()
        self.addCleanup(self.client.drop)


class OverHttp(Tools, ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = Service("--api", "mcp", "--log", "off", "--grace", "100ms")
        cls.addClassCleanup(cls.service.stop)

    def setUp(self) -> None:
        self.client = HttpClient(self.service)
        self.addCleanup(self.client.end)


class Stdio(ZygoTestCase):
    def begin(self, *options: str, **how: Any) -> StdioClient:
        client = StdioClient(*options, **how)
        self.addCleanup(client.drop)
        return client

    def test_versions_are_negotiated(self) -> None:
        client = self.begin(begin=False)
        self.assertEqual(client.request("tools/list")["error"]["code"], -32600)
        for wanted, given in (("2025-03-26", "2025-03-26"), (NEWEST, NEWEST), ("2024-11-05", "2024-11-05"), ("1999", NEWEST)):
            self.assertEqual(client.initialize(wanted)["protocolVersion"], given)

    def test_what_is_no_message_is_answered_and_the_next_one_is_heard(self) -> None:
        client = self.begin()
        for line, code in ((b"{", -32700), (b"[]", -32600), (b"7", -32600), (b"\xff", -32700),
                           (b'"' + b"a" * (5 << 20) + b'"', -32600)):
            client.send(line)
            self.assertEqual(client.next()["error"]["code"], code)
        client.send([message("ping", None, 1)])
        self.assertEqual(client.next()["error"]["code"], -32600)
        self.assertEqual(client.value("1"), "1")

    def test_batches_of_the_version_that_has_them(self) -> None:
        client = self.begin(begin=False)
        client.initialize("2025-03-26")
        call = {"name": "run_python", "arguments": {"code": "x = globals().get('x', 0) + 1\nx"}}
        client.send([message("tools/call", call, "a"), message("ping", None, "b"), message("tools/call", call, "c")])
        answers = {each["id"]: each["result"] for each in client.next()}
        self.assertEqual((text_of(answers["a"]), answers["b"], text_of(answers["c"])), ("=> 1\n", {}, "=> 2\n"))
        self.assertNotIn("structuredContent", answers["a"])

    def test_a_call_is_cancelled_while_it_runs(self) -> None:
        client = self.begin()
        client.python("x = 1")
        client.send(message("tools/call", {"name": "run_python", "_meta": {"progressToken": 1}, "arguments":
                            {"code": "x = 2\nimport time\ntime.sleep(600)", "timeout_ms": 3000000}}, "slow"))
        self.assertEqual(client.next()["params"]["progress"], 0)
        self.assertEqual(client.request("ping")["result"], {})
        client.send(message("notifications/cancelled", {"requestId": "slow", "reason": "enough"}))
        self.assertEqual(client.value("x"), "1")

    def test_limits_and_templates_are_the_operators(self) -> None:
        client = self.begin("--cpu", "200ms", "--template", "python-numpy")
        self.assertIn("limit cpu, limit_ms 200", text_of(client.python("while True: pass")))
        self.assertEqual(client.value("import sys; 'numpy' in sys.modules"), "True")

    def test_it_ends_with_its_input_when_all_is_answered(self) -> None:
        lines = [message("initialize", {"protocolVersion": NEWEST}, 1),
                 message("tools/call", {"name": "run_python", "arguments": {"code": "print(6 * 7)"}}, 2)]
        done = subprocess.run([str(zygo.BINARY), "mcp"], input="\n".join(map(json.dumps, lines)), text=True,
                              capture_output=True, env=zygo.environment(), timeout=60 * zygo.PATIENCE, check=False)
        answers = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([each["id"] for each in answers], [1, 2])
        self.assertEqual(text_of(answers[1]["result"]), "42\n")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_it_ends_by_a_signal_while_a_step_runs(self) -> None:
        client = self.begin()
        client.ask("tools/call", {"name": "run_python", "_meta": {"progressToken": 1}, "arguments":
                                  {"code": "import time\ntime.sleep(600)", "timeout_ms": 3000000}})
        client.next()  # it runs
        self.assertEqual(client.close(signal.SIGTERM), (0, ""))

    def test_mistakes_on_the_command_line_are_told_on_stderr(self) -> None:
        done = zygo.run_cli("mcp", "--template", "none")
        self.assertEqual((done.code, done.stdout), (2, ""))
        self.assertIn("none", done.stderr)


class Http(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.service = Service("--api", "mcp", "--log", "off", "--grace", "100ms")
        cls.addClassCleanup(cls.service.stop)

    def begin(self) -> HttpClient:
        client = HttpClient(self.service)
        self.addCleanup(client.end)
        return client

    def test_each_client_has_a_session_of_its_own(self) -> None:
        one, other = self.begin(), self.begin()
        self.assertNotEqual(one.headers["Mcp-Session-Id"], other.headers["Mcp-Session-Id"])
        one.python("x = 1")
        self.assertIn("NameError", text_of(other.python("x")))

    def test_a_session_ends_and_is_not_found_any_more(self) -> None:
        client = self.begin()
        client.python("x = 1")
        self.assertEqual(client.end(), 204)
        self.assertEqual(client.post(message("ping", None, 1)).status, 404)
        self.assertEqual(client.end(), 404)

    def test_requests_that_are_none(self) -> None:
        client = self.begin()
        ping = message("ping", None, 1)
        self.assertEqual(self.service.ask("GET", "/mcp").status, 405)
        self.assertEqual(client.post(ping, Content_Type="text/plain").status, 415)
        self.assertEqual(client.post(ping, MCP_Protocol_Version="1999-01-01").status, 400)
        self.assertEqual(client.post(ping, Mcp_Session_Id="0" * 32).status, 404)
        self.assertEqual(client.post(b"{").json["error"]["code"], -32700)
        self.assertEqual(client.post(b"{").status, 400)
        without = HttpClient(self.service, begin=False)
        self.assertEqual(without.post(ping).status, 400)

    def test_pages_and_other_names_are_turned_away(self) -> None:
        client = self.begin()
        ping = message("ping", None, 1)
        self.assertEqual(client.post(ping, Origin="https://evil.example").status, 403)
        self.assertEqual(client.post(ping, Host="evil.example").status, 403)
        self.assertEqual(client.post(ping).status, 200)

    def test_an_initialize_that_fails_begins_no_session(self) -> None:
        answer = HttpClient(self.service, begin=False).post(message("initialize", {}, 1))
        self.assertEqual((answer.json["error"]["code"], answer.headers.get("mcp-session-id")), (-32602, None))

    def test_notifications_are_accepted(self) -> None:
        answer = self.begin().post(message("notifications/initialized", None))
        self.assertEqual((answer.status, answer.body), (202, b""))

    def test_events_come_only_where_they_are_taken(self) -> None:
        client = self.begin()
        call = message("tools/call", {"name": "run_python", "arguments": {"code": "1"}, "_meta": {"progressToken": 1}}, 1)
        streamed = client.post(call)
        self.assertEqual(streamed.headers["content-type"], "text/event-stream")
        self.assertEqual([each.get("method") for each in events_in(streamed.body)], ["notifications/progress", None])
        plain = client.post(call, Accept="application/json")
        self.assertEqual(plain.json["result"]["isError"], False)

    def test_a_call_is_cancelled_by_another_request(self) -> None:
        client = self.begin()
        client.python("x = 1")
        slow = message("tools/call", {"name": "run_python", "_meta": {"progressToken": 1}, "arguments":
                                      {"code": "x = 2\nimport time\ntime.sleep(600)", "timeout_ms": 3000000}}, "slow")
        connection = self.service.client(60)
        self.addCleanup(connection.close)
        connection.request("POST", "/mcp", json.dumps(slow).encode(), client.headers)
        stream = connection.getresponse()
        self.assertIn(b"notifications/progress", stream.readline() + stream.readline())
        self.assertEqual(client.post(message("notifications/cancelled", {"requestId": "slow"})).status, 202)
        self.assertNotIn(b'"id":"slow"', stream.read())
        self.assertEqual(client.value("x"), "1")

    def test_a_client_that_leaves_takes_its_call_back(self) -> None:
        client = self.begin()
        client.python("x = 1")
        slow = message("tools/call", {"name": "run_python", "_meta": {"progressToken": 1}, "arguments":
                                      {"code": "x = 2\nimport time\ntime.sleep(600)", "timeout_ms": 3000000}}, "slow")
        connection = self.service.client(60)
        connection.request("POST", "/mcp", json.dumps(slow).encode(), client.headers)
        connection.getresponse().readline()
        connection.close()
        self.assertEqual(client.value("x"), "1")


class Bounds(ZygoTestCase):
    def test_a_clients_newest_sessions_are_kept(self) -> None:
        service = Service("--api", "mcp", "--log", "off", "--grace", "100ms")
        self.addCleanup(service.stop)
        clients = [HttpClient(service) for _ in range(66)]
        statuses = [client.post(message("ping", None, 1)).status for client in clients]
        self.assertEqual(statuses, [404] * 2 + [200] * 64)


class Nodes(ZygoTestCase):
    def test_what_a_session_began_goes_with_it(self) -> None:
        service = Service("--api", "mcp", "--log", "off", "--grace", "100ms")
        self.addCleanup(service.stop)
        client = HttpClient(service)
        client.python("x = 1")
        client.call("try_many", codes=["x", "x + 1", "x + 2"])
        client.call("read_file", path="none")
        service.await_metric("zygo_nodes ", 2)
        client.end()
        service.await_metric("zygo_nodes ", 0)


class Tokens(ZygoTestCase):
    def test_a_session_is_its_token_holders_alone(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text("alice aaaaaaaaaaaaaaaaaaaaaaaa jobs\nbob bbbbbbbbbbbbbbbbbbbbbbbb jobs\n")
        tokens.chmod(0o600)
        service = Service("--api", "mcp", "--log", "off", "--grace", "100ms", "--tokens", str(tokens))
        self.addCleanup(service.stop)
        alice = HttpClient(service, "a" * 24)
        alice.python("x = 1")
        bob = HttpClient(service, "b" * 24)
        session = alice.headers["Mcp-Session-Id"]
        self.assertEqual(bob.post(message("ping", None, 1), Mcp_Session_Id=session).status, 404)
        self.assertEqual(service.ask("DELETE", "/mcp", None, bob.headers | {"Mcp-Session-Id": session}).status, 404)
        self.assertEqual(alice.post(message("ping", None, 1), Authorization="Bearer none").status, 401)
        self.assertEqual(alice.post(message("ping", None, 1), Origin="https://evil.example").status, 403)
        self.assertEqual(alice.value("x"), "1")


if __name__ == "__main__":
    unittest.main()
