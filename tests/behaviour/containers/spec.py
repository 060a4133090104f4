"""An OCI runtime spec for an environment: what runc is told, down to the mounts that Docker makes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import seccomp
from .environments import Environment

HIDDEN = ["/proc/acpi", "/proc/asound", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/latency_stats",
          "/proc/sched_debug", "/proc/scsi", "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap",
          "/sys/firmware"]
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]
# Docker makes a cgroup namespace where the host has cgroup v2 alone.
UNIFIED = Path("/sys/fs/cgroup/cgroup.controllers").exists()
NAMESPACES = ["mount", "network", "uts", "pid", "ipc", *(["cgroup"] if UNIFIED else [])]
CAPABILITY_NAMES = (
    "CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE "
    "NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN "
    "SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE "
    "MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE").split()

Mount = dict[str, Any]


@dataclass(frozen=True)
class Container:
    """What one run needs beside its environment. `binds`: (source, target, may be written)."""

    root: Path
    command: Sequence[str]
    cgroup: str
    binds: Sequence[tuple[Path, str, bool]] = ()
    variables: dict[str, str] = field(default_factory=dict)
    memory: int = 4 << 30
    pids: int = 2048


def oci_spec(environment: Environment, container: Container, profile: seccomp.Profile | None) -> dict[str, Any]:
    linux: dict[str, Any] = {
        "namespaces": [{"type": kind} for kind in NAMESPACES],
        "cgroupsPath": container.cgroup,
        "resources": {"devices": [{"allow": environment.cgroups_writable, "access": "rwm"}],
                      "memory": {"limit": container.memory}, "pids": {"limit": container.pids}},
        "maskedPaths": HIDDEN if environment.masked else [],
        "readonlyPaths": READ_ONLY if environment.masked else [],
    }
    capabilities = capabilities_of(environment)
    if profile is not None:
        linux["seccomp"] = seccomp.resolve(profile, capabilities)
    return {"ociVersion": "1.0.2", "process": process(environment, container, sorted(capabilities)), "linux": linux,
            "root": {"path": str(container.root), "readonly": not environment.root_writable},
            "hostname": environment.name, "mounts": mounts(environment, container)}


def process(environment: Environment, container: Container, capabilities: list[str]) -> dict[str, Any]:
    active = [] if environment.user else capabilities
    variables = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp",
                 **container.variables}
    return {"terminal": False, "cwd": "/", "args": list(container.command),
            "env": [f"{name}={value}" for name, value in variables.items()],
            "user": {"uid": environment.user, "gid": environment.user},
            "capabilities": {"bounding": capabilities, "permitted": active, "effective": active},
            "noNewPrivileges": environment.no_new_privileges}


def capabilities_of(environment: Environment) -> frozenset[str]:
    """Those of the environment; a container cannot be given one that we lack, as in a container ourselves."""
    found = re.search(r"^CapBnd:\s*(\w+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found, "/proc/self/status has no CapBnd"
    held = int(found.group(1), 16)
    ours = frozenset(f"CAP_{name}" for number, name in enumerate(CAPABILITY_NAMES) if held >> number & 1)
    return ours if environment.capabilities is None else environment.capabilities & ours


def mounts(environment: Environment, container: Container) -> list[Mount]:
    read_only = [] if environment.cgroups_writable else ["ro"]
    quiet = ["nosuid", "noexec", "nodev"]
    return [
        mount("/proc", "proc", quiet),
        mount("/dev", "tmpfs", ["nosuid", "strictatime", "mode=755", "size=65536k"]),
        mount("/dev/pts", "devpts", ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5"]),
        mount("/sys", "sysfs", [*quiet, *read_only]),
        mount("/sys/fs/cgroup", "cgroup", [*quiet, *read_only]),
        mount("/dev/mqueue", "mqueue", quiet),
        mount("/dev/shm", "tmpfs", [*quiet, "mode=1777", "size=65536k"]),
        mount("/tmp", "tmpfs", ["nosuid", "nodev", "mode=1777"]),
        *(mount(target, "bind", ["rbind", "rprivate", "rw" if writable else "ro"], str(source))
          for source, target, writable in container.binds),
    ]


def mount(target: str, kind: str, options: list[str], source: str = "") -> Mount:
    return {"destination": target, "type": kind, "source": source or kind, "options": options}
