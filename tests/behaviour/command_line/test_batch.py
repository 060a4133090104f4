"""`zygo batch`: NDJSON in, NDJSON out, whatever stands in the lines and whatever happens on the way."""

from __future__ import annotations

import json
import signal
import subprocess
import time
import unittest
from pathlib import Path
from typing import Any

import host
import zygo
from zygo import Coprocess, Job, Result, ZygoTestCase

# A line that is no job, and what the reason must mention (a path where a field is meant).
BAD_LINES: tuple[tuple[bytes, str], ...] = (
    (b'{"id": "torn", "source": "print(', ""),
    (b"print(1)", ""),
    (b"[1, 2]", "object"),
    (b"null", "object"),
    (b'"print(1)"', "object"),
    (b'{"id": "bytes", "source": "\xff\xfe"}', ""),
    (b'{"id": "half a pair", "source": "\\ud800"}', ""),
    (b"[" * 100_000, ""),
    (b'{"source": "print(1)"} {"source": "print(2)"}', ""),
    (b'{"id": "b1"}', "source"),
    (b'{"id": "b2", "source": 7}', "source"),
    (b'{"id": "b3", "source": "", "sauce": 1}', "sauce"),
    (b'{"id": 4, "source": ""}', "id"),
    (b'{"id": "b5", "source": "", "limits": {"cpu_ms": "5"}}', "limits.cpu_ms"),
    (b'{"id": "b6", "source": "", "limits": {"cpu_ms": -5}}', "limits.cpu_ms"),
    (b'{"id": "b7", "source": "", "limits": {"cpu": 5}}', "limits.cpu"),
    (b'{"id": "b8", "source": "", "limits": {"memory_mb": 1e300}}', "limits.memory_mb"),
    (b'{"id": "b9", "source": "", "limits": []}', "limits"),
    (b'{"id": "b10", "source": "", "mode": "fly"}', "mode"),
    (b'{"id": "b11", "source": "", "mode": "call"}', "func"),
    (b'{"id": "b12", "source": "", "mode": "call", "func": "f", "inputs": 3}', "inputs"),
    (b'{"id": "b13", "source": "", "mode": "call", "func": "f", "inputs": [1], "calls": []}', "calls"),
    (b'{"id": "b14", "source": "", "mode": "call", "func": "f", "calls": [{"args": [], "kwords": {}}]}',
     "calls[0].kwords"),
    (b'{"id": "b15", "source": "", "mode": "call", "func": 1, "inputs": []}', "func"),
    (b'{"id": "b16", "source": "", "argv": ["a", 1]}', "argv[1]"),
    (b'{"id": "b17", "source": "", "env": {"A": 1}}', 'env["A"]'),
    (b'{"id": "b18", "source": "", "stdin": {}}', "stdin"),
    (b'{"id": "b19", "source": "", "array": "yes"}', "array"),
    (b'{"id": "b20", "source": "", "files": {"/etc/x": {"text": ""}}}', "/etc/x"),
    (b'{"id": "b21", "source": "", "files": {"a/../../x": {"text": ""}}}', "a/../../x"),
    (b'{"id": "b22", "source": "", "files": {"x": {"b64": "*"}}}', "files"),
    (b'{"id": "b23", "source": "", "files": {"x": {"text": "", "b64": ""}}}', "files"),
    (b'{"id": "b24", "source": "", "files": {"": {"text": ""}}}', "files"),
    (b'{"id": "b25", "source": "", "template": "pyhton"}', "pyhton"),
    (b'{"id": "b26", "source": "", "policy": {"profile": "relaxed"}}', "policy.profile"),
    (b'{"id": "b27", "source": "", "policy": {"on_violation": "shrug"}}', "policy.on_violation"),
    (b'{"id": "b28", "source": "", "policy": {"require": ["moat"]}}', "policy.require"),
    (b'{"id": "b29", "source": "", "determinism": {"runs": 0}}', "determinism.runs"),
    (b'{"id": "b30", "source": "", "determinism": {"times": 2}}', "determinism.times"),
    (b'{"id": "good 0", "source": "print(1)"}', "good 0"),
)


def good(number: int) -> Job:
    return {"id": f"good {number}", "source": f"print({number})"}


def token(number: int, seconds: float = 0) -> Job:
    """A job that tells one run of it from another."""
    return {"id": f"job {number}", "source": f"import os, time\ntime.sleep({seconds})\nprint(os.urandom(8).hex())"}


def tokens(path: Path) -> dict[str, str]:
    return {key: r["stdout"]["text"] for key, r in zygo.by_id(zygo.results_of(path.read_bytes())).items()}


class BadLines(ZygoTestCase):
    ended: zygo.Finished
    results: list[Result]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        lines = [zygo.lines_of([good(0)])]
        for number, (line, _) in enumerate(BAD_LINES, start=1):
            lines += [line + b"\n", zygo.lines_of([good(number)])]
        cls.ended = zygo.run_cli("batch", "-", stdin=b"".join(lines))
        cls.results = zygo.results_of(cls.ended.out)

    def test_each_gets_one_result_that_names_line_and_reason(self) -> None:
        bad = [result for result in self.results if result["label"] == "BadJob"]
        at = {result["detail"]["line"]: result for result in bad}
        self.assertEqual(len(bad), len(at), "two results for one line")
        for index, (line, word) in enumerate(BAD_LINES):
            with self.subTest(line[:80]):
                result = at[2 * index + 2]
                self.assertEqual((result["by"], result["ok"]), ("caller", False))
                self.assertTrue(result["detail"]["message"])
                self.assertIn(word, " ".join(str(value) for value in result["detail"].values()))

    def test_do_not_disturb_the_others(self) -> None:
        """Also the first of two lines with the same id runs; only the second is bad."""
        fine = {result["id"]: result["stdout"]["text"] for result in self.results if result["label"] == "OK"}

        self.assertEqual(fine, {f"good {n}": f"{n}\n" for n in range(len(BAD_LINES) + 1)})

    def test_make_the_exit_code_1(self) -> None:
        self.assertEqual(self.ended.code, 1)


class Lines(ZygoTestCase):
    def test_that_are_blank_are_skipped_but_counted(self) -> None:
        ended = zygo.run_cli("batch", "-", stdin=b"\n  \n" + zygo.lines_of([good(1)]) + b"\r\n\nnonsense\n")

        results = zygo.results_of(ended.out)
        self.assertEqual(sorted(r["label"] for r in results), ["BadJob", "OK"])
        self.assertEqual([r["detail"]["line"] for r in results if r["label"] == "BadJob"], [6])

    def test_without_a_final_newline_count(self) -> None:
        ended = zygo.run_cli("batch", "-", stdin=zygo.lines_of([good(1)]).rstrip(b"\n"))

        self.assertEqual([r["label"] for r in zygo.results_of(ended.out)], ["OK"])

    def test_none_at_all_is_a_batch_done(self) -> None:
        ended = zygo.run_cli("batch", "-", stdin=b"")

        self.assertEqual((ended.code, ended.out), (0, b""))

    def test_without_ids_get_ids_of_their_own(self) -> None:
        ended = zygo.run_cli("batch", "-", stdin=b'{"source": "print(1)"}\n' * 5)

        results = zygo.by_id(zygo.results_of(ended.out))
        self.assertEqual((ended.code, len(results)), (0, 5))

    def test_failing_programs_are_verdicts_and_exit_0(self) -> None:
        ended = zygo.run_cli("batch", "-", stdin=b'{"source": "1/0"}\n{"source": "import os; os.fork()"}\n')

        self.assertEqual((ended.code, len(zygo.results_of(ended.out))), (0, 2))

    def test_behind_long_outputs_that_are_compared_are_not_forgotten(self) -> None:
        # With one worker: a comparison beside the loop leaves room that no other event tells of.
        long: Job = {"source": "print('x' * 200_000)", "determinism": {"runs": 2}}
        jobs = [job for _ in range(10) for job in (long, {"source": "print(1)"})]

        ended = zygo.run_cli("batch", "-", "--workers", "1", stdin=zygo.lines_of(jobs))

        self.assertEqual([r["label"] for r in zygo.results_of(ended.out)], ["OK"] * len(jobs))

    def test_end_in_the_order_of_completion(self) -> None:
        jobs = [token(1, 1.0), token(2)]

        ended = zygo.run_cli("batch", "-", "--workers", "2", stdin=zygo.lines_of(jobs))

        self.assertEqual([r["id"] for r in zygo.results_of(ended.out)], ["job 2", "job 1"])

    def test_give_tags_back_whatever_they_are(self) -> None:
        tags: list[Any] = [None, 1, "x", [1, {"a": None}], {"b": [True]}]
        jobs = [{**good(n), "tag": tag} for n, tag in enumerate(tags)]

        results = zygo.run_batch(jobs)

        self.assertEqual([results[f"good {n}"]["tag"] for n in range(len(tags))], tags)


class Files(ZygoTestCase):
    def test_in_and_out_by_name(self) -> None:
        folder = self.folder()
        (folder / "jobs.jsonl").write_bytes(zygo.lines_of([good(1), good(2)]))

        ended = zygo.run_cli("batch", str(folder / "jobs.jsonl"), "-o", str(folder / "results.jsonl"))

        self.assertEqual((ended.code, ended.out), (0, b""))
        results = zygo.by_id(zygo.results_of((folder / "results.jsonl").read_bytes()))
        self.assertEqual(set(results), {"good 1", "good 2"})

    def test_defaults_fill_what_a_job_leaves_out(self) -> None:
        defaults = self.folder() / "defaults.json"
        defaults.write_text(json.dumps({"mode": "call", "func": "f", "limits": {"cpu_ms": 300, "wall_ms": 9000}}))
        jobs = [{"id": "loop", "source": "def f(x):\n  while True: pass", "inputs": [1]},
                {"id": "own", "source": "def g(x): return x", "func": "g", "inputs": [7]},
                {"id": "own limit", "source": "import time\ndef f(x): time.sleep(60)", "inputs": [1],
                 "limits": {"wall_ms": 300}}]

        results = zygo.run_batch(jobs, "--defaults", str(defaults))

        self.assertEqual(results["loop"]["detail"]["limit"], "cpu")
        self.assertEqual(results["own"]["value"], [7])
        self.assertEqual(results["own limit"]["detail"]["limit"], "wall")

    def test_an_outcome_table_ends_stderr_unless_quiet(self) -> None:
        lines = zygo.lines_of([good(1), {"id": "bad", "source": "1/0"}])

        table = zygo.run_cli("batch", "-", stdin=lines).stderr
        quiet = zygo.run_cli("batch", "-", "--quiet", stdin=lines).err

        self.assertRegex(table, r"OK\b.*1")
        self.assertRegex(table, r"ZeroDivisionError\b.*1")
        self.assertNotIn("\x1b", table)
        self.assertEqual(quiet, b"")


class AsACoprocess(ZygoTestCase):
    def test_answers_each_line_while_the_pipe_stays_open(self) -> None:
        with Coprocess() as zygo_batch:
            for number in range(20):
                zygo_batch.send(zygo.lines_of([good(number)]))
                self.assertEqual(zygo_batch.result()["stdout"]["text"], f"{number}\n")

    def test_answers_bad_lines_too(self) -> None:
        with Coprocess() as zygo_batch:
            zygo_batch.send(b"nonsense\n")
            self.assertEqual(zygo_batch.result()["label"], "BadJob")
            zygo_batch.send(zygo.lines_of([good(1)]))
            self.assertLabel(zygo_batch.result(), "OK")

    def test_ends_when_its_input_ends(self) -> None:
        with Coprocess() as zygo_batch:
            zygo_batch.send(zygo.lines_of([good(1)]))
            zygo_batch.stdin.close()
            self.assertEqual(zygo_batch.result()["id"], "good 1")
            self.assertEqual(zygo_batch.line(), b"")
            self.assertEqual(zygo_batch.process.wait(10), 0)

    def test_a_closed_stdout_ends_it_quietly(self) -> None:
        jobs = [token(n, 0.05) for n in range(400)]
        process = zygo.start_cli("batch", "-", "--quiet", stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(zygo.lines_of(jobs))
        process.stdin.flush()
        process.stdout.readline()

        process.stdout.close()
        process.wait(10)  # Its input is still open.

        self.assertEqual(process.stderr.read(), b"")
        self.assertIn(process.returncode, {0, 1, 128 + signal.SIGPIPE, -signal.SIGPIPE})
        zygo.finish(process)


class Interrupted(ZygoTestCase):
    """Ctrl-C in the middle of a batch, then `--resume`."""

    JOBS = [token(n, 0 if n < 5 else 0.4) for n in range(40)]

    def setUp(self) -> None:
        host.adopt_orphans()
        folder = self.folder()
        self.jobs, self.results = folder / "jobs.jsonl", folder / "results.jsonl"
        self.jobs.write_bytes(zygo.lines_of(self.JOBS))

    def arguments(self) -> tuple[str, ...]:
        return ("batch", str(self.jobs), "-o", str(self.results), "--workers", "2")

    def interrupted(self, number: signal.Signals = signal.SIGINT) -> tuple[int, float]:
        """Exit code and seconds from the signal to the end; sent when a few results are in the file."""
        process = zygo.start_cli(*self.arguments(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.wait_for_results(5, process)
        begin = time.monotonic()
        process.send_signal(number)
        code = process.wait(20)
        return code, time.monotonic() - begin

    def wait_for_results(self, count: int, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + 30
        while not self.results.exists() or self.results.read_bytes().count(b"\n") < count:
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                process.wait()
                self.fail(f"no {count} results in the file")
            time.sleep(0.01)  # A growing file gives no event in the standard library.

    def test_it_stops_within_a_second_and_keeps_what_was_finished(self) -> None:
        quickest = float("inf")
        for _ in range(3):  # The machine may have been busy with something else.
            self.results.unlink(missing_ok=True)
            code, seconds = self.interrupted()
            quickest = min(quickest, seconds)
            self.assertEqual(code, 130)
            self.assertGreaterEqual(len(zygo.results_of(self.results.read_bytes())), 5)

        self.assertLess(quickest, zygo.PATIENCE)

    def test_results_that_are_there_are_not_overwritten_unasked(self) -> None:
        self.jobs.write_bytes(zygo.lines_of(self.JOBS[:2]))
        self.results.write_bytes(b"precious\n")

        refused = zygo.run_cli(*self.arguments())

        self.assertEqual(refused.code, 2)
        self.assertIn("--overwrite", refused.stderr)
        self.assertEqual(self.results.read_bytes(), b"precious\n")
        self.assertEqual(zygo.run_cli(*self.arguments(), "--overwrite").code, 0)
        self.assertEqual(len(zygo.results_of(self.results.read_bytes())), 2)

    def test_resume_completes_the_rest_without_running_anything_twice(self) -> None:
        self.interrupted()
        first = {key: text for key, text in tokens(self.results).items() if text}
        self.assertLess(len(first), len(self.JOBS))

        ended = zygo.run_cli(*self.arguments(), "--resume")

        self.assertEqual(ended.code, 0, ended.stderr)
        final = tokens(self.results)
        self.assertEqual(set(final), {job["id"] for job in self.JOBS})
        self.assertEqual({key: final[key] for key in first}, first)
        self.assertTrue(all(final.values()))

    def test_a_checker_that_was_at_work_has_judged_nothing(self) -> None:
        checked = {"id": "checked", "source": "print(1)", "tests": [{"expect": "", "compare": "checker"}],
                   "checker": {"template": "python", "source": "import time\ntime.sleep(3)"}}
        self.jobs.write_bytes(zygo.lines_of([checked, *self.JOBS[:5]]))
        self.interrupted()
        self.assertNotIn("checked", zygo.by_id(zygo.results_of(self.results.read_bytes())))

        ended = zygo.run_cli(*self.arguments(), "--resume")

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertEqual(zygo.by_id(zygo.results_of(self.results.read_bytes()))["checked"]["label"], "OK")

    def test_resume_repairs_a_line_that_was_torn(self) -> None:
        """As after a power cut: the last line of the results is half there."""
        self.interrupted()
        self.results.write_bytes(self.results.read_bytes()[:-20])

        ended = zygo.run_cli(*self.arguments(), "--resume")

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertEqual(set(tokens(self.results)), {job["id"] for job in self.JOBS})

    def test_resume_of_a_finished_batch_runs_nothing(self) -> None:
        self.jobs.write_bytes(zygo.lines_of(self.JOBS[:5]))
        zygo.run_cli(*self.arguments())
        before = self.results.read_bytes()

        ended = zygo.run_cli(*self.arguments(), "--resume")

        self.assertEqual(ended.code, 0)
        self.assertEqual(self.results.read_bytes(), before)

    def test_nothing_is_left_after_it(self) -> None:
        before = host.Snapshot.take()

        self.interrupted()

        self.assertEqual(before.leftovers(), [])

    def test_nothing_is_left_after_sigterm_either(self) -> None:
        before = host.Snapshot.take()

        self.interrupted(signal.SIGTERM)

        self.assertEqual(before.leftovers(), [])

    def test_after_sigkill_no_process_is_left_and_the_next_start_sweeps_the_rest(self) -> None:
        before = host.Snapshot.take()

        self.interrupted(signal.SIGKILL)
        before.await_the_dead()
        zygo.run_cli("run", "-", stdin=b"print(1)")

        self.assertEqual(before.leftovers(), [])


class Cancelling(ZygoTestCase):
    def test_a_line_takes_back_a_job_that_runs_and_one_that_waits(self) -> None:
        endless = {"source": "while True: pass", "limits": {"cpu_ms": 3_600_000, "wall_ms": 3_600_000}}
        with Coprocess("--quiet", "--workers", "1") as zygo_batch:
            zygo_batch.send(zygo.lines_of([{"id": "runs", **endless}, {"id": "waits", **endless}, {"id": "last", "source": ""}]))
            zygo_batch.send(b'{"cancel": "waits"}\n{"cancel": "nobody"}\n{"cancel": "runs"}\n')
            labels = {result["id"]: result["label"] for result in (zygo_batch.result() for _ in range(3))}

        self.assertEqual(labels, {"runs": "Cancelled", "waits": "Cancelled", "last": "OK"})


class Afterwards(ZygoTestCase):
    def test_nothing_is_left_of_a_batch(self) -> None:
        """Processes, mounts, control groups, temporary files: as before, also after jobs that tried to stay."""
        host.adopt_orphans()
        stay = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(600)\n"
        jobs = [good(1), {"id": "stay", "source": stay, "policy": {"profile": "subprocess"}},
                {"id": "loop", "source": "while True: pass", "limits": {"cpu_ms": 200}},
                {"id": "files", "source": "open('left', 'w').write('x' * 9999)"},
                {"id": "hog", "source": "x = b'x' * (400 << 20)", "limits": {"memory_mb": 64}}]
        before = host.Snapshot.take()

        zygo.run_batch(jobs)

        self.assertEqual(before.leftovers(), [])


class TwentyThousandJobs(ZygoTestCase):
    """One process, twenty times a thousand tiny jobs."""

    def thousand(self, zygo_batch: Coprocess, batch: int) -> float:
        jobs = [{"id": f"{batch}-{n}", "source": f"print({n})"} for n in range(1000)]
        begin = time.monotonic()
        for chunk in range(0, 1000, 100):
            zygo_batch.send(zygo.lines_of(jobs[chunk:chunk + 100]))
        labels = {zygo_batch.result()["label"] for _ in jobs}
        self.assertEqual(labels, {"OK"})
        return time.monotonic() - begin

    def measure(self, pid: int) -> dict[str, int]:
        return {"descriptors": host.open_descriptors(pid), "resident_kb": host.resident_kb(pid),
                "mounts": len(host.mounts()), "processes": len(host.descendants(pid))}

    @staticmethod
    def descriptors_of_its_own(found: dict[str, int]) -> int:
        """Each process beside it has one: a cell may be between two of them at any moment."""
        return found["descriptors"] - found["processes"]

    def settled(self, pid: int, early: dict[str, int]) -> dict[str, int]:
        """When no cell is being renewed, which each is after ten thousand jobs."""
        deadline = time.monotonic() + 10 * zygo.PATIENCE
        most = self.descriptors_of_its_own(early)
        while self.descriptors_of_its_own(now := self.measure(pid)) > most and time.monotonic() < deadline:
            time.sleep(0.02)  # There is no event for a descriptor that was closed.
        return now

    def test_the_last_thousand_is_like_the_first(self) -> None:
        # With more cells than are busy the last would be made at some moment in between.
        with Coprocess("--quiet", "--workers", "2") as old:
            for batch in range(2):  # Warming up is not drift.
                self.thousand(old, batch)
            early = self.measure(old.process.pid)
            for batch in range(2, 17):
                self.thousand(old, batch)
            late = self.settled(old.process.pid, early)
            # Beside a fresh one, turn by turn: a machine has better moments and worse ones.
            with Coprocess("--quiet", "--workers", "2") as fresh:
                self.thousand(fresh, 0)
                pairs = [(self.thousand(fresh, turn), self.thousand(old, 16 + turn)) for turn in range(1, 4)]
                for zygo_batch in (old, fresh):
                    zygo_batch.stdin.close()
                    self.assertEqual(zygo_batch.process.wait(20), 0)

        first, last = map(min, zip(*pairs))
        print(f"\n  a thousand jobs: {first:.3f} s when fresh, {last:.3f} s when old ({last / first:.2f} x)")
        print(f"  {early} -> {late}")
        self.assertLess(last / first, 1.5)
        self.assertLessEqual(self.descriptors_of_its_own(late), self.descriptors_of_its_own(early))
        self.assertLessEqual(late["processes"], early["processes"] + 1)  # A cell may be busy at either moment.
        self.assertEqual(late["mounts"], early["mounts"])
        self.assertLess(late["resident_kb"] - early["resident_kb"], 4096)


if __name__ == "__main__":
    unittest.main()
