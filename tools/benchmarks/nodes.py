"""The nodes of sessions that a zygo has, looked at from outside: they are files in memory, which its engine has open."""
import contextlib
import os
import struct
from dataclasses import dataclass

from .system import HostLacks, process_tree

# shim/state/format.h
HEADER = struct.Struct("<8s16xII104x")
MAGIC = b"zygnode1"
AREA_BYTES, RUN = 56, struct.Struct("<8xQ12xI")
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Nodes:
    count: int = 0
    file_bytes: int = 0
    page_bytes: int = 0  # of the processes' own pages; the rest is tables and files

    def __sub__(self, before: "Nodes") -> "Nodes":
        return Nodes(self.count - before.count, self.file_bytes - before.file_bytes, self.page_bytes - before.page_bytes)


def nodes_of(root: int) -> Nodes:
    """Of a process and all that descend from it."""
    seen: dict[tuple[int, int], tuple[int, int]] = {}
    for pid in process_tree(root):
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except PermissionError:
            raise HostLacks(f"/proc/{pid}/fd cannot be read: to look at nodes needs root") from None
        except OSError:
            continue
        for name in names:
            path = f"/proc/{pid}/fd/{name}"
            with contextlib.suppress(FileNotFoundError):
                if os.readlink(path).startswith("/memfd:zygo-node"):
                    about = os.stat(path)
                    if (about.st_dev, about.st_ino) not in seen:
                        seen[about.st_dev, about.st_ino] = about.st_blocks * 512, _pages(path)
    return Nodes(len(seen), sum(size for size, _ in seen.values()), PAGE_BYTES * sum(pages for _, pages in seen.values()))


def _pages(path: str) -> int:
    with open(path, "rb") as file:
        magic, areas, runs = HEADER.unpack(file.read(HEADER.size))
        file.seek(HEADER.size + areas * AREA_BYTES)
        own = sum(pages for pages, node in RUN.iter_unpack(file.read(runs * RUN.size)) if node == 0)
        if magic != MAGIC or own * PAGE_BYTES > os.fstat(file.fileno()).st_size:
            raise HostLacks(f"{path} is a node of another format than this checkout's")
        return own
