"""`zygo route` and `zygo pilot`: one address for all pilots, and one verdict for each job whatever becomes of them."""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
import unittest
from pathlib import Path
from typing import Any

import host
import ws_client
import zygo
from cluster.routing import CALLER, OPERATOR, PILOT, TOKENS, RoutingTestCase, bearer, resume
from serve import Service

SLEEPS = "import time\ntime.sleep({})\nprint('slept')"


def batch(jobs: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(job) + "\n" for job in jobs).encode()


class OneAddress(RoutingTestCase):
    def test_jobs_of_every_kind_run_at_pilots(self) -> None:
        router = self.router()
        self.assertEqual(router.ask("GET", "/readyz").status, 503)
        self.pilot(router, options=("--name", "one"))
        pilot, = self.await_pilots(router, 1)
        self.assertEqual((pilot["name"], pilot["workers"], pilot["level"]), ("one", 2, "full"))
        self.assertEqual(router.ask("GET", "/readyz").status, 200)
        self.assertEqual(router.run("print(6 * 7)")["stdout"]["text"], "42\n")
        called = router.run("def f(x): return x + 1", mode="call", func="f", inputs=[1])
        self.assertEqual(called["value"], [2])
        self.assertEqual(router.run("while True: pass", limits={"cpu_ms": 200})["label"], "TimeoutException")
        self.assertEqual(router.run("import socket\nsocket.socket()")["label"], "UnsafeCode")
        judged = router.run("print(int(input()) * 2)", tests=[{"stdin": "4", "expect": "8"}, {"stdin": "1", "expect": "3"}])
        self.assertEqual([test["label"] for test in judged["tests"]], ["OK", "WrongAnswer"])
        unknown = router.ask("POST", "/v1/jobs", {"source": "1", "template": "no-such"})
        self.assertEqual(unknown.status, 400, unknown.body)
        self.assertLessEqual({"python", "c"}, self.await_runtimes(router))

    def test_a_batch_is_spread_over_pilots(self) -> None:
        router = self.router()
        for name in ("one", "two"):
            self.pilot(router, options=("--name", name))
        self.await_pilots(router, 2)
        jobs = [{"id": str(i), "source": f"print({i})"} for i in range(400)]
        answer = router.ask("POST", "/v1/batches", batch(jobs), timeout=60)
        self.assertEqual({line["id"]: line["stdout"]["text"] for line in answer.lines}, {str(i): f"{i}\n" for i in range(400)})
        for pilot in self.pilots(router):
            self.assertGreater(pilot["ended"], 0, pilot)

    def test_a_conversation_goes_through(self) -> None:
        router = self.router()
        self.pilot(router)
        self.await_pilots(router, 1)
        talk = ws_client.WebSocket(router.connect(), "/v1/attach")
        talk.send(source="while True:\n    line = input()\n    print(line[::-1], flush=True)")
        talk.expect("started")
        for word in ("one", "two", "x" * 100_000):
            talk.send(type="stdin", text=word + "\n")
            self.assertEqual(talk.read_until("\n"), word[::-1] + "\n")
        talk.send(type="stdin", end=True)
        messages, _ = talk.rest()
        self.assertEqual((messages[-1]["type"], messages[-1]["label"]), ("result", "EOFError"))

    def test_a_job_waits_for_a_pilot_as_long_as_its_caller(self) -> None:
        router = self.router()
        impatient = router.ask("POST", "/v1/jobs", {"source": "1"}, {"X-Zygo-Patience": "0.2"})
        self.assertEqual((impatient.status, impatient.json["error"]["code"]), (429, "patience"))
        answers: list[zygo.Result] = []
        waiting = threading.Thread(target=lambda: answers.append(router.run("print(1)")))
        waiting.start()
        router.await_metric("zygo_queue_jobs", 0)
        self.pilot(router)
        waiting.join(60)
        self.assertEqual(answers[0]["stdout"]["text"], "1\n")

    def test_a_cancelled_job_ends_at_its_pilot(self) -> None:
        router = self.router()
        pilot = self.pilot(router, options=("--listen", "127.0.0.1:0"))
        self.await_pilots(router, 1)
        started = router.ask("POST", "/v1/jobs?async=1", {"source": SLEEPS.format(60), "limits": {"wall_ms": 90000}})
        place = started.headers["location"]
        router.await_metric("zygo_engine_jobs", 1)
        self.assertEqual(router.ask("DELETE", place).json["label"], "Cancelled")
        self.assertEqual(pilot.run("print(1)")["label"], "OK")


class Losses(RoutingTestCase):
    def start_sleepers(self, router: Service, count: int, seconds: float) -> tuple[threading.Thread, list[zygo.Result]]:
        results: list[zygo.Result] = []
        jobs = [{"id": str(i), "source": SLEEPS.format(seconds)} for i in range(count)]
        thread = threading.Thread(target=lambda: results.extend(
            router.ask("POST", "/v1/batches", batch(jobs), timeout=120).lines))
        thread.start()
        router.await_metric_between("zygo_engine_jobs", min(count, 2), count)
        return thread, results

    def check(self, results: list[zygo.Result], count: int) -> None:
        self.assertEqual(sorted(int(result["id"]) for result in results), list(range(count)))
        self.assertEqual({result["label"] for result in results}, {"OK"})

    def test_the_jobs_of_a_pilot_that_is_killed_start_elsewhere(self) -> None:
        router = self.router()
        lost = self.pilot(router)
        self.pilot(router)
        self.await_pilots(router, 2)
        thread, results = self.start_sleepers(router, 8, 0.5)
        lost.stop(signal.SIGKILL)
        thread.join(120)
        self.check(results, 8)
        self.assertEqual(self.cluster(router)["lost"], 1)
        self.assertGreater(self.cluster(router)["restarts"], 0)

    def test_the_first_verdict_counts_when_a_frozen_pilot_comes_back(self) -> None:
        router = self.router("--lease", "500ms")
        frozen = self.pilot(router)
        self.await_pilots(router, 1)
        thread, results = self.start_sleepers(router, 2, 1)
        processes = sorted({frozen.process.pid} | host.descendants(frozen.process.pid))
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        self.addCleanup(resume, processes)
        self.pilot(router)
        thread.join(120)
        self.check(results, 2)
        resume(processes)
        self.await_pilots(router, 2)
        self.assertEqual(router.run("print(1)")["label"], "OK")

    def test_a_pilot_that_ends_gives_back_what_has_not_begun(self) -> None:
        router = self.router()
        leaving = self.pilot(router)
        self.await_pilots(router, 1)
        thread, results = self.start_sleepers(router, 8, 0.4)
        staying = self.pilot(router)
        self.await_pilots(router, 2)
        code, said = leaving.stop()
        self.assertEqual(code, 0, said)
        thread.join(120)
        self.check(results, 8)
        self.assertEqual(self.cluster(router)["lost"], 0)
        self.assertIsNotNone(staying)

    def test_a_pilot_comes_back_to_a_router_that_starts_again(self) -> None:
        database = str(self.folder() / "jobs.db")
        router = self.router("--durable", database)
        self.pilot(router)
        self.await_pilots(router, 1)
        kept = router.ask("POST", "/v1/jobs?async=1&durable=1", {"source": SLEEPS.format(0.5)})
        self.assertEqual(kept.status, 202, kept.body)
        router.stop(signal.SIGKILL)
        again = self.router("--durable", database, listen=(f"127.0.0.1:{router.port}",))
        result = again.ask("GET", kept.headers["location"] + "?wait=60", timeout=90)
        self.assertEqual((result.status, result.json["label"]), (200, "OK"))

    def test_a_pilot_leaves_before_its_slot_ends(self) -> None:
        router = self.router()
        # Not as a Service: where the machine is busy, the end of the slot comes before it has said that it is ready.
        ended = zygo.run_cli("pilot", "--join", f"http://127.0.0.1:{router.port}", "--log", "text", "--workers", "2",
                             "--until", str(int(time.time()) + 4), "--drain-before", "2s")
        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertIn("the slot ends soon", ended.stderr)
        self.assertEqual(self.pilots(router), [])

    def test_what_a_pilot_cannot_end_in_its_grace_ends_elsewhere(self) -> None:
        router = self.router()
        leaving = self.pilot(router, options=("--grace", "200ms"))
        self.await_pilots(router, 1)
        thread, results = self.start_sleepers(router, 2, 3)
        self.pilot(router)
        self.await_pilots(router, 2)
        code, said = leaving.stop()
        self.assertEqual(code, 0, said)
        thread.join(120)
        self.check(results, 2)

    def test_a_router_answers_what_it_has_accepted_before_it_ends(self) -> None:
        router = self.router()
        self.pilot(router)
        self.await_pilots(router, 1)
        thread, results = self.start_sleepers(router, 6, 0.4)
        code, said = router.stop()
        thread.join(120)
        self.assertEqual(code, 0, said)
        self.check(results, 6)

    def test_a_pilot_joins_two_routers(self) -> None:
        one, two = self.router(), self.router()
        self.pilot(one, two)
        for router in (one, two):
            self.await_pilots(router, 1)
            self.assertEqual(router.run("print(1)")["stdout"]["text"], "1\n")
        one.stop()
        self.assertEqual(two.run("print(2)")["stdout"]["text"], "2\n")


class Trust(RoutingTestCase):
    def test_each_token_opens_its_own_doors(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(TOKENS, encoding="utf-8")
        router = self.router("--tokens", str(tokens))
        self.pilot(router, options=("--token-file", self.token_file(PILOT)))
        self.await_pilots(router, 1, bearer(OPERATOR))
        job = {"source": "print(1)"}
        self.assertEqual(router.ask("POST", "/v1/jobs", job, bearer(CALLER)).json["label"], "OK")
        for path in ("/v1/pilots", "/v1/stats", "/metrics"):
            self.assertEqual(router.ask("GET", path, headers=bearer(PILOT)).status, 403, path)
            self.assertEqual(router.ask("GET", path, headers=bearer(CALLER)).status, 403, path)
        self.assertEqual(router.ask("POST", "/v1/jobs", job, bearer(PILOT)).status, 403)
        self.assertEqual(router.ask("PUT", "/v1/blobs/sha256:" + "0" * 64, b"", bearer(PILOT)).status, 403)
        for token in (CALLER, OPERATOR):
            self.assertEqual(router.ask("GET", "/v1/pilots/join", headers=bearer(token)).status, 403)
        self.assertEqual(router.ask("GET", "/v1/pilots/join").status, 401)

    def test_a_pilot_with_a_wrong_token_says_why_it_is_not_let_in(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(TOKENS, encoding="utf-8")
        router = self.router("--tokens", str(tokens))
        pilot = self.pilot(router, options=("--token-file", self.token_file(CALLER)))
        pilot.await_line("403")
        code, said = pilot.stop()
        self.assertEqual(code, 0)
        self.assertNotIn(CALLER, said)

    def test_a_pilot_below_the_level_that_the_router_wants_is_sent_away(self) -> None:
        router = self.router("--require", "full")
        pilot = self.pilot(router, options=("--level", "minimal", "--require", "minimal"))
        pilot.await_line("this router wants full")
        self.assertEqual(self.pilots(router), [])


class Reading(RoutingTestCase):
    """SIGHUP: a router reads its configuration again."""

    def setUp(self) -> None:
        super().setUp()
        self.tokens = self.folder() / "tokens"
        self.tokens.write_text(TOKENS, encoding="utf-8")
        self.tokens_router = self.router("--tokens", str(self.tokens))
        self.pilot(self.tokens_router, options=("--token-file", self.token_file(PILOT)))
        self.await_pilots(self.tokens_router, 1, bearer(OPERATOR))

    def reload(self, text: str) -> None:
        """Returns when the log has this."""
        self.tokens_router.process.send_signal(signal.SIGHUP)
        self.tokens_router.await_line(text)

    def status(self, token: str) -> int:
        return self.tokens_router.ask("POST", "/v1/jobs", {"source": "print(1)"}, bearer(token)).status

    def test_new_tokens_are_in_force_and_the_pilot_that_has_joined_stays(self) -> None:
        another = "another-token-0123456789"
        before, = self.pilots(self.tokens_router, bearer(OPERATOR))
        self.tokens.write_text(TOKENS.replace(CALLER, another), encoding="utf-8")
        self.reload(" zygo route: configuration read again, and in force")

        self.assertEqual((self.status(CALLER), self.status(another)), (401, 200))
        after, = self.pilots(self.tokens_router, bearer(OPERATOR))
        self.assertEqual(after["address"], before["address"], "one connection")

    def test_what_cannot_be_read_changes_nothing_and_is_told(self) -> None:
        for bad in ("someone short\n", ""):
            self.tokens.write_text(bad, encoding="utf-8")
            self.reload(" zygo route: configuration refused, the one before stays")
            self.assertEqual(self.status(CALLER), 200)

    def test_a_line_that_is_not_written_is_waited_for_no_longer_than_was_said(self) -> None:
        with self.assertRaisesRegex(AssertionError, "'no such line' was not written within 0.1 s"):
            self.tokens_router.await_line("no such line", timeout=0.1)

    def test_a_router_without_its_reader_says_so_and_goes_on(self) -> None:
        reader, = self.readers()
        os.kill(reader, signal.SIGKILL)
        self.reload("restart the router")

        self.assertEqual(self.status(CALLER), 200)

    def test_the_reader_ends_with_its_router_however_that_ends(self) -> None:
        reader, = self.readers()
        watch = os.pidfd_open(reader)
        self.addCleanup(os.close, watch)
        self.tokens_router.stop(signal.SIGKILL)

        ended, _, _ = select.select([watch], [], [], 30 * zygo.PATIENCE)
        self.assertEqual(ended, [watch])

    def readers(self) -> list[int]:
        pid = self.tokens_router.process.pid
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


if __name__ == "__main__":
    unittest.main()
