"""The runtimes of this process. Pools with the same options share one, and it stays when they are closed, so that batch
after batch pays no start-up; it ends with the process, or by `shutdown`.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import binary as binaries
from . import bundle, pickles
from .checks import refused_by
from .errors import NoRuntime
from .transport.base import Transport
from .transport.coprocess import when_there_is_room
from .transport.embedded import Embedded

FUNCTIONS = "-functions"  # what the name of a template has behind it that can run functions


@dataclass(frozen=True)
class Options:
    """What makes a runtime. `python` is the interpreter of an embedded one; `base` the template under its own."""

    url: Optional[str] = None
    token: Optional[str] = None
    binary: Optional[str] = None
    workers: Optional[int] = None
    python: Optional[str] = None
    require: Optional[str] = None
    base: str = "python"
    preload: Tuple[str, ...] = ()
    python_path: Tuple[str, ...] = ()
    context_func: Optional[Callable[[], Any]] = None

    def key(self) -> Tuple[Any, ...]:
        context = pickles.dump_function(self.context_func, self.python_path) if self.context_func else None
        return (self.url, self.token, self.binary, os.environ.get("ZYGO_BIN"), self.workers, self.python, self.require,
                self.base, self.preload, self.python_path, context)


_ANSWER_SECONDS = 60.0  # to a question that takes milliseconds

PRELOADS = {"python": (), "python-numpy": ("numpy",), "python-pandas": ("numpy", "pandas")}


def default_workers() -> int:
    """As zygo chooses: two per core, so that one can be made ready while the other runs."""
    return 2 * len(os.sched_getaffinity(0))


class _Runtime(Embedded):
    """An embedded one with its setup file, which lives as long as templates can be started from it."""

    def __init__(self, options: Options) -> None:
        super().__init__(options.workers or default_workers())
        self._options = options
        self._program = binaries.find(options.binary)
        preload = PRELOADS.get(options.base, ()) + tuple(options.preload)
        self._source = bundle.setup_source(options.python_path, preload, options.context_func)
        self._setup: Optional[bundle.SetupFile] = None

    def command(self) -> List[str]:
        if self._setup is None:
            self._setup = bundle.SetupFile(self._source)
        options = self._options
        command = [self._program, "batch", "-", "--quiet", "--any-id", "--workers", str(self.workers),
                   "--setup", self._setup.path, "--template", options.base + FUNCTIONS]
        if options.python:
            command += ["--python", options.python]
        if options.require:
            command += ["--require", options.require]
        return command

    def refusal(self, line: bytes, template: Optional[str]) -> Optional[str]:
        """Asks a process of its own, which runs nothing: the runtime may be busy, or not started yet."""
        options = self._options
        command = [self._program, "batch", "-", "--quiet", "--any-id", "--workers", "1"]
        for name, value in (("--template", template), ("--python", options.python), ("--require", options.require)):
            command += [name, value] if value else []
        try:
            asked = when_there_is_room(lambda: subprocess.run(command, input=line + b"\n", capture_output=True,
                                                              check=False, timeout=_ANSWER_SECONDS))
        except subprocess.TimeoutExpired:
            raise NoRuntime(f"{self._program} has not answered within {_ANSWER_SECONDS:g} s") from None
        said = asked.stderr.decode(errors="replace").strip()
        if asked.returncode == 2 and said.startswith("zygo batch: template "):
            return said.partition("zygo batch: ")[2].partition("\n")[0]
        if not asked.stdout.startswith(b"{"):
            raise NoRuntime(f"zygo ended with status {asked.returncode}: {said}"[:1000])
        return refused_by(json.loads(asked.stdout)["detail"])

    def close(self, wait: bool = True) -> None:
        super().close(wait)
        if self._setup is not None:
            if not self._left:  # else templates may yet be started from it
                self._setup.remove()
            self._setup = None

    def forget(self) -> None:
        super().forget()
        self._setup = None


def make(options: Options) -> Transport:
    """One of its own, which the caller closes."""
    if not options.url:
        return _Runtime(options)
    from .transport.http import Http  # whose imports the others need not wait for

    return Http(options.url, options.token)


_lock = threading.Lock()
_standing: Dict[Tuple[Any, ...], Transport] = {}


def obtain(options: Options, key: Tuple[Any, ...]) -> Transport:
    """`key` is that of the options, which takes a pickle to make."""
    with _lock:
        if key not in _standing:
            _standing[key] = make(options)
        return _standing[key]


def shutdown(wait: bool = True) -> None:
    """Ends every standing runtime. Pools that are used again start new ones."""
    for transport in _forget_all():
        transport.close(wait)


def _forget_all() -> List[Transport]:
    with _lock:
        transports = list(_standing.values())
        _standing.clear()
    return transports


def _after_fork() -> None:
    """What is standing stays known: each begins anew with its next job."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)
atexit.register(shutdown, wait=False)
