"""The parts of the ARC grader, without any program being run."""
from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

try:
    import numpy as np
except ImportError:  # Some other python3 comes first in PATH; numpy and the grader belong to Debian's.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.orig_argv[1:]])

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
GRADERS = REPOSITORY / "tools" / "graders"
DATA = REPOSITORY / "tests" / "data" / "arc"
sys.dont_write_bytecode = True
sys.path[:0] = [str(GRADERS), str(REPOSITORY / "tools" / "python")]

from arc_grader import charts, metrics, page  # noqa: E402
from arc_grader.dataset import Prediction, Task, load_predictions, load_tasks  # noqa: E402
from arc_grader.errors import GraderError  # noqa: E402
from arc_grader.grading import Difference, Graded, Span  # noqa: E402
from arc_grader.jobs import Candidate, extract_program, job_lines  # noqa: E402
from arc_grader.judge import Verdict, judge, outputs_sha256, to_grid  # noqa: E402
from arc_grader.runner import Runner, find_zygo, programs_of  # noqa: E402
from zygo import Pool, Result, binary  # noqa: E402
from zygo.grade import grids  # noqa: E402
from zygo.grade import Outcome, Program, Report  # noqa: E402
from zygo.job import encode  # noqa: E402
from zygo.transport.base import ResultFuture, Ticket, settle_line  # noqa: E402

NAN, INF = float("nan"), float("inf")


def result_of(line: bytes) -> Result:
    """As the pool reads it."""
    future = ResultFuture()
    settle_line(Ticket(b"", future, "x"), line)
    return future.result()


def label_of(output: Any) -> str:
    """The label that the output of one call gives, on the road through JSON."""
    fields = {"id": "x", "label": "OK", "by": "program", "ok": True, "value": [output]}
    return judge(result_of(json.dumps(fields, separators=(",", ":")).encode()), 1).label


def tagged(kind: str, data: Any, **more: Any) -> dict[str, Any]:
    """As docs/values.md has it."""
    if kind == "complex":
        return {"$type": kind, "real": data[0], "imag": data[1]}
    name = {"float": "value", "bytes": "data", "ndarray": "data"}.get(kind, "items")
    return {"$type": kind, name: data, **more}


def bundled_tasks() -> dict[str, Task]:
    return load_tasks(DATA / "arc-agi_evaluation_challenges.json", DATA / "arc-agi_evaluation_solutions.json")


class Finding(unittest.TestCase):
    def test_a_checkout_where_only_the_command_batch_was_built_is_served_by_it_until_all_is(self) -> None:
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, PATH=folder):
            os.environ.pop("ZYGO_BIN", None)
            module, built = Path(folder, "tools/python/zygo/binary.py"), Path(folder, "build/release/bin")
            with mock.patch.object(binary, "__file__", str(module)):
                self.assertRaises(GraderError, find_zygo, None)
                for name in ("zygo-batch", "zygo"):
                    built.mkdir(parents=True, exist_ok=True)
                    (built / name).touch(mode=0o755)
                    self.assertEqual(find_zygo(None), str((built / name).resolve()))


class Extraction(unittest.TestCase):
    def test_the_program_is_the_first_python_block_stripped(self) -> None:
        text = "Idea\n```\nnot this\n```\n```python\n\nx = 1\n\n```\nand\n```python\ny = 2\n```"

        self.assertEqual(extract_program(text), "x = 1")

    def test_a_text_without_a_complete_python_block_has_no_program(self) -> None:
        for text in ("", "no code", "```\nx = 1\n```", "```python\nx = 1", "``` python\nx\n```"):
            self.assertIsNone(extract_program(text), text)

    def test_every_prediction_of_the_bundled_set_has_a_program(self) -> None:
        predictions = load_predictions(DATA / "predictions.jsonl.gz", bundled_tasks())

        self.assertEqual(len(predictions), 3200)
        self.assertTrue(all(extract_program(p.text) for p in predictions))


class Files(unittest.TestCase):
    def test_bad_input_is_named_with_its_line(self) -> None:
        good = '{"id": "a", "task_id": "t1", "text": ""}\n'
        cases = [(good + '{"id"', ":2: not JSON"), ("[]", ":1: expected an object"), ("", ": no predictions"),
                 ('{"id": "a", "task_id": "t1"}', ":1: field 'text' is missing"),
                 ('{"id": "a", "task_id": "zz", "text": ""}', ":1: unknown task 'zz'"),
                 ('{"id": 1, "task_id": "t1", "text": ""}', ":1: field 'id' must be a string"),
                 (good + "\n" + good, ":3: id 'a' was already used in line 1")]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bad.jsonl"
            for content, message in cases:
                path.write_text(content)
                with self.assertRaises(GraderError) as caught:
                    load_predictions(path, {"t1": Task("t1", [], [], 0)})
                self.assertIn(f"bad.jsonl{message}", str(caught.exception))

    def test_a_damaged_gzip_file_and_a_broken_json_file_are_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            packed, plain = Path(folder) / "p.jsonl.gz", Path(folder) / "c.json"
            packed.write_bytes(b"no gzip")
            plain.write_text("{\n,}")
            for call, message in ((lambda: load_predictions(packed, {}), "p.jsonl.gz: damaged gzip file"),
                                  (lambda: load_tasks(plain, plain), "c.json:2: not JSON")):
                with self.assertRaises(GraderError) as caught:
                    call()
                self.assertIn(message, str(caught.exception))


class Jobs(unittest.TestCase):
    def test_a_job_carries_train_then_test_inputs_and_no_true_output(self) -> None:
        task = Task("t", inputs=[[[1]], [[2]], [[3]]], truths=[[[7]], [[8]], [[9]]], n_train=2)

        line, = job_lines([Candidate(Prediction("t_0", "t", ""), "pass")], {"t": task}, runs=2)

        job = json.loads(line)
        self.assertEqual(job["inputs"], [[[1]], [[2]], [[3]]])
        self.assertEqual((job["mode"], job["func"], job["array"]), ("call", "transform", True))
        self.assertEqual(job["determinism"], {"runs": 2})
        self.assertEqual(job["template"], "python-numpy")
        self.assertNotRegex(line.decode(), r"\[\[[789]\]\]")
        self.assertEqual(line.count(b"\n"), 1)

    def test_the_job_that_is_run_is_the_one_that_is_written(self) -> None:
        task = Task("t", inputs=[[[1]], [[2]]], truths=[[[7]], [[8]]], n_train=1)
        chosen = [Candidate(Prediction("t_0", "t", ""), "pass  # ü")]

        program, = programs_of(chosen, {"t": task})

        run = json.loads(encode(dict(Runner(Pool(), runs=2).job(program, "pass  # ü"))))
        written, = job_lines(chosen, {"t": task}, runs=2)
        self.assertEqual({"id": program.id, **run}, json.loads(written))


class Conversion(unittest.TestCase):
    """Each case is labelled as the program's own object would be in-process."""

    def test_grids_of_integers_floats_booleans_and_digits_are_valid(self) -> None:
        for output in ([[1, 2]], [[1.9, 0.0]], [[True, False]], [["1", "2"]], [[-0.5]],
                       tagged("tuple", [tagged("tuple", [1, 2]), [3, 4]]), [[tagged("bytes", "MQ==")]],
                       tagged("ndarray", [[1, 2]], dtype="int64", shape=[1, 2])):
            self.assertEqual(label_of(output), "OK", output)

    def test_what_is_no_grid_is_a_value_error(self) -> None:
        for output in (None, 3, [], [[]], [1, 2], [[[1]]], [[1, 2], [3]], [[10]], [[-1]], [["red"]],
                       [[0] * 31], [[0]] * 31, "12", [[tagged("float", "nan")]], tagged("bytes", "MTI="), [1, [2]]):
            self.assertEqual(label_of(output), "ValueError", output)

    def test_mappings_sets_and_none_cells_are_type_errors(self) -> None:
        for output in ({"grid": [[1]]}, {}, [[None]], [[{}]], tagged("set", [1]), [[tagged("frozenset", [1])]],
                       tagged("dict", []), [[tagged("complex", [1.0, 0.0])]]):
            self.assertEqual(label_of(output), "TypeError", output)

    def test_numbers_that_do_not_fit_are_overflow_errors(self) -> None:
        for output in ([[2**63]], [[-(2**70)]], [[tagged("float", "inf")]], [[1e30]], [[10**4299]]):
            self.assertEqual(label_of(output), "OverflowError", str(output)[:60])

    def test_an_integer_of_a_million_digits_is_cheap(self) -> None:
        started = time.monotonic()

        result = result_of(b'{"id":"x","label":"OK","by":"program","ok":true,"value":[[[' + b"9" * 1_000_000 + b"]]]}")

        self.assertEqual(judge(result, 1).label, "InvalidResult")
        self.assertLess(time.monotonic() - started, 1.0)

    def test_the_road_through_json_ends_as_the_conversion_in_process_does(self) -> None:
        infinity, number = tagged("float", "inf"), tagged("complex", [1.0, 2.0])
        for original, sent in (({1, 2}, tagged("set", [1, 2])),
                               (((1,), (2,)), tagged("tuple", [tagged("tuple", [1]), tagged("tuple", [2])])),
                               ([[NAN]], [[tagged("float", "nan")]]),
                               ([[-INF]], [[tagged("float", "-inf")]]),
                               ([[1 + 2j]], [[number]]),
                               (np.array([[INF]]), tagged("ndarray", [[infinity]], dtype="float64", shape=[1, 1])),
                               (np.array([[1 + 2j]]), tagged("ndarray", [[number]], dtype="complex128", shape=[1, 1]))):
            try:
                to_grid(original)
                expected = "OK"
            except Exception as error:
                expected = type(error).__name__
            self.assertEqual(label_of(sent), expected, sent)

    def test_a_forged_or_damaged_tag_never_raises(self) -> None:
        for output in (tagged("ndarray", [1], dtype="int64", shape=[10**12]),
                       tagged("ndarray", "!!", dtype="int64"), tagged("mystery", 1), {"$type": 5},
                       tagged("range", [0, 1, 0]), tagged("set", [[1]]), tagged("bytes", 7),
                       {"$type": "float"}, tagged("tuple", 5), tagged("complex", "xy")):
            self.assertEqual(label_of(output), "InvalidResult", output)

    def test_an_ok_result_with_too_few_values_is_not_the_programs_fault(self) -> None:
        self.assertEqual(judge(Result("OK", "program", True, value=[[[1]]]), 2).label, "SandboxError")
        self.assertEqual(judge(Result("OK", "program", True), 2).label, "SandboxError")

    def test_runs_that_differ_in_printed_text_alone_are_judged_by_their_grids(self) -> None:
        result = Result("NonDeterministicCode", "policy", False, determinism={"axis": "stdout"}, value=[[[1]]])
        other = replace(result, determinism={"axis": "value", "where": "[0]"})

        self.assertEqual(judge(result, 1).label, "OK")
        self.assertEqual(judge(other, 1), Verdict("NonDeterministicCode", "value differs at [0]"))

    def test_a_value_too_deep_for_the_parser_is_an_invalid_result_of_its_job(self) -> None:
        result = result_of(b'{"id":"deep","label":"OK","value":' + b"[" * 100_000 + b"]" * 100_000 + b"}")

        self.assertEqual((result.id, result.label), ("x", "InvalidResult"))


class Hashes(unittest.TestCase):
    def test_outputs_of_known_predictions_have_the_expected_hash(self) -> None:
        expected = json.loads((DATA / "expected.json").read_text())
        task = bundled_tasks()
        known: dict[str, Any] = {"ok/fliplr": np.fliplr, "ok/flipud": np.flipud, "ok/transpose": np.transpose,
                                 "ok/rot90": np.rot90, "ok/rot180": lambda grid: np.rot90(grid, 2)}
        checked = 0
        for job_id, entry in expected.items():
            if entry["kind"] in known:
                outputs = [to_grid(known[entry["kind"]](np.array(grid))) for grid in task[job_id[:8]].inputs]
                checked += outputs_sha256(outputs) == entry["outputs_sha256"]
        self.assertGreater(checked, 50)


def brute_force_overlap(a: np.ndarray, b: np.ndarray) -> int:
    """The definition, cell by cell."""
    best = 0
    for dy in range(-b.shape[0] + 1, a.shape[0]):
        for dx in range(-b.shape[1] + 1, a.shape[1]):
            equal = 0
            for y in range(max(0, -dy), min(b.shape[0], a.shape[0] - dy)):
                for x in range(max(0, -dx), min(b.shape[1], a.shape[1] - dx)):
                    equal += int(a[y + dy, x + dx] == b[y, x])
            best = max(best, equal)
    return best


class PixelScore(unittest.TestCase):
    def test_equal_shapes_give_the_share_of_equal_cells(self) -> None:
        self.assertEqual(grids.pixel_score(np.array([[1, 2], [3, 4]]), np.array([[1, 2], [3, 0]])), 0.75)

    def test_a_shifted_part_counts_where_it_fits_best(self) -> None:
        truth = np.array([[0, 0, 0], [0, 5, 6], [0, 7, 8]])

        self.assertEqual(grids.pixel_score(np.array([[5, 6], [7, 8]]), truth), 4 / 9)

    def test_both_ways_of_counting_agree_with_a_brute_force_count(self) -> None:
        rng = np.random.default_rng(5)
        for _ in range(60):
            shape_a, shape_b = rng.integers(1, 8, 2), rng.integers(1, 8, 2)
            a, b = rng.integers(0, 3, shape_a), rng.integers(0, 3, shape_b)
            expected = brute_force_overlap(a, b)
            self.assertEqual(grids.best_overlap(a, b), expected)
            self.assertEqual(grids._overlap_fourier(a, b), expected)

    def test_large_grids_agree_with_the_direct_count_and_are_fast(self) -> None:
        rng = np.random.default_rng(6)
        pairs = [(rng.integers(0, 10, (30, 30)), rng.integers(0, 10, rng.integers(20, 30, 2))) for _ in range(20)]
        for a, b in pairs:
            self.assertEqual(grids._overlap_fourier(a, b), grids._overlap_direct(a, b))
        started = time.monotonic()
        for a, b in pairs * 10:
            grids.best_overlap(a, b)
        self.assertLess(time.monotonic() - started, 2.0)


class Metrics(unittest.TestCase):
    TASK = Task("t", inputs=[[[0]]] * 3, truths=[[[1, 1]], [[2, 2]], [[3, 3]]], n_train=2)

    @staticmethod
    def valid(*grids: list[list[int]]) -> Verdict:
        return Verdict("OK", outputs=[np.array(grid) for grid in grids])

    def test_a_hand_made_task_has_the_row_worked_out_on_paper(self) -> None:
        verdicts = [self.valid([[1, 1]], [[2, 0]], [[3, 3]]),  # train 1, 1/2; test solved
                    self.valid([[1, 1]], [[2, 2]], [[0, 0]]),  # train solved; test 0
                    self.valid([[1, 1]], [[2, 2]], [[0, 0]]),  # the same again
                    Verdict("ParsingCodeFailed"), Verdict("ValueError")]

        row = metrics.task_row(self.TASK, verdicts)

        expected = {"n_preds": 5, "valid code": 0.8, "valid outputs": 0.6, "unique outputs": 0.4,
                    "train_pixel_score": 2.75 / 5, "train_correct_grids": 0.5, "train_pass_rate": 0.4,
                    "train_is_correct": 1, "test_pixel_score": 0.2, "test_correct_grids": 0.2, "test_pass_rate": 0.2,
                    "test_is_correct": 1, "is_correct": 0}  # No single prediction solved both parts.
        self.assertEqual(tuple(row), metrics.COLUMNS)
        self.assertEqual(metrics.differing_columns(row, expected, 1e-12), [])

    def test_outputs_of_other_shapes_are_different_outputs(self) -> None:
        verdicts = [self.valid([[1, 1]], [[2]], [[3]]), self.valid([[1], [1]], [[2]], [[3]])]

        row = metrics.task_row(self.TASK, verdicts)

        self.assertEqual(row["unique outputs"], 1.0)

    def test_mean_is_the_mean_over_tasks_and_a_difference_is_named(self) -> None:
        solved, failed = self.valid([[1, 1]], [[2, 2]], [[3, 3]]), Verdict("KeyError")
        rows = [metrics.task_row(self.TASK, [solved]), metrics.task_row(self.TASK, [failed])]

        mean = metrics.mean_row(rows)

        self.assertEqual(mean["is_correct"], 0.5)
        wrong = mean | {"is_correct": 0.500002, "new": 1}
        self.assertEqual(metrics.differing_columns(mean, wrong), ["is_correct", "new"])


class Page(unittest.TestCase):
    def graded(self, n_spans: int) -> Graded:
        rng = random.Random(1)
        labels = ["OK", "TimeoutException", "UnsafeCode", "program.<b>&\x00", "ParsingCodeFailed"]
        ends = [Result(rng.choice(labels), "program", False) for _ in range(40)]
        outcomes = [Outcome(Program("t", "", [], id=f"p{i}"), end.label, None, [], end) for i, end in enumerate(ends)]
        spans = [Span(f"p{i}", ends[i].label, i / 10, i / 10 + rng.random()) for i in range(n_spans)]
        row = dict.fromkeys(metrics.COLUMNS, 0.5)
        return Graded(Report(outcomes), 4.0, n_spans, spans, {"t": row}, row)

    def test_the_page_is_well_formed_self_contained_and_names_its_axes(self) -> None:
        for n_spans in (0, 1, 40):
            text = page.render(self.graded(n_spans), "A <title>", [Difference("p1", "OK", "X", "a\x01<b>")])
            root = ElementTree.fromstring(text.replace("<!DOCTYPE html>\n", ""))

            self.assertEqual(root.tag, "html")
            self.assertNotRegex(text, r"(?i)(src|href)=|url\(|@import|<script")
            self.assertIn("predictions (square-root scale)", text)
            self.assertEqual("seconds since the start of the batch" in text, n_spans > 0)
            self.assertTrue(all(column in text for column in metrics.COLUMNS))

    def test_runs_at_the_same_time_get_lanes_of_their_own(self) -> None:
        spans = [Span("a", "OK", 0.0, 1.0), Span("b", "OK", 0.5, 2.0), Span("c", "OK", 1.0, 3.0)]

        self.assertEqual(charts.assign_lanes(spans, slack=0.01), [0, 1, 0])


class Annotations(unittest.TestCase):
    def test_they_are_right(self) -> None:
        package = REPOSITORY / "tools" / "python"
        try:
            ended = subprocess.run(
                ["mypy", "--cache-dir=/dev/null", "--config-file", str(package / "pyproject.toml"), "arc_grader"],
                cwd=GRADERS, env={**os.environ, "MYPYPATH": str(package)}, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            self.skipTest("mypy is not installed")
        self.assertEqual(ended.returncode, 0, ended.stdout)


if __name__ == "__main__":
    unittest.main()
