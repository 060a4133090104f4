"""Builds the wheel: a PEP 517 backend of the standard library only, so that `pip install tools/python` needs no net.

    python3 zygo_build.py DIRECTORY [--runtime BIN LIB]     with the program zygo and its library in the wheel

A plain wheel is pure Python and finds zygo by $ZYGO_BIN or PATH. With --runtime it is for this platform, and finds it
beside the package.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import stat
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any, Dict, Iterator, List, Optional, Tuple

HERE = Path(__file__).resolve().parents[1]
NAME, VERSION = "zygo", "0.1.0"
DIST_INFO = f"{NAME}-{VERSION}.dist-info"
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same sources make the same bytes

METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: Runs programs and functions in sandboxes: client, executor, joblib backend, parallel loops
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: functions
Requires-Dist: cloudpickle ; extra == 'functions'
"""

Entry = Tuple[str, bytes, bool]  # name in the wheel, content, executable


def package() -> Iterator[Entry]:
    for path in sorted((HERE / "zygo").rglob("*")):
        if path.suffix == ".py" or path.name == "py.typed":
            yield path.relative_to(HERE).as_posix(), path.read_bytes(), False


def is_executable(path: Path) -> bool:
    return bool(path.stat().st_mode & stat.S_IXUSR)


def _runtime(binary: Path, library: Path) -> Iterator[Entry]:
    """Laid out as in a build: the program looks for ../lib/zygo."""
    yield "zygo/_runtime/bin/zygo", binary.read_bytes(), True
    for path in sorted(library.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield (f"zygo/_runtime/lib/zygo/{path.relative_to(library).as_posix()}", path.read_bytes(),
                   is_executable(path))


def _tag(with_runtime: bool) -> str:
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_") if with_runtime else "any"
    return f"py3-none-{platform}"


def about(tag: str, pure: bool) -> List[Entry]:
    wheel = f"Wheel-Version: 1.0\nGenerator: zygo\nRoot-Is-Purelib: {str(pure).lower()}\nTag: {tag}\n"
    return [(f"{DIST_INFO}/METADATA", METADATA.encode(), False), (f"{DIST_INFO}/WHEEL", wheel.encode(), False)]


def _record(entries: List[Entry]) -> Entry:
    lines = []
    for name, content, _ in entries:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}")
    lines.append(f"{DIST_INFO}/RECORD,,")
    return f"{DIST_INFO}/RECORD", ("\n".join(lines) + "\n").encode(), False


def write(directory: str, entries: List[Entry], tag: str) -> str:
    os.makedirs(directory, exist_ok=True)
    name = f"{NAME}-{VERSION}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content, executable in [*entries, _record(entries)]:
            info = zipfile.ZipInfo(path, _EPOCH)
            info.external_attr = (0o100755 if executable else 0o100644) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(info, content)
    return name


def make_wheel(directory: str, runtime: Optional[Tuple[Path, Path]] = None) -> str:
    entries = list(package())
    if runtime:
        entries += _runtime(*runtime)
    tag = _tag(runtime is not None)
    return write(directory, entries + about(tag, runtime is None), tag)


# PEP 517 and 660

Settings = Optional[Dict[str, Any]]


def build_wheel(wheel_directory: str, config_settings: Settings = None,
                metadata_directory: Optional[str] = None) -> str:
    return make_wheel(wheel_directory)


def build_editable(wheel_directory: str, config_settings: Settings = None,
                   metadata_directory: Optional[str] = None) -> str:
    tag = _tag(False)
    return write(wheel_directory, [("zygo.pth", f"{HERE}\n".encode(), False), *about(tag, True)], tag)


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    import io
    import tarfile

    os.makedirs(sdist_directory, exist_ok=True)
    root, name = f"{NAME}-{VERSION}", f"{NAME}-{VERSION}.tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz") as archive:
        for path in ("pyproject.toml", "README.md", "backend/zygo_build.py"):
            archive.add(HERE / path, f"{root}/{path}")
        for path, content, _ in package():
            info = tarfile.TarInfo(f"{root}/{path}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        about = tarfile.TarInfo(f"{root}/PKG-INFO")
        about.size = len(METADATA.encode())
        archive.addfile(about, io.BytesIO(METADATA.encode()))
    return name


def main() -> int:
    parser = argparse.ArgumentParser(description="Builds the wheel of the Python package.")
    parser.add_argument("directory")
    parser.add_argument("--runtime", nargs=2, type=Path, metavar=("BIN", "LIB"), help="zygo, and lib/zygo of a build")
    arguments = parser.parse_args()
    print(make_wheel(arguments.directory, (arguments.runtime[0], arguments.runtime[1]) if arguments.runtime else None))
    return 0


if __name__ == "__main__":
    sys.exit(main())
