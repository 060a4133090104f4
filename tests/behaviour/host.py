"""What a test can see of the host, to prove that nothing is left there."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import os
import select
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from zygo import PATIENCE

PR_SET_CHILD_SUBREAPER = 36
FIRST_HOLDER = 30000  # shim/borrow/holder.cc
TEMPORARY = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path("/run"))


def adopt_orphans() -> None:
    """From now on a process whose ancestors died below us becomes our child: none can slip away unseen."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


def tells_of_writes() -> bool:
    """Whether the kernel tells which pages of a process are written to (userfaultfd with WP_ASYNC, Linux 6.7)."""
    release = tuple(int(number) for number in os.uname().release.split("-")[0].split(".")[:2])
    call = {"x86_64": 323, "aarch64": 282}.get(os.uname().machine, -1)
    descriptor = ctypes.CDLL(None).syscall(call, os.O_CLOEXEC | os.O_NONBLOCK | 1)  # UFFD_USER_MODE_ONLY
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0 and release >= (6, 7)


def stat_of(pid: int) -> tuple[int, str] | None:
    """Parent and state letter of a process, None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(fields[1]), fields[0]


def descendants(of: int) -> set[int]:
    """Living processes below a process; zombies do not count."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    parents = {pid: stat for pid in pids if (stat := stat_of(pid))}
    below, frontier = set(), {of}
    while frontier:
        frontier = {pid for pid, (parent, _) in parents.items() if parent in frontier} - below
        below |= frontier
    return {pid for pid in below if parents[pid][1] != "Z"}


def counts_waiting() -> bool:
    """Whether the kernel counts how long threads wait for a CPU (CONFIG_SCHED_INFO)."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[0]) > 0
    except (FileNotFoundError, IndexError):
        return False


def await_end(pid: int, timeout: float) -> bool:
    """Whether the process ends within so many seconds."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], timeout)[0])
    finally:
        os.close(process)


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children(of: int) -> list[int]:
    """Living children of a process, by all of its threads; none if it ends while we look."""
    found: list[int] = []
    try:
        for task in Path(f"/proc/{of}/task").iterdir():
            found += [int(pid) for pid in (task / "children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass
    return [pid for pid in found if (stat := stat_of(pid)) and stat[1] != "Z"]


def numbers_of(pid: int) -> list[int]:
    """Of a process, in each pid namespace from ours down to its own; empty when it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return []
    return [int(word) for line in text.splitlines() if line.startswith("NSpid:") for word in line.split()[1:]]


def status_of(pid: int) -> dict[str, list[str]]:
    """The words of each line of /proc/PID/status."""
    lines = (line.partition(":") for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: words.split() for name, _, words in lines}


class Role(enum.Enum):
    """Of a child of a cell's first process."""

    HOLDER = enum.auto()  # of memory that the jobs borrow (shim/borrow)
    JOB = enum.auto()
    GONE = enum.auto()


def links_of_descriptors(pid: int) -> dict[str, str]:
    """What each descriptor of a process is, by its path in /proc. Those that are closed while we look are left out; an OSError
    says that the process has ended, or is not for us to look at."""
    links = {}
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        with contextlib.suppress(FileNotFoundError):
            links[path] = os.readlink(path)
    return links


def role_of(pid: int) -> Role:
    """A holder has a number that no job has. Without a pid namespace it has a descriptor, of the list of its parent's children,
    that a job closes before it runs its program. One that goes while we look has no role: it may have been either."""
    numbers = numbers_of(pid)
    if len(numbers) > 1:
        return Role.HOLDER if any(number >= FIRST_HOLDER for number in numbers[1:]) else Role.JOB
    links: dict[str, str] = {}
    try:
        links = links_of_descriptors(pid)
    except (FileNotFoundError, ProcessLookupError):
        return Role.GONE
    except PermissionError:
        pass
    if any(link.endswith("/children") and link != f"/proc/{pid}/task/{pid}/children" for link in links.values()):
        return Role.HOLDER
    stat = stat_of(pid)
    return Role.JOB if stat and stat[1] != "Z" else Role.GONE


def holder_of(cell: int) -> int:
    """Of a cell that lends its memory, by its first process."""
    holder, = (pid for pid in children(cell) if role_of(pid) is Role.HOLDER)
    return holder


def jobs_of(cell: int) -> list[int]:
    """The children of its first process that are jobs. A holder that its cell cannot use goes while we look."""
    return [pid for pid in children(cell) if role_of(pid) is Role.JOB]


def templates_of(zygo_pid: int) -> list[int]:
    """Its children but for the front of a service, which runs nothing."""
    return [pid for pid in children(zygo_pid) if name_of(pid) != "zygo-front"]


def chains_of(zygo_pid: int) -> list[tuple[int, int, int]]:
    """(template, cell, job) of each job that is running below a zygo."""
    return [(template, cell, job) for template in templates_of(zygo_pid) for cell in children(template)
            for job in jobs_of(cell)]


def chain_of(zygo_pid: int, patience: float = 20) -> tuple[int, int, int]:
    """The same of the one job that is running, or will be."""
    deadline = time.monotonic() + patience * PATIENCE
    while not (chains := chains_of(zygo_pid)):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no job is running below process {zygo_pid}")
        time.sleep(0.01)  # /proc gives no event for a new process.
    return chains[0]


def job_of(zygo_pid: int) -> int:
    return chain_of(zygo_pid)[2]


def ends(pidfd: int, patience: float = 20) -> bool:
    """Whether a process has ended, or does so soon; closes its descriptor."""
    try:
        return bool(select.select([pidfd], [], [], patience * PATIENCE)[0])
    finally:
        os.close(pidfd)


def kill_and_await(pid: int) -> None:
    """A process of any parent; one that is gone already is no trouble."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [])
    except ProcessLookupError:
        pass
    finally:
        os.close(process)


def mounts() -> set[str]:
    return {line for line in Path("/proc/self/mountinfo").read_text().splitlines() if "zygo" in line}


def cgroups() -> set[str]:
    """Control groups of zygo's that hold nobody; one with processes in it is still in use by somebody."""
    return {folder for folder, _, _ in os.walk("/sys/fs/cgroup") if "zygo" in folder.lower() and not in_use(folder)}


def in_use(group: str) -> bool:
    for folder, _, files in os.walk(group):
        if "cgroup.procs" in files:
            try:
                if Path(folder, "cgroup.procs").read_text().strip():
                    return True
            except OSError:
                continue
    return False


def temporary() -> set[str]:
    return {str(path) for folder in TEMPORARY if folder.is_dir() for path in folder.glob("*zygo*")}


@dataclass(frozen=True)
class Snapshot:
    processes: frozenset[int]
    mounts: frozenset[str]
    cgroups: frozenset[str]
    temporary: frozenset[str]

    @classmethod
    def take(cls) -> Snapshot:
        return cls(frozenset(descendants(os.getpid())), frozenset(mounts()), frozenset(cgroups()),
                   frozenset(temporary()))

    def leftovers(self, patience: float = 3) -> list[str]:
        """What is there now and was not there then, after giving the kernel a moment to bury the dead."""
        deadline = time.monotonic() + patience * PATIENCE
        while (left := self.since()) and time.monotonic() < deadline:
            time.sleep(0.02)  # There is no event for "a cgroup directory went away".
        return left

    def await_the_dead(self, patience: float = 10) -> None:
        """Until no process is left that was not there then."""
        deadline = time.monotonic() + patience * PATIENCE
        while left := descendants(os.getpid()) - self.processes:
            if time.monotonic() > deadline:
                raise TimeoutError(f"still there: {left}")
            time.sleep(0.01)  # /proc gives no event for processes of other parents.

    def since(self) -> list[str]:
        now = Snapshot.take()
        return [f"{kind}: {item}" for kind in ("processes", "mounts", "cgroups", "temporary")
                for item in sorted(getattr(now, kind) - getattr(self, kind))]


def open_descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident_kb(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise ValueError(f"process {pid} has no VmRSS")
