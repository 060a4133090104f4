"""Clients that are packages of npm, installed for a test into a folder of its own."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import zygo


def missing() -> str | None:
    """What this host lacks, if anything."""
    absent = [name for name in ("node", "npm") if not shutil.which(name)]
    return f"no {' and no '.join(absent)} in PATH (apt-get install nodejs npm)" if absent else None


def install(folder: Path, *packages: str) -> str | None:
    """Of the registry, or of npm's own cache; why it could not be done, otherwise."""
    (folder / "package.json").write_text('{"private": true, "type": "module"}\n')
    try:
        ended = run(folder, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefer-offline",
                    "--fetch-retries=1", *packages)
    except subprocess.TimeoutExpired:
        return "npm did not end in time"
    return f"npm could not install {', '.join(packages)}: {ended.stderr[-500:]}" if ended.returncode else None


def run(folder: Path, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          env=zygo.environment(**variables), timeout=180 * zygo.PATIENCE)
