"""The same verdicts and the same isolation for an ordinary user, where user namespaces are allowed."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

import levels
import zoo
import zygo
from zygo import Finished, Result, ZygoTestCase

USER = 1000
NO_SUCH_LEVEL = 125  # the exit code


def as_user(*command: str) -> list[str]:
    """The command line that runs another as uid 1000 with nothing kept; as it is when we are nobody special."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups", "--inh-caps=-all",
            "--bounding-set=-all", *command]


def succeeds(*command: str) -> bool:
    return zygo.run_command(as_user(*command)).code == 0


def reachable_copy(folder: Path) -> Path:
    """The binary and what is installed beside it, where everybody may read."""
    folder.chmod(0o755)
    for name in ("bin", "lib", "share"):
        source = zygo.BINARY.parent.parent / name
        if source.is_dir():
            shutil.copytree(source, folder / name)
    return folder / "bin" / zygo.BINARY.name


class OrdinaryUser(ZygoTestCase):
    """Runs zygo as one; holds no test."""

    binary: Path
    home: str

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if not succeeds("unshare", "--user", "--map-root-user", "true"):
            raise unittest.SkipTest("user namespaces are not allowed for ordinary users on this host")
        cls.home = tempfile.mkdtemp(prefix="behaviour-user-", dir="/var/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.home)
        if os.geteuid() == 0:
            os.chown(cls.home, USER, USER)
        cls.binary = zygo.BINARY
        if not succeeds("test", "-x", str(zygo.BINARY)):
            copy = Path(tempfile.mkdtemp(prefix="behaviour-bin-", dir="/var/tmp"))
            cls.addClassCleanup(shutil.rmtree, copy)
            cls.binary = reachable_copy(copy)

    def zygo(self, *arguments: str, stdin: bytes = b"", timeout: float = 120) -> Finished:
        command = as_user(str(self.binary), *arguments)
        return zygo.run_command(command, stdin=stdin, timeout=timeout, cwd=self.home,
                                env=zygo.environment(HOME=self.home, TMPDIR=self.home))

    def batch(self, jobs: list[zygo.Job], timeout: float = 120) -> dict[str, Result]:
        ended = self.zygo("batch", "-", stdin=zygo.lines_of(jobs), timeout=timeout)
        self.assertEqual(ended.code, 0, ended.stderr[-2000:])
        return zygo.by_id(zygo.results_of(ended.out))


class AnOrdinaryUser(OrdinaryUser):
    def test_gets_the_verdicts_of_the_zoo(self) -> None:
        programs = zoo.programs()

        results = self.batch([program.job() for program in programs], timeout=500)

        self.assertEqual(set(results), {program.id for program in programs})
        self.assertEqual(levels.zoo_faults(programs, results), {})

    def test_gets_the_full_level_and_is_told_what_is_in_force(self) -> None:
        result = self.batch([{"id": "only", "source": "print(1)"}])["only"]

        self.assertEqual(result["level"], "full")
        floor = {"userns", "pidns", "mntns", "netns", "ipcns", "landlock", "seccomp"}
        self.assertLessEqual(floor & available_to(self), set(result["enforced"]))

    def test_has_each_level_that_doctor_gives_and_no_other(self) -> None:
        for level, answer in json.loads(self.zygo("doctor", "--json").out)["levels"].items():
            with self.subTest(level):
                ended = self.zygo("run", "--level", level, "-", stdin=b"print(1)")
                wanted = (0, "1\n") if answer["available"] else (NO_SUCH_LEVEL, "")
                self.assertEqual((ended.code, ended.stdout), wanted, ended.stderr)
                for layer in answer["missing"]:
                    self.assertIn(layer, ended.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "an ordinary user may have been given level contained")
    def test_has_no_level_contained(self) -> None:
        ended = self.zygo("run", "--level", "contained", "-", stdin=b"print(1)")

        self.assertEqual((ended.code, ended.stdout), (NO_SUCH_LEVEL, ""), ended.stderr)
        self.assertIn("this host does not give level contained", ended.stderr)
        self.assertIn("uid", ended.stderr)

    def test_has_jobs_that_see_nothing_of_the_host(self) -> None:
        source = (Path(zygo.__file__).parent / "probes/look.py").read_text()
        paths = ["/etc/shadow", self.home, str(self.binary), "/root", "/sys"]
        job = {"id": "look", "source": source, "env": {"PATHS": json.dumps(paths)}}

        seen = json.loads(self.batch([job])["look"]["stdout"]["text"])

        self.assertEqual((seen["present"], seen["descriptors"], seen["bounding"]), ([], [], []))
        self.assertEqual(seen["capabilities"], {"effective": 0, "permitted": 0, "inheritable": 0})
        self.assertNotIn(0, seen["uids"])

    def test_leaves_no_file_behind(self) -> None:
        self.batch([{"id": "only", "source": "open('left', 'w').write('x')"}])

        self.assertEqual(os.listdir(self.home), [])

    def test_has_neighbours_whatever_a_job_sends_and_nobody_receives(self) -> None:
        """The kernel counts descriptors in flight per user, and stops who sends more while they are many."""
        flood = f"""
import array, os, socket, time
held, sent, file = [], 0, os.open("/dev/null", os.O_RDONLY)
try:
    while True:
        held.append(socket.socketpair())
        try:
            while True:
                held[-1][0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file] * 250))],
                                    socket.MSG_DONTWAIT)
                sent += 250
        except BlockingIOError:
            pass
except OSError as error:
    print(sent, error, flush=True)
time.sleep({2 * zygo.PATIENCE})
"""
        soft, hard = 1024, 4096  # As in many sessions.
        command = ["prlimit", f"--nofile={soft}:{hard}", *as_user(str(self.binary), "batch", "-", "--workers", "3")]
        floods: list[zygo.Job] = [{"id": f"flood {n}", "source": flood, "limits": {"open_files": hard}}
                                  for n in range(2)]
        # Each wants a cell of its own, which takes descriptors to make.
        others: list[zygo.Job] = [{"id": f"other {n}", "source": "print(1)", "limits": {"disk_mb": n}}
                                  for n in range(20, 28)]

        ended = zygo.run_command(command, stdin=zygo.lines_of([*floods, *others]), timeout=120, cwd=self.home,
                                 env=zygo.environment(HOME=self.home, TMPDIR=self.home))

        results = zygo.by_id(zygo.results_of(ended.out))
        self.assertEqual({result["label"] for result in results.values()}, {"OK"})
        self.assertGreater(max(int(results[job["id"]]["stdout"]["text"].split()[0]) for job in floods), soft)

    def test_has_many_programs_with_threads_that_end_at_once(self) -> None:
        """What zygo looks up in /proc, where no cgroup counts, must not hold up the end of what it has looked at."""
        pool = (zoo.FOLDER / "script/subprocess_profile_pool.py").read_text()

        results = self.batch([{"id": str(number), "source": pool, "policy": {"profile": "subprocess"}} for number in range(40)])

        self.assertEqual([result["detail"] for result in results.values() if result["label"] != "OK"], [])

    def test_has_memory_limits_that_hold(self) -> None:
        """Where no cgroup counts: RLIMIT_DATA stops what asks for too much at once, a watch what creeps up."""
        jobs = [{"id": "at once", "source": "x = bytearray(1 << 30)"},
                {"id": "creeping", "source": "import mmap\nx = []\nwhile True:\n  m = mmap.mmap(-1, 1 << 20)\n"
                                             "  m.write(b'x' * (1 << 20))\n  x.append(m)"}]

        results = self.batch([{**job, "limits": {"memory_mb": 64}} for job in jobs])

        for result in results.values():
            with self.subTest(result["id"]):
                self.assertLabel(result, "MemoryLimitExceeded")
                self.assertEqual(result["detail"]["limit_bytes"], 64 << 20)


class AnEnvironmentOfOnesOwn(OrdinaryUser):
    """Level minimal: jobs have the uid that owns the interpreter's directories, and no mount is between them."""

    environment: Path
    victim: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.environment = Path(cls.home) / "venv"
        python = next((path for path in ("/usr/bin/python3", sys.executable) if succeeds("test", "-x", path)), None)
        if python is None or not succeeds(python, "-m", "venv", "--without-pip", str(cls.environment)):
            raise unittest.SkipTest("no Python that an ordinary user may run makes environments here")
        cls.victim = cls.environment / "victim"
        cls.victim.write_text("kept")
        if os.geteuid() == 0:
            os.chown(cls.victim, USER, USER)

    def command(self, *jobs: zygo.Job) -> Finished:
        return self.zygo("batch", "-", "--level", "minimal", "--python", str(self.environment / "bin/python3"),
                         stdin=zygo.lines_of(list(jobs)))

    def facts(self, path: Path) -> tuple[int, int, int, list[str]]:
        about = path.stat()
        return about.st_mode, about.st_mtime_ns, about.st_ctime_ns, os.listxattr(path)

    def test_is_changed_by_no_job_whatever_the_call(self) -> None:
        source = (Path(zygo.__file__).parent / "probes/attributes.py").read_text()
        for path in (self.victim, self.environment / "bin"):
            with self.subTest(path.name):
                before = self.facts(path)

                (result,) = zygo.results_of(self.command({"source": source, "argv": [str(path)]}).out)

                self.assertLabel(result, "UnsafeCode")
                self.assertNotIn("done", json.loads(result["stdout"]["text"]).values())
                self.assertEqual(self.facts(path), before)
                (again,) = zygo.results_of(self.command({"source": "print(1)"}).out)
                self.assertLabel(again, "OK")

    def test_is_locked_by_no_job(self) -> None:
        """In appearance only: even while the host has the lock, a job that asks for it goes on."""
        source = f"import fcntl\nfcntl.flock(open({str(self.victim)!r}), fcntl.LOCK_EX)\nprint('locked')"
        with open(self.victim) as file:
            fcntl.flock(file, fcntl.LOCK_EX)

            (result,) = zygo.results_of(self.command({"source": source}).out)

        self.assertLabel(result, "OK")
        self.assertEqual(result["stdout"]["text"], "locked\n")


def available_to(case: AnOrdinaryUser) -> set[str]:
    layers = json.loads(case.zygo("doctor", "--json").out)["layers"]
    return {name for name, layer in layers.items()
            if (layer.get("available", layer.get("ok")) if isinstance(layer, dict) else layer)}


@unittest.skipUnless(os.geteuid() == 0, "only root can map ids that are not its own")
class RootOfFewIds(ZygoTestCase):
    """Root of a user namespace that has a part of all ids: subordinate ones (subuid(5)), or a rootless container's."""

    def zygo(self, *arguments: str) -> Finished:
        command = [sys.executable, "-B", str(Path(zygo.__file__).parent / "few_ids.py"), str(zygo.BINARY), *arguments]
        return zygo.run_command(command, env=zygo.environment(HOME=str(self.folder()), ZYGO_HOME=str(self.folder())))

    def test_gets_each_level_that_the_doctor_promises(self) -> None:
        program = self.folder() / "program.py"
        program.write_text("import os\nprint(os.getuid() > 0)\n")
        ended = self.zygo("doctor", "--json")
        if not ended.stdout.startswith("{"):
            self.skipTest("no user namespace can be made here: " + ended.stderr)
        promised = [level for level, said in json.loads(ended.stdout)["levels"].items() if said["available"]]
        self.assertIn("minimal", promised)

        for level in promised:
            with self.subTest(level=level):
                ended = self.zygo("run", "--level", level, str(program))
                self.assertEqual((ended.code, ended.stdout), (0, "True\n"), ended.stderr)


if __name__ == "__main__":
    unittest.main()
