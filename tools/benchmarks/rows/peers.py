"""What people use instead, as many at once as there are cores: jobs/s, CPU per job, and what each isolates.

The interpreters that stay or fork have numpy loaded; those that start for each job load it if the job asks for it.
CPU is that of the process tree (`system.cpu_seconds`), the driver of the peer included, as zygo's daemon is.
"""
import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from ..coprocess import Coprocess
from ..helper import Helper
from ..limit import Limits
from ..programs import ANSWERS, NUMPY, ONE_THREAD, PROGRAMS
from ..report import Section
from ..setting import SETTLE_SECONDS, Setting, lines_of, wrong_answers
from ..system import BenchError, cpu_seconds, progress, ratios, spread
from ..turns import turn_with_cpu

WORKER = Path(__file__).parents[1] / "peer_worker.py"
JOBS = ("tiny", "numpy")
MOST_ROUNDS = 5
ZYGO = "zygo"
ISOLATES = {
    ZYGO: "namespaces, seccomp, Landlock, uid, limits",
    "bare C fork": "memory only: a fork per job (the limit)",
    "multiprocessing.Pool": "nothing: jobs share an interpreter",
    "ProcessPoolExecutor": "nothing: jobs share an interpreter",
    "joblib (loky)": "nothing: jobs share an interpreter",
    "Pool(maxtasksperchild=1)": "memory only: a fork per job",
    "subprocess": "memory only: an interpreter per job",
    "bubblewrap": "namespaces, read-only root; no filter, no limits",
}
STARTS_INTERPRETERS = ("subprocess", "bubblewrap")
SHARE = {"multiprocessing.Pool": 10, "joblib (loky)": 10, "ProcessPoolExecutor": 2, "Pool(maxtasksperchild=1)": 0.1}

Turn = Callable[[str, int], tuple[float, float]]  # program, jobs -> seconds, CPU seconds


def peers(setting: Setting) -> list[Section]:
    section = Section("peers", f"small {NUMPY} jobs, {setting.cores} at once, by what isolates them")
    isolates = dict(ISOLATES)
    with contextlib.ExitStack() as stack:
        zygo = stack.enter_context(setting.coprocess())
        level = zygo.run(lines_of(NUMPY, "tiny", 1), 1).results()[0].get("level")
        if level != "full":
            isolates[ZYGO] = f"level {level} only"
        sides: dict[str, Turn] = {
            ZYGO: _zygo(section, zygo),
            "bare C fork": _limit(setting, stack.enter_context(setting.limits(NUMPY))),
        }
        for name in ISOLATES:
            if name in sides:
                continue
            if missing := _missing(setting, name):
                progress(f"peers: {name} is skipped: {missing}")
                section.skipped.append(f"{name}: {missing}")
            else:
                sides[name] = _peer(setting, section, name, stack)
        for program in JOBS:
            section.records += _compare(setting, section, program, sides, isolates)
    return [section]


def _compare(setting: Setting, section: Section, program: str, sides: dict[str, Turn],
             isolates: dict[str, str]) -> list[dict]:
    rates: dict[str, list[float]] = {name: [] for name in sides}
    cpus: dict[str, list[float]] = {name: [] for name in sides}
    rounds = min(MOST_ROUNDS, setting.effort.rounds)
    for number in range(-1, rounds):  # round -1 warms up
        progress(f"peers: {program} jobs, " + (f"round {number + 1} of {rounds}" if number >= 0 else "warming up"))
        for name in list(sides):
            count = _count(setting, name) if number >= 0 else 2 * setting.cores
            try:
                seconds, cpu = sides[name](program, count)
            except BenchError as error:
                if name == ZYGO:
                    raise
                section.problems.append(str(error))
                del sides[name]
                continue
            if number >= 0:
                rates[name].append(count / seconds)
                cpus[name].append(1000 * cpu / count)
    return [{
        "job": program, "peer": name, "isolates": isolates[name], "jobs/s": spread(rates[name]),
        "zygo/peer_jobs/s": ratios(rates[ZYGO], rates[name]), "cpu_ms": spread(cpus[name]),
    } for name in sides]


def _count(setting: Setting, name: str) -> int:
    if name in STARTS_INTERPRETERS:
        return max(setting.effort.slow, setting.cores)
    return max(setting.cores, int(setting.effort.jobs * setting.cores * SHARE.get(name, 1)))


def _zygo(section: Section, zygo: Coprocess) -> Turn:
    def turn(program: str, count: int) -> tuple[float, float]:
        run, cpu = turn_with_cpu(zygo, lines_of(NUMPY, program, count), count)
        section.problems += wrong_answers(run.results(), program)
        return run.seconds, cpu

    return turn


def _limit(setting: Setting, limits: Limits) -> Turn:
    def turn(program: str, count: int) -> tuple[float, float]:
        before = limits.cpu_seconds()
        rate = limits.rate(PROGRAMS[program], count // setting.cores)
        return count / rate, limits.cpu_seconds() - before

    return turn


def _peer(setting: Setting, section: Section, name: str, stack: contextlib.ExitStack) -> Turn:
    # A safe path: modules of ours must not stand in for others of the same name.
    env = {**os.environ, **ONE_THREAD, "PYTHONSAFEPATH": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    helper = stack.enter_context(Helper(name, [setting.python, str(WORKER), name, str(setting.cores)], env))
    helper.answer()

    def turn(program: str, count: int) -> tuple[float, float]:
        time.sleep(SETTLE_SECONDS)
        before = cpu_seconds(helper.pid)
        seconds, answers = helper.ask([PROGRAMS[program], count])
        time.sleep(SETTLE_SECONDS)
        if wrong := sum(answer != ANSWERS[program] for answer in answers) or len(answers) != count:
            section.problems.append(f"{name}: {wrong} of {count} {program} jobs were wrong")
        return seconds, cpu_seconds(helper.pid) - before

    return turn


def _missing(setting: Setting, name: str) -> str:
    """What this machine lacks for a peer, with the cure."""
    if name == "joblib (loky)" and _tried([setting.python, "-c", "import joblib"]).returncode:
        return f"{setting.python} has no joblib (apt install python3-joblib)"
    if name == "bubblewrap":
        if not shutil.which("bwrap"):
            return "bwrap is not installed (apt install bubblewrap)"
        tried = _tried(["bwrap", "--unshare-all", "--ro-bind", "/", "/", "true"])
        if tried.returncode:
            return f"bwrap does not work here: {tried.stderr.strip()}"
    return ""


def _tried(command: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, capture_output=True, text=True, check=False)
