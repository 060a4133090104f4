"""SIGHUP to `zygo serve`: what can change without a restart does, and what cannot be read changes nothing."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import unittest
from pathlib import Path
from typing import Any

import zygo
from serve import Service
from zygo import ZygoTestCase

JOB = {"source": "print(6 * 7)"}
OLD, NEW = "0123456789abcdef-old", "0123456789abcdef-new"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class Reload(ZygoTestCase):
    def setUp(self) -> None:
        super().setUp()
        # A supervisor that is told when it is done.
        self.told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.told.close)
        self.told.settimeout(20 * zygo.PATIENCE)
        self.home = self.folder()
        self.told.bind(str(self.home / "notify"))

    def serve(self, *options: str, **how: Any) -> Service:
        service = Service(*options, NOTIFY_SOCKET=self.told.getsockname(), **how)
        self.addCleanup(service.stop)
        self.assertEqual(self.told.recv(100), b"READY=1")
        return service

    def reload(self, service: Service) -> None:
        """Returns when it has been heard, whatever became of it."""
        service.process.send_signal(signal.SIGHUP)
        self.assertTrue(self.told.recv(100).startswith(b"RELOADING=1\nMONOTONIC_USEC="))
        self.assertEqual(self.told.recv(100), b"READY=1")

    def status(self, service: Service, token: str) -> int:
        return service.ask("GET", "/v1/info", None, bearer(token)).status

    def config(self, **options: Any) -> Path:
        path = self.home / "config.json"
        path.write_text(json.dumps(options))
        return path

    def test_tokens_come_and_go_while_jobs_run(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"old {OLD}\n")
        service = self.serve("--tokens", str(tokens), "--log", "json")
        place = service.ask("POST", "/v1/jobs?async=1", {"source": "import time; time.sleep(1); print(1)"},
                            bearer(OLD)).headers["location"]

        tokens.write_text(f"old {OLD}\nnew {NEW} info\n")
        self.reload(service)
        self.assertEqual((self.status(service, OLD), self.status(service, NEW)), (200, 200))
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB, bearer(NEW)).status, 403)
        self.assertEqual(service.ask("GET", place + "?wait=20", None, bearer(OLD)).json["label"], "OK")

        tokens.write_text(f"new {NEW}\n")
        self.reload(service)
        self.assertEqual((self.status(service, OLD), self.status(service, NEW)), (401, 200))
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB, bearer(NEW)).json["label"], "OK")

        _, log = service.stop()
        notes = [json.loads(line)["note"] for line in log.splitlines() if '"note"' in line]
        self.assertEqual(len(notes), 2, log)
        self.assertNotIn(NEW, log)

    def test_a_file_that_will_not_do_is_named_and_the_old_configuration_stays(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"old {OLD}\n")
        config = self.config(queue=7)
        service = self.serve("--tokens", str(tokens), "--config", str(config), "--log", "text")

        for bad in ("someone short\n", "", "# nobody\n"):
            tokens.write_text(bad)
            self.reload(service)
            self.assertEqual(self.status(service, OLD), 200)
        tokens.write_text(f"new {NEW}\n")
        for text in ("{", '{"queue": 0}', '{"cueue": 1}', '{"queue": ["1", "2"]}'):
            config.write_text(text)
            self.reload(service)
            self.assertEqual(self.status(service, NEW), 401)
            info = service.ask("GET", "/v1/info", None, bearer(OLD)).json
            self.assertEqual(info["limits"]["queue"], 7)

        _, log = service.stop()
        refused = [line for line in log.splitlines() if "refused, the one before stays" in line]
        self.assertEqual(len(refused), 7, log)
        told = ("line 1", "at least one line", "at least one line", "not JSON", "queue", "cueue", "queue")
        for words, line in zip(told, refused, strict=True):
            self.assertIn(words, line)

    def test_limits_and_the_log_follow_the_file(self) -> None:
        config = self.config(queue=5, log="off", cors=["https://one.example"])
        service = self.serve("--config", str(config))
        origin = {"Origin": "https://two.example"}
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB, origin).status, 403)
        service.ask("GET", "/v1/info")

        self.config(queue=6, connections=3, log="json", cors=["https://one.example", "https://two.example"])
        self.reload(service)

        info = service.ask("GET", "/v1/info").json
        self.assertEqual((info["limits"]["queue"], info["limits"]["connections"]), (6, 3))
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB, origin).status, 200)
        _, log = service.stop()
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        self.assertEqual([line.get("path", "") for line in lines], ["", "/v1/info", "/v1/jobs"])

    def test_whether_there_are_tokens_at_all_is_settled_at_the_start(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"old {OLD}\n")
        config = self.config(log="text")
        service = self.serve("--config", str(config))
        self.config(log="text", tokens=str(tokens))
        self.reload(service)

        self.assertEqual(service.ask("GET", "/v1/info").status, 200)
        self.assertIn("only change at a start", service.stop()[1])

    def test_at_a_terminal_the_signal_ends_it_as_it_ends_any_program(self) -> None:
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([str(zygo.BINARY), "serve", "--json", "--listen", "127.0.0.1:0"], stdin=theirs,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=zygo.environment())
        os.close(theirs)
        assert process.stdout
        self.addCleanup(process.stdout.close)
        self.assertTrue(process.stdout.readline())

        process.send_signal(signal.SIGHUP)

        self.assertEqual(process.wait(30 * zygo.PATIENCE), 0)


class Probes(ZygoTestCase):
    def test_of_health_are_not_logged_while_all_is_well(self) -> None:
        service = Service("--log", "json")
        self.addCleanup(service.stop)
        for path in ("/healthz", "/readyz", "/v1/info"):
            self.assertEqual(service.ask("GET", path).status, 200)
        self.assertEqual(service.ask("POST", "/healthz", b"").status, 405)

        _, log = service.stop()

        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        self.assertEqual([(line["path"], line["status"]) for line in lines], [("/v1/info", 200), ("/healthz", 405)])


class Configuration(ZygoTestCase):
    """Lists in --config."""

    def mistake(self, **options: Any) -> str:
        path = self.folder() / "config.json"
        path.write_text(json.dumps(options))
        ended = zygo.run_cli("serve", "--config", str(path), "--listen", "127.0.0.1:0")
        self.assertEqual(ended.code, 2, ended.stderr)
        return ended.stderr

    def test_an_option_that_may_be_repeated_takes_a_list(self) -> None:
        path = self.folder() / "config.json"
        path.write_text(json.dumps({"api": ["piston", "dify"], "listen": ["127.0.0.1:0", f"unix:{self.folder()}/s"]}))
        service = Service("--config", str(path), "--log", "off", listen=())
        self.addCleanup(service.stop)

        self.assertEqual(len(service.ready["listening"]), 2)
        self.assertEqual(service.ask("GET", "/health").status, 200)
        self.assertEqual(service.ask("GET", "/api/v2/runtimes").status, 200)

    def test_one_that_may_not_says_so(self) -> None:
        self.assertIn("template: expected one value, not a list", self.mistake(template=["python", "python-numpy"]))
        self.assertIn("workers: expected one value", self.mistake(workers=["1", "2"]))
        self.assertIn("\"nothing\" is no API", self.mistake(api=["piston", "nothing"]))

    def test_a_list_of_words_is_one_value_where_the_option_says_so(self) -> None:
        path = self.folder() / "config.json"
        path.write_text(json.dumps({"preload": ["json", "re"], "require": ["minimal", "seccomp"]}))
        program = b"import sys; print('re' in sys.modules)"
        ended = zygo.run_cli("run", "--config", str(path), "--json", "-", stdin=program)
        result = json.loads(ended.out)
        self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "True\n"), ended.stderr)


if __name__ == "__main__":
    unittest.main()
