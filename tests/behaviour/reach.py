"""Everything that a job's process could get at, read from outside and so by one means for every language.

As root the test sees what the process sees and more: also what it would have to find, unprotect or grow first
(mremap(2) shows of a mapped file what lies behind the mapping), and the memory of the cell's first process, of which
every job of a warm interpreter is a fork. `look` says what was found and how much it has read at each place.
"""

from __future__ import annotations

import array
import base64
import ctypes
import os
import re
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import host

CHUNK = 16 << 20
OVERLAP = 512  # what lies across two chunks is found all the same
PAGE = 4096
LIBC = ctypes.CDLL(None)
# Mappings that belong to the kernel.
KERNELS = {"[vvar]", "[vvar_vclock]", "[vsyscall]"}


class Canaries:
    """A text that occurs nowhere else, and all the forms in which a path could carry it."""

    def __init__(self) -> None:
        self.prefix = "Zq" + os.urandom(3).hex()
        plain = self.prefix.encode()
        self.forms = {"raw": plain, "utf-16": self.prefix.encode("utf-16-le"), "utf-32": self.prefix.encode("utf-32-le"),
                      "json": "".join(f"\\u{ord(letter):04x}" for letter in self.prefix).encode(),
                      "hex": plain.hex().encode(),
                      **{f"base64 at {shift}": _stable_base64(plain, shift) for shift in range(3)}}

    def text(self, part: str) -> str:
        return f"{self.prefix}-{part}."

    def found_in(self, data: bytes) -> Iterator[str]:
        for form, needle in self.forms.items():
            at = data.find(needle)
            while at >= 0:
                behind = data[at + len(needle):at + len(needle) + 40]
                part = re.match(rb"-([a-z ]+)\.", behind)
                yield part[1].decode() if form == "raw" and part else f"{form}: {behind[:24]!r}"
                at = data.find(needle, at + len(needle))


def _stable_base64(data: bytes, shift: int) -> bytes:
    """The letters that do not depend on what stands before and behind."""
    whole = base64.b64encode(bytes(shift) + data)
    return whole[(shift * 8 + 5) // 6:(shift + len(data)) * 8 // 6]


@dataclass
class Looked:
    """At one place."""

    canaries: Canaries
    size: int = 0
    found: set[str] = field(default_factory=set)

    def take(self, data: bytes) -> None:
        self.size += len(data)
        self.found.update(self.canaries.found_in(data))

    def take_file(self, read: Callable[[int, int], bytes], start: int, end: int | None = None) -> None:
        at, tail = start, b""
        while end is None or at < end:
            data = read(CHUNK if end is None else min(CHUNK, end - at), at)
            if not data:
                return
            self.take(tail + data)
            self.size -= len(tail)
            tail = data[-OVERLAP:]
            at += len(data)


@dataclass(frozen=True)
class Region:
    start: int
    end: int
    rights: str
    name: str
    resident: bool

    @property
    def is_file_in_memory(self) -> bool:
        return self.name.startswith(("/memfd:", "/SYSV", "/dev/zero")) or self.name.endswith("(deleted)")


def regions(pid: int) -> list[Region]:
    found: list[Region] = []
    with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as smaps:
        head: tuple[int, int, str, str] | None = None
        for line in smaps:
            if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \d+ *(.*)", line):
                head = (int(match[1], 16), int(match[2], 16), match[3], match[4].strip())
                found.append(Region(*head, resident=False))
            elif head and line.startswith(("Rss:", "Swap:")) and line.split()[1] != "0":
                found[-1] = Region(*head, resident=True)
    return found


def written_pages(pagemap: int, region: Region) -> Iterator[tuple[int, int]]:
    """Runs of pages that are its own: there, or swapped out, and not those of a file (proc_pid_pagemap(5)), which is
    read as such."""
    entries = array.array("Q", os.pread(pagemap, (region.end - region.start) // PAGE * 8, region.start // PAGE * 8))
    start = None
    for number, entry in enumerate((*entries, 0)):
        is_own = entry >> 62 != 0 and not entry >> 61 & 1
        if is_own and start is None:
            start = number
        elif not is_own and start is not None:
            yield region.start + start * PAGE, region.start + number * PAGE
            start = None


def memory(pid: int, looked: Looked) -> None:
    mem, pagemap = (os.open(f"/proc/{pid}/{name}", os.O_RDONLY) for name in ("mem", "pagemap"))
    try:
        for region in regions(pid):
            if region.name not in KERNELS and region.resident:
                for start, end in written_pages(pagemap, region):
                    looked.take_file(lambda size, at: os.pread(mem, size, at), start, end)
    finally:
        os.close(mem)
        os.close(pagemap)


def numbers_on_stack(pid: int) -> array.array[int]:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as mem:
        stack = next(region for region in regions(pid) if region.name == "[stack]")
        mem.seek(stack.start)
        return array.array("q", mem.read(stack.end - stack.start))


def files_behind_mappings(pid: int, looked: Looked) -> None:
    seen: set[tuple[int, int]] = set()
    for region in regions(pid):
        if not region.is_file_in_memory:
            continue
        with open(f"/proc/{pid}/map_files/{region.start:x}-{region.end:x}", "rb", buffering=0) as file:
            about = os.fstat(file.fileno())
            if (about.st_dev, about.st_ino) not in seen:
                seen.add((about.st_dev, about.st_ino))
                whole_file(file.fileno(), looked)


def whole_file(fd: int, looked: Looked) -> None:
    """But for its holes, which are zeros."""
    end, size = 0, os.fstat(fd).st_size
    while end < size:
        try:
            start = os.lseek(fd, end, os.SEEK_DATA)
        except OSError:  # no more of it
            return
        end = os.lseek(fd, start, os.SEEK_HOLE)
        looked.take_file(lambda room, at: os.pread(fd, room, at), start, end)


def descriptors(pid: int, looked: Looked) -> None:
    for number in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{number}"
        looked.take(os.fsencode(os.readlink(path)))
        about = os.stat(path)
        holds = stat.S_ISREG(about.st_mode) and about.st_size > 0  # those of /proc say 0
        if not holds and not stat.S_ISFIFO(about.st_mode):
            continue
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            if holds:
                whole_file(fd, looked)
            else:
                looked.take(waiting_in_pipe(fd))
        finally:
            os.close(fd)


def waiting_in_pipe(fd: int) -> bytes:
    """It stays there for whoever it is meant for."""
    reader, writer = os.pipe()
    try:
        size = LIBC.tee(fd, writer, 65536, os.SPLICE_F_NONBLOCK)
        return os.read(reader, size) if size > 0 else b""
    finally:
        os.close(reader)
        os.close(writer)


def tree(root: bytes, looked: Looked) -> None:
    for folder, folders, names in os.walk(root):
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            looked.take(name)
            kind = os.lstat(path).st_mode
            if stat.S_ISLNK(kind):
                looked.take(os.readlink(path))
            elif stat.S_ISREG(kind):
                with open(path, "rb", buffering=0) as file:
                    whole_file(file.fileno(), looked)


def scratch(pid: int, looked: Looked) -> None:
    looked.take(os.fsencode(os.readlink(f"/proc/{pid}/cwd")))
    tree(b"/proc/%d/cwd/" % pid, looked)


def words(pid: int, looked: Looked) -> None:
    for name in ("environ", "cmdline", "comm", "stat"):
        with open(f"/proc/{pid}/{name}", "rb") as file:
            looked.take(file.read())


def within(pid: int, flag: str, *command: str) -> bytes:
    """Of a program that runs in one namespace of the process."""
    return subprocess.run(["nsenter", "-t", str(pid), flag, *command], capture_output=True, check=True, timeout=60).stdout


def host_name(pid: int, looked: Looked) -> None:
    looked.take(within(pid, "-u", "uname", "-n"))


def system_v(pid: int, looked: Looked) -> None:
    """No object at all may be there; what it holds does not matter."""
    text = within(pid, "-i", "cat", "/proc/sysvipc/shm", "/proc/sysvipc/sem", "/proc/sysvipc/msg")
    looked.take(text)
    looked.found.update(f"an object: {line.split()[0]}" for line in text.decode().splitlines() if line.split()[0].isdigit())


def queues(pid: int, looked: Looked) -> None:
    looked.take(within(pid, "-i", "unshare", "-m", "sh", "-c", "mount -t mqueue none /mnt && cd /mnt && echo . *"))


def keys(pid: int, looked: Looked) -> None:
    """As the job's user, in its user namespace: those that it may see (proc_keys(5))."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        become(pid)
        with open("/proc/keys", "rb") as file:
            os.write(theirs, file.read()[:60000] or b"none")
        os._exit(0)
    os.close(theirs)
    with open(ours, "rb") as text:
        looked.take(text.read())
    if os.waitpid(child, 0)[1] != 0:
        raise AssertionError(f"nobody could become the user of process {pid}")


def become(pid: int) -> None:
    """The user of a process, in its user namespace. For a child that leaves at once."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        ids = {line.split(":")[0]: int(line.split()[1]) for line in status if line.startswith(("Uid:", "Gid:"))}
    inside = {name: _inside(pid, f"{name.lower()}_map", number) for name, number in ids.items()}
    if os.readlink(f"/proc/{pid}/ns/user") != os.readlink("/proc/self/ns/user"):
        namespace = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY)
        if LIBC.setns(namespace, 0) < 0:
            os._exit(1)
    os.setresgid(inside["Gid"], inside["Gid"], inside["Gid"])
    os.setresuid(inside["Uid"], inside["Uid"], inside["Uid"])


def _inside(pid: int, name: str, number: int) -> int:
    """The id as the process's own namespace counts it."""
    with open(f"/proc/{pid}/{name}", encoding="utf-8") as lines:
        for line in lines:
            first, outside, count = map(int, line.split())
            if outside <= number < outside + count:
                return number - outside + first
    raise AssertionError(f"{number} is not in {name} of process {pid}")


# In every cell, whatever its level; and where a cell has a world of its own.
PLACES: dict[str, Callable[[int, Looked], None]] = {
    "memory": memory, "files behind mappings": files_behind_mappings, "descriptors": descriptors, "scratch": scratch,
    "words": words, "keys": keys}
OF_THE_WORLD: dict[str, Callable[[int, Looked], None]] = {
    "host name": host_name, "system v": system_v, "queues": queues}
OF_THE_FIRST: dict[str, Callable[[int, Looked], None]] = {
    "memory of the first process": memory, "descriptors of the first process": descriptors}


def look(canaries: Canaries, job: int, first: int, *, has_world: bool) -> dict[str, Looked]:
    looks = [(name, job, at) for name, at in (PLACES | (OF_THE_WORLD if has_world else {})).items()]
    looks += [(name, first, at) for name, at in OF_THE_FIRST.items()]
    looked = {name: Looked(canaries) for name, _, _ in looks}
    for name, pid, at in looks:
        at(pid, looked[name])
    return looked


def parents() -> dict[int, int]:
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                    found[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


def comm_of(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as file:
            return file.read().rstrip("\n")
    except OSError:
        return ""


def says(pid: int, name: str) -> str:
    try:
        with open(f"/proc/{pid}/cwd/{name}", encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def job_that_says(daemon: int, name: str, word: str) -> tuple[int, int] | None:
    """The first process of the job that has written `word` into the file `name` of its scratch, or has taken it as its
    own name; and its parent."""
    above = parents()

    def is_ours(pid: int) -> bool:
        while pid > 1 and pid != daemon:
            pid = above.get(pid, 0)
        return pid == daemon

    for pid in above:
        if comm_of(pid) == word and is_ours(pid):
            return pid, above[pid]
    here = {pid for pid in above
            if pid != daemon and is_ours(pid) and says(pid, name) == word and host.role_of(pid) is host.Role.JOB}
    return next(((pid, above[pid]) for pid in sorted(here) if above[pid] in here and above[above[pid]] not in here), None)
