"""Commands of engines and of zygo: run to their end, with the words of those that fail. Each has a session of its own, so that
Ctrl-C reaches this process alone, which then ends what there is in order."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import IO, Dict, Optional, Sequence, Union

from ..errors import NoRuntime

_SECONDS = 120.0  # of a command that takes one: a scheduler may be busy
_FINISH_SECONDS = 5.0  # for a command that was interrupted, to end whole
_MOST_WORDS = 2000


class ClusterError(NoRuntime):
    """Pilots could not be started, or have not joined; the message has the engine's own words."""


def require(program: str) -> None:
    if shutil.which(program) is None:
        raise ClusterError(f"{program} is not in PATH")


def environment() -> Dict[str, str]:
    """Of engines, which give it on to jobs: without the token of this process's services."""
    return {name: value for name, value in os.environ.items() if name != "ZYGO_TOKEN"}


def words(text: str) -> str:
    """The end of what was said."""
    return text.strip()[-_MOST_WORDS:]


def run(command: Sequence[str], *, folder: Optional[Path] = None, given: Optional[bytes] = None) -> str:
    """What it has written; ClusterError with what it has said, where it fails."""
    try:
        process = start(command, folder=folder, stdin=subprocess.PIPE if given is not None else subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as error:
        raise ClusterError(f"{command[0]}: {error.strerror}") from error
    try:
        out, said = process.communicate(given, _SECONDS)
    except subprocess.TimeoutExpired:
        raise ClusterError(f"{command[0]} has not ended within {_SECONDS:g} s") from None
    except BaseException:  # it may have started something that it is about to tell the engine of
        _finish(process)
        raise
    finally:
        _kill(process)
    if process.returncode:
        told = words(said.decode(errors="replace")) or words(out.decode(errors="replace"))
        raise ClusterError(f"{command[0]} ended with status {process.returncode}: {told}")
    return str(out.decode(errors="replace"))


def start(command: Sequence[str], *, stdin: int = subprocess.DEVNULL, stdout: Union[int, IO[bytes]],
          stderr: Union[int, IO[bytes]], folder: Optional[Path] = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, cwd=folder, stdin=stdin, stdout=stdout, stderr=stderr, env=environment(),
                            start_new_session=True)


def end(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """SIGTERM, and SIGKILL for its whole session after so long. False: it took that."""
    try:
        if process.poll() is None:
            process.terminate()
        process.wait(seconds)
        return True
    except subprocess.TimeoutExpired:
        return False
    finally:  # also where this is interrupted
        _kill(process)


def _finish(process: subprocess.Popen[bytes]) -> None:
    try:
        process.communicate(timeout=_FINISH_SECONDS)
    except (subprocess.TimeoutExpired, ValueError, OSError):
        pass


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is not None:
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
