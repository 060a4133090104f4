"""WebSockets with slow and silent clients, too many of them, and the end of the service."""

from __future__ import annotations

import json
import signal
import unittest
from typing import Any

import host
from serve import Service
from service.test_websocket import ECHO, ENDLESS, LONG, SocketTestCase, reset
from ws_client import CLOSE, PING, PONG, TEXT, Closed, frame, texts


class Slow(SocketTestCase):
    def test_a_client_that_takes_nothing_does_not_change_the_verdict_and_gets_all_of_it(self) -> None:
        service = self.serve()
        web = self.open(service)
        web.send(source="import sys\nfor i in range(8000): print('x' * 1000)", limits={"stdout_kb": 16384, **LONG})
        service.await_metric('zygo_jobs_total{label="OK"', 2)  # the first has warmed the template

        messages = self.assertCloses(web, 1000)
        self.assertLabel(messages[-1], "OK")
        self.assertEqual(len(texts(messages, "stdout")), 8000 * 1001)

    def test_one_that_never_takes_anything_is_given_up(self) -> None:
        service = self.serve("--write-time", "1s")
        web = self.open(service)
        web.send(source="while True: print('x' * 1000)", limits={"stdout_kb": 65536, **LONG})
        service.await_metric("zygo_connections", 1)  # that of the question

    def test_stdin_that_nobody_reads_does_not_pile_up(self) -> None:
        service = self.serve()
        web = self.open(service)
        web.send(source="print('on', flush=True)\nwhile True: pass", limits=LONG)
        web.read_until("on\n")
        before = resident_kb(service)
        message = frame(TEXT, json.dumps({"type": "stdin", "text": "x" * 100_000}).encode())
        web.sock.settimeout(2)
        sent = 0
        with self.assertRaises(TimeoutError):
            while sent < 256 << 20:
                sent += web.sock.send(message[sent % len(message):])

        self.assertLess(resident_kb(service) - before, 24 << 10)
        reset(web)
        service.await_metric("zygo_engine_jobs", 0)

    def test_a_flood_of_pings_is_answered_no_faster_than_it_is_read(self) -> None:
        service = self.serve()
        web = self.open(service)
        before = resident_kb(service)
        flood = frame(PING, b"x" * 125) * 1000
        web.sock.settimeout(2)
        sent = 0
        with self.assertRaises(TimeoutError):
            while sent < 256 << 20:
                sent += web.sock.send(flood[sent % len(flood):])
        self.assertLess(resident_kb(service) - before, 24 << 10)

    def test_silence_is_asked_about_and_no_answer_is_an_end(self) -> None:
        service = self.serve("--ping-time", "500ms")
        silent, polite = self.open(service), self.open(service)
        for web in (silent, polite):
            web.send(source="input()", limits=LONG)
            web.expect("started")
        for _ in range(4):
            self.assertEqual(polite.frame(), (PING, b""))
            polite.send_frame(PONG)
        self.assertEqual(silent.frame(), (PING, b""))
        opcode, payload = silent.frame()
        self.assertEqual((opcode, payload[:2]), (CLOSE, b"\x03\xf0"))  # 1008
        polite.send(type="stdin", text="\n")
        self.assertLabel(polite.rest()[0][-1], "OK")

    def test_a_message_that_never_ends_is_not_waited_for(self) -> None:
        service = self.serve("--body-time", "1s")
        web = self.open(service)
        web.sock.sendall(frame(TEXT, b"x" * 1000)[:500])
        self.assertEqual(web.rest()[1].code, 1008)


def resident_kb(service: Service) -> int:
    """Of both its processes."""
    fronts = [pid for pid in host.children(service.process.pid) if host.name_of(pid) == "zygo-front"]
    return sum(host.resident_kb(pid) for pid in [service.process.pid, *fronts])


class Overload(SocketTestCase):
    def test_a_full_queue_and_an_impatient_client_are_told_so(self) -> None:
        service = self.serve("--workers", "1", "--queue", "1")
        busy = [self.open(service) for _ in range(3)]
        for number, web in enumerate(busy):
            web.send(source=ENDLESS, id=str(number), limits=LONG)
            if number == 0:
                web.read_until("on\n")
            service.await_metric("zygo_engine_jobs", min(number + 1, 2))
        service.await_metric("zygo_queue_jobs", 1)

        messages, closed = self.refused(service)
        self.assertEqual((closed.code, messages[0]["error"]["code"]), (4429, "busy"))
        self.assertGreaterEqual(messages[0]["retry_after"], 1)
        for web in reversed(busy):
            web.send(type="cancel")
            self.assertLabel(web.rest()[0][-1], "Cancelled")

    def test_patience_is_kept(self) -> None:
        service = self.serve("--workers", "1")
        first, second = self.open(service), self.open(service, "X-Zygo-Patience: 0.3")
        first.send(source=ENDLESS, limits=LONG)
        first.read_until("on\n")
        second.send(source="")

        messages, closed = second.rest()
        self.assertEqual(closed.code, 4429)
        self.assertIn(messages[0]["error"]["code"], ("patience", "busy"))  # by the clock, or by the measured rate

    def refused(self, service: Service) -> tuple[list[dict[str, Any]], Closed]:
        web = self.open(service)
        web.send(source="")
        return web.rest()


class TheEnd(SocketTestCase):
    def test_what_runs_may_end_and_what_waits_is_told_to_go(self) -> None:
        service = self.serve()
        idle, busy = self.open(service), self.open(service)
        busy.send(source=ECHO, limits=LONG)
        busy.send(type="stdin", text="ab\n")
        busy.read_until("ba\n")
        service.process.send_signal(signal.SIGTERM)
        self.assertCloses(idle, 1001)
        busy.send(type="stdin", text="cd\n", end=True)

        messages = self.assertCloses(busy, 1000)
        self.assertLabel(messages[-1], "OK")
        self.assertEqual(service.wait()[0], 0)

    def test_after_the_grace_the_rest_is_cancelled(self) -> None:
        service = self.serve("--grace", "300ms")
        web = self.open(service)
        web.send(source=ENDLESS, limits=LONG)
        web.read_until("on\n")
        service.process.send_signal(signal.SIGTERM)

        self.assertLabel(self.assertCloses(web, 1000)[-1], "Cancelled")
        self.assertEqual(service.wait()[0], 0)


if __name__ == "__main__":
    unittest.main()
