"""Reads an OCI image's archive strictly: every blob is of its size and digest, both lists of blobs name the same, and nothing
else lies in the archive. Unpacks it for a check: the set-user-id bits of its files are left out."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any, Dict, Set

MEDIA = "application/vnd.oci.image."


class Refused(Exception):
    """The archive is no image that we would run; the text says why."""


class Image:
    def __init__(self, path: Path, tag: str) -> None:
        with tarfile.open(path) as archive:
            self._files = {member.name: archive.extractfile(member).read() if member.isreg() else b""  # type: ignore[union-attr]
                           for member in archive}
        self._named: Set[str] = {"blobs", "blobs/sha256", "oci-layout", "index.json", "manifest.json"}
        if self._json("oci-layout") != {"imageLayoutVersion": "1.0.0"}:
            raise Refused("oci-layout: not version 1.0.0")
        (entry,) = (entry for entry in self._json("index.json")["manifests"]
                    if entry["annotations"]["org.opencontainers.image.ref.name"] == tag)
        self.digest: str = entry["digest"]
        self.manifest: Dict[str, Any] = json.loads(self._blob(entry, "manifest.v1+json"))
        self.config: Dict[str, Any] = json.loads(self._blob(self.manifest["config"], "config.v1+json"))
        self.layers = [gzip.decompress(self._blob(entry, "layer.v1.tar+gzip")) for entry in self.manifest["layers"]]
        said = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in self.layers]
        if said != self.config["rootfs"]["diff_ids"]:
            raise Refused("rootfs.diff_ids are not those of the layers")
        self._check_names(tag)

    def _json(self, name: str) -> Any:
        return json.loads(self._files[name])

    def _blob(self, entry: Dict[str, Any], kind: str) -> bytes:
        place = f"blobs/sha256/{entry['digest'].removeprefix('sha256:')}"
        content = self._files[place]
        self._named.add(place)
        if entry["mediaType"] != MEDIA + kind:
            raise Refused(f"{place}: {entry['mediaType']}, expected {kind}")
        if len(content) != entry["size"] or entry["digest"] != f"sha256:{hashlib.sha256(content).hexdigest()}":
            raise Refused(f"{place}: not of its size or digest")
        return content

    def _check_names(self, tag: str) -> None:
        (saved,) = self._json("manifest.json")
        places = [f"blobs/sha256/{entry['digest'].removeprefix('sha256:')}"
                  for entry in (self.manifest["config"], *self.manifest["layers"])]
        if [saved["Config"], *saved["Layers"]] != places or saved["RepoTags"] != [f"zygo:{tag}"]:
            raise Refused("manifest.json names another image than index.json")
        if others := set(self._files) ^ self._named:
            raise Refused(f"named by nobody, or absent: {', '.join(sorted(others))}")

    def unpack(self, folder: Path) -> None:
        for layer in self.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                archive.extractall(folder, numeric_owner=True, filter="tar")  # refuses paths that lead out
