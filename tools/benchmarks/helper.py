"""A process of ours that measures something apart from this one: a request is a line of JSON, so is its answer."""
import contextlib
import json
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence

from .system import BenchError

PATIENCE_SECONDS = 120  # for one answer


class Helper:
    """The first line it writes says that it is ready, and may carry facts."""

    def __init__(self, name: str, command: Sequence[str], env: Mapping[str, str]):
        self._name = name
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env,
                                         start_new_session=True)
        self.pid = self._process.pid

    def __enter__(self) -> "Helper":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def ask(self, request):
        self.send(request)
        return self.answer()

    def send(self, request) -> None:
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise BenchError(f"{self._name} ended with status {self._process.wait()}") from None

    def answer(self):
        if not select.select([self._process.stdout], [], [], PATIENCE_SECONDS)[0]:
            kill_group(self._process)
            raise BenchError(f"{self._name} gave no answer for {PATIENCE_SECONDS} s")
        line = self._process.stdout.readline()
        if not line:
            raise BenchError(f"{self._name} ended with status {self._process.wait()}")
        return json.loads(line)

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        try:
            self._process.wait(timeout=PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            kill_group(self._process)


def kill_group(process: subprocess.Popen) -> None:
    """A process that leads a group, and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
