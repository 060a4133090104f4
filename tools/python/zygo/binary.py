"""Where the program zygo is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Optional

from .errors import NoRuntime


def find(binary: Optional[str] = None) -> str:
    """`binary`, $ZYGO_BIN, beside the package (a wheel, then a build of this checkout), or in PATH: what comes first.

    A checkout where only `tools/try` was built has zygo-batch, whose one command is all that this package needs."""
    named = binary or os.environ.get("ZYGO_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise NoRuntime(f"{named}: no program there" + ("" if binary else " ($ZYGO_BIN)"))
        return os.path.abspath(named)
    package = Path(__file__).resolve().parent
    beside = [package / "_runtime/bin/zygo"]
    if len(package.parents) > 2:
        built = package.parents[2] / "build/release/bin"
        beside += [built / "zygo", built / "zygo-batch"]
    for candidate in beside:
        if os.access(candidate, os.X_OK):
            return str(candidate)
    found = shutil.which("zygo")
    if found:
        return os.path.abspath(found)
    raise NoRuntime("no zygo found: set ZYGO_BIN, put it into PATH, or give url= of a service")
