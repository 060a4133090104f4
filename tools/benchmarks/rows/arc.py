"""The batch of a code grader, determinism off: against a reused Pool, and against one `python3 -I` per program.

All sides get the same programs with the same JSON inputs, leave out endless loops, memory hogs and what would be
unsafe, and answer with JSON. The pool (`arc_pool.py`) has as many workers as there are cores, numpy loaded, and no
isolation of any kind between programs: it is what can be had without safety.

CPU is the user and system time of the whole process tree, its dead included (`system.cpu_seconds`): for zygo the
daemon, templates, cells and jobs; for the pool its parent and workers. The client that feeds either is not counted.
"""
import json
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

from .. import arc_jobs
from ..coprocess import PATIENCE_SECONDS, LineServer
from ..programs import ONE_THREAD
from ..report import Section
from ..setting import Setting
from ..system import progress, ratios, spread
from ..turns import turn, turn_with_cpu

RUNNER = Path(__file__).parents[1] / "arc_fresh.py"
MOST_ROUNDS = 5
WARM_UP = 50


def arc(setting: Setting) -> list[Section]:
    jobs = arc_jobs.load(setting)
    subset = arc_jobs.evenly(jobs, setting.effort.subset)
    with setting.coprocess() as zygo:
        zygo.run(arc_jobs.payload(arc_jobs.evenly(jobs, WARM_UP), "warm"), min(WARM_UP, len(jobs)))
        return [_pool(setting, zygo, jobs), _fresh(setting, zygo, subset)]


def _rounds(setting: Setting) -> int:
    return min(MOST_ROUNDS, setting.effort.rounds)


def _pool(setting: Setting, zygo: LineServer, jobs: list[dict]) -> Section:
    section = Section(
        "arc", f"{len(jobs)} programs, zygo against a reused multiprocessing.Pool({setting.cores}), nothing isolated",
        part="pool",
    )
    rates, cpus, labels = {"zygo": [], "pool": []}, {"zygo": [], "pool": []}, {}
    with arc_jobs.start_pool(setting) as pool:
        pool.run(arc_jobs.payload(arc_jobs.evenly(jobs, WARM_UP), "warm"), min(WARM_UP, len(jobs)))
        for number in range(_rounds(setting)):
            for name, server in (("zygo", zygo), ("pool", pool)):
                progress(f"arc: round {number + 1} of {_rounds(setting)}, {name}")
                run, cpu = turn_with_cpu(server, arc_jobs.payload(jobs, f"pool{number}"), len(jobs))
                rates[name].append(len(jobs) / run.seconds)
                cpus[name].append(1000 * cpu / len(jobs))
                labels[name] = arc_jobs.labels(run.results())
    section.problems += _failures(labels["zygo"])
    section.records.append({
        "zygo_jobs/s": spread(rates["zygo"]), "pool_jobs/s": spread(rates["pool"]),
        "pool/zygo_jobs/s": ratios(rates["pool"], rates["zygo"]), "zygo_cpu_ms": spread(cpus["zygo"]),
        "pool_cpu_ms": spread(cpus["pool"]), "zygo/pool_cpu": ratios(cpus["zygo"], cpus["pool"]),
        "labels_differ": len(_differing(labels["zygo"], labels["pool"])),
    })
    return section


def _fresh(setting: Setting, zygo: LineServer, subset: list[dict]) -> Section:
    section = Section(
        "arc", f"{len(subset)} of them, zygo against `python3 -I` per program, {setting.cores} at once", part="fresh",
    )
    ours, fresh, labels, theirs = [], [], {}, {}
    for number in range(_rounds(setting)):
        run = turn(zygo, arc_jobs.payload(subset, f"fresh{number}"), len(subset))
        ours.append(len(subset) / run.seconds)
        labels = arc_jobs.labels(run.results())
        progress(f"arc: round {number + 1} of {_rounds(setting)}, one interpreter per program")
        rate, theirs = _subprocesses(setting, subset)
        fresh.append(rate)
    section.records.append({
        "zygo_jobs/s": spread(ours), "fresh_jobs/s": spread(fresh), "zygo/fresh": ratios(ours, fresh),
    })
    section.problems += _failures(labels)
    if differing := _differing(labels, theirs):
        section.problems.append(f"{len(differing)} labels differ between the two, e.g. {differing[0]}")
    return section


def _failures(labels: dict[str, str]) -> list[str]:
    failed = Counter(label for label in labels.values() if label in ("SandboxError", "BadJob"))
    return [f"zygo failed: {dict(failed)}"] if failed else []


def _differing(ours: dict[str, str], theirs: dict[str, str]) -> list[tuple[str, str | None, str]]:
    return [(id, ours.get(id), label) for id, label in theirs.items() if ours.get(id) != label]


def _subprocesses(setting: Setting, jobs: list[dict]) -> tuple[float, dict[str, str]]:
    command = [setting.python, "-I", "-c", RUNNER.read_text()]
    work = [(job["id"], json.dumps(job).encode()) for job in reversed(jobs)]
    outputs: dict[str, bytes] = {}

    def worker() -> None:
        while True:
            try:
                id, text = work.pop()
            except IndexError:
                return
            outputs[id] = _fresh_interpreter(command, text)

    start = time.perf_counter()
    threads = [threading.Thread(target=worker) for _ in setting.cpus]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - start
    return len(jobs) / seconds, {id: _label(output) for id, output in outputs.items()}


def _fresh_interpreter(command: list[str], text: bytes) -> bytes:
    try:
        done = subprocess.run(
            command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ONE_THREAD, check=False,
            timeout=PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return b""
    return done.stdout


def _label(output: bytes) -> str:
    try:
        return json.loads(output.splitlines()[-1])["label"]
    except (IndexError, ValueError):
        return "no answer"
