"""The command line of the ARC grader. Needs no zygo: fake_zygo.py stands in, and runs harmless programs only."""
from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HERE = Path(__file__).resolve().parent
GRADERS = HERE.parents[1] / "tools" / "graders"
ARC = GRADERS / "arc"

COLUMNS = (
    "n_preds", "valid code", "valid outputs", "unique outputs",
    "train_pixel_score", "train_correct_grids", "train_pass_rate", "train_is_correct",
    "test_pixel_score", "test_correct_grids", "test_pass_rate", "test_is_correct", "is_correct",
)


class CommandLine(unittest.TestCase):
    """Runs the real executable on a tiny data set with the stand-in for zygo."""

    BODIES = {"same": "return g", "none": "return None", "index": "return g[99]", "loop": "while True: pass",
              "dict": "return {'a': 1}", "hash": "return [[hash('ab') % 10, hash('b') % 10, hash('c') % 10]]"}
    LABELS = {"same": "OK", "none": "ValueError", "index": "IndexError", "loop": "TimeoutException",
              "dict": "TypeError", "hash": "NonDeterministicCode", "bare": "ParsingCodeFailed"}

    # How they end, before the grader looks at what they return.
    ENDS = {"same": "OK", "none": "OK", "index": "IndexError", "loop": "TimeoutException", "dict": "OK",
            "hash": "NonDeterministicCode"}

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        question = {"t1": {"train": [{"input": [[1, 2]], "output": [[1, 2]]}], "test": [{"input": [[3]]}]}}
        self.put("arc-agi_evaluation_challenges.json", json.dumps(question))
        self.put("arc-agi_evaluation_solutions.json", json.dumps({"t1": [[[3]]]}))
        self.put("expected.json", json.dumps({name: {"label": label} for name, label in self.LABELS.items()}))
        program = "So:\n```python\ndef transform(g):\n    {}\n```\n".format
        texts = {name: program(body) for name, body in self.BODIES.items()} | {"bare": "none"}
        sources = {f"def transform(g):\n    {body}": self.LABELS[name] for name, body in self.BODIES.items()}
        self.put("sources.json", json.dumps(sources))
        lines = [json.dumps({"id": name, "task_id": "t1", "text": text}) for name, text in texts.items()]
        (self.dir / "predictions.jsonl.gz").write_bytes(gzip.compress("\n".join(lines).encode()))

    def put(self, name: str, text: str) -> Path:
        (self.dir / name).write_text(text)
        return self.dir / name

    def command(self, *options: str | Path) -> list[str]:
        return [str(ARC), "--data", str(self.dir), "--zygo", str(HERE / "fake_zygo.py"), *map(str, options)]

    def environment(self, fault: str = "") -> dict[str, str]:
        return os.environ | {"FAKE_ZYGO_LABELS": str(self.dir / "sources.json"), "FAKE_ZYGO_FAULT": fault}

    def arc(self, *options: str | Path, fault: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(*options), capture_output=True, text=True, timeout=60, check=False,
                              env=self.environment(fault))

    def test_a_run_labels_prints_compares_and_writes_its_files(self) -> None:
        files = [self.dir / name for name in ("t.csv", "r.ndjson", "p.html")]

        done = self.arc("--expected", "--per-task", files[0], "--results", files[1], "--html", files[2])

        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for text in ("Most common outcomes", "train_pixel_score", "6 jobs in ", "Labels: all 7 as expected",
                     "1 predictions have no program"):
            self.assertIn(text, done.stdout)
        first_cells = [line.split(",")[0] for line in files[0].read_text().splitlines()]
        self.assertEqual(first_cells, ["task_id", "t1", "MEAN"])
        results = [json.loads(line) for line in files[1].read_text().splitlines()]
        self.assertEqual({result["id"]: result["label"] for result in results}, self.ENDS)
        ElementTree.fromstring(files[2].read_text().replace("<!DOCTYPE html>\n", ""))

    def test_json_is_one_object_with_counts_metrics_and_rate(self) -> None:
        record = json.loads(self.arc("--json", "--quiet", "--no-determinism", "--limit", "3").stdout)

        self.assertEqual(record["counts"], {"OK": 1, "ValueError": 1, "IndexError": 1})
        self.assertEqual(tuple(record["MEAN"]), COLUMNS)
        self.assertGreater(record["rate"], 0)
        self.assertGreater(record["seconds"], 0)

    def test_other_labels_are_listed_and_more_than_four_fail(self) -> None:
        self.put("other.json", json.dumps(dict.fromkeys(self.LABELS, {"label": "KeyError"})))

        few = self.arc("--expected", self.dir / "other.json", "--limit", "2", "--no-determinism")
        many = self.arc("--expected", self.dir / "other.json", "--no-determinism", "--quiet")

        self.assertEqual(few.returncode, 0)
        self.assertIn("none  KeyError  ValueError  output 0: the output is None", few.stdout)
        self.assertEqual(many.returncode, 1)
        self.assertIn("More than 4 differences", many.stdout)

    def test_metrics_are_compared_with_the_expected_row(self) -> None:
        one = self.put("one.jsonl", '{"id": "bare", "task_id": "t1", "text": "no program"}')
        self.put("expected_metrics.json", '{"MEAN": {"n_preds": 1.0, "is_correct": 0.0}}')
        self.put("wrong.json", '{"MEAN": {"n_preds": 8.0}}')

        right = self.arc("--predictions", one, "--expected-metrics")
        wrong = self.arc("--predictions", one, "--expected-metrics", self.dir / "wrong.json")

        self.assertEqual((right.returncode, wrong.returncode), (0, 1))
        self.assertIn("n_preds  expected 8.0  got 1.0", wrong.stdout)

    def test_jobs_only_writes_jobs_and_skipped_labels_are_left_out(self) -> None:
        done = self.arc("--jobs-only", "--expected", "--skip-label", "TimeoutException,OK")

        ids = [json.loads(line)["id"] for line in done.stdout.splitlines()]
        self.assertEqual(ids, ["none", "index", "dict", "hash"])

    def test_bad_input_ends_it_with_a_message_and_no_traceback(self) -> None:
        done = self.arc("--predictions", self.put("bad.jsonl", '{"id"'))

        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\Aarc: \S+bad.jsonl:1: not JSON.*\n\Z")

    def test_missing_files_and_a_missing_binary_say_what_to_do(self) -> None:
        missing = self.arc("--predictions", "/nonexistent/p.jsonl")
        no_binary = self.arc("--zygo", "/nonexistent/zygo")

        self.assertEqual((missing.returncode, no_binary.returncode), (2, 2))
        self.assertIn("cannot read /nonexistent/p.jsonl: No such file", missing.stderr)
        self.assertIn("run tools/setup and build", no_binary.stderr)

    def test_a_service_is_asked_with_the_token_of_a_file_and_has_no_pool_here(self) -> None:
        there = [str(ARC), "--data", str(self.dir), "--url", "http://127.0.0.1:9"]
        for options, said in ((["--workers", "2"], "not with --url"), (["--zygo", "zygo"], "not with --url"),
                              (["--token-file", str(self.dir / "none")], f"cannot read {self.dir / 'none'}")):
            with self.subTest(options):
                done = subprocess.run([*there, *options], capture_output=True, text=True, timeout=60, check=False)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertIn(said, done.stderr)

    def test_a_zygo_that_is_of_no_use_is_explained_with_the_missing_ids(self) -> None:
        for fault, message in (("silent", "arc: zygo ended with status 0\n  3 results are missing: same, none, index"),
                               ("garbage", "no result of a job it has: b'not json'\n  3 results are missing"),
                               ("twice", "no result of a job it has: b'{\"id\":")):
            done = self.arc("--no-determinism", "--quiet", "--limit", "3", fault=fault)
            self.assertEqual(done.returncode, 2, fault)
            self.assertIn(message, done.stderr)
            self.assertIn(" results are missing: ", done.stderr)
            self.assertNotIn("Traceback", done.stderr)

    def test_a_zygo_that_dies_is_started_again_and_the_grading_goes_on(self) -> None:
        done = self.arc("--no-determinism", "--quiet", "--limit", "3", "--expected", fault="early")

        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("Labels: all 3 as expected", done.stdout)
        self.assertEqual(done.stderr, "zygo ended with status 3: out of luck; the 1 jobs that were lost with it are "
                         "run again\n")

    def test_a_zygo_that_dies_again_and_again_is_an_error(self) -> None:
        done = self.arc("--no-determinism", "--quiet", fault="dies")

        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, r"\narc: zygo ended with status 3: out of luck\n  3 results are missing: \S+, ")
        self.assertNotIn("Traceback", done.stderr)

    def test_ctrl_c_stops_within_a_second(self) -> None:
        running = subprocess.Popen(self.command(), env=self.environment("hang"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        assert running.stderr is not None
        self.assertEqual(running.stderr.readline(), "hanging\n")

        started = time.monotonic()
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=10)

        self.assertLess(time.monotonic() - started, 1.0)
        self.assertEqual(running.returncode, 130)
        self.assertIn("interrupted after 0 of 6 results", errors)

    def test_a_reader_that_leaves_ends_it_quietly(self) -> None:
        command = " ".join(self.command("--jobs-only")) + " | true"

        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
