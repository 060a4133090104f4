"""Who plays: routers, pilots, and the ways between them, which a trial may cut or hold up."""
from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

CALLER, PILOT, OPERATOR = (f"{name}-token-of-the-trial" for name in ("caller", "pilot", "operator"))
TOKENS = f"trainer {CALLER} jobs\nnodes {PILOT} pilot\noperator {OPERATOR} metrics,admin\n"
LEASE = "1s"


def family_of(pid: int) -> list[int]:
    """What has descended from it, and whoever is in the session that it has begun, whose parents may be gone."""
    parents, session = {}, set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
                fields = stat[stat.rindex(")") + 2:].split()
                parents[int(entry.name)] = int(fields[1])
                if int(fields[3]) == pid:
                    session.add(int(entry.name))
    found, left = session | {pid}, [pid, *session]
    while left:
        each = left.pop()
        children = {child for child, parent in parents.items() if parent == each} - found
        found |= children
        left += children
    return sorted(found)


def send(processes: list[int], number: int) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Relay:
    """One pilot's way to one router: connections go through it, and can be cut or held up."""

    def __init__(self, port: int) -> None:
        self.to = port
        self.held = threading.Event()
        self.held.set()  # Nothing is held up.
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        self.ends: list[socket.socket] = []
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to), 10)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.ends += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 18):
                self.held.wait()
                sink.sendall(data)
        for end in (source, sink):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        with self.lock:
            ends, self.ends = self.ends, []
        for end in ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.held.set()
        self.cut()


@dataclass
class Actor:
    """A zygo of the trial. Its output goes to a file of its folder."""

    name: str
    process: subprocess.Popen[bytes]
    relays: list[Relay] = field(default_factory=list)
    frozen: list[int] = field(default_factory=list)

    @property
    def family(self) -> list[int]:
        return family_of(self.process.pid)

    def freeze(self) -> None:
        self.frozen = self.family
        send(self.frozen, signal.SIGSTOP)

    def thaw(self) -> None:
        send(self.frozen, signal.SIGCONT)
        self.frozen = []

    def end(self, number: int, patience: float = 60) -> list[int]:
        """Those of its processes that outlive it for more than a moment."""
        family = self.family
        self.process.send_signal(number)
        self.process.wait(patience)
        for relay in self.relays:
            relay.close()
        deadline = time.monotonic() + patience
        while left := [pid for pid in family if Path(f"/proc/{pid}").exists()]:
            if time.monotonic() > deadline:
                return left
            time.sleep(0.05)
        return []


class Cast:
    def __init__(self, zygo: Path, folder: Path, routers: int, pilots: int) -> None:
        self.zygo, self.folder = zygo, folder
        self.started = 0
        (folder / "tokens").write_text(TOKENS, encoding="utf-8")
        (folder / "pilot-token").write_text(PILOT + "\n", encoding="utf-8")
        held = [socket.create_server(("127.0.0.1", 0)) for _ in range(routers)]
        self.ports = [listener.getsockname()[1] for listener in held]
        for listener in held:
            listener.close()
        self.routers = [self.start_router(index) for index in range(routers)]
        self.pilots = [self.start_pilot() for _ in range(pilots)]

    def start(self, name: str, *arguments: str) -> Actor:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen([str(self.zygo), *arguments, "--log", "off"], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, cwd=self.folder, start_new_session=True)
        return Actor(name, process)

    def start_router(self, index: int) -> Actor:
        name = f"router-{index}"
        peers = [part for other, port in enumerate(self.ports) for part in ("--peer", f"router-{other}=http://127.0.0.1:{port}")]
        return self.start(name, "route", "--name", name, "--listen", f"127.0.0.1:{self.ports[index]}", "--tokens", "tokens",
                          "--durable", f"{name}.db", "--durable-queue", "1000000", "--queue", "100000", "--lease", LEASE,
                          "--grace", "1s", *(peers if len(self.ports) > 1 else []))

    def start_pilot(self) -> Actor:
        self.started += 1
        relays = [Relay(port) for port in self.ports]
        joins = [part for relay in relays for part in ("--join", f"http://127.0.0.1:{relay.port}")]
        pilot = self.start(f"pilot-{self.started}", "pilot", *joins, "--token-file", "pilot-token", "--workers", "2",
                           "--name", f"pilot-{self.started}", "--grace", "5s")
        pilot.relays = relays
        return pilot

    def end(self) -> list[int]:
        """Processes that are left when all should be gone."""
        left = []
        for actor in [*self.pilots, *self.routers]:
            actor.thaw()
            left += actor.end(signal.SIGTERM)
        return left
