"""A directory shown again, read-only, by a file system that takes its time: each name that is looked up, each file that is
opened, listed or read from (at most 128 KiB at once) costs a delay, as over a network. Run as a program, it serves until
it is unmounted: slow_disk.py SOURCE MOUNT_POINT DELAY_MS"""
import errno
import itertools
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .system import BenchError, HostLacks


@dataclass
class Looks:
    """How often the disk was asked; known when it is unmounted."""

    count: int = 0


@contextmanager
def slow_disk(source: Path, mount_point: Path, delay_ms: float) -> Iterator[Looks]:
    """The kernel's caches are empty at the start: what it knows of files goes with the mount."""
    if os.geteuid() != 0 or not os.access("/dev/fuse", os.R_OK | os.W_OK):
        raise HostLacks("a slow disk is a FUSE file system, which needs root and /dev/fuse")
    command = [sys.executable, "-B", "-m", "benchmarks.slow_disk", str(source), str(mount_point), str(delay_ms)]
    server = subprocess.Popen(command, cwd=Path(__file__).resolve().parents[1], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert server.stdout and server.stderr
        if server.stdout.readline() != b"mounted\n":
            said = server.stderr.read().decode(errors="replace").strip()
            lacks = "No module named 'fusepy'" in said
            raise HostLacks("python3-fusepy is not installed") if lacks else BenchError(f"slow disk: {said[-300:]}")
        looks = Looks()
        yield looks
        subprocess.run(["umount", str(mount_point)], check=True)
        looks.count = int(server.stdout.readline())
    finally:
        if os.path.ismount(mount_point):
            subprocess.run(["umount", "--lazy", str(mount_point)], check=True)
        server.wait(30)


def _serve(source: str, mount_point: str, delay_ms: float) -> None:
    import fusepy

    looks = itertools.count()

    class SlowDisk(fusepy.Operations):
        def __call__(self, operation: str, *arguments):
            if operation in {"getattr", "open", "readdir", "readlink", "read"}:
                next(looks)
                time.sleep(delay_ms / 1000)
            return super().__call__(operation, *arguments)

        def init(self, _path: str) -> None:
            print("mounted", flush=True)

        def destroy(self, _path: str) -> None:
            print(next(looks), flush=True)

        def getattr(self, path: str, _handle: int | None = None) -> dict[str, float]:
            facts = self.asked(os.lstat, source + path)
            names = ("st_mode", "st_size", "st_mtime", "st_ctime", "st_atime", "st_nlink", "st_uid", "st_gid")
            return {name: getattr(facts, name) for name in names}

        def readdir(self, path: str, _handle: int) -> list[str]:
            return [".", "..", *self.asked(os.listdir, source + path)]

        def readlink(self, path: str) -> str:
            return self.asked(os.readlink, source + path)

        def open(self, path: str, _flags: int) -> int:
            return self.asked(os.open, source + path, os.O_RDONLY)

        def read(self, _path: str, size: int, offset: int, handle: int) -> bytes:
            return os.pread(handle, size, offset)

        def release(self, _path: str, handle: int) -> None:
            os.close(handle)

        @staticmethod
        def asked(call, *arguments):
            try:
                return call(*arguments)
            except OSError as error:
                raise fusepy.FuseOSError(error.errno or errno.EIO) from None

    fusepy.FUSE(SlowDisk(), mount_point, foreground=True, ro=True, allow_other=True)


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], float(sys.argv[3]))
