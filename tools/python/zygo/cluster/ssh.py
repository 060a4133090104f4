"""ssh: a pilot on each host, and no engine."""

from __future__ import annotations

import concurrent.futures
import re
import secrets
import subprocess
from pathlib import Path
from typing import Any, List, Optional, Sequence

from . import commands
from .base import Cluster
from .commands import ClusterError

_AT_ONCE = 16  # connections that bring or remove the token
_SSH = ["ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]


class SSH(Cluster):
    """`Cluster`, by ssh without questions (a key, or an agent). `SSH(["node1", "me@node2"])` starts one pilot on each host.

    The token is brought through the connection into a folder of its own below /tmp, and removed at the end."""

    engine, program = "ssh", "ssh"

    def __init__(self, hosts: Sequence[str], *, patience: float = 60.0, **options: Any) -> None:
        if isinstance(hosts, str) or not hosts:
            raise ValueError(f"hosts={hosts!r}: expected a list of hosts")
        for host in hosts:
            if not re.fullmatch(r"[\w.@:%\[\]][\w.@:%\[\]-]*", str(host)):
                raise ValueError(f"hosts: {host!r} is no host")
        for name in ("n", "require", "slot_time", "cpus", "memory"):
            if name in options:
                raise ValueError(f"{name}: a pilot of ssh has its whole host")
        self.hosts = list(hosts)
        super().__init__(len(hosts), patience=patience, **options)
        self._options = [word for host in hosts for word in ("--host", host)]
        self._script: Optional[subprocess.Popen[bytes]] = None
        self._at: Optional[Path] = None
        self._check_printed()

    def _token_at(self, token_file: Path) -> Path:
        self._script, self._at = None, Path(f"/tmp/zygo-{secrets.token_hex(8)}")
        self._on_all(f"umask 077 && mkdir -p {self._at} && cat > {self._at}/token", token_file.read_bytes())
        return self._at / "token"

    def _on_all(self, command: str, given: bytes) -> None:
        def on(host: str) -> None:
            try:
                commands.run([*_SSH, host, command], given=given)
            except ClusterError as error:
                raise ClusterError(f"{host}: {error}") from None

        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as threads:
            asked: List[concurrent.futures.Future[None]] = [threads.submit(on, host) for host in dict.fromkeys(self.hosts)]
            for each in asked:
                each.result()

    def _submit(self, printed: str) -> None:
        path = self._folder / "pilots.sh"
        path.write_text(printed, encoding="utf-8")
        with open(self._folder / "ssh.log", "wb") as log:
            self._script = commands.start(["sh", str(path)], folder=self._folder, stdout=log, stderr=log)

    def _cancel(self) -> None:
        """The script ends pilots, and itself then; by SIGKILL, too, since their input ends."""
        try:
            if self._script is not None and not commands.end(self._script, self._ending):
                raise ClusterError("the script of ssh had to be killed")
        finally:
            if self._at is not None:
                self._on_all(f"rm -rf {self._at}", b"")

    def _queue(self) -> str:
        return "the script runs" if self._script is not None and self._script.poll() is None else ""

    def _why(self) -> str:
        return self._logs("ssh.log")
