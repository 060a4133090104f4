"""The ARC batch as job lines, and the pool that runs them without any isolation; rows `arc` and `reward`."""
import json
import subprocess
from pathlib import Path

from .coprocess import LineServer, job_line
from .programs import ONE_THREAD
from .setting import Setting
from .system import BenchError

# Their time is the limit's, not the runner's; and nothing may be written or started where there is no isolation.
LEFT_OUT = ("TimeoutException", "MemoryLimitExceeded", "UnsafeCode")
POOL = Path(__file__).with_name("arc_pool.py")
CHUNK = 16  # jobs handed to a worker of the pool at a time: about the fastest, and none is left waiting at the end


def load(setting: Setting) -> list[dict]:
    """One run each: determinism is off. Whole tasks from the start, if not all are wanted."""
    if setting.arc_jobs:
        text = setting.arc_jobs.read_text()
    else:
        expected = setting.root / "tests/data/arc/expected.json"
        command = [str(setting.root / "tools/graders/arc"), "--jobs-only", "--no-determinism"]
        command += ["--expected", str(expected), "--skip-label", ",".join(LEFT_OUT)]
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if made.returncode:
            raise BenchError(f"{' '.join(command)} ended with status {made.returncode}: {made.stderr.strip()[-400:]}")
        text = made.stdout
    jobs = [json.loads(line) for line in text.splitlines()]
    if not jobs:
        raise BenchError("no ARC jobs")
    return jobs[:setting.effort.programs]


def evenly(jobs: list[dict], count: int) -> list[dict]:
    count = min(count, len(jobs))
    return [jobs[i * len(jobs) // count] for i in range(count)]


def payload(jobs: list[dict], turn: str) -> bytes:
    """Ids are unique in a batch, so each turn has its own."""
    return b"".join(job_line({**job, "id": f"{job['id']}~{turn}"}) for job in jobs)


def labels(results: list[dict]) -> dict[str, str]:
    return {r["id"].rpartition("~")[0]: r["label"] for r in results}


def start_pool(setting: Setting, chunk: int = CHUNK) -> LineServer:
    """As many workers as cores. They are warm: numpy is loaded before they are forked."""
    command = [setting.python, "-I", str(POOL), str(setting.cores), str(chunk)]
    return LineServer(command, {"PATH": "/usr/bin:/bin", **ONE_THREAD}, end_of_batch=b"\n")
