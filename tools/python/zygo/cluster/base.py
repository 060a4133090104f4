"""What all engines have in common: a router, pilots that join it, a pool that uses them, and the end of them all."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import secrets
import socket
import tempfile
import time
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, Dict, FrozenSet, List, Mapping, Optional, Sequence, Tuple, Type, TypeVar, Union

from .. import binary as binaries
from .. import checks
from ..errors import RuntimeLost
from ..pool import Pool
from ..transport.http import Http
from . import commands
from .commands import ClusterError
from .router import Router, write_private

_PACE, _SLOWEST_PACE = 0.05, 1.0  # seconds between two looks at the router; the latter also at the engine
Self = TypeVar("Self", bound="Cluster")


class Cluster:
    """Starts pilots by an engine's own commands, from what `zygo pilot --print` prints, and ends them.

    n            pilots
    at_least     of them must have joined before the block begins; all
    cpus, memory of each pilot; 1, "4G"
    slot_time    seconds after which the engine ends a pilot
    url          of a router that is there; none: one is started on this machine, and ended
    token_file   with `url`: the first line is the token of this process (scopes jobs, metrics); else $ZYGO_TOKEN
    pilot_token_file  with `url`: that of the pilots
    join         with `url`: the URL by which nodes reach that router, if it is another
    address      without: the name or the IP address by which nodes reach this machine (its host name), and `port`
    require      the level that router and pilots insist on (`contained`), if not `full`
    patience     seconds until pilots must have joined
    ending       seconds until they must be gone, at the end
    folder       where a folder for files is made that nodes read
    binary       the program zygo, which nodes find at the same path

    A wrong parameter raises ValueError or TypeError here; an engine that cannot start pilots, ClusterError with its words
    where the block begins. Tokens are in files that only this user can read; they are in no argv, job or manifest.
    """

    engine: ClassVar[str]
    program: ClassVar[str]  # of the engine
    pilots_require: ClassVar[Optional[str]] = None  # where what is printed says it

    def __init__(self, n: int = 1, *, at_least: Optional[int] = None, cpus: int = 1, memory: Union[int, str] = "4G",
                 slot_time: Optional[float] = None, url: Optional[str] = None, token_file: Optional[str] = None,
                 pilot_token_file: Optional[str] = None, join: Optional[str] = None, address: Optional[str] = None,
                 port: int = 0, require: Optional[str] = None, patience: float = 300.0, ending: float = 150.0,
                 folder: Optional[str] = None, binary: Optional[str] = None) -> None:
        self.n, self.at_least = _count("n", n), n if at_least is None else _count("at_least", at_least)
        if self.at_least > n:
            raise ValueError(f"at_least={at_least}: there are only n={n}")
        self._patience, self._ending = checks.seconds("patience", patience), checks.seconds("ending", ending)
        self._given_url, self._join = url, join or url
        self._files = _router_files(url, token_file, pilot_token_file, join, address, port)
        self._address, self._port = address or socket.gethostname(), port
        self._require = require or self.pilots_require
        self._parent = _folder(folder)
        self._binary = binaries.find(binary)
        self._options = ["--pilots", str(n), "--cpus", str(_count("cpus", cpus)), "--memory", f"{_memory(memory)}M"]
        if slot_time is not None:
            self._options += ["--slot-time", f"{max(1, round(checks.seconds('slot_time', slot_time)))}s"]
        self._options += ["--require", self._require] if self._require else []
        self._stack: Optional[contextlib.ExitStack] = None
        self._owner = 0
        self._pools: List[Pool] = []

    def _check_printed(self) -> None:
        """The rules of what can be printed are zygo's. Called at the end of each engine's __init__."""
        try:
            self._printed(self._join or f"http://{self._address}:1", Path(self._files[1] or "/token"))
        except ClusterError as error:
            raise ValueError(str(error)) from None

    def __repr__(self) -> str:
        state = f" at {self.url}" if self._stack else ""
        return f"<zygo.cluster.{type(self).__name__} n={self.n}{state}>"

    # Its life

    def __enter__(self: Self) -> Self:
        return self.start()

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        try:
            for pool in self._pools:
                pool.close(wait=kind is None)
        finally:
            self.close()

    def start(self: Self) -> Self:
        """Where no block is possible, as in a notebook: `close()` ends it, or the end of the interpreter."""
        if self._stack is not None:
            raise ClusterError("it has been started already")
        commands.require(self.program)
        self._owner, self._stack = os.getpid(), contextlib.ExitStack()
        atexit.register(self.close)
        try:
            self._begin(self._stack)
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """Ends pools, pilots and router, in that order. An exception in between keeps nothing from being ended."""
        stack = self._stack
        if stack is None or self._owner != os.getpid():  # a child of fork ends nothing of its parent's
            return
        try:
            stack.close()
        finally:
            self._stack = None
            atexit.unregister(self.close)

    def _begin(self, stack: contextlib.ExitStack) -> None:
        self._name = f"zygo-pilot-{secrets.token_hex(4)}"
        made = tempfile.TemporaryDirectory(prefix="zygo-cluster-", dir=self._parent)
        self._folder = Path(stack.enter_context(made)).resolve()
        self._router: Optional[Router] = None
        if self._given_url:
            self.url, own, of_pilots = self._given_url, _first_line(self._files[0]), _first_line(self._files[1])
            self.token, token_file = own or None, write_private(self._folder / "token", of_pilots + "\n")
        else:
            self._router = router = Router(self._binary, self._folder, self._address, self._port, self._require)
            stack.callback(router.close)
            self.url, self.token, token_file = router.url, router.token, router.token_file
        self._service = Http(self.url, self.token)
        self._before: FrozenSet[str] = frozenset(pilot["name"] for pilot in self._all_pilots())
        stack.callback(self._end)
        self._submit(self._printed(self._join or self.url, self._token_at(token_file)))
        self._wait()
        stack.callback(self._close_pools)

    # What there is

    def pool(self, template: Optional[str] = None, **options: Any) -> Pool:
        """A `zygo.Pool` of these pilots, closed at the end; options as there. It goes wherever a pool goes: into
        `Executor(pool=)`, `AsyncPool(pool=)`, `parallel(pool=)`, joblib's backend, graders."""
        if self._stack is None:
            raise ClusterError("it has not been started")
        for name in ("url", "token", "standing"):
            if name in options:
                raise ValueError(f"{name}: a pool of a cluster has its own")
        made = Pool(template, url=self.url, token=self.token, standing=False, **options)
        self._pools.append(made)
        return made

    def pilots(self) -> List[Dict[str, Any]]:
        """Those of this object, as the router tells them (docs/cluster.md): name, state, workers, jobs, ..."""
        return [pilot for pilot in self._all_pilots() if self._owns(pilot["name"])]

    # What engines do

    def _token_at(self, token_file: Path) -> Path:
        """Where pilots find it."""
        return token_file

    def _submit(self, printed: str) -> None:
        raise NotImplementedError

    def _cancel(self) -> None:
        """Whether or not something was submitted."""
        raise NotImplementedError

    def _queue(self) -> str:
        """What the engine says about pilots that run or wait; empty: there are none."""
        raise NotImplementedError

    def _can_come(self, queue: str) -> bool:
        """Whether a pilot may still join."""
        return bool(queue)

    def _why(self) -> str:
        """What it says about pilots that have not joined: the queue, and what they have written."""
        raise NotImplementedError

    def _owns(self, name: str) -> bool:
        return name not in self._before

    # Parts

    def _printed(self, join: str, token_file: Path) -> str:
        return commands.run([self._binary, "pilot", "--print", self.engine, "--join", join, "--token-file",
                             str(token_file), *self._options])

    def _all_pilots(self) -> List[Dict[str, Any]]:
        try:
            found: List[Dict[str, Any]] = self._service.pilots()
        except RuntimeLost:
            if self._router:
                self._router.check()
            raise
        return found

    def _wait(self) -> None:
        give_up, pace, look = time.monotonic() + self._patience, _PACE, 0.0
        while True:
            asked = time.monotonic() >= look
            # Before the router, so that a pilot that has come is there; an engine that is busy is asked again.
            queue = self._attempt(self._queue, []) if asked else None
            joined = sum(pilot["state"] == "ready" for pilot in self.pilots())
            if joined >= self.at_least:
                return
            if queue is not None and not self._can_come(queue):
                raise ClusterError(f"{joined} of {self.at_least} pilots have joined, and no other will: {self._words()}")
            if time.monotonic() > give_up:
                raise ClusterError(f"{joined} of {self.at_least} pilots have joined within {self._patience:g} s: "
                                   f"{self._words()}")
            look = time.monotonic() + _SLOWEST_PACE if asked else look
            time.sleep(pace)
            pace = min(2 * pace, _SLOWEST_PACE)

    def _words(self) -> str:
        try:
            return commands.words(self._why()) or f"{self.program} says nothing about them"
        except ClusterError as error:
            return str(error)

    def _close_pools(self) -> None:
        pools, self._pools = self._pools, []
        for pool in pools:
            pool.close(wait=False)

    def _end(self) -> None:
        """Cancels them, and waits until the engine has none."""
        trouble: List[str] = []
        self._attempt(self._cancel, trouble)
        give_up, pace = time.monotonic() + self._ending, _PACE
        while (left := self._attempt(self._queue, trouble)) != "":
            if time.monotonic() > give_up:
                warnings.warn(f"zygo: pilots may be left: {left or ''} {' '.join(trouble)}", RuntimeWarning, stacklevel=2)
                return
            time.sleep(pace)
            pace = min(2 * pace, _SLOWEST_PACE)

    @staticmethod
    def _attempt(asked: Any, trouble: List[str]) -> Optional[str]:
        """None: there is no answer."""
        try:
            found: Optional[str] = asked()
        except ClusterError as error:
            trouble[:] = [str(error)]
            return None
        return found

    def _logs(self, pattern: str) -> str:
        """The ends of what pilots wrote, those that wrote something."""
        found = [path.read_text(errors="replace").strip() for path in sorted(self._folder.glob(pattern))]
        return "\n".join(text[-500:] for text in found if text)


# Parameters

def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}={value!r}: expected a whole number")
    if value < 1:
        raise ValueError(f"{name}={value}: there must be one at least")
    return value


def _memory(value: Union[int, str]) -> int:
    try:
        return checks.mebibytes(value)
    except ValueError as error:
        raise ValueError(f"memory={value!r}: {error}") from None


def _folder(folder: Optional[str]) -> Optional[str]:
    if folder is not None and not os.path.isdir(folder):
        raise ValueError(f"folder={folder!r}: no folder there")
    return folder


def _router_files(url: Optional[str], token_file: Optional[str], pilot_token_file: Optional[str], join: Optional[str],
                  address: Optional[str], port: int) -> Tuple[Optional[str], Optional[str]]:
    """The files of tokens of this process and of pilots."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ValueError(f"port={port!r}: expected 0 to 65535")
    own: Dict[str, Any] = {"address": address, "port": port}
    given: Dict[str, Optional[str]] = {"token_file": token_file, "pilot_token_file": pilot_token_file, "join": join}
    wrong: Mapping[str, Any] = own if url else given
    for name, value in wrong.items():
        if value:
            raise ValueError(f"{name}={value!r}: {'the router of url is there already' if url else 'only with url'}")
    if url:
        Http(url)  # raises where it is none
        if not pilot_token_file:
            raise ValueError("pilot_token_file: with a url, the file of the pilots' token is needed")
    for name in ("token_file", "pilot_token_file"):
        path = given[name]
        if path is not None and not os.access(path, os.R_OK):
            raise ValueError(f"{name}={path!r}: no file that can be read")
    return token_file, pilot_token_file and os.path.abspath(pilot_token_file)


def _first_line(path: Optional[str]) -> str:
    if path is None:
        return ""
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()


def directives_of(given: Optional[Mapping[str, Any]], ours: Sequence[str]) -> Dict[str, str]:
    """An engine's own settings. `ours` are the names that would contradict the other parameters."""
    found: Dict[str, str] = {}
    for name, value in (given or {}).items():
        if not re.fullmatch(r"[+A-Za-z][\w.-]*", name):
            raise ValueError(f"directives: {name!r} is no name")
        if name.lower().replace("_", "-") in ours:
            raise ValueError(f"directives: {name} is said by other parameters")
        text = str(value)
        if not text.isprintable():
            raise ValueError(f"directives: {name}={text!r} has a control character")
        found[name] = text
    return found
