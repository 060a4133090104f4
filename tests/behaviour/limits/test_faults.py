"""Whatever dies under a job - its cell, its template, the launcher of one - every job gets exactly one verdict.

Only processes below the zygo that a test started are killed, by pid, while that zygo lives.
"""

from __future__ import annotations

import json
import contextlib
import os
import pty
import select
import signal
import tempfile
import time
import unittest
from collections.abc import Collection, Iterator

import host
import zygo
from zygo import Coprocess, Job, Result, ZygoTestCase

SECONDS = 0.6


def sleeper(name: str, seconds: float = SECONDS, **fields: object) -> Job:
    return {"id": name, "source": f"import time\ntime.sleep({seconds})\nprint('slept')", **fields}


def quick(name: str) -> Job:
    return {"id": name, "source": "print('fine')"}


@unittest.skipIf(os.geteuid() != 0, "processes of another uid are to be killed")
class Faults(ZygoTestCase):
    def setUp(self) -> None:
        host.adopt_orphans()
        self.before = host.Snapshot.take()

    def tearDown(self) -> None:
        self.assertEqual(self.before.leftovers(), [])

    def verdicts(self, zygo_batch: Coprocess, count: int) -> dict[str, Result]:
        """So many results, each of another job, and then the end: nothing twice, nothing missing."""
        results = zygo.by_id(zygo_batch.result() for _ in range(count))
        zygo_batch.stdin.close()
        self.assertEqual(zygo_batch.line(), b"")
        zygo_batch.process.wait(10)
        return results


class ACellThatDies(Faults):
    def test_gives_its_job_a_sandbox_error_and_no_other(self) -> None:
        with Coprocess("--quiet", "--workers", "1") as zygo_batch:
            zygo_batch.send(zygo.lines_of([sleeper("hit"), sleeper("next"), quick("last")]))
            _, cell, _ = host.chain_of(zygo_batch.process.pid)
            os.kill(cell, signal.SIGKILL)

            results = self.verdicts(zygo_batch, 3)

        self.assertLabel(results["hit"], "SandboxError")
        self.assertEqual(results["hit"]["by"], "sandbox")
        self.assertEqual(results["hit"]["detail"]["step"], "cell")
        self.assertLabel(results["next"], "OK")
        self.assertLabel(results["last"], "OK")
        self.assertEqual(zygo_batch.process.returncode, 1)

    def test_while_it_is_idle_harms_no_job(self) -> None:
        with Coprocess("--quiet", "--workers", "1") as zygo_batch:
            zygo_batch.send(zygo.lines_of([quick("first")]))
            first = zygo_batch.result()
            for template in host.children(zygo_batch.process.pid):
                for child in host.children(template):
                    host.kill_and_await(child)
            self.wait_until_no_cell(zygo_batch.process.pid)
            zygo_batch.send(zygo.lines_of([quick("second")]))

            results = self.verdicts(zygo_batch, 1)

        self.assertLabel(first, "OK")
        self.assertLabel(results["second"], "OK")

    def wait_until_no_cell(self, pid: int) -> None:
        deadline = time.monotonic() + 5 * zygo.PATIENCE
        while any(host.children(template) for template in host.children(pid)):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)  # /proc gives no event for a process that went.
        time.sleep(0.05)  # The daemon may hear of it a moment later.

    def test_again_and_again_loses_no_job(self) -> None:
        """Forty jobs, and every cell that is seen in the first seconds is killed."""
        jobs = [sleeper(f"job {n}", 0.1) for n in range(40)]
        with Coprocess("--quiet", "--workers", "2") as zygo_batch:
            zygo_batch.send(zygo.lines_of(jobs))
            killed = set()
            deadline = time.monotonic() + 1.5 * zygo.PATIENCE
            while time.monotonic() < deadline:
                for _, cell, _ in host.chains_of(zygo_batch.process.pid):
                    if cell not in killed:
                        killed.add(cell)
                        os.kill(cell, signal.SIGKILL)
                time.sleep(0.05)  # Some jobs are to end well, too.

            results = self.verdicts(zygo_batch, len(jobs))

        labels = [result["label"] for result in results.values()]
        self.assertLessEqual(set(labels), {"OK", "SandboxError"})
        self.assertGreaterEqual(labels.count("SandboxError"), 2)
        self.assertLessEqual(labels.count("SandboxError"), len(killed))

    def test_by_a_stop_signal_is_ended_at_the_deadline(self) -> None:
        """Stopped, not killed: the job's deadline passes, pid 1 does not answer, the whole cell goes."""
        with Coprocess("--quiet", "--workers", "1") as zygo_batch:
            zygo_batch.send(zygo.lines_of([sleeper("stuck", 60, limits={"wall_ms": 500}), quick("next")]))
            _, cell, _ = host.chain_of(zygo_batch.process.pid)
            os.kill(cell, signal.SIGSTOP)

            results = self.verdicts(zygo_batch, 2)

        self.assertLabel(results["stuck"], "TimeoutException")
        self.assertEqual(results["stuck"]["detail"]["limit_ms"], 500)
        self.assertLabel(results["next"], "OK")

    def test_by_a_stop_signal_tells_what_its_program_had_used(self) -> None:
        """The limit is of CPU time, and the cell goes without having said anything."""
        with Coprocess("--quiet", "--workers", "1") as zygo_batch:
            limits = {"cpu_ms": 500, "wall_ms": 60000}
            zygo_batch.send(zygo.lines_of([{"id": "spins", "source": "while True: pass", "limits": limits}]))
            _, cell, _ = host.chain_of(zygo_batch.process.pid)
            os.kill(cell, signal.SIGSTOP)

            results = self.verdicts(zygo_batch, 1)

        self.assertLabel(results["spins"], "TimeoutException")
        self.assertEqual(results["spins"]["detail"]["limit"], "cpu")
        self.assertGreaterEqual(results["spins"]["detail"]["measured_ms"], 500)

    def test_when_only_the_job_is_killed_the_job_was_signalled(self) -> None:
        with Coprocess("--quiet", "--workers", "1") as zygo_batch:
            zygo_batch.send(zygo.lines_of([sleeper("hit"), quick("next")]))
            os.kill(host.job_of(zygo_batch.process.pid), signal.SIGKILL)

            results = self.verdicts(zygo_batch, 2)

        self.assertLabel(results["hit"], "Signalled")
        self.assertLabel(results["next"], "OK")


    def test_while_it_is_idle_harms_not_even_a_job_that_comes_at_once(self) -> None:
        with Coprocess("--quiet", "--workers", "1") as zygo_batch:
            for turn in range(20):
                zygo_batch.send(zygo.lines_of([quick(f"before {turn}")]))
                self.assertLabel(zygo_batch.result(), "OK")
                for template in host.children(zygo_batch.process.pid):
                    for child in host.children(template):
                        host.kill_and_await(child)  # dead, whether zygo has heard of it or not
                zygo_batch.send(zygo.lines_of([quick(f"after {turn}")]))
                self.assertLabel(zygo_batch.result(), "OK")
            self.verdicts(zygo_batch, 0)


class ATemplateThatDies(Faults):
    def test_takes_its_jobs_along_and_is_replaced(self) -> None:
        with Coprocess("--quiet", "--workers", "2") as zygo_batch:
            zygo_batch.send(zygo.lines_of([sleeper("one", 1.5), sleeper("two", 1.5), quick("three"), quick("four")]))
            template, _, _ = host.chain_of(zygo_batch.process.pid)
            os.kill(template, signal.SIGKILL)

            results = self.verdicts(zygo_batch, 4)

        labels = {name: result["label"] for name, result in results.items()}
        self.assertLessEqual(set(labels.values()), {"OK", "SandboxError"})
        self.assertIn("SandboxError", (labels["one"], labels["two"]))
        self.assertEqual((labels["three"], labels["four"]), ("OK", "OK"))

    def test_while_it_starts_is_replaced_and_nobody_is_harmed(self) -> None:
        with self.with_slow_template() as zygo_batch:
            zygo_batch.send(zygo.lines_of([quick("one"), quick("two")]))
            self.kill_template(zygo_batch.process.pid)

            results = self.verdicts(zygo_batch, 2)

        self.assertEqual({result["label"] for result in results.values()}, {"OK"})

    def test_whenever_it_starts_fails_what_waited_for_it_and_nothing_else(self) -> None:
        with self.with_slow_template() as zygo_batch:
            zygo_batch.send(zygo.lines_of([quick("unlucky")]))
            killed: set[int] = set()
            for _ in range(3):
                killed.add(self.kill_template(zygo_batch.process.pid, but=killed))
            unlucky = zygo_batch.result()
            zygo_batch.send(zygo.lines_of([quick("next")]))

            results = self.verdicts(zygo_batch, 1)

        self.assertLabel(unlucky, "SandboxError")
        self.assertEqual(unlucky["detail"]["step"], "start template")
        self.assertLabel(results["next"], "OK")

    @contextlib.contextmanager
    def with_slow_template(self) -> Iterator[Coprocess]:
        """Long enough a start to be killed in it."""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as setup:
            setup.write("import time\ntime.sleep(1)\n")
            setup.flush()
            os.chmod(setup.name, 0o644)  # The template is another user.
            with Coprocess("--quiet", "--workers", "1", "--setup", setup.name) as zygo_batch:
                yield zygo_batch

    def kill_template(self, zygo_pid: int, but: Collection[int] = ()) -> int:
        """As soon as it is there, and no longer its own launcher."""
        deadline = time.monotonic() + 5 * zygo.PATIENCE
        while True:
            self.assertLess(time.monotonic(), deadline)
            for pid in set(host.children(zygo_pid)) - set(but):
                if host.name_of(pid) == "python3":
                    os.kill(pid, signal.SIGKILL)
                    return pid

    def test_in_the_middle_of_a_determinism_check_ends_it_with_one_verdict(self) -> None:
        job = sleeper("twice", SECONDS, determinism={"runs": 2})
        with Coprocess("--quiet", "--workers", "1", "--heap", "huge") as zygo_batch:
            zygo_batch.send(zygo.lines_of([job, quick("next")]))
            first, _, _ = host.chain_of(zygo_batch.process.pid)
            os.kill(first, signal.SIGKILL)

            results = self.verdicts(zygo_batch, 2)

        self.assertLabel(results["twice"], "SandboxError")
        self.assertLabel(results["next"], "OK")

    def test_again_and_again_loses_no_job(self) -> None:
        jobs = [sleeper(f"job {n}", 0.05) for n in range(60)]
        with Coprocess("--quiet", "--workers", "2") as zygo_batch:
            zygo_batch.send(zygo.lines_of(jobs))
            for _ in range(6):
                template, _, _ = host.chain_of(zygo_batch.process.pid)
                # It may be one that is dying already, or a launcher that has done its work.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(template, signal.SIGKILL)

            results = self.verdicts(zygo_batch, len(jobs))

        labels = [result["label"] for result in results.values()]
        self.assertLessEqual(set(labels), {"OK", "SandboxError"})
        self.assertIn("OK", labels)


class CtrlC(Faults):
    """At a terminal it reaches the whole foreground process group."""

    def test_cancels_first_and_breaks_nothing(self) -> None:
        folder = self.folder()
        results_file = folder / "results.jsonl"
        (folder / "jobs.jsonl").write_bytes(zygo.lines_of([quick("done"), sleeper("long", 60)]))
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(zygo.BINARY, [str(zygo.BINARY), "batch", str(folder / "jobs.jsonl"), "-o", str(results_file),
                                   "--workers", "1"])
        try:
            deadline = time.monotonic() + 20 * zygo.PATIENCE
            while not (results_file.exists() and results_file.read_bytes().count(b"\n") == 1 and host.chains_of(pid)):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)  # A growing file gives no event in the standard library.
            os.write(terminal, b"\x03")
            code = self.wait_for(pid, terminal)
        finally:
            os.close(terminal)

        self.assertEqual(code, 130)
        written = [json.loads(line) for line in results_file.read_text().splitlines()]
        self.assertEqual([(r["id"], r["label"]) for r in written], [("done", "OK")])

    def wait_for(self, pid: int, terminal: int) -> int:
        deadline = time.monotonic() + 5 * zygo.PATIENCE
        while time.monotonic() < deadline:
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    os.read(terminal, 65536)
                except OSError:
                    pass
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise AssertionError("zygo did not stop after Ctrl-C")


if __name__ == "__main__":
    unittest.main()
