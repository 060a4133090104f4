"""`zygo selfcheck`: all is held where all is in force, and each layer that is taken out is missed by name."""

from __future__ import annotations

import functools
import json
import os
import platform
import signal
import subprocess
import sys
import unittest
from pathlib import Path
from typing import Any

import host
import zygo
from zygo import ZygoTestCase

LEVELS = ("full", "contained", "minimal")
# Each row has the level, what is taken out, and the attempts that must then get through. System V objects, keys and
# the like stay refused whatever is taken out: the supervisor's own filter, which jobs inherit, denies them as well.
MISSED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("full", "seccomp", ("30_sockets", "40_namespaces", "42_privileges", "45_foreign_numbers")),
    ("full", "landlock", ("22_signal_processes",)),
    ("full", "pidns,landlock,seccomp", ("21_list_processes", "22_signal_processes")),
    ("full", "netns,landlock,seccomp", ("31_connect",)),
    ("full", "userns,uid,caps,seccomp,rlimits", ("24_limits_of_others", "41_mount", "42_privileges", "43_become_root")),
    ("full", "caps", ("43_become_root",)),
    ("full", "nnp,landlock,seccomp", ("42_privileges",)),
    ("full", "rlimits", ("69_many_descriptors",)),
    ("full", "fds", ("50_descriptors",)),
    ("full", "cgroup.memory,rlimits", ("layer",)),
    ("contained", "landlock,seccomp", ("10_read_files", "12_write_outside", "31_connect")),
    ("contained", "fds", ("50_descriptors",)),
    ("minimal", "landlock,seccomp", ("10_read_files", "12_write_outside", "22_signal_processes", "31_connect")),
    ("minimal", "rlimits", ("69_many_descriptors",)),
)


# Calls of i386 from a program of 64 bits: exit(7).
DOOR = """import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(bytes.fromhex("bb07000000b801000000cd80"))
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""


@functools.cache
def is_there(attempt: str) -> bool:
    """Whether this machine has what an attempt needs: some have no int 0x80 (ia32_emulation=off, some hypervisors)."""
    if attempt != "45_foreign_numbers" or platform.machine() != "x86_64":
        return True
    ended = subprocess.run([sys.executable, "-c", DOOR], check=False, timeout=60)
    if ended.returncode == 7:
        return True
    print(f"SKIPPED in part: this machine has no calls of i386 (int 0x80 ended as {ended.returncode})", file=sys.stderr)
    return False


def selfcheck(*options: str, **extra: str) -> tuple[int, dict[str, Any]]:
    ended = zygo.run_cli("selfcheck", "--json", *options, timeout=300, env=zygo.environment(**extra))
    if not ended.out:
        raise AssertionError(f"selfcheck {options} ended with {ended.code}: {ended.stderr[-2000:]}")
    return ended.code, json.loads(ended.out)


def standing(report: dict[str, Any], *wanted: str) -> dict[str, str]:
    return {each["name"]: each["seen"] for each in report["attempts"] if each["standing"] in wanted}


def left_behind() -> set[str]:
    """What a selfcheck lays on the host while it runs."""
    files = {str(path) for folder in ("/var/tmp", "/dev/shm", "/tmp", "/usr", "/etc", "/")
             for pattern in ("zygo-selfcheck-*", "zygo-escaped*") for path in Path(folder).glob(pattern)}
    objects = set()
    for kind in ("shm", "sem", "msg"):
        lines = Path("/proc/sysvipc", kind).read_text().splitlines()[1:]
        objects |= {f"{kind} {line.split()[0]}" for line in lines if int(line.split()[0]) >> 24 == 0x5b}
    return files | objects


class Selfcheck(ZygoTestCase):
    def given_levels(self) -> list[str]:
        levels = json.loads(zygo.run_cli("doctor", "--json").out)["levels"]
        return [level for level in LEVELS if levels[level]["available"]]

    def test_holds_at_every_level_of_this_host(self) -> None:
        levels = self.given_levels()
        self.assertTrue(levels, "this host gives no level at all")
        for level in levels:
            with self.subTest(level):
                code, report = selfcheck("--level", level)

                self.assertEqual(standing(report, "escaped", "unclear"), {})
                self.assertEqual((code, report["ok"], report["level"], report["not_in_force"]), (0, True, level, []))
                self.assertGreater(report["held"], 30)

    def test_full_promises_everything_to_root(self) -> None:
        if "full" not in self.given_levels():
            self.skipTest("this host does not give level full (see `zygo doctor`)")
        _, report = selfcheck("--level", "full")
        promised_with_groups = set() if "cgroup.memory" in report["enforced"] else {"61_hidden_memory"}

        self.assertLessEqual(set(standing(report, "not promised")), promised_with_groups)

    def test_is_for_people_too(self) -> None:
        ended = zygo.run_cli("selfcheck", "--no-color", timeout=300)

        self.assertEqual(ended.code, 0, ended.stdout[-3000:])
        self.assertLessEqual(max(map(len, ended.stdout.splitlines()[:-4])), 100)
        self.assertIn("held          Read files of the host", ended.stdout)
        self.assertTrue(ended.stdout.endswith("All that this level promises was held.\n"))
        self.assertNotIn("\x1b", ended.stdout)

    def test_takes_a_template(self) -> None:
        self.assertEqual(selfcheck("--preload", "fractions", "--template", "mine")[0], 0)
        self.assertEqual(zygo.run_cli("selfcheck", "--template", "nonesuch").code, 2)

    def test_leaves_nothing_on_the_host(self) -> None:
        host.adopt_orphans()
        before, things = host.Snapshot.take(), left_behind()

        selfcheck()
        selfcheck("--without", "ipcns,netns,landlock,seccomp", ZYGO_TESTING="1")

        self.assertEqual(before.leftovers(), [])
        self.assertLessEqual(left_behind(), things)

    def test_what_slips_away_from_the_cell_is_ended_by_the_supervisor(self) -> None:
        """At level minimal only the filter keeps a job in its group. A daemon that leaves it keeps the cell waiting
        until the job's limit; then the supervisor ends all that is below the cell, whatever group it is in."""
        if "minimal" not in self.given_levels():
            self.skipTest("this host does not give level minimal (see `zygo doctor`)")
        host.adopt_orphans()
        before = host.Snapshot.take()
        daemons = ("import os, signal\naway, told = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n"
                   "    if os.fork() == 0:\n        os.setsid()\n        os.write(told, b'.')\n"
                   "    while True: signal.pause()\nos.close(told)\nos.read(away, 1)\n")
        job = {"source": daemons, "policy": {"profile": "subprocess"}, "limits": {"wall_ms": 1000}}

        ended = zygo.run_cli("batch", "-", "--level", "minimal", "--without", "landlock,seccomp",
                             stdin=zygo.lines_of([job]), env=zygo.environment(ZYGO_TESTING="1"))

        result = json.loads(ended.out)
        self.assertEqual((result["label"], result["exit"]["code"]), ("TimeoutException", 0), zygo.brief(result))
        self.assertEqual(before.leftovers(), [])

    def test_can_be_interrupted_and_cleans_up(self) -> None:
        things = left_behind()
        process = subprocess.Popen([str(zygo.BINARY), "selfcheck"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=zygo.environment())
        assert process.stdout
        self.assertIn(b"held", process.stdout.readline())  # It is under way.

        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=60)

        self.assertEqual(process.returncode, 130)
        self.assertIn(b"interrupted", complaint)
        self.assertLessEqual(left_behind(), things)

    def test_an_engine_that_cannot_start_is_no_verdict(self) -> None:
        ended = zygo.run_cli("selfcheck", "--python", "/nonexistent/python3")

        self.assertEqual((ended.code, ended.out), (125, b""))
        self.assertIn("/nonexistent/python3", ended.stderr)


class TakenOut(ZygoTestCase):
    def assertMissed(self, level: str, out: str, attempts: tuple[str, ...]) -> None:
        doctor = json.loads(zygo.run_cli("doctor", "--json", "--level", level).out)
        if not doctor["levels"][level]["available"]:
            self.skipTest(f"this host does not give level {level} (see `zygo doctor`)")
        given = {name for name in out.split(",") if doctor["layers"][name]["in_force"]}
        if given != set(out.split(",")):
            self.skipTest(f"{out}: not all of them are in force here (see `zygo doctor`)")
        if os.geteuid() != 0 and {"userns", "uid", "caps"} & given:
            self.skipTest(f"{out}: an ordinary user never had what these take away")

        code, report = selfcheck("--level", level, "--without", out, ZYGO_TESTING="1")

        self.assertEqual((code, report["ok"]), (1, False))
        self.assertEqual(set(report["not_in_force"]), given)
        escaped = standing(report, "escaped")
        expected = {attempt for attempt in attempts if is_there(attempt)} - {"layer"}
        self.assertLessEqual(expected, set(escaped), json.dumps(escaped, indent=1))


def add_test(level: str, out: str, attempts: tuple[str, ...]) -> None:
    def test(self: TakenOut) -> None:
        self.assertMissed(level, out, attempts)

    test.__doc__ = f"{level} without {out}: {', '.join(attempts)}"
    setattr(TakenOut, f"test_{level}_without_{out.replace(',', '_').replace('.', '_')}", test)


for each in MISSED:
    add_test(*each)


if __name__ == "__main__":
    unittest.main()
