"""Processes that answer lines with lines - `zygo batch -`, and peers that speak the same - and what feeds them.

The client shares its CPUs with what it measures, so it is as light as Python allows: it prepares all bytes beforehand,
uses raw reads and writes, counts newlines while the clock runs, and parses afterwards. While many answers are due it
looks in once a millisecond rather than being woken by each of them.
"""
import contextlib
import fcntl
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .helper import kill_group
from .system import BenchError

PIPE_BYTES = 1 << 20
NAP_SECONDS = 0.001
AWAKE_BELOW = 64  # answers due; from here on the client waits for each
PATIENCE_SECONDS = 60  # without a single answer
ID_STARTS = len('{"id":"')  # the first bytes of every result

Heard = list[tuple[float, bytes]]  # seconds it took, the answer


@dataclass
class Run:
    seconds: float
    data: bytes
    marks: list[tuple[float, int]] = field(default_factory=list)  # when, how many answers by then

    def results(self) -> list[dict]:
        return [json.loads(line) for line in self.data.splitlines()]


def job_line(job: dict) -> bytes:
    return json.dumps(job, separators=(",", ":")).encode() + b"\n"


class LineServer:
    """One process; `end_of_batch` is what it wants to read after the lines of a batch."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None, end_of_batch: bytes = b""):
        self._name, self._end = Path(command[0]).name, end_of_batch
        self._complaints = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints, bufsize=0, env=env,
            start_new_session=True,
        )
        self.pid = self._process.pid
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        for fd in (self._to, self._from):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):  # an unprivileged user may be out of pipe memory
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._readable = select.poll()
        self._readable.register(self._from, select.POLLIN)
        self._partial = b""  # of the next answer, while jobs are fed one by one

    def __enter__(self) -> "LineServer":
        return self

    def __exit__(self, kind, *_) -> None:
        if kind:
            self._abort()
        self.close()

    def _abort(self) -> None:
        """With all it has started."""
        kill_group(self._process)

    def close(self) -> int:
        """Ends the input, waits; the exit code."""
        if not self._process.stdin.closed:
            self._process.stdin.close()
        try:
            status = self._process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise BenchError(f"{self._name} did not end after its input ended") from None
        finally:
            self._process.stdout.close()
            self._complaints.close()
        return status

    def interrupt(self) -> None:
        """Ends what runs, as Ctrl-C does, and waits."""
        self._process.send_signal(signal.SIGINT)
        self.close()

    def run(self, payload: bytes, count: int) -> Run:
        """Sends all the lines, takes in `count` answers."""
        rest, seen, chunks, marks = memoryview(payload + self._end), 0, [], []
        start = heard = time.perf_counter()
        while seen < count:
            if rest:
                rest = rest[self._write(rest):]
            chunk = self._read()
            now = time.perf_counter()
            if chunk:
                chunks.append(chunk)
                seen += chunk.count(b"\n")
                marks.append((now - start, seen))
                heard = now
            elif now - heard > PATIENCE_SECONDS:
                raise BenchError(f"no answer for {PATIENCE_SECONDS} s after {seen} of {count}{self._last_words()}")
            if rest or count - seen > AWAKE_BELOW:
                time.sleep(NAP_SECONDS)
            elif seen < count:
                self._readable.poll(1000)
        return Run(time.perf_counter() - start, b"".join(chunks), marks)

    def send(self, data: bytes) -> None:
        """Answers that come while the other side takes no more are kept for the next hearing."""
        rest = memoryview(data)
        while rest := rest[self._write(rest):]:
            readable, _, _ = select.select([self._from], [self._to], [], PATIENCE_SECONDS)
            if readable:
                self._partial += self._read()

    def ask(self, line: bytes) -> tuple[float, bytes]:
        """One job, nothing else under way: seconds and the answer."""
        start = time.perf_counter()
        rest, answer = memoryview(line), b""
        rest = rest[self._write(rest):]
        while not answer.endswith(b"\n"):
            readable, writable, _ = select.select([self._from], [self._to] if rest else [], [], PATIENCE_SECONDS)
            if writable:  # the line is larger than the pipe
                rest = rest[self._write(rest):]
            if readable:
                answer += self._read()
            if not readable and not writable:
                raise BenchError(f"no answer for {PATIENCE_SECONDS} s{self._last_words()}")
        return time.perf_counter() - start, answer

    def windowed(self, jobs: Mapping[str, bytes], window: int) -> Heard:
        """Keeps `window` jobs under way: for each, seconds from sending to hearing. `jobs`: lines by their ids."""
        waiting, sent, heard = list(reversed(jobs.items())), {}, []
        while len(heard) < len(jobs):
            while waiting and len(sent) - len(heard) < window:
                name, line = waiting.pop()
                sent[name] = time.perf_counter()
                self.send(line)
            self._hear(sent, heard, PATIENCE_SECONDS)
        return heard

    def paced(self, jobs: Mapping[str, bytes], per_second: float) -> Heard:
        """Sends a job every 1/per_second, come what may: for each, seconds from when it was due to hearing."""
        waiting, due, heard = list(reversed(jobs.items())), {}, []
        start = time.perf_counter()
        while len(heard) < len(jobs):
            until_next = start + len(due) / per_second - time.perf_counter() if waiting else PATIENCE_SECONDS
            if until_next > 0:
                self._hear(due, heard, until_next, must=not waiting)
                continue
            name, line = waiting.pop()
            due[name] = start + len(due) / per_second
            self.send(line)
        return heard

    def _hear(self, since: dict[str, float], heard: Heard, patience: float, must: bool = True) -> None:
        """Takes in what has come, waiting for it up to `patience` seconds; `must`: nothing is an error."""
        if b"\n" not in self._partial and not select.select([self._from], [], [], patience)[0]:
            if must:
                raise BenchError(f"no answer for {PATIENCE_SECONDS} s{self._last_words()}")
            return
        *lines, self._partial = (self._partial + self._read()).split(b"\n")
        now = time.perf_counter()
        for line in lines:
            name = line[ID_STARTS:line.index(b'"', ID_STARTS)].decode()
            heard.append((now - since[name], line))

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._to, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise BenchError(f"{self._name} closed its input{self._last_words()}") from None

    def _read(self) -> bytes:
        try:
            data = os.read(self._from, PIPE_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            raise BenchError(f"{self._name} ended with status {self._process.wait()}{self._last_words()}")
        return data

    def _last_words(self) -> str:
        self._complaints.seek(0)
        words = self._complaints.read().decode(errors="replace").strip()
        return f": {words[-600:]}" if words else ""


class Coprocess(LineServer):
    """`zygo batch -`, which stays."""

    def __init__(self, zygo: Path, *arguments: str):
        super().__init__([str(zygo), "batch", "-", "--quiet", *arguments])

    def _abort(self) -> None:
        """It knows best how to end what it has started."""
        self._process.terminate()
