"""Bodies in gzip, to `zygo serve` and from it: what is taken, what is refused, and that nobody waits for it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import tempfile
import threading
import time
import unittest
import zlib
from typing import Any

import serve
from serve import Answer, Service
from zygo import ZygoTestCase

MEGABYTE = 1 << 20
MOST = 32 * MEGABYTE  # --max-body
CODED = {"Content-Encoding": "gzip"}
TAKES = {"Accept-Encoding": "gzip"}


def bomb(size: int, front: bytes = b"") -> bytes:
    """So many spaces behind the front, a thousandth as long."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    begin = packer.compress(front)
    pieces = [packer.compress(b" " * min(MEGABYTE, size - at)) for at in range(0, size, MEGABYTE)]
    return b"".join([begin, *pieces, packer.flush()])


class Gzip(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-gzip-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--max-body", str(MOST), "--held", "512M", "--log", "off", "--api", "piston", ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def tearDown(self) -> None:
        self.service.await_metric("zygo_held_bytes ", 0)
        super().tearDown()

    def post(self, body: bytes, path: str = "/v1/jobs", headers: dict[str, str] | None = None) -> Answer:
        return self.service.ask("POST", path, body, CODED if headers is None else headers)

    def code_of(self, answer: Answer) -> tuple[int, str]:
        return answer.status, answer.json["error"]["code"]


class Requests(Gzip):
    def test_what_takes_a_body_takes_it_in_gzip(self) -> None:
        job = gzip.compress(b'{"source": "print(6 * 7)"}')
        self.assertEqual(self.post(job).json["stdout"]["text"], "42\n")
        self.assertEqual(self.post(job, headers={"content-encoding": "X-GZIP"}).json["stdout"]["text"], "42\n")
        batch = gzip.compress(b'{"id": "a", "source": ""}\n') + gzip.compress(b'{"id": "b", "source": ""}\n')
        self.assertEqual({line["id"] for line in self.post(batch, "/v1/batches").lines}, {"a", "b"})
        piston = gzip.compress(b'{"language": "python", "version": "*", "files": [{"content": "print(1)"}]}')
        answer = self.post(piston, "/api/v2/execute", CODED | {"Content-Type": "application/json"})
        self.assertEqual(answer.json["run"]["stdout"], "1\n")
        contents = b"contents " * 100
        digest = "sha256:" + hashlib.sha256(contents).hexdigest()
        self.assertEqual(self.service.ask("PUT", f"/v1/blobs/{digest}", gzip.compress(contents), CODED).status, 201)
        self.assertEqual(self.service.ask("GET", f"/v1/blobs/{digest}").body, contents)

    def test_long_ones_too_and_in_chunks(self) -> None:
        source = "#" + base64.b64encode(bytes(i * i % 251 for i in range(2 * MEGABYTE))).decode() + "\nprint(6 * 7)"
        job = json.dumps({"source": source}).encode()
        self.assertEqual(self.post(gzip.compress(job, 1)).json["stdout"]["text"], "42\n")
        with self.service.connect() as sock:
            request = serve.chunked("/v1/jobs", gzip.compress(job, 1), 5000)
            sock.sendall(request.replace(b"\r\nHost", b"\r\nContent-Encoding: gzip\r\nHost", 1))
            self.assertEqual(serve.read_answers(sock, 1)[0].json["stdout"]["text"], "42\n")

    def test_identity_is_no_coding(self) -> None:
        self.assertEqual(self.post(b'{"source": ""}', headers={"Content-Encoding": "identity"}).json["label"], "OK")

    def test_other_codings_are_refused_with_what_would_do(self) -> None:
        for coding in ("br", "deflate", "zstd", "gzip, gzip", "gzip, br"):
            with self.subTest(coding):
                answer = self.post(b'{"source": ""}', headers={"Content-Encoding": coding})
                self.assertEqual(self.code_of(answer), (415, "content_encoding"))
                self.assertEqual(answer.headers["accept-encoding"], "gzip, identity")

    def test_what_is_damaged_or_cut_short_names_the_header(self) -> None:
        whole = gzip.compress(json.dumps({"source": "x" * 300_000}).encode())
        for body in (whole[:-1], whole[:40], whole[:-8] + bytes(8), whole + b"more", b'{"source": ""}', whole[:9]):
            with self.subTest(body[:20]):
                answer = self.post(body)
                self.assertEqual(self.code_of(answer), (400, "content_encoding"))
                self.assertIn("Content-Encoding", answer.json["error"]["message"])

    def test_the_limit_of_a_body_is_that_of_what_is_inflated(self) -> None:
        job = b'{"source": ""}'
        self.assertEqual(self.post(gzip.compress(job + b" " * (MOST - len(job)))).json["label"], "OK")
        for size in (MOST - len(job) + 1, 2 * MOST):
            answer = self.post(gzip.compress(job) + bomb(size))
            self.assertEqual(self.code_of(answer), (413, "body_too_large"))
            self.assertIn(str(MOST), answer.json["error"]["message"])

    def test_who_may_not_send_jobs_has_nothing_inflated(self) -> None:
        answer = self.post(b"no gzip at all", headers=CODED | {"Origin": "http://elsewhere.example"})
        self.assertEqual(answer.status, 403)

    def test_what_is_inflated_counts_among_the_bytes_held(self) -> None:
        service = Service("--max-body", "8M", "--held", "12M", "--log", "off")
        self.addCleanup(service.stop)
        body = bomb(7 * MEGABYTE, b'{"source": ""}')
        self.assertEqual(service.ask("POST", "/v1/jobs", body, CODED).json["label"], "OK")
        first = service.connect()
        self.addCleanup(first.close)
        first.sendall(serve.post("/v1/jobs", b" " * 5_000_000)[:-1])
        service.await_metric_between("zygo_held_bytes ", 4_900_000, 12_000_000)
        self.assertEqual(self.code_of(service.ask("POST", "/v1/jobs", body, CODED)), (503, "memory"))
        first.close()
        service.await_metric("zygo_held_bytes ", 0)


class Bombs(Gzip):
    def test_others_are_answered_while_they_go_off(self) -> None:
        """Half of the answers beside bombs come sooner than inflating one bomb takes; on the loop each would wait for some."""
        charge = bomb(2 * MOST)
        began = time.monotonic()
        zlib.decompressobj(31).decompress(charge, MOST)
        in_one_go = time.monotonic() - began
        over = threading.Event()
        statuses: list[int] = []

        def throw() -> None:
            while not over.is_set():
                statuses.append(self.post(charge).status)

        throwers = [threading.Thread(target=throw) for _ in range(4)]
        waits: list[float] = []
        client = self.service.client()
        for thrower in throwers:
            thrower.start()
        while len(waits) < 300 or len(statuses) < 8:
            began = time.monotonic()
            self.assertEqual(serve.ask_on(client, "GET", "/healthz").status, 200)
            waits.append(time.monotonic() - began)
        over.set()
        for thrower in throwers:
            thrower.join()
        client.close()
        waits.sort()
        print(f"bombs: {len(statuses)}; inflating one in one go {in_one_go * 1e3:.1f} ms; /healthz median "
              f"{waits[len(waits) // 2] * 1e3:.2f} ms, longest {waits[-1] * 1e3:.1f} ms", flush=True)
        self.assertEqual(set(statuses), {413})
        self.assertLess(waits[len(waits) // 2], in_one_go)


class Answers(Gzip):
    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Answer:
        return self.service.ask(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})

    def assertSameInGzip(self, path: str) -> None:
        plain, coded = self.ask(path), self.ask(path, **TAKES)
        self.assertNotIn("content-encoding", plain.headers)
        self.assertEqual(coded.headers["content-encoding"], "gzip")
        for answer in (plain, coded):
            self.assertEqual(answer.headers["vary"], "Accept-Encoding")
            self.assertEqual(answer.headers["content-type"], plain.headers["content-type"])
            self.assertEqual(answer.headers.get("etag"), plain.headers.get("etag"))
        self.assertLess(len(coded.body), len(plain.body))
        self.assertEqual(gzip.decompress(coded.body)[:100], plain.body[:100])
        head = self.ask(path, "HEAD", **TAKES)
        self.assertEqual((head.headers["content-encoding"], head.headers["vary"]), ("gzip", "Accept-Encoding"))

    def test_text_that_is_not_short_comes_in_gzip(self) -> None:
        for path in ("/v1/openapi.json", "/v1/runtimes", "/metrics", "/", "/page/main.js", "/page/page.css"):
            with self.subTest(path):
                self.assertSameInGzip(path)
        document = [self.ask("/v1/openapi.json", method, **TAKES) for method in ("GET", "HEAD")]
        self.assertEqual(len({answer.headers["content-length"] for answer in document}), 1)

    def test_a_page_that_is_known_is_not_sent_again(self) -> None:
        first = self.ask("/", **TAKES)
        again = self.ask("/", If_None_Match=first.headers["etag"], **TAKES)
        self.assertEqual((again.status, again.body, again.headers["vary"]), (304, b"", "Accept-Encoding"))
        self.assertEqual(again.headers["etag"], first.headers["etag"])

    def test_who_does_not_take_it_does_not_get_it(self) -> None:
        for takes in ("identity", "gzip;q=0", "br, deflate", "*;q=0", "identity, gzip;q=0.5"):
            with self.subTest(takes):
                answer = self.ask("/v1/openapi.json", Accept_Encoding=takes)
                self.assertNotIn("content-encoding", answer.headers)
                self.assertEqual(answer.headers["vary"], "Accept-Encoding")
                self.assertEqual(answer.json["openapi"], "3.1.0")

    def test_what_is_short_stays_as_it_is(self) -> None:
        answer = self.ask("/healthz", **TAKES)
        self.assertEqual((answer.headers.get("content-encoding"), answer.headers.get("vary")), (None, None))

    def test_what_comes_in_pieces_stays_as_it_is(self) -> None:
        line = json.dumps({"source": "print('x' * 5000)"}).encode()
        answer = self.ask("/v1/batches", "POST", line, **TAKES)
        self.assertNotIn("content-encoding", answer.headers)
        self.assertEqual(answer.lines[0]["stdout"]["text"], "x" * 5000 + "\n")

    def test_results_of_any_length_come_in_gzip(self) -> None:
        for size in (5_000, 200_000, 3_000_000):
            with self.subTest(size):
                job = {"source": f"print('abcdefgh' * {size // 8})"}
                answer = self.ask("/v1/jobs", "POST", job, **TAKES)
                self.assertEqual(answer.headers["content-encoding"], "gzip")
                self.assertLess(len(answer.body), size / 4)
                self.assertEqual(len(json.loads(gzip.decompress(answer.body))["stdout"]["text"]), size + 1)

    def test_what_does_not_get_shorter_stays_as_it_is(self) -> None:
        contents = bytes(range(256)) * 10
        digest = "sha256:" + hashlib.sha256(contents).hexdigest()
        self.assertEqual(self.service.ask("PUT", f"/v1/blobs/{digest}", contents).status, 201)
        answer = self.ask(f"/v1/blobs/{digest}", **TAKES)
        self.assertEqual((answer.headers.get("content-encoding"), answer.body), (None, contents))

    def test_answers_keep_the_order_of_requests(self) -> None:
        """A long one is deflated elsewhere; the next request on its connection waits for it."""
        job = json.dumps({"source": "print('abcdefgh' * 30000)"}).encode()
        with self.service.connect() as sock:
            sock.sendall(serve.post("/v1/jobs", job, "Accept-Encoding: gzip")
                         + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            first, second = serve.read_answers(sock, 2)
        self.assertEqual(json.loads(gzip.decompress(first.body))["label"], "OK")
        self.assertEqual(second.json, {"ok": True})


if __name__ == "__main__":
    unittest.main()
