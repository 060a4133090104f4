"""A pilot of version 1 and a router of today: the pilot's messages are those that were recorded when there was no other
version."""

from __future__ import annotations

import json
import struct
import threading
import unittest
from collections.abc import Iterator

import ws_client
import zygo
from cluster.routing import RoutingTestCase
from serve import Answer, Service

RECORDED = json.loads((zygo.CHECKOUT / "tests/data/cluster/version_1.json").read_text(encoding="utf-8"))
HEAD = struct.Struct("<BQ")  # of each message: its kind, and an assignment
START, WITHDRAW = 6, 8
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


class OlderPilot:
    def __init__(self, router: Service) -> None:
        self.socket = ws_client.WebSocket(router.connect(600), "/v1/pilots/join", "Sec-WebSocket-Protocol: zygo.pilot")
        self.left = b""

    def say(self, *names: str, number: int = 0) -> None:
        """What was recorded, of another assignment."""
        for name in names:
            said = bytes.fromhex(RECORDED[name])
            if name == "result":
                said = HEAD.pack(said[0], number) + said[HEAD.size:]
            elif name == "began":  # a list of one
                said = said[:-8] + struct.pack("<Q", number)
            self.socket.send_frame(ws_client.BINARY, struct.pack("<I", len(said)) + said)

    def heard(self) -> Iterator[bytes]:
        while True:
            while len(self.left) >= 4 and len(self.left) >= 4 + (size := struct.unpack("<I", self.left[:4])[0]):
                message, self.left = self.left[4:4 + size], self.left[4 + size:]
                yield message
            opcode, payload = self.socket.frame()
            if opcode == ws_client.BINARY:
                self.left += payload
            elif opcode == ws_client.CLOSE:
                raise AssertionError(f"the router has ended it: {payload[2:].decode()}")


class Older(RoutingTestCase):
    def test_a_pilot_of_version_1_runs_jobs_of_a_router_of_today(self) -> None:
        router = self.router()
        pilot = OlderPilot(router)
        pilot.say("hello")
        heard = pilot.heard()
        welcome = next(heard)
        self.assertEqual(welcome[:HEAD.size + 6], bytes.fromhex(RECORDED["welcome"])[:HEAD.size + 6], "version 1 is spoken")
        pilot.say("status")
        found, = self.await_pilots(router, 1)
        self.assertEqual(found["name"], "old-pilot")

        answers: list[Answer] = []
        asked = threading.Thread(target=lambda: answers.append(router.ask(
            "POST", "/v1/jobs", {"id": "a", "source": "print(6 * 7)"}, {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"})))
        asked.start()
        self.addCleanup(asked.join)
        self.addCleanup(router.stop)
        start = next(each for each in heard if each[0] == START)
        number, flags = struct.unpack_from("<QB", start, HEAD.size)
        self.assertEqual(flags, 0, "nothing that version 1 does not know")
        self.assertIn(b"print(6 * 7)", start)
        self.assertNotIn(TRACE.encode(), start)
        pilot.say("began", "result", number=number)
        asked.join()

        answer, = answers
        self.assertEqual((answer.status, answer.json["label"], answer.json["stdout"]["text"]), (200, "OK", "42\n"))
        self.assertEqual(answer.json["service"]["trace"]["trace_id"], TRACE)


if __name__ == "__main__":
    unittest.main()
