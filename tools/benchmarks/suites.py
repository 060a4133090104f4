"""Public exercise suites against their example solutions: do they end alike with the program in another cell, and what does
that cost? The folder has one folder for each exercise, as exercism's tracks do: NAME_test.py, NAME.py (a stub, which
fails), .meta/example.py, and whatever else the tests need.

    /usr/bin/python3 -m tools.benchmarks.suites FOLDER [--only NAME] [--rounds N] [--framework pytest]

The plain run is a fresh interpreter that has tests and program in one process. Test by test, both must agree whether it
passes, for the example and for the stub; the times are those of the examples, the least of the rounds.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Dict, Iterator, List, NamedTuple, Tuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

from zygo import grade  # noqa: E402

_PLAIN = """
import json, sys, unittest
class Result(unittest.TestResult):
    ended = {}
    def startTest(self, test): super().startTest(test); self.ended[test.id()] = True
    def addSubTest(self, test, subtest, error): self.ended[test.id()] &= error is None
    def addError(self, test, error): self.ended[test.id()] = False
    addFailure = addError
for name in sys.argv[1:]:
    try: unittest.defaultTestLoader.loadTestsFromName(name).run(Result())
    except Exception: pass
print(json.dumps(Result.ended))
"""


_GOOD = ("OK", "Skipped")


_PLAIN_PYTEST = """
import json, sys, pytest
class Plugin:
    ended = {}
    def pytest_runtest_logreport(self, report):
        self.ended[report.nodeid] = self.ended.get(report.nodeid, True) and not report.failed
    def pytest_collectreport(self, report):
        if report.failed: self.ended["_FailedTest." + report.nodeid.replace(".", "_")] = False
files = [name + ".py" for name in sys.argv[1:]]
pytest.main(["-qq", "-p", "no:cacheprovider", "--tb=no", "--no-summary", *files], plugins=[Plugin()])
print()
print(json.dumps({name.replace("::", "."): good for name, good in Plugin.ended.items()}))
"""
_RUNNERS = {"unittest": _PLAIN, "pytest": _PLAIN_PYTEST}


class Exercise(NamedTuple):
    name: str
    tests: Dict[str, str]
    module: str
    programs: Dict[str, str]  # example and stub


class Row(NamedTuple):
    name: str
    tests: int
    agrees: Dict[str, bool]
    plain: float
    proxied: float
    notes: List[str]


def exercises(folder: Path, only: str) -> Iterator[Exercise]:
    for path in sorted(folder.iterdir()):
        example = path / ".meta/example.py"
        tests = {file.name: file.read_text() for file in path.iterdir() if file.is_file() and file.suffix in (".py", ".txt")}
        names = [name for name in tests if name.endswith("_test.py")]
        stub = names[0].replace("_test.py", ".py") if names else ""
        if example.is_file() and stub in tests and (not only or path.name == only):
            programs = {"example": example.read_text(), "stub": tests.pop(stub)}
            yield Exercise(path.name, tests, stub[:-3], programs)


def plainly(exercise: Exercise, program: str, framework: str) -> Tuple[Dict[str, bool], float]:
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**exercise.tests, exercise.module + ".py": program}.items():
            Path(folder, name).write_text(text)
        Path(folder, "run_plainly.py").write_text(_RUNNERS[framework])
        names = [name[:-3] for name in exercise.tests if name.endswith("_test.py")]
        start = time.perf_counter()
        ran = subprocess.run([sys.executable, "-B", "run_plainly.py", *names], cwd=folder, capture_output=True, text=True,
                             check=False)
        seconds = time.perf_counter() - start
    ended = json.loads(ran.stdout.splitlines()[-1])
    return {".".join(name.split(".")[-2:]): good for name, good in ended.items()}, seconds


def by_proxies(exercise: Exercise, program: str, framework: str) -> Tuple[grade.SuiteResult, float]:
    start = time.perf_counter()
    found = grade.run_tests({exercise.module + ".py": program}, exercise.tests, timeout=60, framework=framework)
    return found, time.perf_counter() - start


def compare(exercise: Exercise, rounds: int, framework: str) -> Row:
    agrees, notes, times = {}, [], []
    for which, program in exercise.programs.items():
        plain, plain_time = plainly(exercise, program, framework)
        found, time_taken = by_proxies(exercise, program, framework)
        ended = {".".join(test.name.split("::")[-2:]): test for test in found.tests if test.name.count("::") > 1}
        if any(name.startswith("_FailedTest.") for name in plain):  # the file cannot be imported
            plain = {} if not found.passed else plain
        different = [name for name, good in plain.items() if name not in ended or (ended[name].label in _GOOD) != good]
        different += [name for name in ended if name not in plain and ended[name].ok]
        agrees[which] = not different
        said = {name: f"{ended[name].label} {ended[name].detail}" if name in ended else found.detail for name in different}
        notes += [f"{which} {name}: {words}" for name, words in said.items()]
        if which == "example":
            count = len(plain)
            times = [(plain_time, time_taken)]
    for _ in range(rounds - 1):
        times.append((plainly(exercise, exercise.programs["example"], framework)[1],
                      by_proxies(exercise, exercise.programs["example"], framework)[1]))
    return Row(exercise.name, count, agrees, min(one for one, _ in times), min(one for _, one in times), notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--framework", choices=sorted(_RUNNERS), default="unittest")
    given = parser.parse_args()
    rows = []
    grade.run_tests("def f(): return 1", "from program import f\nimport unittest\n")  # the template starts
    for exercise in exercises(given.folder, given.only):
        row = compare(exercise, given.rounds, given.framework)
        rows.append(row)
        words = " ".join(f"{which} {'agrees' if good else 'DIFFERS'}" for which, good in row.agrees.items())
        print(f"{row.name:30} {row.tests:4} tests  {words}  {row.plain * 1000:6.0f} ms  {row.proxied * 1000:6.0f} ms")
        for note in row.notes:
            print("    " + note.replace("\n", " ")[:200])
    for which in ("example", "stub"):
        good = sum(row.agrees[which] for row in rows)
        print(f"{which}s: {good} of {len(rows)} suites agree with plain runs ({good / len(rows):.1%})")
    ratios = [row.proxied / row.plain for row in rows]
    highest = max(zip(ratios, (row.name for row in rows)))
    print(f"time: {sum(row.proxied for row in rows) / sum(row.plain for row in rows):.2f} of the plain runs' in all, "
          f"median {statistics.median(ratios):.2f}, highest {highest[0]:.2f} ({highest[1]})")


if __name__ == "__main__":
    main()
