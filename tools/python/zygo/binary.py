"""Where the program zygo is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Iterator, Optional

from .errors import NoRuntime


def _installed(package: Path) -> Iterator[Path]:
    """Where installers put the program of a wheel: PREFIX/bin, if this is PREFIX/lib/python3.X/site-packages/zygo."""
    if package.parent.name in ("site-packages", "dist-packages") and len(package.parents) > 3:
        prefix = package.parents[3]
        if (prefix / "lib/zygo").is_dir():
            yield prefix / "bin/zygo"


def find(binary: Optional[str] = None) -> str:
    """`binary`, $ZYGO_BIN, of the same wheel as the package, of a build of this checkout, or in PATH: what comes first.

    A checkout where only `tools/try` was built has zygo-batch, whose one command is all that this package needs."""
    named = binary or os.environ.get("ZYGO_BIN")
    if named:
        if not os.access(named, os.X_OK):
            raise NoRuntime(f"{named}: no program there" + ("" if binary else " ($ZYGO_BIN)"))
        return os.path.abspath(named)
    package = Path(__file__).resolve().parent
    beside = [package / "_runtime/bin/zygo", *_installed(package)]
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
