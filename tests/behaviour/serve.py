"""A `zygo serve` of a test's own, and clients for it: well-behaved ones by http.client, others by raw sockets."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from typing import Any

import zygo

# Every (method, path, status) that any test has seen, to be held against the OpenAPI document.
SEEN: set[tuple[str, str, int]] = set()
# And bodies of each of them, the first few.
BODIES: dict[tuple[str, str, int], list[bytes]] = {}


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def lines(self) -> list[zygo.Result]:
        return zygo.results_of(self.body)


class Service:
    """Started and warm when it is made; ended by the test's clean-up, by SIGTERM."""

    metrics_token = ""

    def __init__(self, *options: str, listen: tuple[str, ...] = ("127.0.0.1:0",), before: tuple[str, ...] = (),
                 pass_fds: tuple[int, ...] = (), command: str = "serve", **extra: str) -> None:
        arguments = [part for address in listen for part in ("--listen", address)]
        self.process = subprocess.Popen([*before, str(zygo.BINARY), command, "--json", *arguments, *options],
                                        env=zygo.environment(**extra), stdin=subprocess.DEVNULL, pass_fds=pass_fds,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout and self.process.stderr
        self.told = zygo.Lines(self.process.stderr)
        line = self.ready_line(zygo.Lines(self.process.stdout))
        if not line:
            raise AssertionError(f"zygo {command} did not start: {self.stop()[1]}")
        self.ready: dict[str, Any] = json.loads(line)
        self.port = next((int(name.rsplit(":", 1)[1]) for name in self.ready["listening"]
                          if name.startswith("http:")), 0)

    def ready_line(self, lines: zygo.Lines) -> bytes:
        try:
            return lines.next(timeout=60)
        except TimeoutError:
            self.process.kill()
            return b""

    def await_line(self, text: str, timeout: float = 60) -> str:
        """Until it has written a line with this text to stderr. The lines before it are gone."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        said = []
        while True:
            try:
                line = self.told.next(max(0, deadline - time.monotonic()) / zygo.PATIENCE)
            except TimeoutError:
                raise AssertionError(f"{text!r} was not written within {timeout} s, but {said}") from None
            if not line:
                raise AssertionError(f"{text!r} was never written, but {said}")
            said.append(line.decode(errors="replace"))
            if text in said[-1]:
                return said[-1]

    def stop(self, number: int = signal.SIGTERM, timeout: float = 30) -> tuple[int, str]:
        """The exit code, and what it wrote to stderr (behind the line that was waited for)."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.wait(timeout)

    def wait(self, timeout: float = 30) -> tuple[int, str]:
        try:
            _, err = self.process.communicate(timeout=timeout * zygo.PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, (self.told.pending + err).decode(errors="replace")

    def connect(self, timeout: float = 30) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout * zygo.PATIENCE)

    def client(self, timeout: float = 30) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout * zygo.PATIENCE)

    def ask(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None,
            timeout: float = 30) -> Answer:
        """On a connection of its own. What is not bytes is sent as JSON."""
        client = self.client(timeout)
        try:
            return ask_on(client, method, path, body, headers)
        finally:
            client.close()

    def run(self, source: str, **fields: Any) -> zygo.Result:
        answer = self.ask("POST", "/v1/jobs", {"source": source, **fields})
        if answer.status != 200:
            raise AssertionError(f"{answer.status}: {answer.body!r}")
        return answer.json

    def metrics(self) -> list[tuple[str, float]]:
        headers = {"Authorization": f"Bearer {self.metrics_token}"} if self.metrics_token else {}
        lines = [line.rpartition(" ") for line in self.ask("GET", "/metrics", headers=headers).body.decode().splitlines()]
        return [(name, float(value)) for name, _, value in lines if not name.startswith("#")]

    def metric(self, name: str) -> float:
        return sum(value for found, value in self.metrics() if f"{found} ".startswith(name))

    def await_metric(self, name: str, value: float, timeout: float = 20) -> None:
        self.await_metric_between(name, value, value, timeout)

    def await_metric_between(self, name: str, least: float, most: float, timeout: float = 20) -> None:
        """Asks until it is so; the service tells nobody of its own accord."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        while not least <= self.metric(name) <= most:
            if time.monotonic() > deadline:
                raise AssertionError(f"{name} is {self.metric(name)}, not {least} to {most}")


def ask_on(client: http.client.HTTPConnection, method: str, path: str, body: Any = None,
           headers: dict[str, str] | None = None) -> Answer:
    data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
    client.request(method, path, data, headers or {})
    response = client.getresponse()
    answer = Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    note(method, path, answer.status, answer.body)
    return answer


def note(method: str, path: str, status: int, body: bytes = b"") -> None:
    path = path.split("?")[0]
    for kind, name in (("jobs", "id"), ("batches", "id"), ("blobs", "digest"), ("sessions", "session"), ("nodes", "node")):
        path = re.sub(rf"^/v1/{kind}/[^/]+", f"/v1/{kind}/{{{name}}}", path)
    SEEN.add((method, path, status))
    bodies = BODIES.setdefault((method, path, status), [])
    if body and len(bodies) < 100:
        bodies.append(body)


def read_answers(sock: socket.socket, count: int) -> list[Answer]:
    """So many answers with a Content-Length, in the order in which they come."""
    answers: list[Answer] = []
    pending = b""
    while len(answers) < count:
        head, separator, rest = pending.partition(b"\r\n\r\n")
        length = int(next(iter(re.findall(rb"(?i)content-length: *(\d+)", head)), b"0"))
        if separator and len(rest) >= length:
            status = int(head.split()[1])
            if status != 100:
                answers.append(Answer(status, {}, rest[:length]))
            pending = rest[length:]
            continue
        data = sock.recv(65536)
        if not data:
            raise AssertionError(f"closed after {len(answers)} answers of {count}: {pending[:300]!r}")
        pending += data
    return answers


def read_to_end(sock: socket.socket) -> bytes:
    """Until the other side closes."""
    pieces = []
    while True:
        try:
            data = sock.recv(65536)
        except ConnectionResetError:
            break
        if not data:
            break
        pieces.append(data)
    return b"".join(pieces)


def post(path: str, body: bytes, *more: str) -> bytes:
    head = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Length: {len(body)}", *more]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def chunked(path: str, body: bytes, size: int) -> bytes:
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + size]), body[i:i + size]) for i in range(0, len(body), size))
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunks + b"0\r\n\r\n"


def status_of(text: bytes) -> int:
    return int(text.split()[1]) if text.startswith(b"HTTP/1.1 ") else 0


def read_stream(sock: socket.socket) -> bytes:
    """The body of one answer in chunks."""
    stream = sock.makefile("rb")
    while stream.readline() not in (b"\r\n", b""):
        pass
    pieces = []
    while size := int(stream.readline(), 16):
        pieces.append(stream.read(size))
        stream.read(2)
    return b"".join(pieces)
