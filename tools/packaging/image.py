"""The container image: Debian 12 with python3, and over it the files of the Debian package. How it starts is what
images/service/Dockerfile says, so that both images are used in one way."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path
from typing import Any, Dict, List

import oci
import oci_reader
import roots
from contents import Part

PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
NANOSECONDS = {"s": 10**9, "m": 60 * 10**9}
ASKED = roots.HERE / "asked.py"
OF_THE_BUILD = ("FROM", "ARG", "COPY", "RUN")


def _health(said: str) -> Dict[str, Any]:
    options, _, command = said.partition("CMD ")
    found: Dict[str, Any] = {"Test": ["CMD", *json.loads(command)]}
    for name, value in re.findall(r"--([a-z-]+)=(\S+)", options):
        key = "".join(word.capitalize() for word in name.split("-"))
        found[key] = int(value) if value.isdigit() else int(value[:-1]) * NANOSECONDS[value[-1]]
    return found


def settings(dockerfile: str) -> Dict[str, Any]:
    """The configuration of an image, of a Dockerfile's last stage. An instruction that is not understood is an error."""
    lines = [line for line in dockerfile.replace("\\\n", " ").splitlines() if line and not line.startswith("#")]
    stage = max(number for number, line in enumerate(lines) if line.startswith("FROM "))
    found: Dict[str, Any] = {"Env": [PATH]}
    for name, said in (line.split(None, 1) for line in lines[stage:]):
        if name == "ENV":
            found["Env"] += said.split()
        elif name == "EXPOSE":
            found["ExposedPorts"] = {f"{port}/tcp": {} for port in said.split()}
        elif name == "STOPSIGNAL":
            found["StopSignal"] = said
        elif name == "HEALTHCHECK":
            found["Healthcheck"] = _health(said)
        elif name in ("ENTRYPOINT", "CMD"):
            found[name.capitalize()] = json.loads(said)
        elif name not in OF_THE_BUILD:
            raise ValueError(f"Dockerfile: {name} {said}: not known how to say this of an image")
    return found


def installed(root: Path) -> List[Part]:
    """The Debian packages of a root file system's archive."""
    with tarfile.open(root) as archive:
        status = next(member for member in archive if member.name.lstrip("./") == "var/lib/dpkg/status")
        text = archive.extractfile(status).read().decode()  # type: ignore[union-attr]
    found = []
    for stanza in text.strip().split("\n\n"):
        fields = dict(re.findall(r"^(Package|Version|Source): (.*)$", stanza, re.MULTILINE))
        name, version = fields["Package"], fields["Version"]
        source, _, other = fields.get("Source", name).partition(" ")
        found.append(Part(name, version, source, other.strip("()") or version))
    return sorted(found, key=lambda part: part.package)


def make(path: Path, root: Path, files: Dict[str, oci.Content], config: Dict[str, Any], version: str, epoch: int) -> Path:
    labels = {"title": "zygo", "version": version, "licenses": "Apache-2.0",
              "description": "Runs untrusted programs, each in a fresh sandbox"}
    config = {**config, "Labels": {f"org.opencontainers.image.{name}": value for name, value in labels.items()}}
    with tempfile.TemporaryDirectory(prefix="zygo-image-", dir=path.parent) as holder:
        layers = [oci.base_layer(Path(holder) / "base", root, epoch), oci.files_layer(Path(holder) / "files", files, epoch)]
        oci.write(path, layers, config, "zygo", version, epoch)
    return path


def _reported(what: str, command: List[str]) -> bool:
    ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    print(f"  {what:<44} {'FAILED ' + ended.stderr.strip() if ended.returncode else 'ok'}", flush=True)
    return ended.returncode == 0


def check(path: Path, again: Path, version: str) -> int:
    """0 when both archives are the same, and the service starts in the image as it says, by our hands and by podman's."""
    print(f"The image {path.name}", flush=True)
    good = _reported("built twice: equal", ["cmp", str(path), str(again)])
    unpacked = oci_reader.Image(path, version)
    with tempfile.TemporaryDirectory(prefix="zygo-root-", dir="/var/tmp") as holder:
        unpacked.unpack(Path(holder))
        shutil.copy(ASKED, Path(holder) / "opt")
        patience = os.environ.get("ZYGO_TEST_PATIENCE") or "1"
        good &= subprocess.run(["unshare", "--net", roots.HERE / "enter", holder, "/usr/bin/python3", "-B", f"/opt/{ASKED.name}",
                                json.dumps(unpacked.config["config"]), patience], check=False).returncode == 0
    if shutil.which("skopeo"):
        good &= _reported("skopeo reads it", ["skopeo", "inspect", f"oci-archive:{path}:{version}"])
    container = roots.HERE.parent / "try-container"
    ended = subprocess.run([container, "--archive", path], check=False).returncode  # says why, where it is skipped
    return int(not good or ended not in (0, roots.NO_ROOT))
