"""COMMAND ARGS: as root of a user namespace of 65,536 ids, as a user with subordinate ids or a rootless container has."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000
FIRST = 300000


def main() -> int:
    is_apart, is_mapped = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        if ctypes.CDLL(None).unshare(CLONE_NEWUSER) < 0:
            return 1
        os.write(is_apart[1], b"x")
        os.read(is_mapped[0], 1)
        os.execvp(sys.argv[1], sys.argv[1:])
    os.close(is_apart[1])
    if os.read(is_apart[0], 1):
        for kind in ("uid", "gid"):
            Path(f"/proc/{child}/{kind}_map").write_text(f"0 0 1\n1 {FIRST} 65535\n")
        os.write(is_mapped[1], b"x")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main())
