"""go-judge's /stream: one command whose client writes its stdin and reads its output while it runs, byte for byte."""

from __future__ import annotations

import json
import struct
import tempfile
import unittest
from pathlib import Path
from typing import Any

import serve
import ws_client
import zygo
from serve import Service
from apis.test_go_judge import MIB, SECOND, SUM, command
from ws_client import BINARY, TEXT, Closed, WebSocket, frame
from zygo import ZygoTestCase

IN, OUT = {"streamIn": True}, {"streamOut": True}
LIVE = [IN, OUT, OUT]
LONG = {"cpuLimit": 60 * SECOND, "clockLimit": 60 * SECOND}
TALK = "read a; echo \"one $a\"; read b; echo \"two $b\" >&2; exit 3"


def request(*args: str, **more: Any) -> bytes:
    return b"\1" + json.dumps({"cmd": [command(*args, **{"files": LIVE} | more)]}).encode()


class Streams(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-go-judge-stream-")
        cls.addClassCleanup(home.cleanup)
        source = Path(home.name) / "files"
        source.mkdir()
        (source / "a.txt").write_text("of the host\n")
        cls.source = source
        cls.service = Service("--api", "go-judge", "--workers", "2", "--log", "off", "--head-time", "1s",
                              "--file-source", str(source), ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def open(self, service: Service | None = None, *headers: str, early: bytes = b"") -> WebSocket:
        sock = (service or self.service).connect(60)
        self.addCleanup(sock.close)
        return WebSocket(sock, "/stream", *headers, early=early)

    def start(self, *args: str, **more: Any) -> WebSocket:
        ws = self.open()
        ws.send_frame(BINARY, request(*args, **more))
        return ws

    def write(self, ws: WebSocket, data: bytes) -> None:
        ws.send_frame(BINARY, b"\3\0" + data)

    def cancel(self, ws: WebSocket) -> None:
        ws.send_frame(BINARY, b"\4")

    def message(self, ws: WebSocket) -> bytes:
        """The next one; all are binary."""
        while True:
            opcode, payload = ws.frame()
            if opcode == ws_client.CLOSE:
                code, = struct.unpack(">H", payload[:2])
                raise Closed(code, payload[2:].decode())
            if opcode == ws_client.PING:
                ws.send_frame(ws_client.PONG, payload)
                continue
            self.assertEqual(opcode, BINARY)
            return payload

    def read(self, ws: WebSocket, size: int, fd: int = 1) -> bytes:
        seen = b""
        while len(seen) < size:
            message = self.message(ws)
            self.assertEqual(message[:2], bytes([2, fd]), message)
            seen += message[2:]
        return seen

    def rest(self, ws: WebSocket) -> tuple[bytes, bytes, dict[str, Any]]:
        """What is still said on stdout and stderr, and the last message. Nothing follows it but a close."""
        said = {1: b"", 2: b""}
        while True:
            message = self.message(ws)
            if message[0] == 1:
                break
            self.assertEqual((message[0], message[1] in said), (2, True), message)
            said[message[1]] += message[2:]
        with self.assertRaises(Closed) as closed:
            self.message(ws)
        self.assertEqual(closed.exception.code, 1000)
        return said[1], said[2], json.loads(message[1:])

    def result(self, ws: WebSocket) -> dict[str, Any]:
        return self.rest(ws)[2]["results"][0]


class Conversations(Streams):
    def test_input_and_output_pass_while_the_program_runs(self) -> None:
        ws = self.start("/bin/sh", "-c", TALK)
        self.write(ws, b"first\n")
        self.assertEqual(self.read(ws, 10), b"one first\n")
        self.write(ws, b"sec")
        self.write(ws, b"")
        self.write(ws, b"ond\n")
        out, err, answer = self.rest(ws)

        self.assertEqual((out, err), (b"", b"two second\n"))
        result = answer["results"][0]
        self.assertEqual((result["status"], result["exitStatus"]), ("Nonzero Exit Status", 3), result)
        plain = self.service.ask("POST", "/run", {"cmd": [command("/bin/sh", "-c", "exit 3", files=[])]}).json[0]
        self.assertEqual(set(result), set(plain))

    def test_bytes_are_passed_at_once_and_as_they_are(self) -> None:
        ws = self.start("/bin/cat", **LONG)
        for piece in (b"\xe2", b"\x82", b"\0", b"\xff\xfe\n", bytes(range(256)) * 300):
            self.write(ws, piece)
            self.assertEqual(self.read(ws, len(piece)), piece)
        self.cancel(ws)

        result = self.result(ws)
        self.assertEqual((result["status"], result["exitStatus"]), ("Signalled", 9), result)
        self.assertEqual(result["zygo"]["label"], "Cancelled")

    def test_what_comes_with_the_request_is_kept_in_order_for_the_program(self) -> None:
        early = frame(BINARY, request("/bin/sh", "-c", TALK)) + frame(TEXT, b"\3\0a\n") + frame(BINARY, b"\3\0b\n")
        self.assertEqual(self.rest(self.open(early=early))[:2], (b"one a\n", b"two b\n"))

        gone = self.open(early=frame(BINARY, request("/bin/cat", **LONG)) + frame(BINARY, b"\4"))
        self.assertRegex(json.dumps(self.rest(gone)[2]), "Signalled|[Cc]ancelled")

    def test_streams_may_be_given_whole_and_be_collected(self) -> None:
        files = [{"content": "x" * (3 * MIB)}, OUT, {"name": "stderr", "max": 100}]
        ws = self.start("/bin/sh", "-c", "wc -c; echo oh >&2", files=files)

        out, err, answer = self.rest(ws)

        self.assertEqual((out, err), (f"{3 * MIB}\n".encode(), b""))
        self.assertEqual(answer["results"][0]["files"], {"stderr": "oh\n"})

    def test_files_come_along_and_are_kept_as_by_run(self) -> None:
        ws = self.start("/usr/bin/g++", "a.cc", "-o", "a", copyIn={"a.cc": {"content": SUM}}, copyOutCached=["a"])
        program = self.result(ws)["fileIds"]["a"]
        ws = self.start("a", copyIn={"a": {"fileId": program}})
        self.write(ws, b"40 2\n")
        out, _, answer = self.rest(ws)
        self.assertEqual((out, answer["results"][0]["status"]), (b"42\n", "Accepted"), answer)

        ws = self.start("/bin/cat", "b", copyIn={"b": {"src": str(self.source / "a.txt")}})
        self.assertEqual(self.rest(ws)[0], b"of the host\n")

    def test_output_is_bounded_and_none_is_lost_for_a_client_that_takes_it_late(self) -> None:
        ws = self.start("/bin/sh", "-c", "yes | head -c 3000000; echo end >&2", **LONG)
        self.service.await_metric("zygo_engine_jobs ", 0)
        out, err, answer = self.rest(ws)
        self.assertEqual((len(out), err, answer["results"][0]["status"]), (3000000, b"end\n", "Accepted"))

        out, _, answer = self.rest(self.start("/usr/bin/yes", **LONG))
        self.assertEqual((len(out), answer["results"][0]["status"]), (4 * MIB, "Output Limit Exceeded"))

    def test_a_limit_of_time_is_told_as_by_run(self) -> None:
        result = self.result(self.start("/bin/cat", clockLimit=SECOND // 4))
        self.assertEqual(result["status"], "Time Limit Exceeded", result)


class Ends(Streams):
    def test_one_that_waits_can_be_cancelled(self) -> None:
        busy = [self.start("/bin/cat", **LONG) for _ in range(8)]
        self.service.await_metric("zygo_queue_jobs ", 4)
        late = self.start("/bin/cat", **LONG)
        self.service.await_metric("zygo_queue_jobs ", 5)

        self.cancel(late)

        self.assertEqual(self.rest(late)[2], {"requestId": "", "results": None, "error": "cancelled before execute"})
        for ws in busy:
            ws.sock.close()
        self.service.await_metric("zygo_engine_jobs ", 0)
        self.service.await_metric("zygo_queue_jobs ", 0)

    def test_a_client_that_leaves_takes_its_command_along(self) -> None:
        for leave in (lambda ws: ws.sock.close(), lambda ws: ws.send_frame(ws_client.CLOSE, b"\x03\xe8")):
            ws = self.start("/bin/sh", "-c", "echo on; exec cat", **LONG)
            self.read(ws, 3)
            leave(ws)
            self.service.await_metric("zygo_engine_jobs ", 0)
            self.service.await_metric("zygo_held_bytes ", 0)
        big = {"big": {"content": "x" * MIB}}
        for _ in range(20):  # some while their request is read
            self.open(early=frame(BINARY, request("/bin/cat", copyIn=big, **LONG))).sock.close()
        self.service.await_metric("zygo_engine_jobs ", 0)
        self.service.await_metric("zygo_queue_jobs ", 0)
        self.service.await_metric("zygo_held_bytes ", 0)

    def test_what_is_no_message_ends_the_connection_and_the_command(self) -> None:
        for first in (b"", b"{}", b"\2{}", b"\3\0x", b"\4", b"\xff"):
            ws = self.open()
            ws.send_frame(BINARY, first)
            with self.subTest(first), self.assertRaises(Closed) as closed:
                self.message(ws)
            self.assertEqual(closed.exception.code, 1003)
        resize = b'\2{"index": 0, "fd": 0, "rows": 24, "cols": 80}'
        for later in (b"", request("/bin/true"), resize, b"\3", b"\3\1x", b"\3\x10x", b"\5", b"\xff" * 9):
            ws = self.start("/bin/sh", "-c", "echo on; exec cat", **LONG)
            self.read(ws, 3)
            ws.send_frame(BINARY, later)
            with self.subTest(later), self.assertRaises(Closed) as closed:
                self.message(ws)
            self.assertEqual(closed.exception.code, 1003)
        self.service.await_metric("zygo_engine_jobs ", 0)

    def test_a_request_that_is_none_is_told_why(self) -> None:
        for text, error in ((b"{", "the body is not a JSON object"), (b"{}", "no cmd provided"),
                            (request("a", tty=True)[1:], "cmd[0].tty: there are no terminals here"),
                            (json.dumps({"cmd": [command("a"), command("b")]}).encode(),
                             "cmd: a stream is of one command here"),
                            (request("a", copyIn={"a": {"fileId": "NOBODYAS"}})[1:],
                             'file does not exists with id: "NOBODYAS"')):
            ws = self.open()
            ws.send_frame(BINARY, b"\1" + text)
            with self.subTest(text):
                self.assertEqual(self.rest(ws)[2], {"requestId": "", "results": None, "error": error})
        plain = self.service.ask("POST", "/run", {"cmd": [command("/bin/cat", files=LIVE)]})
        self.assertEqual((plain.status, plain.json), (400, "cmd[0].files[0]: streams are not offered here"))

    def test_a_client_that_says_nothing_is_not_waited_for(self) -> None:
        with self.assertRaises(Closed) as closed:
            self.message(self.open())
        self.assertEqual(closed.exception.code, 1008)

    def test_no_upgrade_no_page_of_others_and_no_switch(self) -> None:
        self.assertEqual(self.service.ask("GET", "/stream").status, 426)
        self.assertTrue(self.service.ask("GET", "/version").json["stream"])
        service = Service("--log", "off")
        self.addCleanup(service.stop)
        self.assertEqual(service.ask("GET", "/stream").status, 404)
        sock = self.service.connect()
        self.addCleanup(sock.close)
        sock.sendall(ws_client.handshake("/stream", "Origin: http://evil.example"))
        self.assertEqual(serve.read_answers(sock, 1)[0].status, 403)

    def test_a_service_that_ends_lets_a_conversation_end(self) -> None:
        service = Service("--api", "go-judge", "--workers", "1", "--log", "off", "--grace", "20s")
        self.addCleanup(service.stop)
        idle, busy = self.open(service), self.open(service)
        busy.send_frame(BINARY, request("/bin/sh", "-c", "echo on; read a; echo $a"))
        self.read(busy, 3)

        service.process.terminate()

        with self.assertRaises(Closed) as closed:
            self.message(idle)
        self.assertEqual(closed.exception.code, 1001)
        self.write(busy, b"last\n")
        self.assertEqual(self.rest(busy)[0], b"last\n")
        self.assertEqual(service.wait()[0], 0)


if __name__ == "__main__":
    unittest.main()
