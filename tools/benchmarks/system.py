"""What the benches ask of the machine: CPUs, process trees, cgroups, mounts, statistics."""
import contextlib
import os
import platform
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path


class BenchError(Exception):
    """A measurement that could not be made; the sentence is for the reader of the table."""


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


def tails(values: list[float]) -> dict[str, float]:
    return {"p50": percentile(values, 0.5), "p99": percentile(values, 0.99), "max": max(values)}


def machine() -> dict:
    model = next((l.split(":")[1].strip() for l in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in l), "?")
    return {
        "cpu": model, "cpus": len(os.sched_getaffinity(0)), "kernel": platform.release(),
        "load": round(os.getloadavg()[0], 2), "root": os.geteuid() == 0,
    }


def process_tree(root: int) -> list[int]:
    """The process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    tree = [root]
    for pid in tree:
        tree += children.get(pid, [])
    return tree


def _rss_kb(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") // 1024


def _folders(root: str) -> int:
    return sum(len(folders) for _, folders, _ in os.walk(root))


def footprint(root: int | None) -> dict[str, int]:
    """What a process tree holds, and what of the host's is in use. Processes that end meanwhile are left out."""
    held = {"processes": 0, "fds": 0, "rss_kb": 0, "main_rss_kb": _rss_kb(root) if root else 0}
    for pid in process_tree(root) if root else []:
        with contextlib.suppress(OSError):
            fds, rss = len(os.listdir(f"/proc/{pid}/fd")), _rss_kb(pid)
            held["processes"] += 1
            held["fds"] += fds
            held["rss_kb"] += rss
    held["cgroups"] = _folders("/sys/fs/cgroup")
    held["mounts"] = len(Path("/proc/self/mountinfo").read_text().splitlines())
    held["tmp_entries"] = sum(len(os.listdir(d)) for d in ("/tmp", "/dev/shm") if os.path.isdir(d))
    return held
