"""Drives `zygo batch -`: job lines in, result lines out, both at once, and an end that is always explained."""
from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO

from .errors import GraderError

STOP_GRACE_S = 0.6  # From the user's Ctrl-C to the kill of a batch that does not end by itself.
NAMED_IDS = 8  # How many missing ids an error message lists.


@dataclass(frozen=True)
class Arrival:
    """One result line as it came; `at` is seconds since the batch was started."""

    at: float
    line: bytes


def find_zygo(given: str | None, repository: Path) -> Path:
    """The zygo binary: the option, else $ZYGO_BIN, else the release build of this repository."""
    path = Path(given or os.environ.get("ZYGO_BIN") or repository / "build" / "release" / "bin" / "zygo")
    if not path.is_file():
        raise GraderError(f"zygo binary not found: {path}; run tools/setup and build, or name it with --zygo PATH")
    if not os.access(path, os.X_OK):
        raise GraderError(f"zygo binary is not executable: {path}")
    return path.absolute()


class Batch:
    """One `zygo batch -` process. Leaving the context kills and reaps it, whatever happened."""

    def __init__(self, zygo: Path, workers: int | None, quiet: bool) -> None:
        self.arrivals: list[Arrival] = []  # in completion order
        self._started = 0.0
        self._command = [str(zygo), "batch", "-"]
        if workers is not None:
            self._command += ["--workers", str(workers)]
        if quiet:
            self._command.append("--quiet")
        # A quiet run keeps stderr aside, to have it when something went wrong.
        self._errors: IO[bytes] | None = tempfile.TemporaryFile() if quiet else None

    def __enter__(self) -> Batch:
        self._started = time.monotonic()
        try:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=self._errors)
        except OSError as error:
            raise GraderError(f"cannot start {self._command[0]}: {error.strerror}") from None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is not None:
            self._stop()
        self._process.wait()
        if self._errors is not None:
            self._errors.close()

    def run(self, lines: Iterable[bytes], keep: IO[bytes] | None = None) -> None:
        """Sends all lines, appends all results to `arrivals`, and copies each to `keep`, as they come."""
        writer = threading.Thread(target=self._write, args=(lines,), daemon=True)
        writer.start()
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.arrivals.append(Arrival(time.monotonic() - self._started, line))
            if keep is not None:
                keep.write(line)
        self._process.wait()

    @property
    def seconds(self) -> float:
        """From the start of the process to the last result."""
        return self.arrivals[-1].at if self.arrivals else 0.0

    @property
    def exit_code(self) -> int:
        """How the process ended: its exit code, or minus the signal's number."""
        return self._process.wait()

    def explain_end(self, missing: list[str]) -> str:
        """A message for a batch that ended badly; `missing` are the ids of the jobs without a result."""
        code = self.exit_code
        how = f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
        text = f"zygo batch ended early ({how})"
        if missing:
            named = ", ".join(missing[:NAMED_IDS]) + (", ..." if len(missing) > NAMED_IDS else "")
            text += f": {len(missing)} results are missing: {named}"
        if self._errors is not None:
            self._errors.seek(0)
            last = self._errors.read().decode(errors="replace").strip().splitlines()[-5:]
            text += "".join(f"\n  zygo: {line}" for line in last)
        return text

    def _write(self, lines: Iterable[bytes]) -> None:
        """The writer thread. A batch that stops reading is noticed by the reader, not here."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError), self._process.stdin as stdin:
            for line in lines:
                stdin.write(line)

    def _stop(self) -> None:
        """Asks the batch to end as Ctrl-C would, and kills it after the grace time."""
        if self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(STOP_GRACE_S)
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            self._process.kill()
            self._process.wait()
