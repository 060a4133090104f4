"""The two processes of `zygo serve`: what reads requests has no rights, and the service outlives its death."""

from __future__ import annotations

import json
import os
import signal
import time
import unittest
from pathlib import Path
from typing import Any

import zygo
from host import children
from serve import Service
from zygo import ZygoTestCase

JOB = {"source": "print(6 * 7)"}
SLOW = {"source": "import time\ntime.sleep(60)"}


def command_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return [""]


def fronts_of(service: Service) -> list[int]:
    """Its processes that read requests: there is one, but for a moment."""
    return [pid for pid in children(service.process.pid) if command_of(pid)[0] == "zygo-front"]


def front_of(service: Service, other_than: int = 0) -> int:
    by = time.monotonic() + 30 * zygo.PATIENCE
    while time.monotonic() < by:
        for pid in fronts_of(service):
            if pid != other_than:
                return pid
        time.sleep(0.01)
    raise AssertionError("there is no front")


def status_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


class FrontTestCase(ZygoTestCase):
    def serve(self, *options: str, **how: Any) -> Service:
        service = Service("--log", "json", *options, **how)
        self.addCleanup(service.stop)
        return service


class Fences(FrontTestCase):
    def test_the_front_has_no_rights(self) -> None:
        service = self.serve()
        status = status_of(front_of(service))

        for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            self.assertEqual(int(status[name], 16), 0, name)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2")

    @unittest.skipIf(os.geteuid() != 0, "an ordinary user may not look at another's namespaces")
    def test_the_front_is_alone_in_its_network(self) -> None:
        service = self.serve()
        front, engine = front_of(service), service.process.pid
        if "netns" not in json.loads(zygo.run_cli("doctor", "--json").out)["own"]["front"]:
            self.skipTest("no network namespace on this host")

        for kind in ("net", "ipc", "uts"):
            self.assertNotEqual(os.readlink(f"/proc/{front}/ns/{kind}"), os.readlink(f"/proc/{engine}/ns/{kind}"), kind)

    def test_doctor_shows_the_fences_of_both(self) -> None:
        own = json.loads(zygo.run_cli("doctor", "--json").out)["own"]

        self.assertLessEqual({"caps", "nnp", "seccomp"}, set(own["front"]))
        self.assertLessEqual({"caps", "nnp"}, set(own["engine"]))
        self.assertIn(b"zygo's own", zygo.run_cli("doctor").out)


class Deaths(FrontTestCase):
    def kill_front(self, service: Service) -> None:
        front = front_of(service)
        os.kill(front, signal.SIGKILL)
        front_of(service, other_than=front)

    def test_a_front_that_dies_is_started_again_and_the_sockets_stay_open(self) -> None:
        service = self.serve()
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB).json["label"], "OK")

        self.kill_front(service)

        self.assertEqual(service.ask("POST", "/v1/jobs", JOB).json["stdout"]["text"], "42\n")
        code, log = service.stop()
        self.assertEqual(code, 0)
        notes = [json.loads(line).get("note", "") for line in log.splitlines()]
        self.assertIn("the front has ended (signal 9) and is started again", notes)

    def test_durable_jobs_are_not_lost(self) -> None:
        service = self.serve("--durable", str(self.folder() / "jobs.db"))
        job = {"source": "import time\ntime.sleep(0.5)\nprint('kept')"}
        accepted = service.ask("POST", "/v1/jobs?async=1&durable=1", job)
        self.assertEqual(accepted.status, 202)

        self.kill_front(service)

        self.assertEqual(self.result_of(service, accepted.json["id"])["stdout"]["text"], "kept\n")

    def result_of(self, service: Service, name: str) -> Any:
        by = time.monotonic() + 60 * zygo.PATIENCE
        while time.monotonic() < by:
            answer = service.ask("GET", f"/v1/jobs/{name}")
            if answer.status == 200 and "label" in answer.json:
                return answer.json
            time.sleep(0.05)
        raise AssertionError("no result")

    def test_jobs_of_a_front_that_died_are_withdrawn(self) -> None:
        service = self.serve("--workers", "1")
        path = f"/v1/jobs/{service.ask('POST', '/v1/jobs?async=1', SLOW).json['id']}"
        by = time.monotonic() + 30 * zygo.PATIENCE
        while service.ask("GET", path).json["state"] != "running":
            self.assertLess(time.monotonic(), by)
            time.sleep(0.01)

        self.kill_front(service)

        # The only worker is free again, long before the slow job would have ended.
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB, timeout=30).json["label"], "OK")

    def test_a_service_whose_front_has_just_died_still_ends(self) -> None:
        service = self.serve()
        os.kill(front_of(service), signal.SIGKILL)

        self.assertIn(service.stop()[0], (0, 125))

    def test_no_front_outlives_its_service(self) -> None:
        service = self.serve()
        front = front_of(service)

        service.process.kill()
        service.process.wait()

        by = time.monotonic() + 30 * zygo.PATIENCE
        while command_of(front)[0] == "zygo-front" and time.monotonic() < by:
            time.sleep(0.01)
        self.assertNotEqual(command_of(front)[0], "zygo-front")


if __name__ == "__main__":
    unittest.main()
