"""A machine that is too small for the pool, or for several: jobs wait, the pool shrinks and grows back and says so, and
no program is blamed or runs with less around it.

The limits are those of control groups that the tests make around the zygos they start, and remove.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import unittest
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import zygo
from serve import Service
from zygo import Coprocess, Job, Result, ZygoTestCase

GROUPS = Path("/sys/fs/cgroup")
STEP = re.compile(r"zygo: pool: (\d+) -> (\d+) cells, (.+)")
BATCHES = 8
WORKERS = 4
THREADS = 2 + 2 * min(WORKERS, len(os.sched_getaffinity(0)))  # of a zygo batch with so many: a shard has a helper


def home_of(controller: str) -> Path | None:
    """Where a group with this controller can be made: v1's hierarchy, or v2's root where it hands the controller on."""
    if os.geteuid() != 0:
        return None
    if (GROUPS / controller / "cgroup.procs").exists():
        return GROUPS / controller
    handed_on = GROUPS / "cgroup.subtree_control"
    return GROUPS if handed_on.exists() and controller in handed_on.read_text().split() else None


def needs(controller: str) -> Callable[[type], type]:
    return unittest.skipIf(home_of(controller) is None, f"needs root and a control group of {controller}")


class Pressure(ZygoTestCase):
    @contextmanager
    def group(self, controller: str, most: int) -> Iterator[Path]:
        home = home_of(controller)
        assert home is not None
        group = home / f"zygo-behaviour-{os.getpid()}-{controller}"
        group.mkdir()
        for file in self.files(group, controller):
            file.write_text(str(most))
        try:
            yield group
        finally:
            for folder, _, _ in os.walk(group, topdown=False):  # a zygo that was killed leaves its own
                os.rmdir(folder)

    def files(self, group: Path, controller: str) -> list[Path]:
        """Where the limit or weight is written, in this order; memory that may go to swap is no limit."""
        names = {"pids": ("pids.max",), "cpu": ("cpu.shares", "cpu.weight"), "memory": ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max")}
        return [group / name for name in names[controller] if (group / name).exists()]

    def command(self, group: Path, *options: str) -> list[str]:
        return ["/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh", str(zygo.BINARY), "batch", "-",
                "--quiet", *options]

    def all_at_once(self, group: Path, jobs: Sequence[Job], *options: str) -> list[tuple[list[Result], str]]:
        """The same batch so many times, side by side: results and what was said."""
        started = [subprocess.Popen(self.command(group, *options), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, env=zygo.environment()) for _ in range(BATCHES)]
        lines = zygo.lines_of(jobs)
        for process in started:
            assert process.stdin
            process.stdin.write(lines)  # fits into the pipe
            process.stdin.close()
            process.stdin = None
        ended = [process.communicate(timeout=120 * zygo.PATIENCE) for process in started]
        return [(zygo.results_of(out), err.decode()) for out, err in ended]

    def steps(self, said: str) -> list[tuple[int, int]]:
        """What the pool says of itself: nothing but these lines, each from where the one before ended."""
        found = [STEP.fullmatch(line) for line in said.splitlines()]
        self.assertNotIn(None, found, said)
        steps = [(int(match[1]), int(match[2])) for match in found if match]
        for (_, before), (after, _) in zip(steps, steps[1:]):
            self.assertEqual(before, after, said)
        return steps

    def assertRight(self, results: Sequence[Result], jobs: Sequence[Job], said: str) -> None:
        self.assertEqual(len(results), len(jobs), said)
        wrong = [zygo.brief(result) for result in results if result["label"] != result["tag"]]
        self.assertEqual(wrong, [], said)


def mixed(count: int, work: str) -> list[Job]:
    """Programs with the label that each must get as its tag."""
    kinds = [("OK", work), ("ZeroDivisionError", work + "\n1 // 0"), ("OK", work), ("NonZeroExit", work + "\nexit(3)")]
    return [{"id": str(n), "tag": kinds[n % 4][0], "source": kinds[n % 4][1]} for n in range(count)]


NAP = "import time\ntime.sleep(0.01)\nprint('done')"


@needs("pids")
class TooFewProcesses(Pressure):
    def test_a_pool_shrinks_to_what_there_is_and_every_job_gets_its_label(self) -> None:
        jobs = mixed(24, NAP)
        roomy = zygo.run_batch(jobs[:1], "--workers", "8")["0"]
        with self.group("pids", 12) as group:
            ended = zygo.run_command(self.command(group, "--workers", "8"), stdin=zygo.lines_of(jobs))

        results = zygo.results_of(ended.out)
        self.assertRight(results, jobs, ended.stderr)
        steps = self.steps(ended.stderr)
        self.assertEqual(steps[0][0], 8)
        self.assertLess(steps[0][1], 8)
        self.assertIn("EAGAIN on ", ended.stderr)
        for result in results:
            self.assertEqual((result["level"], result["enforced"]), (roomy["level"], roomy["enforced"]))

    def test_a_service_says_so_in_its_log(self) -> None:
        with self.group("pids", 12) as group:
            before = ("/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh")
            service = Service("--workers", "8", "--log", "json", before=before)
            self.addCleanup(service.stop)
            batch = service.ask("POST", "/v1/batches", zygo.lines_of(mixed(24, NAP)), timeout=120)
            _, log = service.stop()

        self.assertEqual(len(batch.lines), 24)
        lines = [json.loads(line) for line in log.splitlines()]
        self.assertIn("pool: 8 -> ", " ".join(line.get("note", "") for line in lines))

    def test_it_grows_back_when_there_is_room_again(self) -> None:
        with self.group("pids", 12) as group:
            process = subprocess.Popen(self.command(group, "--workers", str(WORKERS), "--any-id"), stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0,
                                       env=zygo.environment())
            assert process.stderr
            with Coprocess(process=process) as batch:
                self.pass_until(batch, process, lambda steps: steps != [])
                (group / "pids.max").write_text("max")
                steps = self.pass_until(batch, process, lambda steps: steps[-1][1] == WORKERS)
                assert process.stdin
                process.stdin.close()
                process.wait(20 * zygo.PATIENCE)
                process.stderr.close()

        self.assertLess(min(width for _, width in steps), 4)
        self.assertEqual(steps[-1], (3, 4))

    said = b""

    def pass_until(self, batch: Coprocess, process: subprocess.Popen[bytes],
                   seen: Callable[[list[tuple[int, int]]], bool]) -> list[tuple[int, int]]:
        """Jobs, until the pool has taken the steps. A round takes a while; four steps back take seconds."""
        for _ in range(300):
            self.pass_through(batch, 24)
            steps = self.steps(self.said_so_far(process))
            if seen(steps):
                return steps
        self.fail(f"the pool took no other steps than {steps}")

    def said_so_far(self, process: subprocess.Popen[bytes]) -> str:
        assert process.stderr
        os.set_blocking(process.stderr.fileno(), False)
        self.said += process.stderr.read() or b""
        return self.said.decode()

    def pass_through(self, batch: Coprocess, count: int) -> None:
        batch.send(zygo.lines_of(mixed(count, NAP)))
        for result in (batch.result(60) for _ in range(count)):
            self.assertEqual(result["label"], result["tag"], zygo.brief(result))

    def test_eight_batches_at_once_all_complete(self) -> None:
        jobs = mixed(12, NAP)
        with self.group("pids", (THREADS + 1) * BATCHES) as group:
            ended = self.all_at_once(group, jobs, "--workers", str(WORKERS), "--any-id")

        for results, said in ended:
            self.assertRight(results, jobs, said)
            self.steps(said)
        self.assertTrue(any(said for _, said in ended), "the limit was not felt")

    def test_a_program_is_not_blamed_for_processes_that_others_have(self) -> None:
        """Its own limit is far; the group's is not, however often it is tried."""
        fork = ("import os, time\nfor _ in range(30):\n    if os.fork() == 0:\n        time.sleep(5)\n        os._exit(0)\n"
                "print('forked')")
        job: Job = {"id": "only", "source": fork, "policy": {"profile": "subprocess"}, "limits": {"pids": 60}}
        alone = zygo.run_batch([job])["only"]
        with self.group("pids", 24) as group:
            ended = zygo.run_command(self.command(group, "--workers", "1"), stdin=zygo.lines_of([job]))

        self.assertLabel(alone, "OK")
        result, = zygo.results_of(ended.out)
        if "cgroup.pids" not in result["enforced"]:
            self.skipTest("no control group counts a job's processes here, and nothing else tells the limits apart")
        self.assertLabel(result, "SandboxError")
        self.assertIn("are used up", result["detail"]["message"])


@needs("memory")
class TooLittleMemory(Pressure):
    def test_eight_batches_at_once_all_complete(self) -> None:
        touch = "block = bytearray(b'x') * (24 << 20)\nimport time\ntime.sleep(1)\nprint(len(block))"
        jobs = mixed(6, touch)
        with self.group("memory", 600 << 20) as group:
            ended = self.all_at_once(group, jobs, "--workers", str(WORKERS), "--any-id")

        for results, said in ended:
            self.assertRight(results, jobs, said)
            self.steps(said)
        self.assertTrue(any(said for _, said in ended), "the limit was not felt")

    def test_a_job_that_is_too_large_even_alone_is_a_sandbox_error_and_others_are_not(self) -> None:
        large: Job = {"id": "large", "source": "block = bytearray(b'x') * (400 << 20)", "limits": {"memory_mb": 1024}}
        small: Job = {"id": "small", "source": "print('small')"}
        with self.group("memory", 300 << 20) as group:
            ended = zygo.run_command(self.command(group, "--workers", "1"), stdin=zygo.lines_of([large, small]))

        labels = Counter((result["id"], result["label"]) for result in zygo.results_of(ended.out))
        self.assertEqual(labels, {("large", "SandboxError"): 1, ("small", "OK"): 1}, ended.stdout)
        self.assertIn("the memory that zygo itself was given is used up", ended.stdout)


if __name__ == "__main__":
    unittest.main()
