"""Ways to keep the state of an interpreter and go on from it, the same state in all: a node of zygo, and what people do without."""
import contextlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from .coprocess import job_line
from .helper import Helper
from .keep_worker import WAYS
from .programs import PROGRAMS
from .report import Section
from .setting import Setting, new_id
from .states import STATES, source_of
from .system import BenchError, pinned, progress, spread

WORKER = Path(__file__).parent / "keep_worker.py"
STATES_COMPARED = ("1 MB", "31 MB")
ZYGO = "a node of zygo"
KEEPS = {
    ZYGO: "memory, files, open files; sandboxed",
    "copy.deepcopy": "objects that can be copied",
    "dill": "objects that can be pickled",
    "os.fork": "memory; each state is a process",
}

Times = tuple[float, float]  # ms to keep a state, ms from there to the answer of a tiny step


def keeping(setting: Setting) -> Section:
    section = Section("sessions", "ms to keep a state and to go on from it with a tiny step, one core, in turns; only zygo's has "
                      "isolation and JSON in and out", part="keep")
    section.skipped.append(f"CRIU: {_without_criu()}")
    for state in STATES_COMPARED:
        with contextlib.ExitStack() as stack:
            stack.enter_context(pinned({setting.cpu}))
            sides: dict[str, Callable[[], Times]] = {ZYGO: _zygo(setting, stack, STATES[state])}
            command = [setting.python, "-I", str(WORKER), source_of(STATES[state])]
            helper = stack.enter_context(Helper("the other ways", command, {}))
            missing = helper.answer()
            for way in WAYS:
                if way in missing:
                    section.skipped.append(f"{way}, {state}: {missing[way]}")
                else:
                    sides[way] = lambda way=way: _other(helper, way)
            section.records += _compare(setting, state, sides)
    return section


def _compare(setting: Setting, state: str, sides: dict[str, Callable[[], Times]]) -> list[dict]:
    keeping_ms: dict[str, list[float]] = {name: [] for name in sides}
    going_on: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(setting.effort.rounds + 1):
        progress(f"sessions: ways to keep {state}, " + (f"round {number} of {setting.effort.rounds}" if number else "warming up"))
        for name, side in sides.items():
            kept, gone_on = side()
            if number:
                keeping_ms[name].append(kept)
                going_on[name].append(gone_on)
    both = {name: [sum(pair) for pair in zip(keeping_ms[name], going_on[name], strict=True)] for name in sides}
    return [{"state": state, "way": name, "keeps": KEEPS[name], "keep_ms": spread(keeping_ms[name]),
             "go_on_ms": spread(going_on[name]), "both_ms": spread(both[name])} for name in sides]


def _zygo(setting: Setting, stack: contextlib.ExitStack, rows: int) -> Callable[[], Times]:
    """A step at the node; what it spent on keeping its own node, as it says itself, is apart."""
    zygo = stack.enter_context(setting.coprocess("--workers", "1"))

    def step(node: str, source: str) -> tuple[float, dict]:
        run = zygo.run(job_line({"id": new_id("keep"), "template": "python", "session": node, "source": source}), 1)
        (result,) = run.results()
        if result["label"] != "OK" or not result["session"]["kept"]:
            raise BenchError(f"a step was not kept: {str(result)[:300]}")
        return 1000 * run.seconds, result

    node = step("new", source_of(rows))[1]["session"]["node"]

    def side() -> Times:
        elapsed, result = step(node, PROGRAMS["tiny"])
        kept = result["timing_us"]["collect"] / 1000
        return kept, elapsed - kept

    return side


def _other(helper: Helper, way: str) -> Times:
    kept, gone_on, rows_seen = helper.ask([way, PROGRAMS["tiny"]])
    if not rows_seen:
        raise BenchError(f"{way}: the step has not found the state")
    return kept, gone_on


def _without_criu() -> str:
    """It cannot be compared where it does not work, and where it does this row has no code for it yet."""
    if not shutil.which("criu"):
        return "is not installed (apt install criu)"
    tried = subprocess.run(["criu", "check"], capture_output=True, text=True, check=False)
    if tried.returncode:
        said = (tried.stdout + tried.stderr).strip().splitlines()
        why = [line for line in said if "Error" in line and "exited" not in line] or said[-1:]
        return "does not work here, says `criu check`: " + "".join(why[:1])
    return "works here, and this row has no code for it yet"
