"""A `zygo route` of this process, which ends with its manager."""

from __future__ import annotations

import ipaddress
import json
import os
import secrets
import subprocess
import urllib.parse
from pathlib import Path
from typing import Optional

from . import commands
from .commands import ClusterError

_END_SECONDS = 30.0
_DEATH_SECONDS = 1.0


def write_private(path: Path, text: str) -> Path:
    """A file that only this user reads."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path


class Router:
    """Started when made. Its tokens are new ones, and in files only."""

    def __init__(self, binary: str, folder: Path, address: str, port: int, require: Optional[str]) -> None:
        self.token, of_pilots = secrets.token_hex(16), secrets.token_hex(16)
        tokens = write_private(folder / "tokens", f"caller {self.token} jobs,metrics,admin\npilots {of_pilots} pilot\n")
        self.token_file = write_private(folder / "token", of_pilots + "\n")
        self._log = folder / "router.log"
        command = [binary, "route", "--json", "--log", "off", "--listen", f"{_listening(address)}:{port}", "--tokens",
                   str(tokens)]
        command += ["--require", require] if require else []
        with open(self._log, "wb") as log:
            self._process = commands.start(command, stdout=subprocess.PIPE, stderr=log)
        try:
            self.url = f"http://{_written(address)}:{self._port()}"
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def check(self) -> None:
        """Raises its words, where it has ended: asked by whom it has not answered, so it may be about to."""
        try:
            self._process.wait(_DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        else:
            raise ClusterError(f"zygo route ended with status {self._process.returncode}: {self._words()}")

    def close(self) -> None:
        commands.end(self._process, _END_SECONDS)
        if self._process.stdout:
            self._process.stdout.close()

    def _port(self) -> int:
        assert self._process.stdout
        ready = self._process.stdout.readline()
        if not ready:
            self._process.wait()
            self.check()
        return urllib.parse.urlsplit(str(json.loads(ready)["listening"][0])).port or 0

    def _words(self) -> str:
        return commands.words(self._log.read_text(errors="replace"))


def is_address(address: str) -> bool:
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


def _written(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _listening(address: str) -> str:
    """A name may stand for several addresses, and its own machine may know it by another than the others do."""
    return _written(address) if is_address(address) else "0.0.0.0"
