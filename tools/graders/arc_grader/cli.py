"""The command line: reads the set, runs it, prints the tables, compares, and chooses the exit code."""
from __future__ import annotations

import argparse
import json
import logging
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import zygo

from . import page, report, runner
from .dataset import Task, load_expected, load_expected_mean, load_predictions, load_tasks
from .errors import GraderError, Interrupted
from .grading import Difference, Graded, compare
from .jobs import Candidate, candidates, job_lines
from .metrics import differing_columns

REPOSITORY = Path(__file__).resolve().parents[3]
TOLERATED_DIFFERENCES = 4
EXIT_GOOD, EXIT_DIFFERENT, EXIT_ERROR, EXIT_INTERRUPTED = 0, 1, 2, 130

EXAMPLES = """\
examples:
  tools/graders/arc                                     the bundled 3,200 predictions
  tools/graders/arc --expected --expected-metrics       the same, checked against the bundled expectations
  tools/graders/arc --predictions mine.jsonl --html report.html --per-task tasks.csv
  tools/graders/arc --limit 80 --workers 2 --json
  tools/graders/arc --url http://router:8000 --token-file token --expected
  tools/graders/arc --jobs-only > jobs.ndjson           the jobs alone, for any other road
  tools/graders/arc --no-determinism --skip-label TimeoutException,MemoryLimitExceeded --expected

exit code: 0 graded; 1 more than 4 differences from the expected labels, or other metrics;
2 not graded (bad file, no zygo, zygo ended early); 130 interrupted.
"""


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options, with paths of the data set filled in."""
    parser = argparse.ArgumentParser(prog="arc", description="Runs ARC predictions with zygo, labels "
                                     "them, and prints the most common outcomes, the metrics and the rate.",
                                     epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)
    data = parser.add_argument_group("data set")
    data.add_argument("--data", type=Path, metavar="DIR", default=REPOSITORY / "tests" / "data" / "arc",
                      help="folder with all the files under their usual names (default: tests/data/arc)")
    data.add_argument("--challenges", type=Path, metavar="FILE", help="default: DIR/arc-agi_evaluation_challenges.json")
    data.add_argument("--solutions", type=Path, metavar="FILE", help="default: DIR/arc-agi_evaluation_solutions.json")
    data.add_argument("--predictions", type=Path, metavar="FILE",
                      help=".jsonl or .jsonl.gz; default: DIR/predictions.jsonl.gz")
    data.add_argument("--limit", type=_positive, metavar="N", help="only the first N predictions")
    data.add_argument("--skip-label", metavar="L1,L2", type=lambda text: frozenset(filter(None, text.split(","))),
                      default=frozenset(),
                      help="leave out predictions whose expected label is one of these (needs --expected)")
    run = parser.add_argument_group("run")
    run.add_argument("--zygo", metavar="PATH",
                     help="zygo binary (default: $ZYGO_BIN, else build/release/bin/zygo, else the one in PATH)")
    run.add_argument("--workers", type=_positive, metavar="N", help="jobs that run at once (default: two per core)")
    run.add_argument("--url", metavar="URL", help="a service or router to run them on (default: a pool of this program's own)")
    run.add_argument("--token-file", type=Path, metavar="FILE", help="what --url wants to see, alone in a file")
    run.add_argument("--no-determinism", action="store_true", help="run each job once, not twice")
    run.add_argument("--jobs-only", action="store_true", help="write the job lines to stdout and stop")
    out = parser.add_argument_group("output")
    out.add_argument("--json", action="store_true", help="print one JSON object: counts, MEAN, rate, seconds")
    out.add_argument("--quiet", action="store_true", help="no progress, and nothing that zygo says, on stderr")
    out.add_argument("--per-task", type=Path, metavar="CSV", help="write the metrics of every task")
    out.add_argument("--results", type=Path, metavar="NDJSON", help="keep the results of zygo as they came")
    out.add_argument("--html", type=Path, metavar="REPORT", help="write a page with outcomes, metrics and a timeline")
    check = parser.add_argument_group("checks")
    check.add_argument("--expected", type=Path, nargs="?", const=Path(), metavar="FILE",
                       help="compare labels and outputs (without FILE: DIR/expected.json)")
    check.add_argument("--expected-metrics", type=Path, nargs="?", const=Path(), metavar="FILE",
                       help="compare the metrics row to 1e-6 (without FILE: DIR/expected_metrics.json)")
    options = parser.parse_args(arguments)
    if options.skip_label and options.expected is None:
        parser.error("--skip-label goes by the expected labels: add --expected")
    if options.expected_metrics is not None and (options.limit or options.skip_label or options.no_determinism):
        parser.error("--expected-metrics is about the whole set: not with --limit, --skip-label or --no-determinism")
    if options.url and (options.zygo or options.workers):
        parser.error("--zygo and --workers are about a pool of this program's own: not with --url")
    if options.token_file and not options.url:
        parser.error("--token-file goes with --url")
    _fill_paths(options)
    return options


def _fill_paths(options: argparse.Namespace) -> None:
    names = {"challenges": "arc-agi_evaluation_challenges.json", "solutions": "arc-agi_evaluation_solutions.json",
             "predictions": "predictions.jsonl.gz"}
    for option, name in names.items():
        if getattr(options, option) is None:
            setattr(options, option, options.data / name)
    for option, name in (("expected", "expected.json"), ("expected_metrics", "expected_metrics.json")):
        if getattr(options, option) == Path():
            setattr(options, option, options.data / name)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {number}")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the program; returns its exit code."""
    options = parse_arguments(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # The batch is stopped then, too.
    try:
        code = _grade_all(options)
        sys.stdout.flush()
        return code
    except GraderError as error:
        print(f"arc: {error}", file=sys.stderr)
        return EXIT_ERROR
    except Interrupted as stopped:
        print(f"arc: {stopped}", file=sys.stderr)
        return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        print("arc: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # Whoever read our stdout has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_GOOD


def _grade_all(options: argparse.Namespace) -> int:
    tasks = load_tasks(options.challenges, options.solutions)
    chosen = candidates(load_predictions(options.predictions, tasks, options.limit))
    expected = load_expected(options.expected) if options.expected else None
    expected_mean = load_expected_mean(options.expected_metrics) if options.expected_metrics else None
    if options.skip_label and expected is not None:
        chosen = [c for c in chosen if expected.get(c.prediction.id, {}).get("label") not in options.skip_label]
        if not chosen:
            raise GraderError("--skip-label leaves no prediction")
    if options.jobs_only:
        return _write_jobs(options, tasks, chosen)
    graded = _run(options, tasks, chosen)
    ignore = frozenset({"NonDeterministicCode"}) if options.no_determinism else frozenset()
    differences = compare(graded, expected, ignore) if expected is not None else None
    wrong_columns = differing_columns(graded.mean, expected_mean) if expected_mean is not None else None
    if options.per_task:
        report.write_per_task(options.per_task, graded)
    if options.html:
        page.write(options.html, page.render(graded, f"ARC grading of {options.predictions.name}", differences))
    compared = graded.n_predictions
    if expected is not None:
        compared = sum(expected[str(outcome.program.id)]["label"] not in ignore for outcome in graded.report.outcomes)
    _print_report(options, graded, differences, compared, wrong_columns, expected_mean)
    return _exit_code(differences, wrong_columns)


def _runs(options: argparse.Namespace) -> int:
    return 1 if options.no_determinism else 2


def _write_jobs(options: argparse.Namespace, tasks: dict[str, Task], chosen: list[Candidate]) -> int:
    for line in job_lines((c for c in chosen if c.source is not None), tasks, _runs(options)):
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    return EXIT_GOOD


def _run(options: argparse.Namespace, tasks: dict[str, Task], chosen: list[Candidate]) -> Graded:
    """Everything judged, in a pool of its own or by a service."""
    # The log shows what zygo says, and that it was lost and started again.
    logging.basicConfig(format="%(message)s", level=logging.WARNING if options.quiet else logging.INFO)
    pool = _pool(options)
    with _open_results(options.results or Path(os.devnull)) as file:
        return runner.run(chosen, tasks, _runs(options), pool, file.write,
                          show_progress=not options.quiet and sys.stderr.isatty())


def _pool(options: argparse.Namespace) -> zygo.Pool:
    if not options.url:
        return zygo.Pool("python-numpy", options.workers, binary=runner.find_zygo(options.zygo), standing=False)
    try:
        token = options.token_file.read_text().strip() if options.token_file else None
    except OSError as error:
        raise GraderError(f"cannot read {options.token_file}: {error.strerror}") from None
    return zygo.Pool("python-numpy", url=options.url, token=token, standing=False)


def _open_results(path: Path) -> IO[bytes]:
    try:
        return open(path, "wb")
    except OSError as error:
        raise GraderError(f"cannot write {path}: {error.strerror}") from None


def _print_report(options: argparse.Namespace, graded: Graded, differences: list[Difference] | None, compared: int,
                  wrong_columns: list[str] | None, expected_mean: dict[str, float] | None) -> None:
    if options.json:
        record: dict[str, Any] = report.as_json(graded)
        if differences is not None:
            record["compared"] = compared
            record["differences"] = [vars(d) for d in differences]
        if wrong_columns is not None:
            record["metrics_differ"] = wrong_columns
        print(json.dumps(record))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    print(report.outcome_table(graded), report.metrics_table(graded.mean, width), report.rate_line(graded), sep="\n\n")
    if differences is not None:
        print("\n" + report.difference_lines(differences, compared))
        if len(differences) > TOLERATED_DIFFERENCES:
            print(f"More than {TOLERATED_DIFFERENCES} differences: exit code {EXIT_DIFFERENT}")
    if wrong_columns is not None and expected_mean is not None:
        print("Metrics: as expected to 1e-6" if not wrong_columns else "Metrics differ from the expected row:")
        for column in wrong_columns:
            print(f"  {column}  expected {expected_mean[column]}  got {graded.mean.get(column)}")
        if wrong_columns and differences:
            print("  (labels differ, so the metrics must)")


def _exit_code(differences: list[Difference] | None, wrong_columns: list[str] | None) -> int:
    """Other metrics count only where no difference of labels accounts for them."""
    if differences is not None and len(differences) > TOLERATED_DIFFERENCES:
        return EXIT_DIFFERENT
    return EXIT_DIFFERENT if wrong_columns and not differences else EXIT_GOOD
