"""Runs commands in containers with runc, and leaves nothing: no container, cgroup, mount or file."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import zygo
from zygo import CHECKOUT, Finished

from . import seccomp
from .environments import Environment
from .spec import Container, oci_spec

FOLDERS = Path("/var/tmp")
PREFIX = "behaviour-containers-"
ZYGO = f"/opt/zygo/bin/{zygo.BINARY.name}"
TESTS = "/opt/tests"
REPORT = "/opt/report"
CARETAKER = f"{TESTS}/behaviour/containers/caretaker.py"
ETC = ("alternatives", "ld.so.cache", "python3", "python3.11", "nsswitch.conf", "localtime")
ACCOUNTS = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n"


def missing() -> str | None:
    """What this host lacks to run containers, as a sentence, or None."""
    if os.geteuid() != 0:
        return "making containers needs root"
    if not shutil.which("runc"):
        return "runc is not installed: run tools/setup (Debian package runc)"
    if not seccomp.find_profile():
        return f"Docker's seccomp profile is missing: run tools/setup (it is in the Debian package {seccomp.PACKAGE})"
    return None


class Engine:
    """A root file system made of the host's own /usr, and the containers that run in it. `close` removes all."""

    def __init__(self) -> None:
        remove_stale()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=FOLDERS))
        self.folder.chmod(0o755)
        self.root = self.folder / "root"
        self.numbers = itertools.count(1)
        make_root(self.root)

    def close(self) -> None:
        remove_containers(self.folder)
        shutil.rmtree(self.folder)

    @contextlib.contextmanager
    def container(self, environment: Environment, *command: str, **limits: Any) -> Iterator[Started]:
        """A container that is ready to be started, by its command line; deleted by its id in the end."""
        started = Started(self.folder, f"behaviour-container-{os.getpid()}-{next(self.numbers)}")
        started.bundle.mkdir()
        started.report.mkdir()
        started.report.chmod(0o777)
        binds = [(Path("/usr"), "/usr", False), (CHECKOUT / "tests", TESTS, False), (started.report, REPORT, True)]
        binds += [(folder, f"/opt/zygo/{folder.name}", False) for folder in installed()]
        container = Container(self.root, command, f"/{started.id}", binds,
                              {"ZYGO_TEST_CANARY": "host-environment-canary"})
        spec = oci_spec(environment, replace(container, **limits), profile_of(environment))
        (started.bundle / "config.json").write_text(json.dumps(spec))
        try:
            yield started
        finally:
            started.delete()

    def run(self, environment: Environment, *command: str, stdin: bytes = b"", timeout: float = 60,
            **limits: Any) -> Finished:
        with self.container(environment, *command, **limits) as started:
            return zygo.run_command(started.command(), stdin=stdin, timeout=timeout)

    def run_watched(self, environment: Environment, *command: str, stdin: bytes = b"", timeout: float = 60,
                    **limits: Any) -> tuple[Finished, dict[str, Any]]:
        """With the caretaker as pid 1, which says what the command left in the container."""
        with self.container(environment, "/usr/bin/python3", "-B", CARETAKER, *command, **limits) as started:
            ended = zygo.run_command(started.command(), stdin=stdin, timeout=timeout)
            return ended, started.left_inside()


class Started:
    """One container, by its id."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.id = folder, name
        self.bundle = folder / name
        self.report = self.bundle / "report"

    def command(self) -> list[str]:
        return [*runc(self.folder), "run", "--bundle", str(self.bundle), self.id]

    def pids(self) -> list[int]:
        """The host's numbers of all processes inside, those in cgroups below the container's as well."""
        listed = zygo.run_command([*runc(self.folder), "ps", "--format", "json", self.id])
        if listed.code != 0:
            raise AssertionError(f"runc ps {self.id}: {listed.stderr}")
        return sorted(json.loads(listed.out) or [])

    def settled(self, most: int, patience: float = 5) -> int:
        """How many processes there are, once they are no more than they should be, or patience is at its end."""
        deadline = time.monotonic() + patience
        while (now := len(self.pids())) > most and time.monotonic() < deadline:
            time.sleep(0.02)  # Nobody tells when the dead are buried.
        return now

    def kill(self, name: str) -> None:
        killed = zygo.run_command([*runc(self.folder), "kill", self.id, name])
        if killed.code != 0:
            raise AssertionError(f"runc kill {self.id} {name}: {killed.stderr}")

    def left_inside(self) -> dict[str, Any]:
        report = self.report / "left.json"
        if not report.is_file():
            raise AssertionError("the caretaker wrote no report: it did not come to an end")
        return json.loads(report.read_text())

    def delete(self) -> None:
        if (self.folder / "state" / self.id).exists():
            delete_container(self.folder, self.id)
        shutil.rmtree(self.bundle)


def runc(folder: Path) -> list[str]:
    return ["runc", "--root", str(folder / "state"), "--log", str(folder / "log")]


def delete_container(folder: Path, name: str) -> None:
    deleted = zygo.run_command([*runc(folder), "delete", "--force", name])
    if deleted.code != 0:
        raise AssertionError(f"runc delete {name}: {deleted.stderr}")


def remove_containers(folder: Path) -> None:
    state = folder / "state"
    for container in state.iterdir() if state.is_dir() else ():
        delete_container(folder, container.name)


def containers(folder: Path) -> list[str]:
    listed = zygo.run_command([*runc(folder), "list", "--quiet"])
    if listed.code != 0:
        raise AssertionError(f"runc list: {listed.stderr}")
    return listed.stdout.split()


def remove_stale() -> None:
    """What runs that were killed have left: their containers are still there, by id."""
    for folder in FOLDERS.glob(f"{PREFIX}*"):
        owner = re.match(rf"{PREFIX}(\d+)-", folder.name)
        if owner and not Path("/proc", owner.group(1)).exists():
            remove_containers(folder)
            shutil.rmtree(folder)


def leftovers() -> list[str]:
    """What the host still has of containers of this process."""
    mark = f"behaviour-container-{os.getpid()}-"
    groups = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if mark in folder]
    mounts = [line for line in Path("/proc/self/mountinfo").read_text().splitlines()
              if mark in line or f"{PREFIX}{os.getpid()}-" in line]
    return [*(f"cgroup {group}" for group in groups), *(f"mount {line}" for line in mounts)]


def installed() -> list[Path]:
    """The folders of the binary and of what is installed beside it."""
    home = zygo.BINARY.parent.parent
    return [zygo.BINARY.parent, *(home / name for name in ("lib", "share") if (home / name).is_dir())]


def profile_of(environment: Environment) -> seccomp.Profile | None:
    if environment.seccomp is None:
        return None
    path = seccomp.find_profile()
    assert path, "no seccomp profile: ask missing() first"
    return seccomp.load(path, environment.seccomp)


def make_root(root: Path) -> None:
    """A merged-usr system: /usr is mounted, /etc is the little that an interpreter wants."""
    for name in ("usr", "etc", "dev", "proc", "sys", "tmp", "run", "root", "home", "opt/zygo/bin", "opt/zygo/lib",
                 "opt/zygo/share", "opt/tests", "opt/report", "var/tmp"):
        (root / name).mkdir(parents=True, exist_ok=True)
    root.chmod(0o755)
    (root / "root").chmod(0o700)
    for name in ("tmp", "var/tmp"):  # runc gives a mount the mode of what it covers.
        (root / name).chmod(0o1777)
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / name).symlink_to(f"usr/{name}")
    for name in ETC:
        source, target = Path("/etc", name), root / "etc" / name
        if source.is_dir():
            shutil.copytree(source, target, symlinks=True)
        elif source.exists():
            shutil.copy(source, target)
    (root / "etc/passwd").write_text(ACCOUNTS)
    (root / "etc/group").write_text("root:x:0:\nnogroup:x:65534:\n")
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")
    (root / "etc/shadow").write_text("root:*:1::::::\n")
    (root / "etc/shadow").chmod(0o600)


def start(started: Started, **how: Any) -> subprocess.Popen[bytes]:
    """For a test that talks to what runs inside; the container is deleted when its context is left."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(started.command(), env=zygo.environment(), **{**pipes, **how})


class Conversation(zygo.Coprocess):
    """A `zygo batch -` that stays, in a container: one job at a time, and its result."""

    def __init__(self, started: Started) -> None:
        super().__init__(process=start(started, bufsize=0))

    def ask(self, job: zygo.Job) -> zygo.Result:
        self.send(zygo.lines_of([job]))
        return self.result()
