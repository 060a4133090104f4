"""Durable jobs of `zygo serve`: what was acknowledged is run, whatever happens to the service, and what was told stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
import unittest
from typing import Any

import serve
import small_disk
import zygo
from serve import Answer, Service
from zygo import ZygoTestCase

ENDLESS = {"source": "while True: pass", "limits": {"cpu_ms": 60000, "wall_ms": 60000}}
JOBS, BATCHES = "/v1/jobs?async=1&durable=1", "/v1/batches?async=1&durable=1"
TOKEN, OTHER = "0123456789abcdef-one", "0123456789abcdef-two"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class DurableTestCase(ZygoTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.database = self.folder() / "jobs.db"

    def serve(self, *options: str, **how: Any) -> Service:
        grace = () if "--grace" in options else ("--grace", "100ms")
        service = Service("--durable", str(self.database), "--log", "off", *grace, *options, **how)
        self.addCleanup(service.stop)
        return service

    def kill(self, service: Service) -> None:
        service.stop(signal.SIGKILL)

    def post(self, service: Service, job: Any, key: str = "", path: str = JOBS, **headers: str) -> Answer:
        return service.ask("POST", path, job, {**({"Idempotency-Key": key} if key else {}), **headers})

    def keep(self, service: Service, job: Any, key: str = "", path: str = JOBS) -> str:
        """Where the result will be."""
        answer = self.post(service, job, key, path)
        self.assertEqual(answer.status, 202, answer.body)
        return answer.headers["location"]

    def result(self, service: Service, place: str) -> zygo.Result:
        answer = service.ask("GET", place + "?wait=60", timeout=90)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def results(self, service: Service, place: str, wait: int = 60) -> list[zygo.Result]:
        answer = service.ask("GET", f"{place}?wait={wait}", timeout=90)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.lines


class Crashes(DurableTestCase):
    def test_whatever_was_acknowledged_before_a_kill_gets_one_verdict_that_never_changes(self) -> None:
        acknowledged: dict[str, str] = {}  # place: what it prints
        told: dict[str, bytes] = {}
        for round_ in range(3):
            service = self.serve("--workers", "2")
            self.load(service, round_, acknowledged, told)
            self.assertTrue(told)
        service = self.serve("--workers", "2")

        for place, expected in acknowledged.items():
            result = self.result(service, place)
            self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", expected + "\n"))
        for place, body in told.items():
            self.assertEqual(service.ask("GET", place).body, body)
        service.await_metric("zygo_durable_jobs", 0)  # Some were kept whose acknowledgement was lost.

    def load(self, service: Service, round_: int, acknowledged: dict[str, str], told: dict[str, bytes]) -> None:
        """Three clients send and fetch, until the service is killed in the middle of it."""
        enough = threading.Event()

        def client(name: int) -> None:
            mine: list[str] = []
            for i in range(40):
                text = f"{round_}-{name}-{i}"
                try:
                    answer = self.post(service, {"source": f"print('{text}')", "tag": text})
                    if answer.status == 202:
                        acknowledged[answer.headers["location"]] = text
                        mine.append(answer.headers["location"])
                    if i % 3 == 2:
                        place = mine[-3]
                        answer = service.ask("GET", place + "?wait=20")
                        if answer.status == 200:
                            told[place] = answer.body
                except (OSError, serve.http.client.HTTPException):
                    return
                if i == 7:
                    enough.set()

        clients = [threading.Thread(target=client, args=(name,)) for name in range(3)]
        for each in clients:
            each.start()
        self.assertTrue(enough.wait(60 * zygo.PATIENCE))
        self.kill(service)
        for each in clients:
            each.join()

    def test_a_batch_goes_on_where_it_was(self) -> None:
        service = self.serve("--workers", "2")
        jobs = [{"id": str(i), "source": f"import time; time.sleep(0.02); print({i})"} for i in range(60)]
        place = self.keep(service, zygo.lines_of(jobs) + b"nonsense\n", path=BATCHES)
        before: list[bytes] = []
        while len(before) < 10:
            before = service.ask("GET", place + "?wait=1").body.splitlines()

        self.kill(service)
        service = self.serve("--workers", "2")

        answer = service.ask("GET", place + "?wait=60", timeout=90)
        after = answer.body.splitlines()
        self.assertEqual(answer.headers["x-zygo-jobs"], "61")
        self.assertEqual(after[:len(before)], before)
        results = zygo.by_id(answer.lines)
        self.assertEqual(results.pop("job-61")["label"], "BadJob")
        self.assertEqual({i: r["stdout"]["text"] for i, r in results.items()}, {str(i): f"{i}\n" for i in range(60)})
        rest = service.ask("GET", f"{place}?after={len(after) - 3}").body.splitlines()
        self.assertEqual(rest, after[-3:])

    def test_a_job_keeps_the_defaults_that_it_was_taken_with(self) -> None:
        defaults = self.folder() / "defaults.json"
        defaults.write_text('{"argv": ["then"]}')
        service = self.serve("--workers", "1", "--defaults", str(defaults))
        self.keep(service, ENDLESS)
        place = self.keep(service, {"source": "import sys; print(sys.argv[1:])"})
        batch = self.keep(service, {"defaults": {"argv": ["own"]}, "jobs": [
            {"source": "import sys; print(sys.argv[1:])"}]}, path=BATCHES)
        self.kill(service)
        defaults.write_text('{"argv": ["now"]}')

        service = self.serve("--workers", "2", "--defaults", str(defaults))

        self.assertEqual(self.result(service, place)["stdout"]["text"], "['then']\n")
        self.assertEqual(self.results(service, batch)[0]["stdout"]["text"], "['own']\n")

    def test_an_orderly_end_leaves_what_waits_to_the_next_service(self) -> None:
        service = self.serve("--workers", "1", "--grace", "60s")
        running = self.keep(service, {"source": "import sys, time; time.sleep(3); print('ran')"})
        waiting = [self.keep(service, {"source": f"import time; time.sleep(0.1); print({i})"}) for i in range(30)]
        with service.connect() as waiter:
            waiter.sendall(f"GET {waiting[-1]}?wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            service.ask("GET", waiting[-1])  # comes after it

            code, _ = service.stop(timeout=60)

            self.assertEqual(code, 0)
            self.assertEqual(serve.read_answers(waiter, 1)[0].json["state"], "queued")
        service = self.serve("--workers", "2")
        self.assertGreater(service.metric("zygo_durable_jobs"), 0)
        self.assertEqual(self.result(service, running)["stdout"]["text"], "ran\n")
        for i, place in enumerate(waiting):
            self.assertEqual(self.result(service, place)["stdout"]["text"], f"{i}\n")

    def test_what_the_grace_cuts_short_is_not_cancelled_but_run_again(self) -> None:
        service = self.serve("--workers", "1", "--grace", "100ms")
        place = self.keep(service, {"source": "import time; time.sleep(3); print('whole')"})
        while service.ask("GET", place).json["state"] != "running":
            pass
        self.assertEqual(service.stop(timeout=60)[0], 0)

        self.assertEqual(self.result(self.serve(), place)["stdout"]["text"], "whole\n")


class Requests(DurableTestCase):
    def test_a_durable_job_is_asked_for_and_withdrawn_like_any_other(self) -> None:
        service = self.serve("--workers", "1")
        endless = [self.keep(service, {**ENDLESS, "id": f"mine-{i}", "tag": [i]}) for i in range(8)]
        self.assertIn(service.ask("GET", endless[0] + "?wait=0.1").json["state"], ("queued", "running"))
        self.assertEqual(service.ask("GET", endless[7]).json, {"id": endless[7][9:], "state": "queued"})
        for i, place in reversed(list(enumerate(endless))):
            answer = service.ask("DELETE", place)
            self.assertEqual(answer.status, 200)
            self.assertLabel(answer.json, "Cancelled")
            self.assertEqual((answer.json["id"], answer.json["tag"]), (f"mine-{i}", [i]))
            self.assertEqual(service.ask("GET", place).body, answer.body)
            self.assertEqual(service.ask("DELETE", place).body, answer.body)
        result = self.result(service, self.keep(service, {"source": "print(6 * 7)"}))
        self.assertEqual(zygo.shape_faults(result), [])
        self.assertEqual(service.metric("zygo_durable_jobs"), 0)

    def test_a_batch_streams_until_all_is_there_or_the_wait_is_over_and_can_be_withdrawn(self) -> None:
        service = self.serve("--workers", "1")
        place = self.keep(service, b'{"source": "1"}\n{"source": "2"}\n', path=BATCHES)
        self.assertEqual([r["label"] for r in self.results(service, place)], ["OK", "OK"])
        self.assertEqual(self.results(service, self.keep(service, b"\n", path=BATCHES)), [])

        place = self.keep(service, zygo.lines_of([{"source": "print(1)", "id": "a"}] + [ENDLESS] * 20), path=BATCHES)
        while not (first := self.results(service, place, wait=1)):
            pass
        self.assertEqual([r["id"] for r in first], ["a"])
        gone = service.ask("DELETE", place)
        self.assertEqual((gone.status, gone.json["jobs"], gone.json["left"]), (202, 21, 20))
        labels = [r["label"] for r in self.results(service, place)]
        self.assertEqual(labels, ["OK"] + ["Cancelled"] * 20)
        for method, path, status in (("GET", "/v1/batches/b-0", 404), ("DELETE", "/v1/batches/b-0", 404),
                                     ("GET", place.replace("batches", "jobs"), 404),
                                     ("GET", place + "?after=x", 400), ("GET", place + "?wait=x", 400)):
            self.assertEqual(service.ask(method, path).status, status, path)

    def test_a_key_makes_one_job_of_any_number_of_requests(self) -> None:
        service = self.serve()
        job = {"source": "print(1)"}
        first = self.post(service, job, "key-1")
        again = self.post(service, job, "key-1")
        self.assertEqual((again.status, again.json), (202, first.json))
        self.assertEqual((first.headers.get("idempotent-replayed"), again.headers["idempotent-replayed"]),
                         (None, "true"))
        self.assertNotEqual(self.keep(service, job, "key-2"), first.headers["location"])
        other = self.post(service, {"source": "print(2)"}, "key-1")
        self.assertEqual((other.status, other.json["error"]["code"]), (422, "idempotency"))
        self.assertEqual(self.post(service, job, "key-1", path=BATCHES).status, 422)
        result = self.result(service, first.headers["location"])

        self.kill(service)
        service = self.serve()

        self.assertEqual(self.keep(service, job, "key-1"), first.headers["location"])
        self.assertEqual(self.result(service, first.headers["location"]), result)

    def test_many_at_once_with_one_key_are_one_job(self) -> None:
        service = self.serve()
        places: list[str] = []
        batch = zygo.lines_of([{"source": "print(1)"}] * 3)
        clients = [threading.Thread(target=lambda: places.append(self.keep(service, batch, "key", path=BATCHES)))
                   for _ in range(8)]
        for each in clients:
            each.start()
        for each in clients:
            each.join()
        self.assertEqual((len(places), len(set(places))), (8, 1))
        self.assertEqual(len(self.results(service, places[0])), 3)
        service.await_metric('zygo_jobs_total{label="OK"', 4)  # and the one that warms the template

    def test_jobs_and_keys_are_their_clients_own(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"one {TOKEN}\ntwo {OTHER}\n")
        service = self.serve("--tokens", str(tokens))
        job = {"source": "print(1)"}
        mine = self.post(service, job, "key", **bearer(TOKEN)).headers["location"]
        batch = self.post(service, job, path=BATCHES, **bearer(TOKEN)).headers["location"]
        theirs = self.post(service, job, "key", **bearer(OTHER)).headers["location"]
        self.assertNotEqual(mine, theirs)
        for place in (mine, batch):
            self.assertEqual(service.ask("GET", place, headers=bearer(OTHER)).status, 404)
            self.assertEqual(service.ask("DELETE", place, headers=bearer(OTHER)).status, 404)
            self.assertEqual(service.ask("GET", place + "?wait=20", headers=bearer(TOKEN)).status, 200)

    def test_what_cannot_be_is_refused_by_name(self) -> None:
        service = self.serve()
        job = {"source": "print(1)"}
        for path, code, headers in (("/v1/jobs?durable=1", "durable", {}), (JOBS.replace("e=1", "e=yes"), "durable", {}),
                                    ("/v1/batches?async=1", "async", {}), (BATCHES, "patience", {"X-Zygo-Patience": "1"}),
                                    ("/v1/batches", "idempotency", {"Idempotency-Key": "k"}),
                                    (JOBS, "idempotency", {"Idempotency-Key": "k" * 256})):
            answer = service.ask("POST", path, job, headers)
            self.assertEqual((answer.status, answer.json["error"]["code"]), (400, code), path)
        for path, body in ((JOBS, {"sauce": 1}), (BATCHES, {"defaults": {"sauce": 1}, "jobs": []})):
            self.assertEqual(self.post(service, body, "key", path).status, 400)
        self.keep(service, job, "key")  # which a refused request did not use up
        without = Service("--log", "off")
        self.addCleanup(without.stop)
        self.assertEqual(self.post(without, job).status, 501)
        self.assertFalse(without.ask("GET", "/v1/info").json["durable"])
        self.assertTrue(service.ask("GET", "/v1/info").json["durable"])

    def test_one_that_cannot_start_in_time_says_so_after_a_restart_too(self) -> None:
        service = self.serve("--workers", "1")
        blocker = self.keep(service, ENDLESS)
        place = self.keep(service, {"source": "1", "deadline_ms": 1000})
        self.kill(service)
        time.sleep(1)  # its time is over while no service is there

        service = self.serve("--workers", "1")

        self.assertEqual(service.ask("GET", place + "?wait=20").status, 429)
        self.assertEqual(service.ask("DELETE", place).status, 429)
        self.assertLabel(service.ask("DELETE", blocker).json, "Cancelled")

    def test_clients_take_turns(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(f"one {TOKEN}\ntwo {OTHER}\n")
        service = self.serve("--workers", "1", "--tokens", str(tokens))
        many = zygo.lines_of([{"source": "import time; time.sleep(0.05)"}] * 200)
        batch = self.post(service, many, path=BATCHES, **bearer(TOKEN)).headers["location"]
        place = self.post(service, {"source": "print(1)"}, **bearer(OTHER)).headers["location"]

        answer = service.ask("GET", place + "?wait=60", headers=bearer(OTHER), timeout=90)

        self.assertEqual(answer.json["label"], "OK")
        self.assertLess(len(service.ask("GET", batch, headers=bearer(TOKEN)).lines), 100)


class Bounds(DurableTestCase):
    def gone(self, service: Service, place: str) -> None:
        deadline = time.monotonic() + 30 * zygo.PATIENCE
        while service.ask("GET", place).status != 404:
            self.assertLess(time.monotonic(), deadline)

    def test_results_are_kept_for_a_time(self) -> None:
        service = self.serve("--durable-keep", "3s", "--workers", "2")
        waiting = self.keep(service, ENDLESS)
        place = self.keep(service, {"source": "print(1)"}, "key")
        self.result(service, place)

        self.gone(service, place)

        self.assertEqual(service.ask("GET", waiting).status, 202)
        again = self.keep(service, {"source": "print(2)"}, "key")
        self.assertEqual(self.result(service, again)["stdout"]["text"], "2\n")

    def test_the_oldest_results_make_room_and_what_waits_is_bounded(self) -> None:
        service = self.serve("--durable-size", "1M", "--workers", "2")
        places = []
        for _ in range(6):  # one after another: the oldest is the one that ended first
            places.append(self.keep(service, {"source": "print('x' * 300000)"}))
            self.result(service, places[-1])
        self.gone(service, places[0])
        full = self.post(service, {"source": "#" * (1 << 20)})
        self.assertEqual((full.status, full.json["error"]["code"]), (507, "ledger_full"))
        self.assertGreaterEqual(int(full.headers["retry-after"]), 1)
        self.assertEqual(self.result(service, self.keep(service, {"source": "1"}))["label"], "OK")

    def test_no_more_wait_than_may(self) -> None:
        service = self.serve("--durable-queue", "2", "--workers", "1")
        places = [self.keep(service, ENDLESS, f"key-{i}") for i in range(2)]
        busy = self.post(service, ENDLESS)
        self.assertEqual((busy.status, busy.json["error"]["code"]), (429, "busy"))
        self.assertEqual(self.keep(service, ENDLESS, "key-0"), places[0])
        service.ask("DELETE", places[0])
        self.keep(service, ENDLESS)


class TheDisk(DurableTestCase):
    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root and mount(8)")
    def test_a_full_disk_refuses_what_is_new_loses_nothing_and_recovers(self) -> None:
        disk = small_disk.mount(self)
        self.database = disk / "jobs.db"
        service = self.serve("--workers", "1")
        gate = self.keep(service, ENDLESS)
        taken = [self.keep(service, {"source": f"print({i}, 'x' * 20000)"}) for i in range(5)]

        small_disk.fill(self, disk / "ballast")
        refused = self.post(service, {"source": "#" * 100_000}, "key")
        self.assertEqual((refused.status, refused.json["error"]["code"]), (507, "disk_full"))
        self.assertIn(str(self.database), refused.json["error"]["message"])
        self.assertGreaterEqual(int(refused.headers["retry-after"]), 1)
        withdrawn: list[Answer] = []
        deletes = threading.Thread(target=lambda: withdrawn.append(service.ask("DELETE", gate, timeout=90)))
        deletes.start()
        service.await_metric('zygo_jobs_total{label="OK"', 6)  # they go on, and one has warmed the template
        unwritten = service.metric("zygo_durable_unwritten_verdicts")
        self.assertGreater(unwritten, 0)  # 100 KB of results do not fit
        statuses = [service.ask("GET", place).status for place in taken]
        self.assertIn(202, statuses)  # not told before it is written

        (disk / "ballast").unlink()

        for i, place in enumerate(taken):
            self.assertEqual(self.result(service, place)["stdout"]["text"], f"{i} {'x' * 20000}\n")
        deletes.join()
        self.assertLabel(withdrawn[0].json, "Cancelled")
        self.result(service, self.keep(service, {"source": "#" * 100_000}, "key"))
        told = [service.ask("GET", place).body for place in taken]
        self.kill(service)
        service = self.serve("--workers", "1")
        self.assertEqual([service.ask("GET", place).body for place in taken], told)

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root and mount(8)")
    def test_a_kill_on_a_full_disk_loses_nothing_either(self) -> None:
        disk = small_disk.mount(self)
        self.database = disk / "jobs.db"
        service = self.serve("--workers", "1")
        gate = self.keep(service, ENDLESS)
        place = self.keep(service, {"source": "print('x' * 20000)"})
        small_disk.fill(self, disk / "ballast")
        while (answer := self.post(service, {"source": "#" * 20_000})).status == 202:
            pass
        self.assertEqual(answer.status, 507)

        self.kill(service)
        (disk / "ballast").unlink()
        service = self.serve("--workers", "2")

        self.assertEqual(len(self.result(service, place)["stdout"]["text"]), 20001)
        self.assertLabel(service.ask("DELETE", gate).json, "Cancelled")

    def refusal(self) -> str:
        ended = zygo.run_cli("serve", "--listen", "127.0.0.1:0", "--durable", str(self.database))
        self.assertEqual(ended.code, 2, ended.stderr)
        self.assertIn(str(self.database), ended.stderr)
        return ended.stderr

    def test_a_file_that_will_not_do_is_named_at_the_start(self) -> None:
        service = self.serve()
        place = self.keep(service, {"source": "print(1)"})
        self.result(service, place)
        for _ in range(50):
            self.keep(service, {"source": "#" * 2000})
        self.assertIn("in use", self.refusal())
        self.assertEqual(service.ask("GET", place).status, 200)
        service.stop()
        whole = self.database.read_bytes()

        self.database.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))
        self.assertIn("damaged", self.refusal())
        self.database.write_bytes(b"nothing of the kind\n" * 500)
        self.assertIn("is no database", self.refusal())
        self.database.write_bytes(whole[:60] + (99).to_bytes(4, "big") + whole[64:])
        self.assertIn("version 99", self.refusal())
        self.database.write_bytes(whole[:68] + b"mine" + whole[72:])
        self.assertIn("not one of zygo's", self.refusal())
        self.database.unlink()
        self.database.mkdir()
        self.refusal()
        self.database = self.database / "nowhere" / "jobs.db"
        self.assertIn("No such file", self.refusal())

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("mount"), "needs root and mount(8)")
    def test_a_disk_that_cannot_be_written_to_is_named_at_the_start(self) -> None:
        disk = small_disk.mount(self)
        self.database = disk / "jobs.db"
        self.serve().stop()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        self.assertIn("Read-only", self.refusal())


class TheDocument(DurableTestCase):
    """Runs last: whatever the tests above have seen is in the OpenAPI document."""

    def test_every_answer_that_any_test_has_seen_is_in_the_document(self) -> None:
        document = self.serve().ask("GET", "/v1/openapi.json").json
        for method, path, status in serve.SEEN:
            with self.subTest(f"{method} {path} {status}"):
                self.assertIn(str(status), document["paths"][path][method.lower()]["responses"])


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    return zygo.as_written(loader, globals())


if __name__ == "__main__":
    unittest.main()
