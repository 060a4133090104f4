"""`zygo serve`: one warm pool behind HTTP, whatever its clients send, and whenever they leave."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import stat
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import schema
import serve
import zygo
from serve import Service
from zygo import ZygoTestCase

JOB = json.dumps({"source": "print(6 * 7)"}).encode()
ENDLESS = {"source": "while True: pass", "limits": {"cpu_ms": 60000, "wall_ms": 60000}}
TOKEN, READER = "0123456789abcdef-all", "0123456789abcdef-info"


class ServeTestCase(ZygoTestCase):
    def serve(self, *options: str, **how: Any) -> Service:
        service = Service(*options, **how)
        self.addCleanup(service.stop)
        return service

    def connect(self, service: Service) -> socket.socket:
        sock = service.connect()
        self.addCleanup(sock.close)
        return sock


class Shared(ServeTestCase):
    """Tests that leave the service as they found it share one."""

    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-serve-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--head-time", "1s", "--body-time", "1s", "--max-body", "1M", "--log", "off",
                              ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)


class Jobs(Shared):
    def test_a_job_is_answered_with_the_result_that_a_batch_gives(self) -> None:
        result = self.service.run("print(6 * 7)", id="a", tag={"x": 1})

        self.assertEqual(zygo.shape_faults(result), [])
        self.assertEqual((result["label"], result["id"], result["tag"]), ("OK", "a", {"x": 1}))
        self.assertEqual(result["stdout"]["text"], "42\n")
        batch = zygo.run_job("print(6 * 7)")
        self.assertEqual(list(result), list(batch))

    def test_ends_of_every_kind_are_answers_not_errors(self) -> None:
        for source, label in (("1 / 0", "ZeroDivisionError"), ("import os; os._exit(3)", "NonZeroExit"),
                              ("import socket; socket.socket()", "UnsafeCode")):
            self.assertLabel(self.service.run(source), label)
        self.assertLabel(self.service.run("while 1: pass", limits={"cpu_ms": 200}), "TimeoutException")

    def test_a_malformed_job_is_named_by_its_path(self) -> None:
        for body, path in ((b'{"source": "", "sauce": 1}', "sauce"),
                           (b'{"source": "", "limits": {"cpu_ms": "5"}}', "limits.cpu_ms"),
                           (b'{"source": "", "template": "nothing"}', "template"),
                           (b"[1]", None), (b"{", None), (b"", None)):
            with self.subTest(body):
                answer = self.service.ask("POST", "/v1/jobs", body)
                self.assertEqual(answer.status, 400)
                self.assertEqual(answer.json["error"]["code"], "bad_job")
                self.assertEqual(answer.json["error"].get("path"), path)
        for path in ("/v1/jobs?async=yes", "/v1/jobs?async"):
            self.assertEqual(self.service.ask("POST", path, JOB).status, 400)
        self.assertEqual(self.service.ask("POST", "/v1/jobs", JOB, {"X-Zygo-Patience": "soon"}).status, 400)

    def test_an_id_comes_at_once_and_the_result_when_it_is_asked_for(self) -> None:
        taken = self.service.ask("POST", "/v1/jobs?async=1", {"id": "mine", "source": "print(1)"})
        self.assertEqual(taken.status, 202)
        place = taken.headers["location"]
        self.assertEqual(place, "/v1/jobs/" + taken.json["id"])

        answer = self.service.ask("GET", place + "?wait=20")

        self.assertEqual((answer.status, answer.json["label"], answer.json["id"]), (200, "OK", "mine"))
        self.assertEqual(self.service.ask("GET", place).json, answer.json)

    def test_a_wait_ends_when_it_is_over_and_a_cancelled_job_says_so(self) -> None:
        place = "/v1/jobs/" + self.service.ask("POST", "/v1/jobs?async=1", ENDLESS).json["id"]
        waited = self.service.ask("GET", place + "?wait=0.1")
        self.assertEqual(waited.status, 202)
        self.assertIn(waited.json["state"], ("queued", "running"))

        began = time.monotonic()
        cancelled = self.service.ask("DELETE", place)

        self.assertEqual((cancelled.status, cancelled.json["label"]), (200, "Cancelled"))
        self.assertLess(time.monotonic() - began, 5 * zygo.PATIENCE)
        self.assertEqual(self.service.ask("GET", place).json, cancelled.json)
        self.assertEqual(self.service.ask("DELETE", place).json, cancelled.json)
        self.assertEqual(self.service.ask("GET", place + "?wait=long").status, 400)

    def test_a_job_that_nobody_sent_is_not_found(self) -> None:
        self.assertEqual(self.service.ask("GET", "/v1/jobs/j-0").status, 404)
        self.assertEqual(self.service.ask("DELETE", "/v1/jobs/j-0").status, 404)

    def test_a_job_whose_client_is_gone_is_cancelled(self) -> None:
        before = self.service.metric('zygo_jobs_total{label="Cancelled"')
        sock = self.connect(self.service)
        sock.sendall(serve.post("/v1/jobs", json.dumps(ENDLESS).encode()))
        self.service.await_metric("zygo_engine_jobs", 1)

        sock.close()

        self.service.await_metric('zygo_jobs_total{label="Cancelled"', before + 1)

    def test_facts(self) -> None:
        info = self.service.ask("GET", "/v1/info").json
        self.assertEqual(info["level"], self.service.ready["level"])
        self.assertIn("seccomp", info["enforced"])
        self.assertEqual(info["limits"]["body_bytes"], 1 << 20)
        self.assertIn("python-numpy", [each["name"] for each in self.service.ask("GET", "/v1/templates").json])
        self.assertIn("python", [each["name"] for each in self.service.ask("GET", "/v1/runtimes").json])
        for path in ("/healthz", "/readyz"):
            self.assertEqual(self.service.ask("GET", path).status, 200)

    def test_paths_and_methods_that_are_not_there(self) -> None:
        self.assertEqual(self.service.ask("GET", "/v2").status, 404)
        answer = self.service.ask("GET", "/v1/batches")
        self.assertEqual((answer.status, answer.headers["allow"]), (405, "POST"))
        self.assertEqual(self.service.ask("PATCH", "/v1/jobs", b"").status, 405)

    def test_pages_of_the_web_cannot_use_it(self) -> None:
        self.assertEqual(self.service.ask("POST", "/v1/jobs", JOB, {"Origin": "http://evil.example"}).status, 403)

    def test_blobs(self) -> None:
        content = os.urandom(100_000)
        path = "/v1/blobs/sha256:" + hashlib.sha256(content).hexdigest()
        self.assertEqual(self.service.ask("HEAD", path).status, 404)
        self.assertEqual(self.service.ask("PUT", path, content[1:]).status, 400)
        self.assertEqual(self.service.ask("GET", "/v1/blobs/x").status, 400)

        self.assertEqual(self.service.ask("PUT", path, content).status, 201)

        self.assertEqual(self.service.ask("GET", path).body, content)
        head = self.service.ask("HEAD", path)
        self.assertEqual((head.status, head.headers["content-length"], head.body), (200, "100000", b""))
        result = self.service.run("print(len(open('f', 'rb').read()))", files={"f": {"blob": path[10:]}})
        self.assertEqual(result["stdout"]["text"], "100000\n")


class Batches(Shared):
    def test_a_line_each_in_order_of_completion_and_bad_ones_say_so(self) -> None:
        body = b'{"id": "slow", "source": "import time; time.sleep(4)"}\n\n{"id": "quick", "source": "1"}\n' \
               b'{"sauce": 1}\nnonsense\n{"id": "quick", "source": "2"}\n{"source": "3"}'
        answer = self.service.ask("POST", "/v1/batches", body)

        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "application/x-ndjson"))
        results = zygo.by_id(answer.lines)
        self.assertEqual({i: r["label"] for i, r in results.items()},
                         {"slow": "OK", "quick": "OK", "job-4": "BadJob", "job-5": "BadJob", "job-6": "BadJob",
                          "job-7": "OK"})
        self.assertEqual(answer.lines[-1]["id"], "slow")
        ended = zygo.run_cli("batch", "-", stdin=body)
        mine = {i: r["detail"] for i, r in zygo.by_id(zygo.results_of(ended.out)).items()}
        self.assertEqual({i: r["detail"] for i, r in results.items()}, mine)

    def test_defaults_and_jobs(self) -> None:
        jobs = [{"id": str(i), "source": "def f(x): return x + 1", "inputs": [i]} for i in range(20)]
        body = {"defaults": {"mode": "call", "func": "f"}, "jobs": jobs}
        answer = self.service.ask("POST", "/v1/batches", body)
        self.assertEqual({r["id"]: r["value"] for r in answer.lines}, {str(i): [i + 1] for i in range(20)})
        bad = self.service.ask("POST", "/v1/batches", {"defaults": {"sauce": 1}, "jobs": []})
        self.assertEqual(bad.status, 400)
        self.assertIn("defaults: ", bad.json["error"]["message"])
        self.assertEqual(self.service.ask("POST", "/v1/batches", b"").lines, [])

    def test_results_come_while_others_still_run(self) -> None:
        sock = self.connect(self.service)
        jobs = [{"id": "first", "source": "print(1)"}, {"id": "second", **ENDLESS}]
        sock.sendall(serve.post("/v1/batches", zygo.lines_of(jobs)))
        seen = b""
        while b'"first"' not in seen:
            seen += sock.recv(65536)
        self.assertNotIn(b'"second"', seen)
        sock.close()  # and with it the second job
        self.service.await_metric("zygo_engine_jobs", 0)

    def test_a_thousand_jobs(self) -> None:
        jobs = [{"id": str(i), "source": f"print({i})"} for i in range(1000)]
        answer = self.service.ask("POST", "/v1/batches", zygo.lines_of(jobs), timeout=120)
        self.assertEqual({r["id"]: r["stdout"]["text"] for r in answer.lines}, {str(i): f"{i}\n" for i in range(1000)})

    def test_a_client_that_leaves_takes_its_jobs_along(self) -> None:
        sock = self.connect(self.service)
        sock.sendall(serve.post("/v1/batches", zygo.lines_of([{"id": str(i), **ENDLESS} for i in range(200)])))
        self.service.await_metric("zygo_engine_jobs", 2 * self.service.ready["workers"])

        sock.close()

        self.service.await_metric("zygo_engine_jobs", 0)
        self.service.await_metric("zygo_queue_jobs", 0)
        self.service.await_metric("zygo_held_bytes ", 0)
        self.assertLabel(self.service.run("print(1)"), "OK")

    def test_a_reader_that_does_not_read_holds_up_only_itself(self) -> None:
        sock = self.connect(self.service)
        before = self.service.metric("zygo_jobs_total{")
        jobs = [{"id": str(i), "source": "print('x' * 1000000)"} for i in range(200)]
        sock.sendall(serve.post("/v1/batches", zygo.lines_of(jobs)))
        self.assertLabel(self.service.run("print(1)"), "OK")
        self.service.await_metric("zygo_engine_jobs", 0)
        # It has stopped for want of room, with most of its jobs not yet run.
        self.assertLess(self.service.metric("zygo_jobs_total{") - before, 150)
        self.assertEqual(self.service.metric("zygo_queue_jobs"), 0)
        done = serve.read_stream(sock)
        self.assertEqual(len(zygo.results_of(done)), 200)


class Wire(Shared):
    """HTTP itself, by clients that are slow, odd or hostile."""

    def test_many_requests_on_one_connection(self) -> None:
        client = self.service.client()
        self.addCleanup(client.close)
        for i in range(50):
            answer = serve.ask_on(client, "POST", "/v1/jobs", {"source": f"print({i})"})
            self.assertEqual(answer.json["stdout"]["text"], f"{i}\n")

    def test_a_hundred_requests_at_once_are_answered_in_their_order(self) -> None:
        sock = self.connect(self.service)
        sock.sendall(b"".join(serve.post("/v1/jobs", json.dumps({"source": f"print({i})"}).encode()) for i in range(100)))
        answers = serve.read_answers(sock, 100)
        self.assertEqual([a.json["stdout"]["text"] for a in answers], [f"{i}\n" for i in range(100)])

    def test_a_body_in_chunks_of_one_byte_sent_byte_by_byte(self) -> None:
        sock = self.connect(self.service)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in serve.chunked("/v1/jobs", JOB, 1):
            sock.sendall(bytes([byte]))
        self.assertEqual(serve.read_answers(sock, 1)[0].json["stdout"]["text"], "42\n")

    def test_leave_to_send_is_given(self) -> None:
        sock = self.connect(self.service)
        head, body = serve.post("/v1/jobs", JOB, "Expect: 100-continue").split(b"\r\n\r\n", 1)
        sock.sendall(head + b"\r\n\r\n")
        self.assertEqual(sock.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
        sock.sendall(body)
        self.assertEqual(serve.read_answers(sock, 1)[0].status, 200)

    def test_leave_to_send_too_much_is_not(self) -> None:
        sock = self.connect(self.service)
        sock.sendall(b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n\r\n")
        self.assertEqual(serve.status_of(serve.read_to_end(sock)), 413)

    def test_http_1_0_gets_a_whole_answer_and_the_end(self) -> None:
        sock = self.connect(self.service)
        sock.sendall(b"POST /v1/batches HTTP/1.0\r\nContent-Length: %d\r\n\r\n" % len(JOB) + JOB)
        text = serve.read_to_end(sock)
        self.assertNotIn(b"chunked", text)
        self.assertEqual(json.loads(text.split(b"\r\n\r\n", 1)[1])["label"], "OK")

    def test_what_is_no_request_is_refused_and_the_rest_goes_on(self) -> None:
        post = b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
        for sent, status in ((b"hello\r\n\r\n", 400), (b"\x16\x03\x01\x02\x00\x01\x00", 400),
                             (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
                             (b"GET /healthz HTTP/3.0\r\nHost: localhost\r\n\r\n", 505),
                             (b"GET /" + b"a" * 10000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 414),
                             (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 200 + b"\r\n", 431),
                             (b"GET / HTTP/1.1\r\nHost: localhost\r\nA: " + b"b" * 200_000, 431),
                             (post + b"Content-Length: 2000000\r\n\r\n" + b"x" * 1_500_000, 413),
                             (serve.chunked("/v1/jobs", b"x" * 1_500_000, 10_000), 413),
                             (post + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400)):
            with self.subTest(sent[:60]):
                sock = self.connect(self.service)
                sender = threading.Thread(target=send_quietly, args=(sock, sent))
                sender.start()
                self.assertEqual(serve.status_of(serve.read_to_end(sock)), status)
                sender.join()
        self.assertLabel(self.service.run("print(1)"), "OK")

    def test_clients_that_are_too_slow_are_let_go(self) -> None:
        slow_head, slow_body, silent = (self.connect(self.service) for _ in range(3))
        slow_head.sendall(b"GET /healthz HTTP/1.1\r\nHost")
        slow_body.sendall(serve.post("/v1/jobs", JOB)[:-3])
        began = time.monotonic()

        self.assertEqual(serve.status_of(serve.read_to_end(slow_head)), 408)
        self.assertEqual(serve.status_of(serve.read_to_end(slow_body)), 408)
        self.assertEqual(serve.read_to_end(silent), b"")
        self.assertLess(time.monotonic() - began, 10 * zygo.PATIENCE)

    def test_a_header_a_second_does_not_hold_a_connection(self) -> None:
        sock = self.connect(self.service)
        sock.settimeout(0.3)
        sock.sendall(b"GET /healthz HTTP/1.1\r\n")
        text = b""
        for i in range(20):
            send_quietly(sock, b"X-%d: y\r\n" % i)
            try:
                text += sock.recv(1000)
            except TimeoutError:
                continue
            break
        self.assertEqual(serve.status_of(text), 408)

    def test_random_bytes_on_many_connections(self) -> None:
        for i in range(100):
            sock = self.connect(self.service)
            send_quietly(sock, os.urandom(i * 20))
            sock.close()
        self.assertEqual(self.service.ask("GET", "/healthz").status, 200)


def send_quietly(sock: socket.socket, data: bytes) -> None:
    try:
        sock.sendall(data)
    except OSError:
        pass


class Admission(ServeTestCase):
    def test_a_full_queue_says_when_to_come_back(self) -> None:
        service = self.serve("--workers", "1", "--queue", "2", "--log", "off")
        places = [service.ask("POST", "/v1/jobs?async=1", ENDLESS).headers["location"] for _ in range(4)]

        full = service.ask("POST", "/v1/jobs", JOB)

        self.assertEqual((full.status, full.json["error"]["code"]), (429, "busy"))
        self.assertGreaterEqual(int(full.headers["retry-after"]), 1)
        self.assertEqual(service.ask("POST", "/v1/batches", JOB).status, 429)
        for place in places:
            self.assertLabel(service.ask("DELETE", place).json, "Cancelled")
        self.assertLabel(service.run("print(1)"), "OK")

    def test_a_job_that_cannot_start_in_time_is_given_back_in_time(self) -> None:
        service = self.serve("--workers", "1", "--log", "off")
        place = service.ask("POST", "/v1/jobs?async=1", ENDLESS).headers["location"]
        began = time.monotonic()

        late = service.ask("POST", "/v1/jobs", JOB, {"X-Zygo-Patience": "0.5"})
        later = service.ask("POST", "/v1/jobs", {"source": "1", "deadline_ms": 300})

        self.assertEqual((late.status, later.status), (429, 429))
        self.assertLess(time.monotonic() - began, 10 * zygo.PATIENCE)
        service.ask("DELETE", place)

    def test_a_higher_priority_goes_first(self) -> None:
        service = self.serve("--workers", "1", "--log", "off")
        place = service.ask("POST", "/v1/jobs?async=1", ENDLESS).headers["location"]
        service.ask("POST", "/v1/jobs?async=1", {"source": "1"})  # is with the engine already
        jobs = [{"id": str(p), "source": "import time; print(time.time())", "priority": p} for p in (0, -5, 50, 7)]
        waiting = [service.ask("POST", "/v1/jobs?async=1", job).headers["location"] for job in jobs]
        service.ask("DELETE", place)

        results = [service.ask("GET", each + "?wait=20").json for each in waiting]

        results.sort(key=lambda result: float(result["stdout"]["text"]))
        self.assertEqual([result["id"] for result in results], ["50", "7", "0", "-5"])

    def test_too_many_connections_are_told(self) -> None:
        service = self.serve("--connections", "3", "--log", "off")
        held = [self.connect(service) for _ in range(3)]
        for sock in held:  # each is known to be accepted when it is answered
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            serve.read_answers(sock, 1)
        one_more = self.connect(service)
        one_more.sendall(b"GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(serve.status_of(serve.read_to_end(one_more)), 503)

    def test_bodies_are_bounded_together(self) -> None:
        service = self.serve("--held", "4M", "--max-body", "3M", "--log", "off")
        first = self.connect(service)
        first.sendall(serve.post("/v1/jobs", b" " * 3_000_000)[:-1])
        service_holds(service, 2_900_000)
        second = self.connect(service)
        send_quietly(second, serve.post("/v1/jobs", b" " * 3_000_000))
        self.assertEqual(serve.status_of(serve.read_to_end(second)), 503)
        first.close()
        service.await_metric("zygo_held_bytes ", 0)
        self.assertLabel(service.run("print(1)"), "OK")


def service_holds(service: Service, least: int) -> None:
    deadline = time.monotonic() + 20
    while service.metric("zygo_held_bytes ") < least:
        if time.monotonic() > deadline:
            raise AssertionError("the body has not come")


class Guard(ServeTestCase):
    def tokens(self) -> str:
        path = self.folder() / "tokens"
        path.write_text(f"# test\nall {TOKEN}\nreader {READER} info\n")
        return str(path)

    def test_tokens_decide_who_may_do_what(self) -> None:
        service = self.serve("--tokens", self.tokens(), "--log", "json")
        bearer = {"Authorization": "Bearer " + TOKEN}

        self.assertEqual(service.ask("POST", "/v1/jobs", JOB).status, 401)
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB, {"Authorization": "Bearer " + TOKEN[:-1]}).status, 401)
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB, {"Authorization": "Bearer " + READER}).status, 403)
        self.assertEqual(service.ask("GET", "/v1/info", None, {"Authorization": "Bearer " + READER}).status, 200)
        self.assertEqual(service.ask("GET", "/metrics", None, {"Authorization": "Bearer " + READER}).status, 403)
        self.assertEqual(service.ask("GET", "/healthz").status, 200)
        self.assertLabel(service.ask("POST", "/v1/jobs", JOB, bearer).json, "OK")
        mine = service.ask("POST", "/v1/jobs?async=1", JOB, bearer).headers["location"]
        self.assertEqual(service.ask("GET", mine, None, {"Authorization": "Bearer " + READER}).status, 403)

        _, log = service.stop()
        self.assertNotIn(TOKEN, log)
        self.assertNotIn(READER, log)

    def test_the_log_names_client_and_jobs(self) -> None:
        service = self.serve("--log", "json")
        service.run("print(1)", id="my-job\n")
        service.ask("GET", "/nowhere")
        _, log = service.stop()
        lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
        self.assertEqual([[line[key] for key in ("client", "method", "path", "status", "jobs")] for line in lines],
                         [["127.0.0.1", "POST", "/v1/jobs", 200, ["my-job\n"]],
                          ["127.0.0.1", "GET", "/nowhere", 404, []]])

    def test_a_unix_socket_is_guarded_by_its_mode(self) -> None:
        path = self.folder() / "zygo.sock"
        service = self.serve("--socket-mode", "0640", "--tokens", self.tokens(), "--log", "off",
                             listen=(f"unix:{path}", "127.0.0.1:0"))
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(20 * zygo.PATIENCE)
            sock.connect(str(path))
            sock.sendall(serve.post("/v1/jobs", JOB))
            self.assertEqual(serve.read_answers(sock, 1)[0].json["label"], "OK")
        self.assertEqual(service.ask("POST", "/v1/jobs", JOB).status, 401)
        self.assertEqual(service.stop()[0], 0)
        self.assertFalse(path.exists())

    def test_an_address_for_others_wants_tokens(self) -> None:
        ended = zygo.run_cli("serve", "--listen", "0.0.0.0:0")
        self.assertEqual(ended.code, 2)
        self.assertIn("--tokens", ended.stderr)

    def test_mistakes_are_named(self) -> None:
        bad = self.folder() / "bad"
        bad.write_text("someone short\n")
        for arguments, words in ((("--listen", "here"), "--listen: \"here\""), (("--tokens", str(bad)), "line 1: "),
                                 (("--tokens", "/nowhere"), "/nowhere: No such file"),
                                 (("--template", "nothing"), "nothing"),
                                 (("--held", "1M"), "--max-body"), (("--log", "loud"), "loud"),
                                 (("--socket-mode", "rw"), "rw")):
            ended = zygo.run_cli("serve", *arguments)
            self.assertEqual(ended.code, 2, ended.stderr)
            self.assertIn(words, ended.stderr)


def stopped(service: Service) -> None:
    service.process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, service.process.pid, os.WSTOPPED)


class HeldUp(ServeTestCase):
    def test_a_client_is_not_late_because_the_service_was(self) -> None:
        service = self.serve("--body-time", "1s", "--log", "off")
        with service.connect() as sock:
            head = f"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(JOB)}\r\n"
            sock.sendall(head.encode() + b"Expect: 100-continue\r\n\r\n")
            self.assertIn(b" 100 ", sock.recv(1000))
            stopped(service)
            sock.sendall(JOB)
            time.sleep(2)  # The time of a body is over.
            service.process.send_signal(signal.SIGCONT)
            self.assertEqual(serve.read_answers(sock, 1)[0].status, 200)

    def test_who_waits_for_a_build_that_is_withdrawn_builds_it(self) -> None:
        for turn in range(3):  # Before the template of the compiler is there, if we are quick.
            job = {"template": "c", "source": f"int main(void) {{ return {turn} - {turn}; }}"}  # built by nobody yet
            service = self.serve("--log", "off")
            client = service.client()
            self.addCleanup(client.close)
            places = [serve.ask_on(client, "POST", "/v1/jobs?async=1", job).headers["location"] for _ in range(3)]
            serve.ask_on(client, "DELETE", places[0])
            for place in places[1:]:
                self.assertLabel(service.ask("GET", place + "?wait=60", timeout=90).json, "OK")
            self.assertLabel(service.run(job["source"], template="c"), "OK")


class TheEnd(ServeTestCase):
    def accepted(self, service: Service) -> float:
        """Jobs that wait, run or have ended: of one moment, and never less than before."""
        counted = ("zygo_queue_jobs", "zygo_engine_jobs", "zygo_jobs_total{")
        return sum(value for name, value in service.metrics() if name.startswith(counted))

    def await_accepted(self, service: Service, count: float) -> None:
        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while (now := self.accepted(service)) < count:
            self.assertLess(time.monotonic(), deadline, f"{now} of {count} jobs")
        self.assertEqual(now, count)

    def test_every_job_that_was_accepted_is_answered(self) -> None:
        service = self.serve("--workers", "2", "--grace", "60s", "--log", "off")
        with ThreadPoolExecutor(20) as pool:
            before = self.accepted(service)
            answers = [pool.submit(service.run, "import time; time.sleep(0.5); print(1)") for _ in range(20)]
            self.await_accepted(service, before + 20)
            code, _ = service.stop()
            self.assertEqual([each.result()["label"] for each in answers], ["OK"] * 20)
        self.assertEqual(code, 0)

    def test_what_outlives_the_grace_is_cancelled_and_answered(self) -> None:
        service = self.serve("--workers", "2", "--grace", "500ms", "--log", "off")
        with ThreadPoolExecutor(20) as pool:
            before = self.accepted(service)
            answers = [pool.submit(service.run, **ENDLESS) for _ in range(20)]
            self.await_accepted(service, before + 20)
            code, _ = service.stop()
            self.assertEqual([each.result()["label"] for each in answers], ["Cancelled"] * 20)
        self.assertEqual(code, 0)

    def test_a_request_that_came_before_the_signal_was_heard_is_answered(self) -> None:
        service = self.serve("--log", "off")
        with service.connect() as sock:
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            serve.read_answers(sock, 1)
            stopped(service)
            sock.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            service.process.send_signal(signal.SIGTERM)
            service.process.send_signal(signal.SIGCONT)
            self.assertEqual(len(serve.read_answers(sock, 1)), 1)
        self.assertEqual(service.wait()[0], 0)

    def test_an_idle_one_ends_at_once_and_a_second_signal_ends_any(self) -> None:
        service = self.serve("--log", "off")
        self.connect(service)
        began = time.monotonic()
        self.assertEqual(service.stop(signal.SIGINT)[0], 0)
        self.assertLess(time.monotonic() - began, 5 * zygo.PATIENCE)

        service = self.serve("--grace", "60s", "--log", "off")
        service.ask("POST", "/v1/jobs?async=1", ENDLESS)
        service.process.send_signal(signal.SIGTERM)
        with self.assertRaises(OSError):  # it has heard the first
            while True:
                service.connect().close()
        self.assertEqual(service.stop()[0], 130)

    def test_its_supervisor_is_told(self) -> None:
        path = self.folder() / "notify"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.settimeout(20 * zygo.PATIENCE)
            sock.bind(str(path))
            service = self.serve("--log", "off", NOTIFY_SOCKET=str(path))
            self.assertEqual(sock.recv(100), b"READY=1")
            service.stop()
            self.assertEqual(sock.recv(100), b"STOPPING=1")


class TheStart(ServeTestCase):
    def test_a_socket_of_systemd_is_used(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as given:
            number = given.fileno()
            script = f'LISTEN_FDS=1 LISTEN_PID=$$ exec "$@" 3<&{number}'
            service = self.serve("--log", "off", listen=(), before=("sh", "-c", script, "sh"), pass_fds=(number,))
            self.assertEqual(service.ready["listening"], [f"http://127.0.0.1:{given.getsockname()[1]}"])
        self.assertLabel(service.run("print(1)"), "OK")

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("unshare"), "needs root and unshare(1)")
    def test_as_pid_1_it_reaps_orphans_and_passes_signals_on(self) -> None:
        service = self.serve("--log", "off", before=("unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
                                                     "sh", "-c", '(sleep 0.5 &); exec "$@"', "sh"))
        init = children_of(service.process.pid)[0]
        self.assertLabel(service.run("print(1)"), "OK")

        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while len(children_of(init)) != 1:  # zygo, and no longer the orphan
            self.assertLess(time.monotonic(), deadline, children_of(init))
        os.kill(init, signal.SIGTERM)

        self.assertEqual(service.wait()[0], 0)


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class TheDocument(Shared):
    """Runs last, by its file: whatever the tests above have seen is in the OpenAPI document."""

    def test_every_answer_that_any_test_has_seen_is_in_the_document(self) -> None:
        document = self.service.ask("GET", "/v1/openapi.json").json
        self.assertEqual(document["openapi"], "3.1.0")
        operations = {(method.upper(), path): operation for path, methods in document["paths"].items()
                      for method, operation in methods.items()}
        for method, path, status in serve.SEEN:
            if status in (404, 405) and (method, path) not in operations:
                continue  # there is no such operation
            with self.subTest(f"{method} {path} {status}"):
                self.assertIn(str(status), operations[method, path]["responses"])

    def test_every_body_that_any_test_has_seen_is_as_the_document_says(self) -> None:
        document = self.service.ask("GET", "/v1/openapi.json").json
        read = sum(len(bodies) for bodies in serve.BODIES.values())
        for (method, path, status), bodies in serve.BODIES.items():
            for body in bodies:
                for problem in schema.problems_of_answer(document, method, path, status, body):
                    self.fail(f"{method} {path} {status}: {problem} in {body[:500]!r}")
        self.assertGreater(read, 0)


def load_tests(loader: unittest.TestLoader, _: unittest.TestSuite, __: str | None) -> unittest.TestSuite:
    return zygo.as_written(loader, globals())


if __name__ == "__main__":
    unittest.main()
