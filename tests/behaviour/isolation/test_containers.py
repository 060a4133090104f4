"""Zygo inside containers as Docker and Kubernetes make them: the level it finds, and that the level holds.

runc makes them out of the host's own /usr, with Docker's capabilities, mounts and seccomp profile; nothing is
downloaded. One container runs one command, as Docker would, and is gone by its id afterwards.
"""

from __future__ import annotations

import functools
import json
import signal
import sys
import time
import unittest
from pathlib import Path
from typing import Any, ClassVar

import levels
import zygo
from containers import engine as engines
from containers import image as images
from containers import environments, seccomp
from containers.engine import TESTS, ZYGO, Engine
from containers.environments import Environment
from zygo import Finished, Job, Result, ZygoTestCase

SKIPPED = 77  # What ctest takes for a skipped test.
PYTHON = ("/usr/bin/python3", "-B")
PROBE = (Path(zygo.__file__).parent / "probes/look.py").read_text()
SECRETS = ["/etc/shadow", "/root", "/opt/zygo", TESTS, "/opt/report", "/proc/1/environ", "/proc/1/mem", "/sys/kernel",
           "/sys/fs/cgroup", "/var/tmp"]
SUBPROCESS = {"profile": "subprocess"}
SPINNER = "while True:\n  try:\n    while True: pass\n  except BaseException: pass\n"
SLEEPER = "import signal, time\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(9)\n"
FORK_BOMB = ("import os\nwhile True:\n  try: os.fork()\n"
             "  except OSError as error: last = error\n")
ORPHANS = """
import os, time
for number in range(5):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
print("left them")
"""


@functools.cache
def engine() -> Engine:
    """One root file system for all classes of this file."""
    if reason := engines.missing():
        raise unittest.SkipTest(reason)
    made = Engine()
    unittest.addModuleCleanup(made.close)
    return made


def setUpModule() -> None:
    """Whoever ends this file before its time ends its containers, too: an exception runs the cleanups."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


class TheHarness(ZygoTestCase):
    """The places are what they pose as; otherwise the tests below would prove little."""

    SAME: ClassVar[dict[str, Any]] = {"pid": 1, "file in /usr": "EROFS", "file in /tmp": "ok"}
    DOCKER: ClassVar[dict[str, Any]] = {
        **SAME, "user": 0, "no_new_privileges": 0, "seccomp": 2, "user namespace": "EPERM", "mount namespace": "EPERM",
        "clone3": "ENOSYS", "io_uring": "EFAULT", "process memory": "EPERM", "cgroup": "EROFS", "file in /": "ok",
        "masked": True}
    FREE: ClassVar[dict[str, Any]] = {
        **SAME, "user": 0, "no_new_privileges": 0, "seccomp": 0, "user namespace": "ok", "mount namespace": "ok",
        "clone3": "EINVAL", "io_uring": "EFAULT", "file in /": "ok"}
    EXPECTED: ClassVar[dict[Environment, dict[str, Any]]] = {
        environments.DOCKER: DOCKER,
        environments.TODAYS_DOCKER: {**DOCKER, "io_uring": "EPERM", "process memory": "EINVAL"},
        environments.PLAIN_USER: {**DOCKER, "user": 10001, "effective": 0, "file in /": "EACCES"},
        environments.RESTRICTED: {**DOCKER, "user": 10001, "effective": 0, "bounding": 0, "no_new_privileges": 1,
                                  "file in /": "EROFS"},
        environments.SYS_ADMIN: {**FREE, "cgroup": "EROFS", "masked": True},
        environments.PRIVILEGED: {**FREE, "cgroup": "ok", "masked": False},
    }

    def test_every_environment_grants_and_refuses_what_it_should(self) -> None:
        for environment, expected in self.EXPECTED.items():
            with self.subTest(environment.name):
                ended = engine().run(environment, *PYTHON, f"{TESTS}/behaviour/containers/surroundings.py")

                self.assertEqual(ended.code, 0, ended.stderr)
                found = json.loads(ended.stdout)
                self.assertEqual({key: found[key] for key in expected}, expected)

    def test_a_rule_of_the_profile_depends_on_capabilities_architecture_and_kernel(self) -> None:
        rules = [{"names": ["mount"], "action": "A", "includes": {"caps": ["CAP_SYS_ADMIN"]}},
                 {"names": ["clone3"], "action": "E", "errnoRet": 38, "excludes": {"caps": ["CAP_SYS_ADMIN"]}},
                 {"names": ["cacheflush"], "action": "A", "includes": {"arches": ["arm64"]}},
                 {"names": ["ptrace"], "action": "A", "args": [], "includes": {"minKernel": "4.8"}}]
        profile = {"defaultAction": "E", "archMap": [{"architecture": "SCMP_ARCH_X86_64",
                                                      "subArchitectures": ["SCMP_ARCH_X86"]}], "syscalls": rules}

        plain = seccomp.resolve(profile, set(), "x86_64", "4.10.0-arch")
        admin = seccomp.resolve(profile, {"CAP_SYS_ADMIN"}, "x86_64", "4.4.0")

        self.assertEqual(plain["syscalls"], [{"names": ["clone3"], "action": "E", "errnoRet": 38},
                                             {"names": ["ptrace"], "action": "A"}])
        self.assertEqual(admin["syscalls"], [{"names": ["mount"], "action": "A"}])
        self.assertEqual(plain["architectures"], ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"])

    def test_the_caretaker_finds_what_is_left(self) -> None:
        """A process, a file and a segment of shared memory that outlive the command."""
        leave = ("import ctypes, os, time\nopen('/tmp/left', 'w').close()\n"
                 "ctypes.CDLL(None).shmget(7, 4096, 0o1600)\nif os.fork() == 0: time.sleep(600)")

        ended, left = engine().run_watched(environments.DOCKER, *PYTHON, "-c", leave)

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertEqual(left["files"], ["/tmp/left"])
        self.assertEqual((len(left["processes"]), len(left["ipc"])), (1, 1), left)

    def test_a_container_leaves_nothing_on_the_host(self) -> None:
        """Also when its command never ends: it is deleted by its id."""
        with engine().container(environments.DOCKER, "/usr/bin/sleep", "600") as started:
            runc = engines.start(started)
            while not (started.folder / "state" / started.id / "state.json").exists():
                self.assertIsNone(runc.poll(), "runc ended early")
                time.sleep(0.01)  # runc tells nobody when a container has come to be.

        zygo.finish(runc)
        self.assertEqual(engines.leftovers(), [])
        self.assertEqual(engines.containers(engine().folder), [])


class Place:
    """An environment, and zygo in it."""

    environment: ClassVar[Environment]
    DIFFERENCES: ClassVar[tuple[levels.Difference, ...]] = levels.DIFFERENCES
    share: ClassVar[tuple[int, int]] = (0, 1)  # of the programs, where others have the rest

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()  # type: ignore[misc]
        engine()

    def zygo(self, *arguments: str, **how: Any) -> Finished:
        return engine().run(self.environment, ZYGO, *arguments, **how)

    def content(self) -> tuple[str, ...]:
        """The option without which zygo would not run below level full."""
        return "--require", self.environment.level

    def batch(self: Any, jobs: list[Job], *options: str, timeout: float = 300, **limits: Any) -> dict[str, Result]:
        """One result for each job, exit code 0, and nothing left in the container."""
        ended, left = engine().run_watched(self.environment, ZYGO, "batch", "-", *self.content(), *options,
                                           stdin=zygo.lines_of(jobs), timeout=timeout, **limits)
        self.assertEqual(ended.code, 0, ended.stderr[-2000:])
        results = zygo.by_id(zygo.results_of(ended.out))
        self.assertEqual(set(results), {job["id"] for job in jobs})
        self.assertEqual({kind: items for kind, items in left.items() if items}, {})
        return results

    def assertVerdicts(self: Any, *folders: str) -> None:
        """Those of the programs' headers, or what the level may make of them."""
        programs, jobs = levels.zoo_jobs(*folders)
        programs, jobs = zygo.share_of(programs, *self.share), zygo.share_of(jobs, *self.share)

        results = self.batch(jobs)

        for program, fault in levels.zoo_faults(programs, results, self.DIFFERENCES).items():
            with self.subTest(program):
                self.fail(fault)
        for result in results.values():
            with self.subTest(result["id"]):
                self.assertEqual(levels.enforced_faults(result, self.environment.level), [])


class Inside(Place):
    """What holds in every environment, whatever the level."""

    ABSENT: ClassVar[set[str]]  # what doctor must not find there
    PRESENT: ClassVar[set[str]] = {"landlock", "seccomp", "seccomp.notify", "caps", "nnp", "rlimits", "fds", "pidfd"}

    def test_doctor_finds_the_level_and_each_layer(self: Any) -> None:
        ended = self.zygo("doctor", "--json")

        report = json.loads(ended.stdout)
        self.assertEqual(report["level"], self.environment.level)
        absent = {name for name, layer in report["layers"].items() if not layer["available"]}
        self.assertLessEqual(self.ABSENT, absent)
        self.assertEqual(self.PRESENT & absent, set())
        for name in absent:
            with self.subTest(name):
                self.assertTrue(report["layers"][name]["why"])
                self.assertTrue(report["layers"][name]["cure"])

    def test_runs_a_program_as_the_first_process_of_the_container(self: Any) -> None:
        ended = self.zygo("run", *self.content(), "-", stdin=b"print(6 * 7)\n")

        self.assertEqual((ended.code, ended.stdout), (0, "42\n"), ended.stderr)

    def test_gets_the_verdicts_of_the_zoo_and_leaves_nothing(self: Any) -> None:
        self.assertVerdicts()

    def test_gives_the_arc_sample_the_labels_of_level_full(self: Any) -> None:
        sample = levels.ArcSample()

        ended = self.zygo("batch", "-", *self.content(), stdin=sample.lines(), timeout=120)

        self.assertEqual(ended.code, 0, ended.stderr[-2000:])
        self.assertEqual(sample.faults(zygo.by_id(zygo.results_of(ended.out))), {})

    def test_a_job_learns_nothing_of_the_container(self: Any) -> None:
        (result,) = self.batch([{"id": "look", "source": PROBE, "env": {"PATHS": json.dumps(SECRETS)}}]).values()

        seen = json.loads(result["stdout"]["text"])
        self.assertEqual((seen["readable"], seen["descriptors"], seen["bounding"]), ([], [], []))
        self.assertEqual(seen["initial_environment"], [])
        self.assertEqual(seen["capabilities"], {"effective": 0, "permitted": 0, "inheritable": 0})
        self.assertEqual((seen["no_new_privs"], seen["dumpable"]), (1, levels.DUMPABLE[self.environment.level]))
        self.assertNotIn(0, [*seen["uids"], *seen["gids"], *seen["groups"]])
        self.assertNotIn("host-environment-canary", result["stdout"]["text"])
        if "uid" in result["enforced"]:
            self.assertNotIn(self.environment.user, seen["uids"])
        if "mntns" in result["enforced"]:
            self.assertEqual(seen["present"], [])

    def test_bombs_and_orphans_are_gone_before_the_next_job(self: Any) -> None:
        """While zygo lives: no process more than before, and the next job is fine."""
        calm = {"source": "print('calm')", "policy": SUBPROCESS, "limits": {"pids": 24}}
        hostile = {"bomb": FORK_BOMB, "orphans": ORPHANS, "spinners": "import os\nos.fork(); os.fork()\n" + SPINNER}

        # With a heap that is asked for the first cell stays, and its processes count before and after.
        options = ("--workers", "1", "--heap", "huge")
        with engine().container(self.environment, ZYGO, "batch", "-", *options, *self.content()) as started:
            with engines.Conversation(started) as batch:
                self.assertEqual(batch.ask({"id": "first", **calm})["stdout"]["text"], "calm\n")
                before = len(started.pids())
                for name, source in hostile.items():
                    with self.subTest(name):
                        batch.ask({**calm, "id": name, "source": source, "limits": {"pids": 24, "wall_ms": 700}})
                        after = batch.ask({"id": f"after {name}", **calm})
                        self.assertEqual(after["stdout"]["text"], "calm\n", zygo.brief(after))
                        self.assertLessEqual(started.settled(before), before)

    def test_a_deadline_holds(self: Any) -> None:
        jobs = [{"id": f"{kind} {turn}", **job} for turn in range(3) for kind, job in (
            ("cpu", {"source": SPINNER, "limits": {"cpu_ms": 300, "wall_ms": 20000}}),
            ("wall", {"source": SLEEPER, "limits": {"wall_ms": 300}}))]

        results = self.batch(jobs)

        for name, result in results.items():
            with self.subTest(name):
                self.assertEqual((result["label"], result["detail"]["limit"]), ("TimeoutException", name.split()[0]))
        for kind, most in (("wall", 800), ("cpu", 400)):  # Late by habit, not because the machine once stood still.
            self.assertLess(min(results[f"{kind} {turn}"]["usage"][f"{kind}_ms"] for turn in range(3)), most)

    def test_its_memory_limits_hold(self: Any) -> None:
        """By a cgroup where there is one; elsewhere at once by RLIMIT_DATA, and by a watch for what creeps up."""
        jobs = [{"id": "at once", "source": "x = bytearray(1 << 30)"},
                {"id": "creeping", "source": "import mmap\nx = []\nwhile True:\n  m = mmap.mmap(-1, 1 << 20)\n"
                                             "  m.write(b'x' * (1 << 20))\n  x.append(m)"}]

        results = self.batch([{**job, "limits": {"memory_mb": 64}} for job in jobs])

        for name, result in results.items():
            with self.subTest(name):
                self.assertEqual(result["label"], "MemoryLimitExceeded", zygo.brief(result))
                self.assertEqual(result["detail"]["limit_bytes"], 64 << 20)

    def test_a_full_container_does_not_take_the_others_down(self: Any) -> None:
        """The container has less memory than the job's limit: the hog dies, zygo and its other jobs live."""
        hog = {"id": "hog", "source": "x = []\nwhile True: x.append(b'x' * (1 << 20))", "limits": {"memory_mb": 900}}
        others = [{"id": f"calm {number}", "source": "print('calm')"} for number in range(20)]

        ended = self.zygo("batch", "-", "--workers", "2", *self.content(), stdin=zygo.lines_of([hog, *others]),
                          memory=256 << 20)

        results = zygo.by_id(zygo.results_of(ended.out))
        self.assertIn(results["hog"]["label"], ("MemoryLimitExceeded", "SandboxError"), zygo.brief(results["hog"]))
        self.assertEqual({results[job["id"]]["label"] for job in others}, {"OK"}, ended.stderr[-2000:])

    def test_ends_when_the_container_is_stopped(self: Any) -> None:
        """As `docker stop` does: SIGTERM to the first process, which nobody's default action ends."""
        with engine().container(self.environment, ZYGO, "batch", "-", *self.content()) as started:
            with engines.Conversation(started) as batch:
                batch.ask({"id": "first", "source": "print('calm')"})
                batch.send(zygo.lines_of([{"id": "endless", "source": SLEEPER, "limits": {"wall_ms": 60000}}]))
                began = time.monotonic()
                started.kill("TERM")
                batch.process.wait(20)
                self.assertLess(time.monotonic() - began, 3)

    def test_every_layer_enforced_is_one_that_doctor_found(self: Any) -> None:
        report = json.loads(self.zygo("doctor", "--json").stdout)
        (result,) = self.batch([{"id": "only", "source": "print(1)"}]).values()

        found = {name for name, layer in report["layers"].items() if layer["available"]}
        self.assertLessEqual(set(result["enforced"]) & set(report["layers"]), found)
        self.assertEqual(levels.enforced_faults(result, self.environment.level), [])


class LessThanFull(Inside):
    """Where level full is not to be had, it is refused, by whatever road it is asked for."""

    def assertRefused(self: Any, ended: Finished, *named: str) -> None:
        self.assertEqual((ended.code, ended.stdout), (125, ""), ended.stderr)
        for name in named:
            self.assertIn(name, ended.stderr)

    def test_level_full_is_refused(self: Any) -> None:
        for command in ("run", "batch"):
            for options in ((), ("--level", "full"), ("--require", "full")):
                with self.subTest(command, options=options):
                    ended = self.zygo(command, *options, "-", stdin=b"")
                    self.assertRefused(ended, "level full", "userns", "pidns", "mntns", "netns",
                                       f"ZYGO_REQUIRE={self.environment.level}")
                    # What is missing, what gives it, what accepts less.
                    _, gives, accepts = ended.stderr.splitlines()
                    self.assertTrue(gives.startswith("  to get full: "), ended.stderr)
                    self.assertTrue(accepts.startswith(f"  to accept {self.environment.level}: "), ended.stderr)

    def test_a_required_layer_that_is_absent_is_named(self: Any) -> None:
        ended = self.zygo("run", "--require", f"{self.environment.level},cgroup.memory", "-", stdin=b"print(1)")

        self.assertRefused(ended, "cgroup.memory")

    def test_the_level_found_can_be_demanded(self: Any) -> None:
        for option in ("--level", "--require"):
            with self.subTest(option):
                ended = self.zygo("run", option, self.environment.level, "-", stdin=b"print(1)")
                self.assertEqual((ended.code, ended.stdout), (0, "1\n"), ended.stderr)

    def test_a_job_that_insists_on_level_full_does_not_run(self: Any) -> None:
        job = {"id": "only", "source": "print('ran')", "policy": {"require": ["full"]}}

        ended = self.zygo("batch", "-", *self.content(), stdin=zygo.lines_of([job]))

        (result,) = zygo.results_of(ended.out)
        self.assertEqual((ended.code, result["label"], result["detail"]["step"]), (1, "SandboxError", "require"))
        self.assertEqual(result["stdout"]["text"], "")


class InDocker(LessThanFull, ZygoTestCase):
    """`docker run`, nothing added: root, fourteen capabilities, no namespaces, cgroups read-only."""

    environment = environments.DOCKER
    share = (0, 2)
    ABSENT = {*levels.NAMESPACES, *levels.GROUPS, "idmap.range", "clone3", "proc"}
    PRESENT = Inside.PRESENT | {"uid"}


class InTodaysDocker(Place, ZygoTestCase):
    """The same under the profile of today, which differs in what zygo names violations by."""

    environment = environments.TODAYS_DOCKER

    def test_names_the_violations_of_the_zoo(self) -> None:
        self.assertVerdicts("unsafe", "raw")


class AsAPlainUserOfDocker(Place, ZygoTestCase):
    """docker run --user 10001, with nothing else taken away."""

    environment = environments.PLAIN_USER

    def test_names_the_violations_of_the_zoo(self) -> None:
        self.assertVerdicts("unsafe", "raw")


class InARestrictedPod(LessThanFull, ZygoTestCase):
    """Kubernetes' restricted standard: uid 10001, nothing to gain, nothing to write but /tmp."""

    environment = environments.RESTRICTED
    share = (1, 2)
    ABSENT = {*levels.NAMESPACES, *levels.GROUPS, "idmap.range", "clone3", "proc", "uid"}

    def test_level_contained_is_refused(self) -> None:
        self.assertRefused(self.zygo("run", "--level", "contained", "-", stdin=b""), "contained", "uid")


class InDockerWithSysAdmin(Inside, ZygoTestCase):
    """--cap-add SYS_ADMIN --security-opt seccomp=unconfined: namespaces, but no cgroups and no /proc of one's own."""

    environment = environments.SYS_ADMIN
    share = (0, 2)
    DIFFERENCES = (*levels.DIFFERENCES, levels.Difference(
        ("same/pid_is_the_same",), ("NonDeterministicCode",), levels.without("cgroup.pids"),
        "the container's /proc/sys is read-only, so nobody can say which pid comes next"))
    ABSENT = {*levels.GROUPS, "proc"}
    PRESENT = Inside.PRESENT | levels.NAMESPACES | {"uid", "clone3", "scratch", "idmap.range"}


class InPrivilegedDocker(Inside, ZygoTestCase):
    """docker run --privileged: everything, also control groups."""

    environment = environments.PRIVILEGED
    share = (1, 2)
    ABSENT = set()
    PRESENT = InDockerWithSysAdmin.PRESENT | levels.GROUPS | {"proc"}


class InAnImageOfItsOwn(ZygoTestCase):
    """One smoke test of what people will do: an image, built offline, that podman runs."""

    def test_runs_at_the_level_of_each_way_to_start_it(self) -> None:
        if reason := images.missing() or engines.missing():
            self.skipTest(reason)
        image = images.Image()
        self.addCleanup(image.close)
        built = image.build()
        self.assertEqual(built.code, 0, built.stderr)

        for options, level in ((images.like_docker(), "contained"), (images.like_a_restricted_pod(), "minimal"),
                               (("--privileged",), "full")):
            with self.subTest(level):
                ended = image.run("run", "--require", level, "--json", "-", options=options, stdin=b"print(6 * 7)")

                self.assertEqual(ended.code, 0, ended.stderr)
                result = json.loads(ended.stdout)
                self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "42\n"))
                self.assertEqual(levels.enforced_faults(result, level), [])


if __name__ == "__main__":
    if absent := engines.missing():
        print(f"SKIPPED: {absent}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
