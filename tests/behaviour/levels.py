"""What each level promises and where it may differ from `full`, as data; the checks that every place makes by it."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import zoo
import zygo
from zygo import CHECKOUT, Job, Result

# The grader lies elsewhere, and uses the package zygo, whose name is that of our own module here.
OURS = sys.modules.pop("zygo")
ELSEWHERE = [str(CHECKOUT / folder) for folder in ("tools/python", "tools/graders")]
sys.path[:0] = ELSEWHERE
from arc_grader import dataset  # noqa: E402
from arc_grader.jobs import Candidate, candidates, job_lines  # noqa: E402
from arc_grader.judge import judge, outputs_sha256  # noqa: E402

sys.path = [folder for folder in sys.path if folder not in ELSEWHERE]
sys.modules["zygo"] = OURS

NAMESPACES = {"userns", "pidns", "mntns", "netns", "ipcns", "utsns", "cgroupns"}
GROUPS = {"cgroup.memory", "cgroup.pids", "cgroup.cpu"}
# `enforced` has at least these at each level, and none of those that only a better level can have.
FLOOR = {
    "full": {*NAMESPACES, "landlock", "seccomp", "caps", "nnp", "rlimits", "fds", "scratch"},
    "contained": {"uid", "landlock", "seccomp", "caps", "nnp", "rlimits", "fds"},
    "minimal": {"landlock", "seccomp", "caps", "nnp", "rlimits", "fds"},
}
BEYOND = {"full": set(), "contained": NAMESPACES, "minimal": {*NAMESPACES, "uid"}}
# Whether a job's memory can be read by processes of its uid outside its Landlock domain: see raw/dumpable_again below.
DUMPABLE = {"full": 0, "contained": 1, "minimal": 1}


@dataclass(frozen=True)
class Difference:
    """How programs may end where all of some layers are absent from `enforced`, and why."""

    programs: tuple[str, ...]
    labels: tuple[str, ...]
    absent: frozenset[str]
    reason: str
    stdout: str | None = None  # A pattern for the whole output, where only that differs.

    def excuses(self, program: zoo.Program, result: Result) -> bool:
        return (program.id in self.programs and result["label"] in self.labels
                and self.absent.isdisjoint(result["enforced"])
                and (self.stdout is None or re.fullmatch(self.stdout, result["stdout"]["text"]) is not None))


def without(*layers: str) -> frozenset[str]:
    return frozenset(layers)


DIFFERENCES = (
    Difference(("script/subprocess_profile_fork_bomb",), ("BlockingIOError",), without("cgroup.pids"),
               "nobody counts the forks that RLIMIT_NPROC refuses: the program's own exception is the label"),
    Difference(("limits/disk_in_tmp_from_call", "limits/wall_paths_that_are_a_long_walk",
                "same/writes_in_tmp_and_removes", "tricks/scratch_is_made_unusable"), ("UnsafeCode",), without("mntns"),
               "scratch is the working directory and $TMPDIR; without mounts it cannot be /tmp, which is the host's"),
    Difference(("same/multiprocessing_lock", "script/subprocess_profile_pool"), ("UnsafeCode",), without("mntns"),
               "POSIX semaphores are files in /dev/shm, which without mounts is the host's"),
    Difference(("limits/memory_in_threads",), ("OK",), without("cgroup.memory"),
               "RLIMIT_DATA refuses what a cgroup would kill for, and the program swallows the refusal"),
    Difference(("same/pid_is_the_same",), ("NonDeterministicCode",), without("pidns"),
               "process ids are the host's, and never twice the same"),
    Difference(("script/subprocess_profile_no_program_gains_rights",), ("OK",), without("userns"),
               "there is no namespace to make the uid 1000: it is the host's, and not root's", stdout=r"[1-9]\d*\n"),
    Difference(("raw/code_from_a_file_of_the_scratch",), ("OK",), without("mntns"),
               "scratch is a directory of the host's, which need not be mounted noexec", stdout=r"executable\n"),
    Difference(("unsafe/chmod_of_the_image_by_descriptor",), ("UnsafeCode",), without("mntns"),
               "no read-only mount refuses it: the daemon does, and names it"),
    Difference(("raw/dumpable_again",), ("OK",), without("pidns"),
               "jobs are dumpable, so that a supervisor without capabilities can name their violations; cores are cut "
               "off by RLIMIT_CORE, and Landlock keeps other jobs from looking"),
    Difference(("raw/kill_everybody",), ("OK",), without("pidns"),
               "the kernel answers 0 to kill(-1) when there are others, even if none of them may be signalled"),
    Difference(("raw/signals_to_pid_1_by_descriptor", "raw/reads_memory_of_pid_1_by_every_name"),
               ("UnsafeCode", "PermissionError"), without("pidns", "uid"),
               "pid 1 is a stranger of the same uid: already a descriptor of it is refused"),
    Difference(("tricks/kernel_state_of_its_own",), ("PermissionError",), without("pidns", "uid"),
               "jobs are killed by process group, so setpgid and setsid are refused"),
    Difference(("limits/wall_children_that_sleep",), ("ChildProcessError",), without("pidns", "uid"),
               "its children end at the setsid that they are refused, for the same reason"),
    Difference(("tricks/kills_all_it_can_reach", "tricks/stops_its_parent"), ("ProcessLookupError", "PermissionError"),
               without("pidns", "uid"), "processes outside have the job's uid, so the filter refuses to signal them"),
)

# A few of every kind of answer; each endless one costs a second of CPU time.
ARC_SAMPLE = {"OK": 100, "TimeoutException": 2, "MemoryLimitExceeded": 4}
ARC_OTHERS = 12
ARC = CHECKOUT / "tests/data/arc"


def zoo_faults(programs: Sequence[zoo.Program], results: dict[str, Result],
               differences: Sequence[Difference] = DIFFERENCES) -> dict[str, str]:
    """What is not as the programs' headers say, nor as the level may have it; by program."""
    faults: dict[str, str] = {}
    for program in programs:
        result = results[program.id]
        found = [*zoo.differences(program, result), *zygo.shape_faults(result)]
        if found and not any(each.excuses(program, result) for each in differences):
            faults[program.id] = f"{found} {zygo.brief(result)}"
    return faults


def enforced_faults(result: Result, level: str) -> list[str]:
    """What a result says of its level and its layers that the level cannot mean."""
    enforced = set(result["enforced"])
    faults = [] if result["level"] == level else [f"the level is {result['level']}, not {level}"]
    if lacking := FLOOR[level] - enforced:
        faults.append(f"{sorted(lacking)} are not enforced")
    if boasted := BEYOND[level] & enforced:
        faults.append(f"{sorted(boasted)} cannot be in force there")
    return faults


class ArcSample:
    """Predictions of the ARC set, a few of every label, in their order, with the labels they get at level full."""

    def __init__(self) -> None:
        self.tasks = dataset.load_tasks(ARC / "arc-agi_evaluation_challenges.json",
                                        ARC / "arc-agi_evaluation_solutions.json")
        self.expected = dataset.load_expected(ARC / "expected.json")
        room = {entry["label"]: ARC_OTHERS for entry in self.expected.values()} | ARC_SAMPLE
        self.chosen: list[Candidate] = []
        for candidate in candidates(dataset.load_predictions(ARC / "predictions.jsonl.gz", self.tasks)):
            label = self.expected[candidate.prediction.id]["label"]
            if room[label] > 0:
                room[label] -= 1
                self.chosen.append(candidate)

    def lines(self) -> bytes:
        return b"".join(job_lines(self.chosen, self.tasks, runs=2))

    def faults(self, results: dict[str, Result]) -> dict[str, str]:
        """Predictions with another label, or other outputs, than expected.json says."""
        found: dict[str, str] = {}
        read = _python_package().result.result_of
        for prediction in (candidate.prediction for candidate in self.chosen):
            if prediction.id not in results:
                found[prediction.id] = "no result"
                continue
            result = read(json.dumps(results[prediction.id], separators=(",", ":")).encode())
            verdict = judge(result, len(self.tasks[prediction.task_id].inputs))
            wanted = self.expected[prediction.id]
            if verdict.label != wanted["label"]:
                found[prediction.id] = (f"{verdict.label}, expected {wanted['label']} ({wanted['kind']}): "
                                        f"{zygo.brief(results[prediction.id])}")
            elif verdict.outputs is not None and outputs_sha256(verdict.outputs) != wanted["outputs_sha256"]:
                found[prediction.id] = "other outputs"
        return found


def _python_package() -> ModuleType:
    """The one of tools/python, which reads results for the grader. Here its own name is that of a module beside us."""
    name = "zygo_package"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, CHECKOUT / "tools/python/zygo/__init__.py")
        assert spec and spec.loader
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def zoo_jobs(*folders: str) -> tuple[list[zoo.Program], list[Job]]:
    programs = zoo.programs(*folders)
    return programs, [program.job() for program in programs]
