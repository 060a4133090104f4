"""The places zygo is deployed in, as data: what their engines grant and refuse."""

from __future__ import annotations

from dataclasses import dataclass, replace

# Docker, and Kubernetes without a security context, leave these to root in a container.
DOCKER_CAPABILITIES = frozenset(f"CAP_{name}" for name in (
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW",
    "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"))


@dataclass(frozen=True)
class Environment:
    """One way to start a container. `seccomp`: Docker's profile as packaged, as of today, or none."""

    name: str
    level: str  # what zygo finds there by itself
    capabilities: frozenset[str] | None = DOCKER_CAPABILITIES  # None: all that we have
    user: int = 0
    seccomp: str | None = "packaged"
    no_new_privileges: bool = False
    masked: bool = True  # parts of /proc and /sys are hidden or read-only
    cgroups_writable: bool = False
    root_writable: bool = True


DOCKER = Environment("docker", "contained")
# People who want namespaces in Docker are told to add this, short of everything.
SYS_ADMIN = Environment("sysadmin", "full", capabilities=DOCKER_CAPABILITIES | {"CAP_SYS_ADMIN"}, seccomp=None)
PRIVILEGED = Environment("privileged", "full", capabilities=None, seccomp=None, masked=False, cgroups_writable=True)
# A pod that meets Kubernetes' "restricted" standard, in its strictest form.
RESTRICTED = Environment("restricted", "minimal", capabilities=frozenset(), user=10001, no_new_privileges=True,
                         root_writable=False)
# Docker 29 lets a process look into its own children's memory and has taken io_uring out; see seccomp.py.
TODAYS_DOCKER = replace(DOCKER, name="todays-docker", seccomp="today")
# `docker run --user 10001`: as restricted, but set-user-id programs work and the root can be written.
PLAIN_USER = replace(DOCKER, name="plain-user", level="minimal", user=10001)
