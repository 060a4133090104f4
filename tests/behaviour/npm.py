"""Clients that are packages of npm, installed for a test into a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NoReturn

import zygo

SKIPPED = 77  # What ctest takes for a skipped test.


class NpmTestCase(zygo.ZygoTestCase):
    packages: tuple[str, ...] = ()
    place: Path  # where they are, until the last test of the class has ended

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = tempfile.TemporaryDirectory(prefix="behaviour-npm-")
        cls.addClassCleanup(folder.cleanup)
        cls.place = Path(folder.name)
        (cls.place / "package.json").write_text('{"private": true, "type": "module"}\n')
        cls.fetch("install", "--no-audit", "--no-fund", "--ignore-scripts", *cls.packages)

    @classmethod
    def fetch(cls, *command: str) -> None:
        """Of the registry, or of npm's own cache. Where that cannot be done, the tests are skipped."""
        try:
            ended = cls.run_there("npm", "--prefer-offline", "--fetch-retries=1", *command)
        except subprocess.TimeoutExpired:
            skip(f"npm {command[0]} did not end in time")
        if ended.returncode:
            skip(f"npm {command[0]} failed: {ended.stderr[-500:]}")

    @classmethod
    def run_there(cls, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=cls.place, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=zygo.environment(**variables), timeout=180 * zygo.PATIENCE)

    @classmethod
    def output_of(cls, *command: str, **variables: str) -> str:
        ended = cls.run_there(*command, **variables)
        if ended.returncode:
            raise AssertionError(f"{' '.join(command)}:\n{ended.stdout}\n{ended.stderr}")
        return ended.stdout


def skip(why: str) -> NoReturn:
    print(f"SKIPPED: {why}", file=sys.stderr)
    sys.exit(SKIPPED)


def main(lack: str | None = None) -> None:
    """Runs the tests of the program, or skips them all where the host lacks something."""
    absent = [name for name in ("node", "npm") if not shutil.which(name)]
    if lack := lack or (f"no {' and no '.join(absent)} in PATH (apt-get install nodejs npm)" if absent else None):
        skip(lack)
    unittest.main()
