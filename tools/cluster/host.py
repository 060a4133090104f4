"""What the trials ask of this machine: packages, ports, and processes that all end with the trial."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36
NO_DAEMONS = Path("/usr/sbin/policy-rc.d")  # A package that wants to start its daemon asks this program.
PACE = 0.05


class TrialError(Exception):
    """The trial could not be made, or came to no end; the sentence is for its reader."""


class HostLacks(TrialError):
    """It cannot be made on this host, and nothing is wrong with zygo."""


@dataclass(frozen=True)
class Command:
    """As a user of the engine starts it."""

    argv: list[str]
    environment: dict[str, str]


def say(text: str) -> None:
    print(f"test-cluster: {text}", file=sys.stderr, flush=True)


def wait_until(what: str, holds: Callable[[], bool], seconds: float) -> float:
    """How long it took. Asked again and again, because engines tell nobody of a change."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            raise TrialError(f"{what}: not within {seconds:g} s")
        time.sleep(PACE)
    return time.monotonic() - began


def require_root() -> None:
    if os.geteuid() != 0:
        raise HostLacks("the daemons of a batch engine start jobs as other users: run this as root")


def require_packages(names: Sequence[str]) -> None:
    """Installed by apt where they are missing, without the daemons that they would start."""
    asked = subprocess.run(["dpkg-query", "-W", "-f=${Package} ${Status}\n", *names], capture_output=True, text=True, check=False)
    there = {line.split()[0] for line in asked.stdout.splitlines() if line.endswith("ok installed")}
    if not (missing := [name for name in names if name not in there]):
        return
    say(f"installing {' '.join(missing)}")
    with _no_daemons():
        ended = subprocess.run(["apt-get", "install", "-q", "-y", "--no-install-recommends", *missing], text=True, check=False,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if ended.returncode:
        raise HostLacks(f"apt-get could not install {' '.join(missing)}: {ended.stdout[-500:]}")


@contextlib.contextmanager
def _no_daemons() -> Iterator[None]:
    if NO_DAEMONS.exists():
        yield
        return
    NO_DAEMONS.write_text("#!/bin/sh\nexit 101\n")
    NO_DAEMONS.chmod(0o755)
    try:
        yield
    finally:
        NO_DAEMONS.unlink()


def user_named(name: str | None) -> pwd.struct_passwd:
    """The one who submits: named, or who called sudo, or nobody."""
    name = name or os.environ.get("SUDO_USER") or "nobody"
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise HostLacks(f"there is no user {name}") from None


def free_ports(count: int) -> list[int]:
    """Of the loopback, next to each other."""
    for first in range(18300, 28300, count):
        with contextlib.ExitStack() as stack:
            try:
                for port in range(first, first + count):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return list(range(first, first + count))
    raise HostLacks(f"no {count} free ports in a row")


def copy_zygo(binary: Path, folder: Path) -> Path:
    """Where any user may run it, without debug information; the path of the program."""
    build = binary.parent.parent
    if not (build / "lib/zygo").is_dir():
        raise TrialError(f"no lib/zygo beside {binary.parent}: name a built or installed zygo with --zygo")
    (folder / "bin").mkdir(parents=True)
    target = folder / "bin/zygo"
    if subprocess.run(["strip", "-o", target, binary], stderr=subprocess.DEVNULL, check=False).returncode:
        shutil.copy2(binary, target)  # a script, or no binutils here
    shutil.copytree(build / "lib/zygo", folder / "lib/zygo")
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    return target


class Processes:
    """All that a trial starts. Orphans of its processes become its children, so that none is overlooked at the end."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._started: list[tuple[str, subprocess.Popen[bytes]]] = []
        if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
            raise HostLacks("prctl(PR_SET_CHILD_SUBREAPER) failed")

    def start(self, name: str, command: Sequence[str | Path], environment: Mapping[str, str] | None = None,
              user: str | None = None, stdout: int | None = None) -> subprocess.Popen[bytes]:
        with open(self._logs / f"{name}.log", "ab") as log:
            process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=stdout or log, stderr=log,
                                       env=None if environment is None else dict(environment), user=user, group=user,
                                       extra_groups=[] if user else None, start_new_session=True)
        self._started.append((name, process))
        return process

    def check(self) -> None:
        for name, process in self._started:
            if (status := process.poll()) is not None:
                raise TrialError(f"{name} ended with {status}: {self.log(name)}")

    def log(self, name: str) -> str:
        return (self._logs / f"{name}.log").read_text(errors="replace")[-800:]

    def end(self, seconds: float = 15) -> None:
        """The last that was started first; by force who takes too long."""
        for name, process in reversed(self._started):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                say(f"{name} did not end within {seconds:g} s of SIGTERM, and was killed")
                process.kill()
                process.wait()
        self._started.clear()


def descendants() -> dict[int, str]:
    """Processes below this one that have not ended, and their command lines."""
    children: dict[int, list[int]] = {}
    states: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            state, parent, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            children.setdefault(int(parent), []).append(int(entry.name))
            states[int(entry.name)] = state
    found: dict[int, str] = {}
    queue = [os.getpid()]
    for pid in queue:
        for child in children.get(pid, []):
            queue.append(child)
            if states[child] not in "ZX":
                with contextlib.suppress(OSError):
                    found[child] = Path(f"/proc/{child}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return found


def kill_all(processes: Mapping[int, str]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
