"""A fence around programs that a hole in zygo would set free: a control group with bounded memory and processes, and a
pid namespace that ends with its first process."""
import contextlib
import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from .system import HostLacks

NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
MOUNTS, OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")
PR_SET_PDEATHSIG = 1
BURIAL_SECONDS = 5.0
CONTROLLERS = ("memory", "pids", "cpu", "cpuacct")


def _own_groups() -> dict[str, tuple[Path, bool]]:
    """Of this process: controller to directory, and whether that is one of v2, which has all of them."""
    paths = {}
    for line in OWN.read_text().splitlines():
        _, names, path = line.split(":", 2)
        paths.update(dict.fromkeys(names.split(",") if names else ["v2"], path))
    found: dict[str, tuple[Path, bool]] = {}
    for line in MOUNTS.read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, place = before.split()[3:5]
        kind, _, options = after.split()[:3]
        for name in ["v2"] if kind == "cgroup2" else options.split(",") if kind == "cgroup" else []:
            path = paths.get(name)
            if path is not None and (path == root or path.startswith(root.rstrip("/") + "/")):
                inside = path[len(root.rstrip("/")):].lstrip("/")
                found[name] = (Path(place, inside), kind == "cgroup2")
    return found


def _home(group: Path) -> Path:
    """On v2 only a group without processes, or the root of all, gives its controllers on."""
    while (group / "cgroup.events").exists() and (group / "cgroup.procs").read_text():
        if not (group.parent / "cgroup.procs").exists():
            raise HostLacks("no group above ours is free of processes")
        group = group.parent
    return group


class Fence:
    """The groups; what is put `inside` cannot get out, and is ended with the fence."""

    def __init__(self, name: str, memory_bytes: int, pids: int):
        self.folders: list[Path] = []
        try:
            subprocess.run([*NAMESPACE, "true"], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise HostLacks(f"no fence can be made: {error}") from error
        try:
            self._make(name, memory_bytes, pids)
        except OSError as error:
            self.close()
            raise HostLacks(f"no fence can be made: {error}") from error

    def _make(self, name: str, memory_bytes: int, pids: int) -> None:
        own = _own_groups()
        v2 = own.pop("v2", None)
        v1 = [name for name in CONTROLLERS if name in own]
        for place in dict.fromkeys(own[name][0] for name in v1):
            self._add(place / name)
        if v2 and not v1:
            home = _home(v2[0])
            given = [each for each in CONTROLLERS if each in (home / "cgroup.controllers").read_text().split()]
            enable = " ".join(f"+{each}" for each in given)
            (home / "cgroup.subtree_control").write_text(enable)
            self._add(home / name, enable)
        for limits in ({"memory.limit_in_bytes": memory_bytes, "memory.max": memory_bytes}, {"pids.max": pids}):
            files = [(folder / file, value) for folder in self.folders for file, value in limits.items()
                     if (folder / file).exists()]
            if not files:
                raise HostLacks(f"no fence can be made: no group here has {' or '.join(limits)}")
            for file, value in files:
                file.write_text(str(value))

    def _add(self, folder: Path, controllers: str = "") -> None:
        folder.mkdir()
        self.folders.append(folder)
        if controllers:
            (folder / "cgroup.subtree_control").write_text(controllers)
        (folder / "inside").mkdir()

    def run(self, command: Sequence[str]) -> int:
        """Whatever ends us ends what is inside, too."""
        libc = ctypes.CDLL(None)

        def enter() -> None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
            for folder in self.folders:
                (folder / "inside/cgroup.procs").write_text("0")

        return subprocess.run([*NAMESPACE, *command], preexec_fn=enter, check=False).returncode

    def close(self) -> None:
        """The dead leave their groups a moment later, and there is no event for that."""
        until = time.monotonic() + BURIAL_SECONDS
        while any(folder.exists() for folder in self.folders) and time.monotonic() < until:
            for folder in self.folders:
                for path, _, _ in os.walk(folder, topdown=False):
                    with contextlib.suppress(OSError):
                        os.rmdir(path)
            time.sleep(0.01)

    def __enter__(self) -> "Fence":
        return self

    def __exit__(self, *_) -> None:
        self.close()


def left_in(folders: Sequence[Path]) -> list[str]:
    """The groups of zygos."""
    return [path for folder in folders for path, _, _ in os.walk(folder) if Path(path).name.startswith("zygo-")]
