"""An OCI image as one archive: an image layout, and beside it the list by which `docker load` of any version finds the same
blobs. Equal layers and settings give equal bytes: nothing depends on the clock, the folder or the order of a directory."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path, PurePosixPath
from typing import IO, Any, Dict, List, Tuple

Content = Tuple[bytes, bool]  # and whether it is executable

MEDIA = "application/vnd.oci.image."
REPLACED: Dict[str, bytes | None] = {  # in a root that mmdebstrap made: of the machine that made it, so not of the image
    "etc/hostname": None,
    "etc/resolv.conf": None,
    "etc/apt/sources.list": b"deb http://deb.debian.org/debian bookworm main\n"
                            b"deb http://deb.debian.org/debian bookworm-updates main\n"
                            b"deb http://deb.debian.org/debian-security bookworm-security main\n",
}


@dataclass(frozen=True)
class Layer:
    path: Path
    diff_id: str  # of the archive, before it was compressed
    made_by: str


class _Hashed(io.RawIOBase):
    """Writes through, and knows the digest of all of it."""

    def __init__(self, to: IO[bytes]) -> None:
        self.to, self.sha256 = to, hashlib.sha256()

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return self.to.write(data)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _entry(name: str, epoch: int, mode: int = 0o644, size: int = 0) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.mtime, info.mode, info.size = epoch, mode, size
    return info


def _of_base(member: tarfile.TarInfo, archive: tarfile.TarFile, epoch: int) -> Tuple[tarfile.TarInfo, IO[bytes] | None] | None:
    """The same without names of owners and times; None for what stays out."""
    name = str(PurePosixPath(member.name))
    if REPLACED.get(name, b"") is None or (name.startswith("dev/") and not member.isdir()):
        return None
    kept = _entry("./" if name == "." else name, epoch, member.mode, member.size)
    kept.type, kept.uid, kept.gid = member.type, member.uid, member.gid
    kept.linkname = str(PurePosixPath(member.linkname)) if member.islnk() else member.linkname
    if replaced := REPLACED.get(name):
        kept.size = len(replaced)
        return kept, io.BytesIO(replaced)
    return kept, archive.extractfile(member) if member.isreg() else None


def _write(path: Path, made_by: str, fill: Any) -> Layer:
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed:
        hashed = _Hashed(packed)  # type: ignore[arg-type]
        with tarfile.open(fileobj=hashed, mode="w|", format=tarfile.PAX_FORMAT) as out:
            fill(out)
    return Layer(path, hashed.sha256.hexdigest(), made_by)


def base_layer(path: Path, root: Path, epoch: int) -> Layer:
    """`root`: the archive of a root file system, in its own order."""
    def fill(out: tarfile.TarFile) -> None:
        with tarfile.open(root) as archive:
            for member in archive:
                if entry := _of_base(member, archive, epoch):
                    out.addfile(*entry)
    return _write(path, "mmdebstrap bookworm", fill)


def files_layer(path: Path, files: Dict[str, Content], epoch: int) -> Layer:
    def fill(out: tarfile.TarFile) -> None:
        folders = {str(folder) for name in files for folder in PurePosixPath(name).parents} - {"."}
        for name in sorted(folders | set(files)):
            content, executable = files.get(name, (b"", True))
            info = _entry(name, epoch, 0o755 if executable else 0o644, len(content))
            if name in folders:
                info.type = tarfile.DIRTYPE
            out.addfile(info, io.BytesIO(content))
    return _write(path, "tools/package image", fill)


def _documents(layers: List[Layer], settings: Dict[str, Any], name: str, tag: str, epoch: int) -> Dict[str, bytes]:
    """What an image says of its layers; each blob by its digest."""
    created = datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    blobs: Dict[str, bytes] = {}

    def blob(kind: str, document: Dict[str, Any]) -> Dict[str, Any]:
        content = json.dumps(document, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"{MEDIA}{kind}+json", "digest": f"sha256:{digest}", "size": len(content)}

    config = blob("config.v1", {
        "created": created, "architecture": "amd64", "os": "linux", "config": settings,
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer.diff_id}" for layer in layers]},
        "history": [{"created": created, "created_by": layer.made_by} for layer in layers]})
    packed = [{"mediaType": f"{MEDIA}layer.v1.tar+gzip", "digest": f"sha256:{_digest(layer.path)}",
               "size": layer.path.stat().st_size} for layer in layers]
    manifest = blob("manifest.v1", {"schemaVersion": 2, "mediaType": f"{MEDIA}manifest.v1+json", "config": config,
                                    "layers": packed})
    manifest["platform"] = {"architecture": "amd64", "os": "linux"}
    manifest["annotations"] = {"org.opencontainers.image.ref.name": tag, "org.opencontainers.image.created": created,
                               "io.containerd.image.name": f"docker.io/library/{name}:{tag}"}
    place = {entry["digest"]: f"blobs/sha256/{entry['digest'].partition(':')[2]}" for entry in (config, *packed)}
    index = {"schemaVersion": 2, "mediaType": f"{MEDIA}index.v1+json", "manifests": [manifest]}
    saved = [{"Config": place[config["digest"]], "RepoTags": [f"{name}:{tag}"],
              "Layers": [place[entry["digest"]] for entry in packed]}]
    return {"oci-layout": b'{"imageLayoutVersion": "1.0.0"}', "index.json": json.dumps(index, sort_keys=True).encode(),
            "manifest.json": json.dumps(saved, sort_keys=True).encode(), **blobs}


def write(path: Path, layers: List[Layer], settings: Dict[str, Any], name: str, tag: str, epoch: int) -> None:
    contents: Dict[str, bytes | Path] = {f"blobs/sha256/{_digest(layer.path)}": layer.path for layer in layers}
    contents.update(_documents(layers, settings, name, tag, epoch))
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as out:
        for folder in ("blobs", "blobs/sha256"):
            info = _entry(folder, epoch, 0o755)
            info.type = tarfile.DIRTYPE
            out.addfile(info)
        for place, content in sorted(contents.items()):
            if isinstance(content, Path):
                with content.open("rb") as file:
                    out.addfile(_entry(place, epoch, size=content.stat().st_size), file)
            else:
                out.addfile(_entry(place, epoch, size=len(content)), io.BytesIO(content))
