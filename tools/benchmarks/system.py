"""What the benches ask of the machine: CPUs, process trees, cgroups, mounts, statistics."""
import contextlib
import os
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

PAGE_KB = os.sysconf("SC_PAGESIZE") // 1024
TICKS = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    """A measurement that could not be made; the sentence is for the reader of the table."""


class HostLacks(BenchError):
    """It cannot be made on this host, and nothing is wrong with zygo."""


def progress(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def pinned(cpus: set[int]) -> Iterator[None]:
    """This process, and what it starts meanwhile, on these CPUs."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[round(share * (len(values) - 1))]


def spread(values: list[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def ratios(above: list[float], below: list[float]) -> dict[str, float]:
    """Turn by turn: other load on the machine falls on both sides of a turn."""
    return spread([a / b for a, b in zip(above, below, strict=True)])


def tails(values: list[float]) -> dict[str, float]:
    return {"p50": percentile(values, 0.5), "p99": percentile(values, 0.99), "max": max(values)}


def machine() -> dict:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.split(":")[1].strip() for line in lines if "model name" in line), "?")
    return {
        "cpu": model, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2), "root": os.geteuid() == 0,
    }


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name: the first is the state, field 3 of proc(5)."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def process_tree(root: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                children.setdefault(int(_stat(int(entry))[1]), []).append(int(entry))
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


def children_of(pid: int) -> list[int]:
    """In the order of their pids."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            found += map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return sorted(found)


def cpu_seconds(root: int) -> float:
    """User and system time of a process tree, of those that have ended and were waited for as well.

    Of the living to the nanosecond (schedstat); what they reaped (proc(5): cutime, cstime) is kept so by the kernel,
    and rounded down to 10 ms for each when it is read. Neither root nor a cgroup is needed.
    """
    seconds = 0.0
    for pid in process_tree(root):
        with contextlib.suppress(OSError):
            seconds += sum(map(int, _stat(pid)[13:15])) / TICKS
            for task in os.listdir(f"/proc/{pid}/task"):
                seconds += int(Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0]) / 1e9
    return seconds


def page_faults(pid: int) -> tuple[int, int]:
    """Pages that a process, and the children it has reaped, had filled in: by a trap, or many in one system call."""
    fields = _stat(pid)
    return int(fields[7]) + int(fields[9]), int(fields[8]) + int(fields[10])


def pss_kb(pids: list[int]) -> int:
    """Proportional set size: a page that n processes share counts 1/n in each. Processes that have ended count 0."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except PermissionError:
            raise HostLacks(f"/proc/{pid}/smaps_rollup cannot be read: PSS of such processes needs root") from None
        except OSError:
            continue
        total += next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return total


def shared_memory_kb() -> int:
    """Of the whole machine: files on tmpfs, shared anonymous memory."""
    return next(int(l.split()[1]) for l in Path("/proc/meminfo").read_text().splitlines() if l.startswith("Shmem:"))


def held(pid: int) -> dict[str, int]:
    """Resident memory and descriptors of one process; empty once it has ended or if it is not ours to look at."""
    try:
        rss = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_KB
        return {"rss_kb": rss, "fds": len(os.listdir(f"/proc/{pid}/fd"))}
    except OSError:
        return {}


def traces() -> set[str]:
    """What a zygo that has ended may have left on the host; what another one is using is none of it."""
    groups = [folder for folder, _, _ in os.walk("/sys/fs/cgroup") if "zygo" in folder and not _in_use(folder)]
    files = [f"{folder}/{name}" for folder in ("/tmp", "/dev/shm") if os.path.isdir(folder)
             for name in os.listdir(folder) if "zygo" in name]
    return {*groups, *files, *Path("/proc/self/mountinfo").read_text().splitlines()}


def _in_use(group: str) -> bool:
    for folder, _, _ in os.walk(group):
        with contextlib.suppress(OSError):
            if Path(folder, "cgroup.procs").read_text():
                return True
    return False
