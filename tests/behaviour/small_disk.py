"""A disk that is soon full, for a test."""

from __future__ import annotations

import errno
import subprocess
from pathlib import Path

from zygo import ZygoTestCase


def mount(test: ZygoTestCase) -> Path:
    folder = test.folder() / "disk"
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4M,mode=0700", "tmpfs", str(folder)], check=False)
    if made.returncode != 0:
        test.skipTest("needs to mount a tmpfs")
    test.addCleanup(subprocess.run, ["umount", "-l", str(folder)], check=True)
    return folder


def fill(test: ZygoTestCase, path: Path) -> None:
    with open(path, "wb", buffering=0) as file:
        while True:
            try:
                file.write(bytes(4096))
            except OSError as error:
                test.assertEqual(error.errno, errno.ENOSPC)
                return
