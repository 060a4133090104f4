"""Docker's default seccomp profile, resolved into what an OCI runtime loads.

The profile is a template: a rule can depend on the capabilities of the container, the architecture and the kernel.
Docker's daemon resolves it for each container; here this file does. Calls that the installed libseccomp does not know
are skipped by runc, as they are under Docker.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import re
from collections.abc import Set
from pathlib import Path
from typing import Any

from zygo import CHECKOUT

PACKAGE = "golang-github-docker-docker-dev"
INSIDE_PACKAGE = "usr/share/gocode/src/github.com/docker/docker/profiles/seccomp/default.json"
# The package installed, or only its profile, as tools/setup takes it out.
PLACES = (Path("/", INSIDE_PACKAGE), CHECKOUT / "build/packages" / PACKAGE / "default.json")

ARCHITECTURES = {"x86_64": ("amd64", "SCMP_ARCH_X86_64"), "aarch64": ("arm64", "SCMP_ARCH_AARCH64")}

Profile = dict[str, Any]


def find_profile() -> Path | None:
    return next((path for path in PLACES if path.is_file()), None)


def load(path: Path, version: str) -> Profile:
    """The profile as it is packaged, or with what matters to zygo of the years since."""
    profile: Profile = json.loads(path.read_text(encoding="utf-8"))
    if version == "packaged":
        return profile
    if version == "today":
        return as_of_today(profile)
    raise ValueError(f"no version {version!r} of the profile: packaged or today")


def as_of_today(profile: Profile) -> Profile:
    """Docker 20.10 as of Docker 29: reading the memory of a traceable process is allowed, io_uring is not."""
    rules = [{**rule, "names": [name for name in rule["names"] if not name.startswith("io_uring_")]}
             for rule in profile["syscalls"]]
    rules.append({"names": ["process_vm_readv", "process_vm_writev"], "action": "SCMP_ACT_ALLOW",
                  "includes": {"minKernel": "4.8"}})
    return {**profile, "syscalls": rules}


def resolve(profile: Profile, capabilities: Set[str], machine: str = platform.machine(),
            release: str = os.uname().release) -> Profile:
    """The `linux.seccomp` object of an OCI spec."""
    architecture, token = ARCHITECTURES[machine]
    rules = [rule_of(rule) for rule in profile["syscalls"]
             if applies(rule, architecture, capabilities, version_of(release))]
    family = next(entry for entry in profile["archMap"] if entry["architecture"] == token)
    return {"defaultAction": profile["defaultAction"], "defaultErrnoRet": profile.get("defaultErrnoRet", 1),
            "architectures": [token, *family["subArchitectures"]], "syscalls": rules}


def applies(rule: Profile, architecture: str, capabilities: Set[str], kernel: tuple[int, ...]) -> bool:
    wanted, unwanted = rule.get("includes") or {}, rule.get("excludes") or {}
    if wanted.get("arches") and architecture not in wanted["arches"] or architecture in unwanted.get("arches", ()):
        return False
    if not capabilities.issuperset(wanted.get("caps", ())) or capabilities & set(unwanted.get("caps", ())):
        return False
    return not (wanted.get("minKernel") and kernel < version_of(wanted["minKernel"]))


def version_of(release: str) -> tuple[int, ...]:
    found = re.match(r"(\d+)\.(\d+)", release)
    if not found:
        raise ValueError(f"not a kernel release: {release!r}")
    return tuple(int(part) for part in found.groups())


def rule_of(rule: Profile) -> Profile:
    kept = {key: rule[key] for key in ("names", "action", "errnoRet") if rule.get(key) is not None}
    return {**kept, "args": rule["args"]} if rule.get("args") else kept


# Numbers of x86-64 from which on calls are newer than the packaged profile, and those of them that Docker's own allows
# (moby pull requests 47341 and 50077): cachestat, fchmodat2, futex_wake and its kin, mseal, ...
NEWEST, LATER = 462, {449, 450, 451, 452, 453, 454, 455, 456, 462}
UNUSED = range(335, 424)


def refused_numbers(capabilities: Set[str]) -> list[int]:
    """The calls that the profile refuses in Docker of 2025, whatever their arguments, but for those that libseccomp has no
    number for; empty without a profile, or on another machine."""
    path = find_profile()
    if not path or platform.machine() != "x86_64":
        return []
    rules = resolve(load(path, "today"), capabilities)["syscalls"]
    library = ctypes.CDLL("libseccomp.so.2")
    allowed = {library.seccomp_syscall_resolve_name(name.encode()) for rule in rules if rule["action"] == "SCMP_ACT_ALLOW"
               for name in rule["names"]}
    return [number for number in range(NEWEST + 1) if number not in allowed | LATER and number not in UNUSED]
