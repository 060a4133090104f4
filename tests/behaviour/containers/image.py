"""An image of zygo as people build one, by podman and offline: FROM scratch, the interpreter, zygo, their libraries."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zygo
from zygo import Finished

from . import seccomp

PYTHON = Path("/usr/bin/python3").resolve()
LIBRARY = Path("/usr/lib", PYTHON.name)
LEFT_OUT = {"test", "idlelib", "lib2to3", "tkinter", "ensurepip", "pydoc_data"}
CONTAINERFILE = 'FROM scratch\nADD root.tar /\nENV PATH=/opt/zygo/bin:/usr/bin\nENTRYPOINT ["zygo"]\n'
# As root without CAP_SYS_RESOURCE podman asks for more than it may have, unless told.
CONFIGURATION = ('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\n'
                 'cgroup_manager = "cgroupfs"\nruntime = "runc"\nevents_logger = "none"\n')
TAG = "localhost/zygo-behaviour:test"


def missing() -> str | None:
    if os.geteuid() != 0:
        return "making an image needs root"
    if not shutil.which("podman"):
        return "podman is not installed (Debian package podman; tools/setup leaves it out)"
    return None


class Image:
    """Built in a storage of its own, which goes away with it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="behaviour-image-", dir="/var/tmp"))
        self.group = self.folder.name  # the control group of its containers, which podman leaves behind
        self.configuration = self.folder / "containers.conf"
        self.configuration.write_text(CONFIGURATION)

    def build(self) -> Finished:
        context = self.folder / "context"
        context.mkdir()
        write_root(context / "root.tar")
        (context / "Containerfile").write_text(CONTAINERFILE)
        return self.podman("build", "--network=none", "--tag", TAG, str(context), timeout=200)

    def run(self, *arguments: str, options: tuple[str, ...] = (), **how: Any) -> Finished:
        return self.podman("run", "--rm", "--interactive", "--network=none", "--memory=1g", "--pids-limit=256",
                           "--cgroups=no-conmon", f"--cgroup-parent=/{self.group}", *options, TAG, *arguments, **how)

    def podman(self, *arguments: str, **how: Any) -> Finished:
        places = ["--root", f"{self.folder}/storage", "--runroot", f"{self.folder}/run", "--tmpdir",
                  f"{self.folder}/tmp", "--storage-driver", "vfs"]
        return zygo.run_command(["podman", *places, *arguments],
                                env=zygo.environment(CONTAINERS_CONF=str(self.configuration)), **how)

    def close(self) -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(shutil.rmtree, self.folder)
            stack.callback(remove_groups, self.group)
            removed = self.podman("rm", "--all", "--force")
        if removed.code != 0:
            raise AssertionError(f"podman rm: {removed.stderr}")


def remove_groups(name: str) -> None:
    for hierarchy in (Path("/sys/fs/cgroup"), *Path("/sys/fs/cgroup").iterdir()):
        for folder, _, _ in os.walk(hierarchy / name, topdown=False):
            os.rmdir(folder)


def write_root(path: Path) -> None:
    with tarfile.open(path, "w", dereference=True) as tar:
        for source, target in contents():
            tar.add(source, target, filter=wanted)
        for name in ("bin", "lib", "lib64"):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, f"usr/{name}"
            tar.addfile(link)
        folder = tarfile.TarInfo("tmp")
        folder.type, folder.mode = tarfile.DIRTYPE, 0o1777
        tar.addfile(folder)


def contents() -> Iterator[tuple[Path, str]]:
    """(source, path in the image) of everything the image is made of."""
    home = zygo.BINARY.parent.parent
    yield zygo.BINARY, "opt/zygo/bin/zygo"
    yield home / "lib/zygo", "opt/zygo/lib/zygo"
    yield PYTHON, "usr/bin/python3"
    yield LIBRARY, str(LIBRARY).lstrip("/")
    programs = [zygo.BINARY, PYTHON, *(home / "lib/zygo").glob("zygo*"), *(LIBRARY / "lib-dynload").glob("*.so")]
    for library in libraries(programs):
        yield Path(library), str(Path("usr", library.removeprefix("/usr").lstrip("/")))


def libraries(programs: list[Path]) -> list[str]:
    listed = zygo.run_command(["ldd", *map(str, programs)])
    return sorted(set(re.findall(r"(/\S+\.so\S*) \(0x", listed.stdout)))


def wanted(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if LEFT_OUT & set(Path(entry.name).parts) else entry


def like_docker() -> tuple[str, ...]:
    """What makes podman start a container as Docker does: its own profile allows user namespaces."""
    profile = seccomp.find_profile()
    assert profile, "no seccomp profile: ask engine.missing() first"
    return "--security-opt", f"seccomp={profile}"


def like_a_restricted_pod() -> tuple[str, ...]:
    return (*like_docker(), "--user", "10001:10001", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
            "--read-only", "--tmpfs", "/tmp:mode=1777")
