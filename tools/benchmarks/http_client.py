"""`zygo serve` of our own, and clients of it over HTTP that cost little: prepared bytes, many connections, one thread.

A connection has one request at a time. What comes when nothing is due, or after the connection was closed, is noted:
no answer may be lost, and none may come twice.
"""
import json
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from .system import BenchError

PATIENCE_SECONDS = 60
END_OF_HEAD = b"\r\n\r\n"


class Server:
    """On a port of its own; `options` as behind `zygo serve` or another command that serves."""

    def __init__(self, zygo: Path, *options: str, command: str = "serve"):
        self._complaints = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [str(zygo), command, "--json", "--listen", "127.0.0.1:0", "--log", "off", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._complaints,
        )
        self.pid = self._process.pid
        line = self._process.stdout.readline()
        if not line:
            raise BenchError(f"zygo {command} did not start: {self.complaints()}")
        self.ready = json.loads(line)
        self.port = int(self.ready["listening"][0].rsplit(":", 1)[1])

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def complaints(self) -> str:
        self._complaints.seek(0)
        return self._complaints.read().decode(errors="replace").strip()[-600:]

    def ended(self) -> int | None:
        return self._process.poll()

    def close(self) -> int:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise BenchError("a service did not end") from None
        finally:
            self._process.stdout.close()
            self._complaints.close()

    def get(self, path: str) -> str:
        """The head and the body."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS) as sock:
            sock.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
            text = b""
            while data := sock.recv(65536):
                text += data
        return text.decode()

    def jobs_told(self) -> int:
        """Verdicts, as the service counts them itself."""
        lines = self.get("/metrics").splitlines()
        return sum(int(float(line.rsplit(" ", 1)[1])) for line in lines if line.startswith("zygo_jobs_total"))


def request(line: bytes) -> bytes:
    """One job, as the bytes of a request."""
    body = line.rstrip(b"\n")
    return b"POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@dataclass
class Answer:
    name: str
    status: int
    head: bytes
    body: bytes
    seconds: float

    def header(self, name: bytes) -> bytes:
        for line in self.head.split(b"\r\n")[1:]:
            key, _, value = line.partition(b":")
            if key.lower() == name:
                return value.strip()
        return b""


class _Connection:
    def __init__(self, port: int):
        self.sock = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.name, self.since, self.pending = "", 0.0, b""

    def take(self) -> Answer | None:
        """The answer, if it is there to its end."""
        head, end, rest = self.pending.partition(END_OF_HEAD)
        if not end:
            return None
        at = head.lower().find(b"content-length:")
        length = int(head[at + 15:].split(b"\r\n", 1)[0])
        if len(rest) < length:
            return None
        answer = Answer(self.name, int(head[9:12]), head, rest[:length], time.perf_counter() - self.since)
        self.name, self.pending = "", rest[length:]
        return answer


class Clients:
    """Connections, each kept alive. `lost` and `strays` are what should not be."""

    def __init__(self, port: int, count: int):
        self._port = port
        self._free = [_Connection(port) for _ in range(count)]
        self._all = {each.sock.fileno(): each for each in self._free}
        self._poll = select.epoll()
        for number in self._all:
            self._poll.register(number, select.EPOLLIN)
        self.lost: list[str] = []
        self.strays = 0

    def __enter__(self) -> "Clients":
        return self

    def __exit__(self, *_) -> None:
        for each in self._all.values():
            each.sock.close()
        self._poll.close()

    @property
    def free(self) -> int:
        return len(self._free)

    @property
    def waiting(self) -> int:
        return len(self._all) - len(self._free)

    def send(self, name: str, data: bytes) -> None:
        connection = self._free.pop()
        connection.name, connection.since = name, time.perf_counter()
        try:
            connection.sock.sendall(data)
        except OSError:
            self._replace(connection)

    def hear(self, seconds: float) -> list[Answer]:
        """What comes within this time; at once when anything does."""
        answers = []
        for number, _ in self._poll.poll(max(0.0, seconds)):
            connection = self._all[number]
            try:
                data = connection.sock.recv(1 << 18)
            except OSError:
                data = b""
            if not data:
                self._replace(connection)
                continue
            connection.pending += data
            if not connection.name:
                self.strays += 1
                self._replace(connection)
                continue
            if answer := connection.take():
                answers.append(answer)
                self._free.append(connection)
                if connection.pending:
                    self.strays += 1
        return answers

    def ask(self, name: str, data: bytes) -> Answer:
        """One request, nothing else under way."""
        self.send(name, data)
        while not (answers := self.hear(PATIENCE_SECONDS)):
            if self.lost:
                raise BenchError(f"no answer for {name}")
        return answers[0]

    def windowed(self, jobs: Iterable[tuple[str, bytes]]) -> list[Answer]:
        """Each connection always has a request under way."""
        answers, rest = [], iter(jobs)
        while True:
            while self._free and (job := next(rest, None)):
                self.send(*job)
            if not self.waiting:
                return answers
            heard = self.hear(PATIENCE_SECONDS)
            if not heard and not self.lost:
                raise BenchError(f"no answer for {PATIENCE_SECONDS} s")
            if self.lost:
                raise BenchError(f"{len(self.lost)} requests had no answer")
            answers += heard

    def _replace(self, connection: _Connection) -> None:
        """The service has closed it."""
        if connection.name:
            self.lost.append(connection.name)
        else:
            self._free.remove(connection)
        del self._all[connection.sock.fileno()]
        self._poll.unregister(connection.sock.fileno())
        connection.sock.close()
        fresh = _Connection(self._port)
        self._all[fresh.sock.fileno()] = fresh
        self._poll.register(fresh.sock.fileno(), select.EPOLLIN)
        self._free.append(fresh)
