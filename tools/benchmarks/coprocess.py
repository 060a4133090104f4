"""`zygo batch -` as a coprocess, and a client that is as light as Python allows.

The client shares its CPU with what it measures, so it prepares all bytes beforehand, uses raw reads and writes, counts
newlines while the clock runs, and parses afterwards. While many answers are due it looks in once a millisecond rather than
being woken by each of them.
"""
import contextlib
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .system import BenchError

PIPE_BYTES = 1 << 20
NAP_SECONDS = 0.001
AWAKE_BELOW = 64  # answers due; from here on the client waits for each
PATIENCE_SECONDS = 60  # without a single answer


@dataclass
class Run:
    seconds: float
    data: bytes
    marks: list[tuple[float, int]] = field(default_factory=list)  # when, how many answers by then

    def results(self) -> list[dict]:
        return [json.loads(line) for line in self.data.splitlines()]


def job_line(job: dict) -> bytes:
    return json.dumps(job, separators=(",", ":")).encode() + b"\n"


class Coprocess:
    def __init__(self, zygo: Path, *arguments: str):
        self._complaints = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [str(zygo), "batch", "-", "--quiet", *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints, bufsize=0,
        )
        self.pid = self._process.pid
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        for fd in (self._to, self._from):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):  # an unprivileged user may be out of pipe memory
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self._readable = select.poll()
        self._readable.register(self._from, select.POLLIN)

    def __enter__(self) -> "Coprocess":
        return self

    def __exit__(self, kind, *_) -> None:
        if kind:
            self._process.kill()
        self.close()

    def close(self) -> int:
        """Ends the input, waits; the exit code."""
        self._process.stdin.close()
        try:
            status = self._process.wait(timeout=PATIENCE_SECONDS)
            self._process.stdout.close()
            return status
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise BenchError("zygo batch did not end after its input ended") from None

    def run(self, payload: bytes, count: int) -> Run:
        """Sends all the lines, takes in `count` answers."""
        rest, seen, chunks, marks = memoryview(payload), 0, [], []
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

    def ask(self, line: bytes) -> tuple[float, bytes]:
        """One job, nothing else under way: seconds and the answer."""
        start = time.perf_counter()
        self._write_all(line)
        answer = b""
        while not answer.endswith(b"\n"):
            if not self._readable.poll(1000 * PATIENCE_SECONDS):
                raise BenchError(f"no answer for {PATIENCE_SECONDS} s{self._last_words()}")
            answer += self._read()
        return time.perf_counter() - start, answer

    def windowed(self, jobs: list[dict], window: int) -> list[tuple[float, dict]]:
        """Keeps `window` jobs under way: for each result, seconds from sending to hearing."""
        waiting, sent, heard, text = list(reversed(jobs)), {}, [], b""
        while len(heard) < len(jobs):
            while waiting and len(sent) - len(heard) < window:
                job = waiting.pop()
                sent[job["id"]] = time.perf_counter()
                self._write_all(job_line(job))
            if not self._readable.poll(1000 * PATIENCE_SECONDS):
                raise BenchError(f"no answer for {PATIENCE_SECONDS} s{self._last_words()}")
            text += self._read()
            now = time.perf_counter()
            *lines, text = text.split(b"\n")
            for result in map(json.loads, lines):
                heard.append((now - sent[result["id"]], result))
        return heard

    def _write(self, data: memoryview) -> int:
        try:
            return os.write(self._to, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise BenchError(f"zygo batch closed its input{self._last_words()}") from None

    def _write_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = self._write(rest)
            rest = rest[written:]
            if not written:
                time.sleep(NAP_SECONDS)

    def _read(self) -> bytes:
        try:
            data = os.read(self._from, PIPE_BYTES)
        except BlockingIOError:
            return b""
        if not data:
            raise BenchError(f"zygo batch ended with status {self._process.wait()}{self._last_words()}")
        return data

    def _last_words(self) -> str:
        self._complaints.seek(0)
        words = self._complaints.read().decode(errors="replace").strip()
        return f": {words[-600:]}" if words else ""
