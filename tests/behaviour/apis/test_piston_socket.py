"""Piston's API over its WebSocket."""

from __future__ import annotations

import shutil
import unittest
from typing import Any

from service.test_websocket import Shared
from ws_client import TEXT, WebSocket, handshake


class Piston(Shared):
    path = "/api/v2/connect"

    def init(self, source: str, language: str = "python", **more: Any) -> WebSocket:
        web = self.web()
        web.send(type="init", language=language, version="*", files=[{"content": source}], **more)
        return web

    def data(self, messages: list[dict[str, Any]], stream: str = "stdout") -> str:
        return "".join(m["data"] for m in messages if m["type"] == "data" and m["stream"] == stream)

    def test_a_program_is_led_through_its_stage(self) -> None:
        web = self.init("import sys\nprint(input()[::-1], sys.argv[1])\nprint('oh', file=sys.stderr)\nsys.exit(3)",
                        args=["a"])
        web.send(type="data", stream="stdin", data="abc\n")

        messages = self.assertCloses(web, 4999, "Job Completed")
        version = messages[0].pop("version")
        self.assertRegex(version, r"^\d+\.\d+\.\d+$")
        self.assertEqual(messages[0], {"type": "runtime", "language": "python"})
        self.assertEqual(messages[1], {"type": "stage", "stage": "run"})
        self.assertEqual((self.data(messages), self.data(messages, "stderr")), ("cba a\n", "oh\n"))
        self.assertEqual(messages[-1], {"type": "exit", "stage": "run", "code": 3, "signal": None})

    @unittest.skipUnless(shutil.which("g++"), "needs g++")
    def test_a_compiled_program_has_two_stages_and_a_broken_one_has_one(self) -> None:
        source = "#include <iostream>\nint main(){int n; std::cin >> n; std::cout << n * 2;}"
        for _ in range(2):  # the second was compiled before
            web = self.init(source, "cpp")
            web.send(type="data", stream="stdin", data="21\n")
            messages = self.assertCloses(web, 4999)
            self.assertEqual([(m["type"], m.get("stage")) for m in messages if m["type"] != "data"],
                             [("runtime", None), ("stage", "compile"), ("exit", "compile"), ("stage", "run"),
                              ("exit", "run")])
            self.assertEqual(self.data(messages), "42")
        messages = self.assertCloses(self.init("int main(", "cpp"), 4999)
        self.assertEqual([m.get("stage") for m in messages if m["type"] in ("stage", "exit")], ["compile"] * 2)
        self.assertEqual(messages[-1]["code"], 1)
        self.assertIn("error", self.data(messages, "stderr"))

    def test_a_signal_reaches_the_program(self) -> None:
        # Not by pause(): a signal that comes just before it would be noted, and wake nobody.
        web = self.init("import os, signal\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\nprint('on', flush=True)\n"
                        "while True:\n    signal.sigwait([signal.SIGUSR1])\n    os.write(1, b'usr\\n')")
        while "on" not in web.message().get("data", ""):
            pass
        web.send(type="signal", signal="SIGUSR1")
        self.assertEqual(web.message(), {"type": "data", "stream": "stdout", "data": "usr\n"})
        web.send(type="signal", signal="SIGTERM")

        self.assertEqual(self.assertCloses(web, 4999)[-1],
                         {"type": "exit", "stage": "run", "code": None, "signal": "SIGTERM"})

    def test_a_time_limit_is_a_kill(self) -> None:
        messages = self.assertCloses(self.init("input()", run_timeout=300), 4999)
        self.assertEqual((messages[-1]["code"], messages[-1]["signal"]), (None, "SIGKILL"))

    def test_codes_of_the_original(self) -> None:
        data = {"type": "data", "stream": "stdin", "data": "x"}
        ready = {"type": "init", "language": "python", "version": "*", "files": [{"content": "input()"}]}
        for messages, code, reason in (
                ([], 4001, "Initialization Timeout"), ([data], 4003, "Not yet initialized"),
                ([{"type": "signal", "signal": "SIGINT"}], 4003, "Not yet initialized"),
                ([{"type": "whatever"}, data], 4003, None),
                ([ready, ready], 4000, "Already Initialized"),
                ([ready, data | {"stream": "stdout"}], 4004, "Can only write to stdin"),
                ([ready, {"type": "signal", "signal": "SIGNOTHING"}], 4005, "Invalid signal")):
            with self.subTest(messages):
                web = self.web()
                for message in messages:
                    web.send(**message)
                self.assertCloses(web, code, reason)
        self.service.await_metric("zygo_engine_jobs", 0)

    def test_what_cannot_be_started_is_told_before_the_close(self) -> None:
        for change, message in (({"language": 1}, "language is required as a string"),
                                ({"language": "klingon"}, "klingon-* runtime is unknown"),
                                ({"files": None}, "files is required as an array"),
                                ({"run_timeout": 10 ** 9}, "run_timeout cannot exceed the configured limit of 3000")):
            with self.subTest(message):
                web = self.web()
                init = {"type": "init", "language": "python", "version": "*", "files": [{"content": ""}]}
                web.send(**(init | change))
                said = self.assertCloses(web, 4002, "Notified Error")
                self.assertEqual(said, [{"type": "error", "message": message}])
        web = self.web()
        web.send_frame(TEXT, b"{")
        self.assertEqual(self.assertCloses(web, 4002)[0]["type"], "error")

    def test_the_path_is_there_only_with_the_api(self) -> None:
        self.assertEqual(self.status_of(self.serve(), handshake(self.path))[0], 404)


if __name__ == "__main__":
    unittest.main()
