"""Nothing of a job is there for the next one, and nothing of other jobs or of the daemon is there to be learned."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import isolation.test_unprivileged as unprivileged
import zygo
from zygo import Job, Result, ZygoTestCase

PROBES = Path(zygo.__file__).parent / "probes"
MEMORY = {"memory.py": {"text": (PROBES / "memory.py").read_text()}}
FILES_LEFT = 400


def probe(identity: str, name: str, **fields: Any) -> Job:
    files = {} if name == "fouler" else {"files": MEMORY}
    unhurried = {"limits": {"cpu_ms": 20000, "wall_ms": 60000}}
    return {"id": identity, "source": (PROBES / f"{name}.py").read_text(), **unhurried, **files, **fields}


def facts(result: Result) -> Any:
    if result["label"] != "OK":
        raise AssertionError(f"the probe ended with {zygo.brief(result)}")
    return json.loads(result["stdout"]["text"])


def moved(text: str) -> str:
    """What scan.py expects."""
    return "".join(chr(ord(letter) + 1) for letter in text)


class InOneCell(ZygoTestCase):
    """As whoever runs the tests; the class below does it again as an ordinary user."""

    def batch(self, jobs: list[Job], *options: str) -> dict[str, Result]:
        return zygo.run_batch(jobs, "--workers", "1", *options)

    def test_the_next_process_finds_nothing_that_another_set(self) -> None:
        for profile, how in itertools.product(("default", "subprocess"), ("seen", "unseen")):
            with self.subTest(profile=profile, how=how):
                policy = {"policy": {"profile": profile}}
                jobs = [probe("first", "traces", **policy), probe("before", "traces", **policy),
                        probe("foul", "fouler", argv=[how], **policy), probe("after", "traces", **policy)]

                # Without an early cell: it forks its jobs, and those of the next cells borrow more memory than they have.
                results = self.batch(jobs, "--heap", "huge")

                self.assertNotEqual(results["foul"]["label"], "SandboxError")
                before, after = facts(results["before"]), facts(results["after"])
                self.assertEqual(facts(results["first"]), before, "two looks in a row differ, so this proves nothing")
                changed = [f"{topic}: {before[topic]} -> {after[topic]}" for topic in before
                           if after[topic] != before[topic]]
                self.assertEqual(changed, [])

    def test_no_byte_of_another_job_is_in_the_next_ones_memory(self) -> None:
        parts = "source input value file output error keyword tag argument variable stdin".split()
        secrets = {part: f"{part}-secret-of-the-first" for part in parts}
        call = {"id": f"{secrets['tag']}-id", "tag": secrets["tag"], "mode": "call", "func": "f",
                "calls": [{"args": [secrets["input"]], "kwargs": {"k": secrets["keyword"]}}],
                "files": {"f.txt": {"text": secrets["file"] * 100}},
                "source": f"import sys\nX = {secrets['source']!r}\ndef f(x, k):\n"
                          f"    print({secrets['output']!r} * 100)\n"
                          f"    print({secrets['error']!r} * 100, file=sys.stderr)\n"
                          f"    return [X, x, k, {secrets['value']!r}] * 2000"}
        script = {"id": "script", "argv": [secrets["argument"]], "env": {"V": secrets["variable"]},
                  "stdin": secrets["stdin"],
                  "source": "import sys\nprint(sys.stdin.read())\nraise ValueError(sys.argv)"}
        control = "a-text-of-its-own-to-be-found"
        scan = probe("scan", "scan", argv=[moved(text) for text in [*secrets.values(), control]], env={"OWN": control},
                     limits={"cpu_ms": 20000, "wall_ms": 60000})

        found = facts(self.batch([call, script, scan])["scan"])

        self.assertEqual(found, [moved(control)])

    def test_times_of_the_streams_are_not_left_to_the_next(self) -> None:
        mark = 0xDEADBEEFCAFE
        leave = f"import os\nfor fd in (1, 2): os.utime(fd, ns=({mark}, {mark}))\nos._exit(0)"
        look = "import json, os\nprint(json.dumps([time for fd in (1, 2) for time in (os.fstat(fd).st_atime_ns, os.fstat(fd).st_mtime_ns)]))"
        jobs = [{"id": str(n), "source": look if n % 2 else leave} for n in range(6)]

        results = self.batch(jobs)

        for n in range(1, 6, 2):
            self.assertNotIn(mark, facts(results[str(n)]))

    def test_sockets_on_their_way_to_each_other_are_not_left_to_the_next(self) -> None:
        """They outlive their process, until the kernel looks for such cycles, with all that is on its way with them."""
        leave = """import array, os, socket
a, b = socket.socketpair()
send = lambda s, *fds: s.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', fds))])
for n in range(110):
    r, w = os.pipe()
    os.set_blocking(w, False)
    os.write(w, b'x' * 65536)
    send(a, r, w)
    os.close(r), os.close(w)
send(a, a.fileno(), b.fileno()), send(b, a.fileno(), b.fileno())
os._exit(0)
"""
        policy, jobs = {"policy": {"profile": "default"}}, []
        for n in range(4):
            jobs += [{"id": f"leave {n}", "source": leave, "limits": {"memory_mb": 64}, **policy},
                     {"id": f"next {n}", "source": "print(len(bytearray(12 << 20)))", "limits": {"memory_mb": 16}, **policy}]

        results = self.batch(jobs)

        if "cgroup.memory" not in results["leave 0"]["enforced"]:
            self.skipTest("no cgroup counts the memory of jobs here")
        self.assertEqual({result["label"] for result in results.values()}, {"OK"})
        for n in range(4):
            self.assertLess(results[f"next {n}"]["usage"]["memory_peak_kb"], 14 << 10)

    def test_a_file_of_every_stubborn_kind_does_not_hold_the_result_back(self) -> None:
        """What is left to wipe is not the program's time: a wall limit has nothing to say once it has ended."""
        source = (f"import os\nos.makedirs('s/t')\nfor n in range({FILES_LEFT}): open(f's/{{n}}', 'w').close()\n"
                  "os.chmod('s', 0o1777)\nprint('done')")
        jobs = [{"id": "sticky", "source": source, "limits": {"wall_ms": 3000}}, {"id": "after", "source": "print(1)"}]

        results = self.batch(jobs)

        self.assertEqual(results["sticky"]["label"], "OK", zygo.brief(results["sticky"]))
        self.assertEqual(results["after"]["label"], "OK")

    def test_the_time_of_a_job_does_not_restart_when_its_files_are_wiped(self) -> None:
        source = f"import time\nfor n in range({FILES_LEFT}): open(str(n), 'w').close()\ntime.sleep(0.05)"
        jobs = [{"id": name, "source": source, "policy": {"profile": name}} for name in ("default", "subprocess")]

        for result in self.batch(jobs).values():
            with self.subTest(result["id"]):
                self.assertGreaterEqual(result["usage"]["wall_ms"], 50)
                self.assertGreaterEqual(result["timing_us"]["confine"], 0)


class InOneCellOfAnOrdinaryUser(InOneCell):
    binary: Path
    home: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if os.geteuid() != 0:
            raise unittest.SkipTest("whoever runs the tests is an ordinary user already")
        if not unprivileged.succeeds("unshare", "--user", "--map-root-user", "true"):
            raise unittest.SkipTest("user namespaces are not allowed for ordinary users on this host")
        cls.home = tempfile.mkdtemp(prefix="behaviour-user-", dir="/var/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.home)
        cls.binary = unprivileged.reachable_copy(Path(cls.home))

    def batch(self, jobs: list[Job], *options: str) -> dict[str, Result]:
        command = unprivileged.as_user(str(self.binary), "batch", "-", "--workers", "1", *options)
        ended = zygo.run_command(command, stdin=zygo.lines_of(jobs), timeout=120, cwd=self.home)
        self.assertEqual(ended.code, 0, ended.stderr[-2000:] + ended.stdout[-2000:])
        return zygo.by_id(zygo.results_of(ended.out))


class WhatIsToBeLearned(ZygoTestCase):
    def test_nothing_of_the_daemon_nor_of_a_neighbour_that_runs(self) -> None:
        """Its environment, its arguments, its directory, and the memory of a job in the other cell at that time."""
        folder = self.folder()
        secrets = {part: f"{part}-of-the-daemon-itself" for part in ("environment", "argument", "directory")}
        neighbour = "text-of-the-neighbour-that-runs"
        control = "a-text-of-its-own-to-be-found"
        place = folder / secrets["directory"]
        place.mkdir()
        jobs = [{"id": "neighbour", "source": f"import time\nx = {neighbour!r} * 1000\ntime.sleep(2)\nprint(len(x))"},
                probe("scan", "scan", argv=[moved(text) for text in [*secrets.values(), neighbour, control]],
                      env={"OWN": control}, limits={"cpu_ms": 20000, "wall_ms": 60000})]
        path = place / f"{secrets['argument']}.jsonl"
        path.write_bytes(zygo.lines_of(jobs))

        ended = zygo.run_cli("batch", str(path), "--workers", "2", cwd=str(place),
                             env=zygo.environment(SECRET=secrets["environment"]))

        results = zygo.by_id(zygo.results_of(ended.out))
        self.assertEqual(facts(results["scan"]), [moved(control)])
        self.assertLabel(results["neighbour"], "OK")

    def test_no_device_of_the_host_is_touched(self) -> None:
        """They are shared with the host, which sees their modes and times."""
        source = """
import os
for name in ("null", "zero", "full", "random", "urandom"):
    for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR):
        for change in (os.utime, lambda fd: os.fchmod(fd, 0o600), lambda fd: os.fchown(fd, os.getuid(), -1),
                       lambda fd: os.setxattr(fd, "user.x", b"x"), os.truncate):
            try:
                change(os.open(f"/dev/{name}", flags))
            except (OSError, TypeError):
                pass
"""
        before = self.devices()

        zygo.run_job(source)

        self.assertEqual(self.devices(), before)

    def devices(self) -> dict[str, tuple[int, int, int, int]]:
        found = {name: os.stat(f"/dev/{name}") for name in ("null", "zero", "full", "random", "urandom")}
        return {name: (about.st_mode, about.st_uid, about.st_mtime_ns, about.st_ctime_ns)
                for name, about in found.items()}


if __name__ == "__main__":
    unittest.main()
