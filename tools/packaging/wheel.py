"""The wheel with the program in it: the Python package, and a tree of bin, lib and share that installers lay into the
environment's own. So `zygo` is the program itself in the environment's bin, and finds ../lib/zygo as everywhere."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Dict

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python/backend"))

import zygo_build  # noqa: E402

Tree = Dict[str, Path]  # path below the prefix -> file; what is executable there is executable in packages


def _place(path: str) -> str:
    data = f"{zygo_build.NAME}-{zygo_build.VERSION}.data"
    return f"{data}/scripts/{path[4:]}" if path.startswith("bin/") else f"{data}/data/{path}"


def make(folder: Path, tree: Tree, notices: Dict[str, bytes], platform: str) -> Path:
    """`notices`: what lies beside the metadata, such as licenses."""
    entries = list(zygo_build.package())
    entries += [(_place(path), file.read_bytes(), zygo_build.is_executable(file)) for path, file in sorted(tree.items())]
    entries += [(f"{zygo_build.DIST_INFO}/{name}", content, False) for name, content in sorted(notices.items())]
    tag = f"py3-none-{platform}"
    return folder / zygo_build.write(str(folder), entries + zygo_build.about(tag, pure=False), tag)
