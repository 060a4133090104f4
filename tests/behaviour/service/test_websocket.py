"""Jobs that a client takes part in while they run: `/v1/attach`, and Piston's `connect`, over a WebSocket."""

from __future__ import annotations

import base64
import json
import shutil
import socket
import struct
import tempfile
import unittest
from typing import Any

import serve
import zygo
from serve import Service
from ws_client import ACCEPT, BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, WebSocket, frame, handshake, texts
from zygo import ZygoTestCase

ECHO = "import sys\nfor line in sys.stdin: print(line.strip()[::-1], flush=True)"
ENDLESS = "print('on', flush=True)\nwhile True: pass"
LONG = {"cpu_ms": 60000, "wall_ms": 60000}
TOKEN, READER = "0123456789abcdef-all", "0123456789abcdef-info"


class SocketTestCase(ZygoTestCase):
    path = "/v1/attach"

    def serve(self, *options: str, **how: Any) -> Service:
        home = tempfile.TemporaryDirectory(prefix="behaviour-websocket-")
        self.addCleanup(home.cleanup)
        service = Service("--log", "off", *options, ZYGO_HOME=home.name, **how)
        self.addCleanup(service.stop)
        return service

    def open(self, service: Service, *headers: str, **how: Any) -> WebSocket:
        sock = service.connect()
        self.addCleanup(sock.close)
        return WebSocket(sock, self.path, *headers, **how)

    def status_of(self, service: Service, request: bytes) -> tuple[int, str]:
        sock = service.connect()
        self.addCleanup(sock.close)
        sock.sendall(request)
        text = b""
        while b"\r\n\r\n" not in text:
            text += sock.recv(65536)
        return serve.status_of(text), text.decode().lower()

    def assertCloses(self, web: WebSocket, code: int, reason: str | None = None) -> list[dict[str, Any]]:
        messages, closed = web.rest()
        self.assertEqual(closed.code, code, (closed, messages))
        if reason is not None:
            self.assertEqual(closed.reason, reason)
        return messages


class Shared(SocketTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-websocket-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--api", "piston", "--log", "off", "--head-time", "1s", "--max-body", "256K",
                              ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def web(self, *headers: str, **how: Any) -> WebSocket:
        return self.open(self.service, *headers, **how)

    def attach(self, source: str, **fields: Any) -> WebSocket:
        web = self.web()
        web.send(source=source, **fields)
        return web


class Handshakes(Shared):
    def test_the_example_of_the_standard_is_answered_as_there(self) -> None:
        web = self.web("Sec-WebSocket-Protocol: other, zygo.attach")

        self.assertIn(f"Sec-WebSocket-Accept: {ACCEPT}", web.head)
        self.assertIn("Sec-WebSocket-Protocol: zygo.attach", web.head)
        self.assertNotIn("Sec-WebSocket-Protocol", self.web("Sec-WebSocket-Protocol: other").head)
        self.assertNotIn("Sec-WebSocket-Extensions", self.web("Sec-WebSocket-Extensions: permessage-deflate").head)

    def test_what_is_no_handshake_is_told_so(self) -> None:
        for status, request in (
                (426, b"GET /v1/attach HTTP/1.1\r\nHost: localhost\r\n\r\n"),
                (426, handshake(self.path, drop=("Upgrade",))),
                (426, handshake(self.path, "Connection: keep-alive", drop=("Connection",))),
                (426, handshake(self.path, "Sec-WebSocket-Version: 8", drop=("Sec-WebSocket-Version",))),
                (426, handshake(self.path, "Sec-WebSocket-Version: 13")),
                (400, handshake(self.path, drop=("Sec-WebSocket-Key",))),
                (400, handshake(self.path, "Sec-WebSocket-Key: c2hvcnQ=", drop=("Sec-WebSocket-Key",))),
                (400, handshake(self.path, "Content-Length: 2") + b"{}"),
                (400, handshake(self.path, "X-Zygo-Patience: soon")),
                (405, handshake(self.path).replace(b"GET", b"POST"))):
            with self.subTest(request):
                got, text = self.status_of(self.service, request)
                self.assertEqual(got, status, text)
                if status == 426:
                    self.assertIn("sec-websocket-version: 13", text)

    def test_pages_of_others_are_refused(self) -> None:
        for origin, status in (("https://example.org", 403), ("null", 403), ("http://127.0.0.1:1", 403),
                               ("http://127.0.0.1", 101)):
            with self.subTest(origin):
                self.assertEqual(self.status_of(self.service, handshake(self.path, f"Origin: {origin}"))[0], status)
        # A name may be made to mean this host.
        rebound = handshake(self.path, "Origin: http://rebound.example", "Host: rebound.example", drop=("Host",))
        self.assertEqual(self.status_of(self.service, rebound)[0], 403)

    def test_a_token_is_asked_for_and_must_have_the_scope(self) -> None:
        folder = self.folder()
        (folder / "tokens").write_text(f"ann {TOKEN}\nbob {READER} info\n")
        service = self.serve("--tokens", str(folder / "tokens"))
        for given, status in (("", 401), (READER, 403), (TOKEN, 101)):
            with self.subTest(given):
                header = (f"Authorization: Bearer {given}", "Origin: https://example.org") if given else ()
                self.assertEqual(self.status_of(service, handshake(self.path, *header))[0], status)

    def test_a_page_in_a_browser_offers_its_token_as_a_subprotocol(self) -> None:
        folder = self.folder()
        (folder / "tokens").write_text(f"ann {TOKEN}\nbob {READER} info\n")
        service = self.serve("--tokens", str(folder / "tokens"))
        for given, status in (("no-token-of-anybody", 401), (READER, 403), (TOKEN, 101)):
            with self.subTest(given):
                encoded = base64.urlsafe_b64encode(given.encode()).decode().rstrip("=")
                header = (f"Sec-WebSocket-Protocol: zygo.attach, zygo.token.{encoded}", "Origin: https://example.org")
                found, text = self.status_of(service, handshake(self.path, *header))
                self.assertEqual(found, status, text)
                self.assertNotIn(encoded.lower(), text)
                self.assertEqual("sec-websocket-protocol: zygo.attach" in text, status == 101)


class Jobs(Shared):
    def test_a_warm_python_without_buffers_is_heard_at_once(self) -> None:
        web = self.attach("import sys\nprint('one', end=' ')\nsys.stdin.readline()\nprint('two')",
                          env={"PYTHONUNBUFFERED": "1"})
        web.read_until("one ")
        web.send(type="stdin", text="\n")
        self.assertEqual(texts(self.assertCloses(web, 1000), "stdout"), "two\n")

    def test_a_job_is_told_about_from_start_to_end(self) -> None:
        web = self.attach("import sys\nprint(6 * 7)\nprint('oh', file=sys.stderr)", id="a", tag=[1])

        messages = self.assertCloses(web, 1000)
        self.assertEqual(messages[0], {"type": "started", "id": "a"})
        self.assertEqual((texts(messages, "stdout"), texts(messages, "stderr")), ("42\n", "oh\n"))
        result = messages[-1]
        self.assertEqual(result.pop("type"), "result")
        self.assertEqual(zygo.shape_faults(result), [])
        posted = self.service.run("import sys\nprint(6 * 7)\nprint('oh', file=sys.stderr)", id="a", tag=[1])
        varying = ("usage", "timing_us", "detail")
        self.assertEqual(*({k: v for k, v in each.items() if k not in varying} for each in (result, posted)))

    def test_output_comes_while_the_program_waits_for_input(self) -> None:
        web = self.attach(ECHO, limits=LONG)
        for word in ("abc", "€uro"):
            web.send(type="stdin", text=word + "\n")
            self.assertIn(word[::-1] + "\n", web.read_until("\n"))
        web.send(type="stdin", base64=base64.b64encode(b"xyz\n").decode(), end=True)

        messages = self.assertCloses(web, 1000)
        self.assertEqual(texts(messages, "stdout"), "zyx\n")
        self.assertLabel(messages[-1], "OK")
        self.assertEqual(messages[-1]["stdout"]["text"], "cba\noru€\nzyx\n")

    def test_the_jobs_own_stdin_comes_first_and_stays_open(self) -> None:
        web = self.attach(ECHO, stdin="one\n", limits=LONG)
        self.assertEqual(web.read_until("\n"), "eno\n")
        web.send(type="stdin", end=True)
        web.send(type="stdin", text="for nobody\n")

        self.assertLabel(self.assertCloses(web, 1000)[-1], "OK")

    def test_what_is_sent_before_the_job_runs_waits_for_it(self) -> None:
        job, last = json.dumps({"source": ECHO}).encode(), b'{"type":"stdin","text":"ab","end":true}'
        web = self.web(early=frame(TEXT, job) + frame(TEXT, last))

        self.assertEqual(texts(self.assertCloses(web, 1000), "stdout"), "ba\n")

    def test_every_end_has_the_label_that_it_has_elsewhere(self) -> None:
        for source, label, fields in (
                ("1 / 0", "ZeroDivisionError", {}), ("import os; os._exit(3)", "NonZeroExit", {}),
                ("import os; os.kill(os.getpid(), 9)", "Signalled", {}),
                ("import socket; socket.socket()", "UnsafeCode", {}),
                ("input()", "TimeoutException", {"limits": {"wall_ms": 300}}),
                ("while True: print('x' * 1000)", "OutputLimitExceeded", {"limits": {"stdout_kb": 64}})):
            with self.subTest(source):
                messages = self.assertCloses(self.attach(source, **fields), 1000)
                result = messages[-1]
                self.assertLabel(result, label)
                self.assertEqual(texts(messages, "stdout"), result["stdout"]["text"])

    def test_call_mode_has_its_value(self) -> None:
        web = self.attach("def f(x):\n print(x)\n return x + 1", mode="call", func="f", inputs=[1, 2])

        messages = self.assertCloses(web, 1000)
        self.assertEqual((messages[-1]["value"], texts(messages, "stdout")), ([2, 3], "1\n2\n"))

    def test_no_character_is_broken_and_what_is_no_text_is_base64(self) -> None:
        source = ("import sys\nout = sys.stdout.buffer\ndef say(b): out.write(b); out.flush(); sys.stdin.readline()\n"
                  "say(b'a\\xe2'); say(b'\\x82'); say(b'\\xac\\n'); say(b'\\xff\\xfe'); say(b'end\\xe2\\x82')")
        web = self.attach(source, limits=LONG)
        self.assertEqual(web.expect("started")["type"], "started")
        self.assertEqual(web.message(), {"type": "stdout", "text": "a"})
        web.send(type="stdin", text="\n\n")
        self.assertEqual(web.read_until("\n"), "€\n")
        web.send(type="stdin", text="\n")
        self.assertEqual(web.message(), {"type": "stdout", "base64": base64.b64encode(b"\xff\xfe").decode()})
        web.send(type="stdin", text="\n\n")

        messages = self.assertCloses(web, 1000)
        tail = [m for m in messages if m["type"] == "stdout"]
        self.assertEqual(tail, [{"type": "stdout", "text": "end"},
                                {"type": "stdout", "base64": base64.b64encode(b"\xe2\x82").decode()}])

    def test_a_cancelled_job_says_so(self) -> None:
        web = self.attach(ENDLESS, limits=LONG)
        web.read_until("on\n")
        web.send(type="cancel")

        self.assertLabel(self.assertCloses(web, 1000)[-1], "Cancelled")

    @unittest.skipUnless(shutil.which("gcc"), "needs gcc")
    def test_a_program_that_is_compiled_first_is_fed_all_the_same(self) -> None:
        source = ('#include <stdio.h>\nint main(void){int n;while(scanf("%d",&n)==1)'
                  '{printf("%d\\n",n*2);fflush(stdout);}}')
        web = self.attach(source, template="c", limits=LONG)
        web.send(type="stdin", text="21\n")
        self.assertEqual(web.read_until("\n"), "42\n")
        web.send(type="stdin", end=True)
        self.assertLabel(self.assertCloses(web, 1000)[-1], "OK")

        broken = self.assertCloses(self.attach("int main(", template="c"), 1000)
        self.assertLabel(broken[-1], "CompilationError")
        self.assertEqual([m["type"] for m in broken], ["result"])

    def test_a_client_that_goes_takes_its_job_with_it(self) -> None:
        for how in ("close", "hang up", "reset"):
            with self.subTest(how):
                web = self.attach(ENDLESS, limits=LONG)
                web.read_until("on\n")
                if how == "close":
                    web.send_frame(CLOSE, b"\x03\xe9")
                    self.assertCloses(web, 1001)
                else:
                    reset(web) if how == "reset" else web.sock.close()
                self.service.await_metric("zygo_engine_jobs", 0)

    def test_a_job_that_is_none_is_refused_by_its_path(self) -> None:
        for job, path in (({"source": "", "sauce": 1}, "sauce"), ({"source": "", "template": "nothing"}, "template"),
                          ({"source": "", "determinism": {"runs": 2}}, "determinism.runs"),
                          ({"source": "", "tests": [{"stdin": "", "expect": ""}]}, "tests"), ({}, "source")):
            with self.subTest(job):
                web = self.web()
                web.send(**job)
                messages = self.assertCloses(web, 4400)
                self.assertEqual([m["type"] for m in messages], ["error"])
                self.assertEqual((messages[0]["error"]["code"], messages[0]["error"].get("path")), ("bad_job", path))

    def test_messages_that_mean_nothing_end_it(self) -> None:
        for message in (b"{", b"[]", b"{}", b'{"type":"stdout"}', b'{"type":"stdin"}', b'{"type":"stdin","text":1}',
                        b'{"type":"stdin","text":"","base64":""}', b'{"type":"stdin","base64":"?"}',
                        b'{"type":"cancel","end":true}', b'{"type":"stdin","text":"","more":1}'):
            with self.subTest(message):
                web = self.attach("input()", limits=LONG)
                web.send_frame(TEXT, message)
                messages = self.assertCloses(web, 4400)
                self.assertEqual(messages[-1]["error"]["code"], "bad_message")
        self.service.await_metric("zygo_engine_jobs", 0)

    def test_one_that_sends_no_job_is_not_waited_for(self) -> None:
        self.assertCloses(self.web(), 4408)


class Frames(Shared):
    def test_wrong_frames_end_it_with_the_standards_code(self) -> None:
        for code, data in (
                (1002, frame(TEXT, b"{}", mask=None)), (1002, frame(TEXT, b"{}", reserved=4)),
                (1002, frame(3, b"")), (1002, frame(11, b"")), (1002, frame(CONTINUATION, b"{}")),
                (1002, frame(PING, b"", fin=False)), (1002, frame(TEXT, b"{", fin=False) + frame(TEXT, b"}")),
                (1002, frame(CLOSE, b"\x03\xed")), (1007, frame(TEXT, b"\xff")), (1007, frame(TEXT, b"\xed\xa0\x80")),
                (1007, frame(CLOSE, b"\x03\xe8\xff")), (1003, frame(BINARY, b"{}")),
                (1009, frame(TEXT, b" " * (300 << 10))),
                (1009, (frame(TEXT, b" " * (200 << 10), fin=False) + frame(CONTINUATION, b" " * (100 << 10)))),
                (1009, b"\x81\xff" + b"\x7f" + b"\xff" * 7 + b"maskx")):
            with self.subTest(data[:8]):
                web = self.web()
                web.sock.sendall(data)
                messages, closed = web.rest()
                self.assertEqual((closed.code, messages), (code, []))

    def test_a_control_frame_that_is_too_long_ends_it(self) -> None:
        web = self.web()
        web.sock.sendall(frame(PING, b"x" * 126))
        self.assertEqual(web.rest()[1].code, 1002)

    def test_a_message_may_come_in_pieces_with_pings_between(self) -> None:
        web = self.web()
        job = json.dumps({"source": "print(1)"}).encode()
        web.send_frame(TEXT, job[:5], fin=False)
        web.send_frame(PING, b"are you there?")
        self.assertEqual(web.frame(), (PONG, b"are you there?"))
        for byte in frame(CONTINUATION, job[5:9], fin=False) + frame(CONTINUATION, b"", fin=False):
            web.sock.sendall(bytes([byte]))
        web.send_frame(PONG, b"nobody asked")
        web.send_frame(CONTINUATION, job[9:])

        self.assertEqual(texts(self.assertCloses(web, 1000), "stdout"), "1\n")

    def test_a_close_is_answered_with_its_code(self) -> None:
        for payload, code in ((b"\x03\xe8", 1000), (b"\x0f\xa0bye", 4000), (b"", None)):
            with self.subTest(payload):
                web = self.web()
                web.send_frame(CLOSE, payload)
                self.assertEqual(web.rest()[1].code, code)

    def test_a_long_message_is_read_and_one_too_long_later_is_not(self) -> None:
        web = self.attach("print(len(input()))", limits=LONG)
        web.send(type="stdin", text="x" * 200_000 + "\n")
        self.assertEqual(web.read_until("\n"), "200000\n")


def reset(web: WebSocket) -> None:
    web.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    web.sock.close()


if __name__ == "__main__":
    unittest.main()
