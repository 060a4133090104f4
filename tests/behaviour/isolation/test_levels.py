"""The lesser levels, forced on this host, which could do better: the same programs, the same verdicts.

What a level cannot promise is in `levels.DIFFERENCES`; everything else is as at level full.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
import unittest
from pathlib import Path
from typing import Any, ClassVar

import host
import levels
import zygo
from zygo import Coprocess, ZygoTestCase

PROBE = (Path(zygo.__file__).parent / "probes/look.py").read_text()
SECRETS = ["/etc/shadow", "/root", "/proc/1/environ", "/proc/1/mem", "/proc/kcore", "/var/log", str(zygo.CHECKOUT)]

# Where there is no root file system of the job's own: SECURITY.md
OF_THE_HOST = ["/etc/group", "/etc/hosts", "/etc/nsswitch.conf", "/etc/passwd"]
OF_THE_IMAGE = {"/etc/ld.so.cache", "/etc/matplotlibrc"}


class Forced:
    level: ClassVar[str]

    def options(self) -> tuple[str, ...]:
        return "--level", self.level

    def test_gets_the_verdicts_of_the_zoo_and_leaves_nothing(self: Any) -> None:
        programs, jobs = levels.zoo_jobs()
        host.adopt_orphans()
        before = host.Snapshot.take()

        results = zygo.run_batch(jobs, *self.options(), timeout=500)

        for program, fault in levels.zoo_faults(programs, results).items():
            with self.subTest(program):
                self.fail(fault)
        for result in results.values():
            with self.subTest(result["id"]):
                self.assertEqual(levels.enforced_faults(result, self.level), [])
        self.assertEqual(before.leftovers(), [])

    def test_gives_the_arc_sample_the_labels_of_level_full(self: Any) -> None:
        sample = levels.ArcSample()

        ended = zygo.run_cli("batch", "-", *self.options(), stdin=sample.lines(), timeout=200)

        self.assertEqual(ended.code, 0, ended.stderr[-2000:])
        self.assertEqual(sample.faults(zygo.by_id(zygo.results_of(ended.out))), {})

    def test_a_job_learns_nothing_of_the_host(self: Any) -> None:
        result = zygo.run_job(PROBE, *self.options(), env={"PATHS": json.dumps(SECRETS)})

        seen = json.loads(result["stdout"]["text"])
        self.assertEqual((seen["readable"], seen["descriptors"], seen["bounding"]), ([], [], []))
        self.assertEqual(seen["initial_environment"], [])
        self.assertEqual(seen["capabilities"], {"effective": 0, "permitted": 0, "inheritable": 0})
        self.assertEqual((seen["no_new_privs"], seen["dumpable"]), (1, levels.DUMPABLE[self.level]))
        self.assertNotIn(0, [*seen["uids"], *seen["gids"], *seen["groups"]])
        self.assertNotIn("host-environment-canary", result["stdout"]["text"])

    def test_of_the_settings_of_the_host_a_job_reads_what_the_readme_names(self: Any) -> None:
        files = [str(path) for path in Path("/etc").iterdir() if path.is_file() and not path.is_symlink()]

        result = zygo.run_job(PROBE, *self.options(), env={"PATHS": json.dumps(files)})

        readable = set(json.loads(result["stdout"]["text"])["readable"]) - OF_THE_IMAGE
        self.assertEqual(sorted(readable), [path for path in OF_THE_HOST if path in files])

    def test_is_the_level_that_results_and_demands_speak_of(self: Any) -> None:
        held = zygo.run_cli("run", *self.options(), "--require", self.level, "-", stdin=b"print(1)")
        refused = zygo.run_cli("run", *self.options(), "--require", "full", "-", stdin=b"print(1)")

        self.assertEqual((held.code, held.stdout), (0, "1\n"), held.stderr)
        self.assertEqual((refused.code, refused.stdout), (2, ""), refused.stderr)  # The options contradict each other.
        self.assertIn("--require", refused.stderr)

    def test_the_next_job_does_not_begin_before_the_last_is_swept_up(self: Any) -> None:
        """By its cell's sweeper, which would hit the next job, too: it has the same uid. Only what outlives its job is swept up."""
        left = {"id": "left", "source": "import os, time\nos.fork()\ntime.sleep(60)", "policy": {"profile": "subprocess"}}
        healthy = {"id": "healthy", "source": "print(1)", "policy": left["policy"]}
        # Told how to keep its memory, a template has no cell before its image is made, whose sweeper would be a second one.
        with Coprocess("--workers", "1", "--heap", "huge", *self.options()) as batch:
            batch.send(zygo.lines_of([left, healthy]))
            template, cell, job = host.chain_of(batch.process.pid)
            self.await_child_of(job)
            (sweeper,) = set(host.children(template)) - {cell}
            os.kill(sweeper, signal.SIGSTOP)
            try:
                host.kill_and_await(job)
                ended, _, _ = select.select([batch.stdout], [], [], 0.5)
                self.assertEqual(ended, [])
            finally:
                os.kill(sweeper, signal.SIGCONT)
            labels = {result["id"]: result["label"] for result in (batch.result(), batch.result())}

        self.assertEqual(labels, {"left": "Signalled", "healthy": "OK"})

    def await_child_of(self: Any, job: int) -> None:
        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while not host.children(job):
            self.assertLess(time.monotonic(), deadline, "the job started no process")
            time.sleep(0.01)  # /proc gives no event for a new process.


class LevelContained(Forced, ZygoTestCase):
    """A uid per cell, chroot, Landlock, seccomp; no namespaces."""

    level = "contained"

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        uid = json.loads(zygo.run_cli("doctor", "--json").stdout)["layers"]["uid"]
        if not uid["available"]:
            raise unittest.SkipTest("level contained needs root: " + uid["why"])


class LevelMinimal(Forced, ZygoTestCase):
    """Landlock, seccomp and rlimits alone."""

    level = "minimal"

    def test_the_profile_build_is_refused_by_name(self) -> None:
        job = b'{"source": "print(1)", "policy": {"profile": "build"}}'
        (result,) = zygo.results_of(zygo.run_cli("batch", "-", *self.options(), stdin=job).out)

        self.assertEqual((result["label"], result["by"]), ("BadJob", "caller"))
        self.assertIn("policy.profile: build", result["detail"]["message"])


if __name__ == "__main__":
    unittest.main()
