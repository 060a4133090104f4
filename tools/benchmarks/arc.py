"""Row `arc`: the batch of a code grader, zygo against one fresh interpreter per program at the same concurrency."""
import json
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path

from .coprocess import PATIENCE_SECONDS, job_line
from .programs import ONE_THREAD
from .report import Section
from .setting import Setting
from .system import BenchError, progress, spread

# Their time is the limit's, not the runner's; and nothing may be written or started where there is no isolation.
LEFT_OUT = ("TimeoutException", "MemoryLimitExceeded", "UnsafeCode")
RUNNER = Path(__file__).with_name("arc_subprocess.py")
ROUNDS = 3
SETTLE_SECONDS = 0.2


def arc(setting: Setting) -> Section:
    jobs = _jobs(setting)
    subset = _evenly(jobs, setting.effort.subset)
    section = Section(
        "arc",
        f"programs/s: zygo on {len(jobs)} and on {len(subset)} of them, `python3 -I` per program on the same {len(subset)}; "
        f"{len(setting.cpus)} at once",
    )
    whole, part, fresh, labels, theirs = [], [], [], {}, {}
    with setting.coprocess() as zygo:
        zygo.run(*_payload(_evenly(jobs, 50), "warm"))
        for turn in range(ROUNDS):
            progress(f"arc: round {turn + 1} of {ROUNDS}, zygo")
            rate, _ = _zygo(zygo, jobs, f"all{turn}")
            whole.append(rate)
            rate, labels = _zygo(zygo, subset, f"part{turn}")
            part.append(rate)
            progress(f"arc: round {turn + 1} of {ROUNDS}, one interpreter per program")
            rate, theirs = _subprocesses(setting, subset)
            fresh.append(rate)
    section.records.append({
        "zygo_all/s": spread(whole), "zygo_subset/s": spread(part), "subprocess_subset/s": spread(fresh),
        "zygo/subprocess": spread([a / b for a, b in zip(part, fresh)]),
    })
    differing = [(id, labels[id], theirs[id]) for id in theirs if labels.get(id) != theirs[id]]
    failed = Counter(label for label in labels.values() if label in ("SandboxError", "BadJob"))
    if failed:
        section.problems.append(f"zygo failed: {dict(failed)}")
    if differing:
        section.problems.append(f"{len(differing)} labels differ between the two, e.g. {differing[0]}")
    return section


def _jobs(setting: Setting) -> list[dict]:
    if setting.arc_jobs:
        text = setting.arc_jobs.read_text()
    else:
        expected = setting.root / "tests/data/arc/expected.json"
        command = [str(setting.root / "tools/graders/arc"), "--jobs-only", "--no-determinism", "--expected", str(expected)]
        command += ["--skip-label", ",".join(LEFT_OUT)]
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode:
            raise BenchError(f"{' '.join(command)} ended with status {made.returncode}: {made.stderr.strip()[-400:]}")
        text = made.stdout
    jobs = [json.loads(line) for line in text.splitlines()]
    if not jobs:
        raise BenchError("no ARC jobs")
    return jobs


def _evenly(jobs: list[dict], count: int) -> list[dict]:
    count = min(count, len(jobs))
    return [jobs[i * len(jobs) // count] for i in range(count)]


def _payload(jobs: list[dict], turn: str) -> tuple[bytes, int]:
    """Ids are unique in a batch, so each turn has its own."""
    return b"".join(job_line({**job, "id": f"{job['id']}~{turn}"}) for job in jobs), len(jobs)


def _zygo(zygo, jobs: list[dict], turn: str) -> tuple[float, dict[str, str]]:
    payload, count = _payload(jobs, turn)
    time.sleep(SETTLE_SECONDS)
    run = zygo.run(payload, count)
    return count / run.seconds, {r["id"].rpartition("~")[0]: r["label"] for r in run.results()}


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

    time.sleep(SETTLE_SECONDS)
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
