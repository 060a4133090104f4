"""Images of one layer as `docker save` writes them, without a docker."""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from pathlib import Path
from typing import Any


def layer_with(base: bytes, files: dict[str, tuple[bytes, int]]) -> bytes:
    """A layer: that of `base`, and files with their modes."""
    out = io.BytesIO(base)
    with tarfile.open(fileobj=out, mode="a" if base else "w") as tar:
        for name, (content, mode) in files.items():
            add(tar, name, content, mode)
    return out.getvalue()


def write(path: Path, layer: bytes, config: dict[str, Any]) -> None:
    """`config`: what the image says of its processes."""
    whole = json.dumps({
        "architecture": "amd64" if os.uname().machine == "x86_64" else "arm64", "os": "linux", "config": config,
        "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}}).encode()
    manifest = json.dumps([{"Config": "config.json", "RepoTags": ["t:1"], "Layers": ["layer.tar"]}]).encode()
    with tarfile.open(path, "w") as tar:
        for name, content in (("manifest.json", manifest), ("config.json", whole), ("layer.tar", layer)):
            add(tar, name, content)


def add(tar: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), mode
    tar.addfile(info, io.BytesIO(content))
