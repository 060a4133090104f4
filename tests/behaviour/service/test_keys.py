"""Jobs that are not durable and have an `Idempotency-Key`: however often they are sent, they run once and have one verdict."""

from __future__ import annotations

import json
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import serve
import zygo
from serve import Answer, Service
from zygo import ZygoTestCase

ENDLESS = {"source": "while True: pass", "limits": {"cpu_ms": 600000, "wall_ms": 600000}}
CHANCE = {"source": "import os; print(os.urandom(16).hex())"}  # a second run would print something else
ASYNC, SYNC = "/v1/jobs?async=1", "/v1/jobs"
TOKEN, OTHER = "0123456789abcdef-one", "0123456789abcdef-two"


class KeysTestCase(ZygoTestCase):
    def serve(self, *options: str) -> Service:
        service = Service("--grace", "100ms", *(() if "--log" in options else ("--log", "off")), *options)
        self.addCleanup(service.stop)
        return service

    def post(self, service: Service, job: Any, key: str = "key", path: str = SYNC, **headers: str) -> Answer:
        return service.ask("POST", path, job, {"Idempotency-Key": key, **headers}, timeout=60)

    def block(self, service: Service) -> str:
        """Where the job is found that has the only worker from now on."""
        place: str = service.ask("POST", ASYNC, ENDLESS).headers["location"]
        service.await_metric("zygo_engine_jobs", 1)
        return place

    def release(self, service: Service, place: str) -> None:
        self.assertLabel(service.ask("DELETE", place).json, "Cancelled")

    def lose(self, service: Service, job: Any, running: int, key: str = "key") -> None:
        """Sends a job on a connection that is closed when so many jobs are with the engine."""
        with service.connect() as sock:
            sock.sendall(serve.post(SYNC, json.dumps(job).encode(), f"Idempotency-Key: {key}"))
            service.await_metric("zygo_engine_jobs", running)
        service.await_metric('zygo_http_responses_total{status="0"}', 1)

    def assertFirst(self, answer: Answer, status: int = 200) -> None:
        self.assertEqual((answer.status, answer.headers.get("idempotent-replayed")), (status, None), answer.body)

    def assertReplayed(self, answer: Answer, first: Answer) -> None:
        self.assertEqual((answer.status, answer.headers.get("idempotent-replayed")), (first.status, "true"), answer.body)
        self.assertEqual(answer.body, first.body)

    def assertOfAnother(self, answer: Answer) -> None:
        """In the words that a durable request gets."""
        self.assertEqual((answer.status, answer.json), (422, {"error": {"code": "idempotency", "message":
            "Idempotency-Key: it was sent with another request before"}}))


class SentAgain(KeysTestCase):
    def test_a_job_that_has_ended_is_answered_with_the_same_bytes_and_does_not_run(self) -> None:
        service = self.serve()
        first = self.post(service, CHANCE)

        again = [self.post(service, CHANCE) for _ in range(3)]

        self.assertFirst(first)
        self.assertLabel(first.json, "OK")
        for answer in again:
            self.assertReplayed(answer, first)
        self.assertNotEqual(self.post(service, CHANCE, "other").json["stdout"], first.json["stdout"])
        self.assertNotEqual(service.ask("POST", SYNC, CHANCE).json["stdout"], first.json["stdout"])
        service.await_metric('zygo_jobs_total{label="OK"', 4)  # with the one that warms the template

    def test_many_that_come_while_it_waits_or_runs_get_the_verdict_of_the_one_that_runs(self) -> None:
        service = self.serve("--workers", "1")
        blocker = self.block(service)
        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(self.post, service, CHANCE) for _ in range(8)]
            service.await_metric("zygo_engine_jobs", 2)
            service.await_metric_between("zygo_connections ", 8, 100)

            taken = self.post(service, CHANCE, path=ASYNC)
            state = service.ask("GET", taken.headers["location"])
            self.release(service, blocker)

        self.assertEqual((taken.status, taken.headers["idempotent-replayed"]), (202, "true"))
        self.assertEqual((state.status, state.json["state"]), (202, "queued"))
        self.assertEqual(len({answer.result().body for answer in answers}), 1)
        self.assertLabel(answers[0].result().json, "OK")
        self.assertEqual(sum("idempotent-replayed" not in answer.result().headers for answer in answers), 1)
        service.await_metric('zygo_jobs_total{label="OK"', 2)  # with the one that warms the template

    def test_an_async_job_has_one_id_and_one_result(self) -> None:
        service = self.serve()
        job = {"id": "mine", **CHANCE}
        first = self.post(service, job, path=ASYNC)
        again = self.post(service, job, path=ASYNC)
        result = service.ask("GET", first.headers["location"] + "?wait=60", timeout=90)

        self.assertFirst(first, 202)
        self.assertReplayed(again, first)
        self.assertEqual(again.headers["location"], first.headers["location"])
        self.assertEqual((result.status, result.json["id"]), (200, "mine"))
        self.assertReplayed(self.post(service, job), result)  # without async
        self.assertReplayed(self.post(service, job, path=ASYNC + "&durable=0"), first)  # it has ended

    def test_a_job_that_was_sent_to_be_answered_is_found_by_id_when_it_is_sent_again(self) -> None:
        service = self.serve()
        first = self.post(service, {"id": "mine", **CHANCE})

        again = self.post(service, {"id": "mine", **CHANCE}, path=ASYNC)

        self.assertEqual((first.json["id"], again.status), ("mine", 202))
        self.assertEqual(service.ask("GET", again.headers["location"]).body, first.body)

    def test_another_body_is_refused_as_for_durable_jobs_and_runs_nothing(self) -> None:
        service = self.serve()
        first = self.post(service, CHANCE)

        for path in (SYNC, ASYNC):
            self.assertOfAnother(self.post(service, {**CHANCE, "tag": "x"}, path=path))

        self.assertReplayed(self.post(service, CHANCE), first)
        service.await_metric('zygo_jobs_total{label="OK"', 2)

    def test_long_bodies_are_compared_too(self) -> None:
        service = self.serve()
        job = {**CHANCE, "stdin": "x" * 1_000_000}
        first = self.post(service, job)

        self.assertFirst(first)
        self.assertReplayed(self.post(service, job), first)
        self.assertOfAnother(self.post(service, {**job, "stdin": "x" * 999_999 + "y"}))

    def test_the_log_has_a_replayed_answer_as_any_other(self) -> None:
        service = self.serve("--log", "json")
        for job in ({"id": "mine", **CHANCE}, CHANCE):
            for path in (SYNC, SYNC, ASYNC):
                self.post(service, job, json.dumps(job), path=path)

        _, log = service.stop()

        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        self.assertEqual([(line["status"], line["job_count"]) for line in lines], [(200, 1), (200, 1), (202, 1)] * 2)
        jobs = [line["jobs"] for line in lines]
        self.assertEqual(jobs[:2], [["mine"], ["mine"]])
        self.assertEqual(jobs[3], jobs[4])
        self.assertEqual(jobs[4], jobs[5])


class LostConnections(KeysTestCase):
    def test_a_job_goes_on_and_its_client_gets_the_verdict_when_it_sends_again(self) -> None:
        service = self.serve("--workers", "1")
        blocker = self.block(service)
        self.lose(service, CHANCE, 2)
        taken = self.post(service, CHANCE, path=ASYNC)
        self.release(service, blocker)

        verdict = service.ask("GET", taken.headers["location"] + "?wait=60", timeout=90)
        again = self.post(service, CHANCE)

        self.assertEqual(taken.headers["idempotent-replayed"], "true")
        self.assertLabel(verdict.json, "OK")
        self.assertReplayed(again, verdict)
        self.assertEqual(service.metric('zygo_jobs_total{label="Cancelled"'), 1)  # that blocked

    def test_a_job_that_runs_goes_on_until_somebody_cancels_it_and_that_is_its_verdict(self) -> None:
        service = self.serve("--workers", "1")
        self.lose(service, ENDLESS, 1)
        taken = self.post(service, ENDLESS, path=ASYNC)
        self.assertEqual(service.ask("GET", taken.headers["location"] + "?wait=0.5").status, 202)

        cancelled = service.ask("DELETE", taken.headers["location"])

        self.assertLabel(cancelled.json, "Cancelled")
        self.assertReplayed(self.post(service, ENDLESS), cancelled)

    def test_one_that_only_waited_for_the_verdict_may_leave(self) -> None:
        service = self.serve("--workers", "1")
        taken = self.post(service, ENDLESS, path=ASYNC)
        self.lose(service, ENDLESS, 1)
        self.assertEqual(service.ask("GET", taken.headers["location"] + "?wait=0.5").status, 202)
        cancelled = service.ask("DELETE", taken.headers["location"])

        self.assertReplayed(self.post(service, ENDLESS), cancelled)


class Forgotten(KeysTestCase):
    def test_a_refused_request_does_not_use_its_key_up(self) -> None:
        service = self.serve("--workers", "1", "--queue", "2")
        for refused in ({"sauce": 1}, {"source": "", "template": "nobody"}):
            self.assertEqual(self.post(service, refused).status, 400)
        places = [service.ask("POST", ASYNC, ENDLESS).headers["location"] for _ in range(4)]
        for path in (SYNC, ASYNC):
            full = self.post(service, CHANCE, path=path)
            self.assertEqual((full.status, full.json["error"]["code"]), (429, "busy"))
        for place in places:
            self.release(service, place)

        first = self.post(service, CHANCE)

        self.assertFirst(first)
        self.assertReplayed(self.post(service, CHANCE), first)

    def test_a_job_that_could_not_start_in_time_is_tried_again(self) -> None:
        service = self.serve("--workers", "1")
        blocker = self.block(service)
        late = self.post(service, CHANCE, **{"X-Zygo-Patience": "0.5"})
        later = self.post(service, {**CHANCE, "deadline_ms": 500}, "other", path=ASYNC)
        if later.status == 202:  # else it was clear at once
            later = service.ask("GET", later.headers["location"] + "?wait=60", timeout=90)
        self.release(service, blocker)

        self.assertEqual((late.status, later.status), (429, 429))
        for key in ("key", "other"):
            first = self.post(service, {**CHANCE, "tag": "again"}, key)
            self.assertFirst(first)
            self.assertReplayed(self.post(service, {**CHANCE, "tag": "again"}, key), first)

    def test_a_key_is_forgotten_with_its_result(self) -> None:
        service = self.serve("--keep", "50ms")
        first = self.post(service, CHANCE, path=ASYNC)
        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while service.ask("GET", first.headers["location"]).status != 404:
            self.assertLess(time.monotonic(), deadline)

        self.assertFirst(self.post(service, {**CHANCE, "tag": "new"}))
        service.await_metric("zygo_held_bytes ", 0)

    def test_a_key_counts_in_the_bytes_that_are_held(self) -> None:
        service = self.serve("--workers", "1")
        self.block(service)
        held = [service.metric("zygo_held_bytes ")]
        for headers in ({}, {"Idempotency-Key": "k" * 255}):
            self.assertEqual(service.ask("POST", ASYNC, CHANCE, headers).status, 202)
            held.append(service.metric("zygo_held_bytes "))

        self.assertGreater(held[2] - held[1], held[1] - held[0] + 255)


class Reach(KeysTestCase):
    def test_keys_of_one_client_are_out_of_anothers_reach(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"one {TOKEN}\ntwo {OTHER}\n")
        service = self.serve("--tokens", str(tokens))
        one, two = ({"Authorization": f"Bearer {token}"} for token in (TOKEN, OTHER))
        mine = self.post(service, CHANCE, **one)

        theirs = self.post(service, CHANCE, **two)

        self.assertFirst(theirs)
        self.assertNotEqual(theirs.json["stdout"], mine.json["stdout"])
        self.assertFirst(self.post(service, {**CHANCE, "tag": "x"}, "new", **one))
        self.assertFirst(self.post(service, {**CHANCE, "tag": "y"}, "new", **two))
        self.assertReplayed(self.post(service, CHANCE, **one), mine)

    def test_durable_keys_and_others_do_not_know_of_each_other(self) -> None:
        service = self.serve("--durable", str(self.folder() / "jobs.db"))
        kept = self.post(service, {"source": "print(1)"}, path=ASYNC + "&durable=1")

        first = self.post(service, CHANCE)

        self.assertFirst(kept, 202)
        self.assertFirst(first)
        self.assertReplayed(self.post(service, {"source": "print(1)"}, path=ASYNC + "&durable=1"), kept)
        self.assertOfAnother(self.post(service, CHANCE, path=ASYNC + "&durable=1"))
        self.assertReplayed(self.post(service, CHANCE), first)

    def test_keys_are_bounded_and_those_of_batches_are_for_durable_ones(self) -> None:
        service = self.serve()
        for key in ("k" * 256, "\u00e4"):
            refused = self.post(service, CHANCE, key)
            self.assertEqual((refused.status, refused.json["error"]["code"]), (400, "idempotency"))
        self.assertFirst(self.post(service, CHANCE, "k" * 255))
        for path in ("/v1/batches", "/v1/batches?async=1"):
            refused = self.post(service, CHANCE, path=path)
            self.assertEqual((refused.status, refused.json["error"]["code"]), (400, "idempotency"))
            self.assertIn("async=1&durable=1", refused.json["error"]["message"])


if __name__ == "__main__":
    unittest.main()
