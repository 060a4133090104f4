"""Every isolation layer is there for a reason: a probe that is contained with it notices when it is taken out.

The binary takes layers out with `--without LAYER[,LAYER]`, and only under ZYGO_TESTING=1. Layers overlap on purpose, so
for most probes the others that also contain it must be out both times; then the layer in question makes the difference
alone.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import socket
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import host
import zygo
from zygo import Result, ZygoTestCase

PROBE = (Path(zygo.__file__).parent / "probes/layers.py").read_text()
DISK_MB, OPEN_FILES, MEMORY_MB, PIDS, CPU_MS = 8, 99, 64, 12, int(500 * zygo.PATIENCE)
IPC_CREAT, IPC_RMID = 0o1000, 0


@dataclass(frozen=True)
class Layer:
    """A layer, the layers that must also be out for its probe to see the difference, and what the test needs."""

    name: str
    also_out: tuple[str, ...] = ()
    needs_root: bool = False
    limits: dict[str, int] = field(default_factory=dict)
    profile: str = "default"
    neighbour: bool = False  # another cell of the same template is made between the making of ours and its job


# One line per layer of the contract's `enforced`. A cell without a namespace of its own shares its template's, so the
# probes look for what cells could do to each other or to the template. An ordinary user never had what `userns` or `uid`
# take away, and `cgroup.*` only in a delegated subtree, so their probes need root, or that.
LAYERS = (
    Layer("userns", also_out=("uid", "caps", "seccomp", "rlimits"), needs_root=True),
    Layer("pidns", also_out=("seccomp", "landlock")),
    Layer("mntns", also_out=("userns",), needs_root=True, neighbour=True),
    Layer("netns", also_out=("seccomp", "landlock")),
    Layer("ipcns", also_out=("seccomp",)),
    Layer("utsns"),
    Layer("cgroup.memory", also_out=("rlimits",), needs_root=True, limits={"memory_mb": MEMORY_MB}),
    Layer("cgroup.pids", also_out=("rlimits", "seccomp"), needs_root=True, limits={"pids": PIDS}),
    Layer("cgroup.cpu", needs_root=True, limits={"cpu_ms": CPU_MS}, profile="subprocess"),
    Layer("landlock", also_out=("seccomp",)),
    Layer("seccomp"),
    Layer("uid", needs_root=True),
    Layer("caps", also_out=("seccomp",)),
    Layer("nnp", also_out=("seccomp", "landlock")),
    Layer("rlimits"),
    Layer("fds"),
    Layer("scratch"),
)


class Bait:
    """What the probes look for: a process, a file, a listener and a System V segment that belong to this test."""

    def __init__(self, folder: Path) -> None:
        self.key = 0x5A000000 | os.getpid() & 0xFFFFFF
        self.file = folder / "marker"
        self.file.write_text("")
        folder.chmod(0o777)
        self.file.chmod(0o666)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.segment = self.libc.shmget(self.key, 4096, IPC_CREAT | 0o666)
        if self.segment < 0:
            raise OSError(ctypes.get_errno(), "shmget")

    def facts(self) -> str:
        return json.dumps({"pid": os.getpid(), "file": str(self.file), "key": self.key, "name": os.uname().nodename,
                           "port": self.listener.getsockname()[1], "open_files": OPEN_FILES,
                           "disk_bytes": DISK_MB << 20, "cpu_s": CPU_MS / 1000})

    def close(self) -> None:
        self.listener.close()
        self.libc.shmctl(self.segment, IPC_RMID, None)
        self.file.unlink()


class ALayer(ZygoTestCase):
    bait: Bait
    absent: set[str]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = Path(f"/var/tmp/behaviour-layers-{os.getpid()}")
        folder.mkdir()
        cls.addClassCleanup(folder.rmdir)
        cls.bait = Bait(folder)
        cls.addClassCleanup(cls.bait.close)
        doctor = json.loads(zygo.run_cli("doctor", "--json").stdout)
        cls.absent = {name for name, layer in doctor["layers"].items() if not available(layer)}

    def probe(self, layer: Layer, out: tuple[str, ...]) -> Result:
        options = ("--without", ",".join(out)) if out else ()
        limits = {"disk_mb": DISK_MB, "open_files": OPEN_FILES, **layer.limits}
        jobs: list[zygo.Job] = [{"id": "only", "source": PROBE, "argv": [layer.name, self.bait.facts()], "limits": limits,
                                 "policy": {"profile": layer.profile}}]
        if layer.neighbour:
            # Jobs of one size share a cell, so the probe runs in the first one, after the second was made; with a heap
            # that is asked for the first one stays.
            options += ("--heap", "huge")
            jobs = [{"id": "first", "source": "", "limits": limits},
                    {"id": "neighbour", "source": "", "limits": {**limits, "disk_mb": DISK_MB + 1}}, *jobs]
        return zygo.run_batch(jobs, "--workers", "1", *options, env=zygo.environment(ZYGO_TESTING="1"))["only"]

    def skip_what_cannot_be_seen(self, layer: Layer) -> None:
        delegated = layer.name.startswith("cgroup.") and layer.name not in self.absent
        if layer.needs_root and os.geteuid() != 0 and not delegated:
            self.skipTest(f"{layer.name}: needs root, an ordinary user cannot see the difference")
        if layer.name in self.absent:
            self.skipTest(f"{layer.name}: this host does not give it (see `zygo doctor`)")

    def assertMakesTheDifference(self, layer: Layer) -> None:
        inside = self.probe(layer, layer.also_out)
        outside = self.probe(layer, (*layer.also_out, layer.name))

        self.assertFalse(noticed(inside), f"with {layer.name}: {zygo.brief(inside)}")
        self.assertTrue(noticed(outside), f"without {layer.name}: {zygo.brief(outside)}")
        self.assertIn(layer.name, inside["enforced"])
        for name in (*layer.also_out, layer.name):
            self.assertNotIn(name, outside["enforced"], "a layer that is out must not be listed as enforced")


def available(layer: Any) -> bool:
    """A layer of `doctor --json`: an object that says whether it is there."""
    return bool(layer.get("available", layer.get("ok"))) if isinstance(layer, dict) else bool(layer)


def noticed(result: Result) -> bool:
    """The probe said so. One that was stopped, or failed, did not get through."""
    return result["stdout"]["text"].strip() == "true"


def add_test(layer: Layer) -> None:
    def test(self: ALayer) -> None:
        self.skip_what_cannot_be_seen(layer)
        self.assertMakesTheDifference(layer)

    name = layer.name.replace(".", "_")
    test.__doc__ = f"{layer.name}: contained with it, noticed without it"
    setattr(ALayer, f"test_{name}_makes_the_difference", test)


for each in LAYERS:
    add_test(each)


class TheCgroupNamespace(ZygoTestCase):
    """Nothing inside shows it, for there is no /proc: the host looks at a job that sleeps."""

    def namespace_of_a_job(self, *options: str) -> str:
        with mock.patch.dict(os.environ, ZYGO_TESTING="1"), zygo.Coprocess("--workers", "1", *options) as zygo_batch:
            zygo_batch.send(zygo.lines_of([{"id": "sleeper", "source": f"import time; time.sleep({zygo.PATIENCE})"}]))
            pid = host.job_of(zygo_batch.process.pid)
            namespace = os.readlink(f"/proc/{pid}/ns/cgroup")
            self.assertLabel(zygo_batch.result(), "OK")
        return namespace

    def test_makes_the_difference(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("needs root to look at the namespaces of another user's process")
        own = os.readlink("/proc/self/ns/cgroup")

        self.assertNotEqual(self.namespace_of_a_job(), own)
        self.assertEqual(self.namespace_of_a_job("--without", "cgroupns"), own)


class CodeInMemory(ZygoTestCase):
    """What stands behind the filter where the kernel has it: it refuses new code, and keeps the old in its place."""

    SYSTEM_CALL = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
"""

    def printed(self, source: str, *options: str, **job: Any) -> str:
        how = {"env": zygo.environment(ZYGO_TESTING="1")}
        result = zygo.run_job(self.SYSTEM_CALL + source, "--heap", "huge", *options, how=how, **job)
        self.assertLabel(result, "OK")
        return result["stdout"]["text"].strip()

    def needs_linux(self, major: int, minor: int) -> None:
        found = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
        if found < (major, minor):
            self.skipTest(f"needs Linux {major}.{minor}, this is {found[0]}.{found[1]}")

    def test_is_not_made_even_without_the_filter(self) -> None:
        self.needs_linux(6, 3)
        turns = "page = libc.mmap(None, 4096, 3, 0x22, -1, 0)\nprint(libc.mprotect(page, 4096, 5), ctypes.get_errno())"

        self.assertEqual(self.printed(turns, "--without", "seccomp"), "-1 13")
        self.assertEqual(self.printed(turns), "-1 13")

    def test_is_made_where_the_profile_runs_what_was_written(self) -> None:
        turns = "page = libc.mmap(None, 4096, 3, 0x22, -1, 0)\nprint(libc.mprotect(page, 4096, 5))"

        self.assertEqual(self.printed(turns, policy={"profile": "subprocess"}), "0")

    def test_stays_in_its_place(self) -> None:
        """Of the C library and of the interpreter; what the program itself has mapped goes as ever."""
        self.needs_linux(6, 10)
        source = """
page = 4096
for function in (libc.getpid, ctypes.pythonapi.Py_IsInitialized):
    text = ctypes.cast(function, ctypes.c_void_p).value & -page
    for refused in (libc.munmap(text, page), libc.mprotect(text, page, 3),
                    libc.mmap(text, page, 3, 0x32, -1, 0)):
        print(refused in (-1, 2**64 - 1) and ctypes.get_errno(), end=" ")
print(libc.munmap(libc.mmap(None, page, 3, 0x22, -1, 0), page))
"""

        self.assertEqual(self.printed(source), "1 1 1 1 1 1 0")


class TakingLayersOut(ZygoTestCase):
    def test_is_refused_outside_tests(self) -> None:
        """Without ZYGO_TESTING=1 the option does not exist: nobody loses a layer by a slip."""
        for command in (("run", "--without", "seccomp", "-"), ("batch", "--without", "seccomp", "-")):
            with self.subTest(command[0]):
                self.assertNotIn(zygo.run_cli(*command, stdin=b"print(1)").code, (0, 1))

    def test_refuses_an_unknown_name(self) -> None:
        ended = zygo.run_cli("run", "--without", "sekkomp", "-", stdin=b"print(1)",
                             env=zygo.environment(ZYGO_TESTING="1"))

        self.assertNotEqual(ended.code, 0)
        self.assertIn("sekkomp", ended.stderr)

    def test_nothing_out_enforces_every_layer_the_host_gives(self) -> None:
        result = zygo.run_job("print(1)")

        doctor = json.loads(zygo.run_cli("doctor", "--json").stdout)
        given = {name for name, layer in doctor["layers"].items() if available(layer)}
        self.assertIn("seccomp", given)
        self.assertLessEqual(given & ({layer.name for layer in LAYERS} | {"cgroupns"}), set(result["enforced"]))

    def test_a_job_that_insists_on_what_is_out_does_not_run(self) -> None:
        """`policy.require` of the job, not of the command: our trouble, never the program's."""
        job = {"source": "print('ran')", "policy": {"require": ["full", "landlock"]}}
        how = {"env": zygo.environment(ZYGO_TESTING="1")}

        with_it = zygo.run_job(job["source"], policy=job["policy"], how=how)
        ended = zygo.run_cli("batch", "-", "--without", "landlock", stdin=zygo.lines_of([job]), **how)
        (without,) = zygo.results_of(ended.out)

        self.assertLabel(with_it, "OK")
        self.assertLabel(without, "SandboxError")
        self.assertEqual(without["detail"]["step"], "require")
        self.assertIn("landlock", without["detail"]["message"])
        self.assertEqual(without["stdout"]["text"], "")

    def test_the_hosts_name_is_still_its_own(self) -> None:
        """Without `utsns` nothing may rename the host."""
        before = os.uname().nodename

        zygo.run_job("print(1)", "--without", "utsns", how={"env": zygo.environment(ZYGO_TESTING="1")})

        self.assertEqual(os.uname().nodename, before)


if __name__ == "__main__":
    unittest.main()
