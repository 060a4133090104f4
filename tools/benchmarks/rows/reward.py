"""The shape of a reward function: 32 programs at once to a pool that stands, and from nothing.

The programs' own time is measured in a warm interpreter without isolation (`arc_pool.py`): the CPU time of compiling,
defining and calling, without the JSON around it. A batch cannot take less than

    bound = max(its longest program, the sum of its programs / cores)

and `over` is the wall time, from writing the first byte to having the last, minus that bound. Zygo and the unsafe pool
run the same 32 in turn; the own times of a batch are those of the pool's turn beside it.
"""
import time

from .. import arc_jobs
from ..coprocess import LineServer
from ..report import Section
from ..setting import Setting
from ..system import progress, tails

SIZE = 32
IDLE_SECONDS = 0.03  # between batches: the trainer is at work


def reward(setting: Setting) -> list[Section]:
    jobs = arc_jobs.load(setting)
    batches = [jobs[i:i + SIZE] for i in range(0, len(jobs) - SIZE + 1, SIZE)]
    if not batches:
        return [Section("reward", "not measured", problems=[f"needs {SIZE} ARC jobs, has {len(jobs)}"])]
    return [_standing(setting, batches), _cold(setting, batches)]


def _standing(setting: Setting, batches: list[list[dict]]) -> Section:
    section = Section(
        "reward", f"ms for {SIZE} ARC programs at once, the pool standing; over: wall minus max(longest, sum / "
        f"{setting.cores} cores) of the programs' own time in a bare interpreter", part="standing",
    )
    with setting.coprocess() as zygo, arc_jobs.start_pool(setting, chunk=1) as pool:
        for server in (zygo, pool):
            server.run(arc_jobs.payload(batches[0], "warm"), SIZE)
        for when, pause in (("back to back", 0.0), ("after 30 ms", IDLE_SECONDS)):
            progress(f"reward: {setting.effort.batches} batches, {when}")
            seen: dict[str, list[float]] = {name: [] for name in ("own", "zygo", "over", "pool", "pool_over")}
            for number in range(setting.effort.batches):
                batch = batches[number % len(batches)]
                _both(setting, section, zygo, pool, batch, f"{when}{number}", pause, seen)
            section.records.append({
                "when": when, "batches": setting.effort.batches, "bound_ms": tails(seen["own"]),
                "zygo_ms": tails(seen["zygo"]), "zygo_over_ms": tails(seen["over"]), "pool_ms": tails(seen["pool"]),
                "pool_over_ms": tails(seen["pool_over"]),
            })
    return section


def _both(setting: Setting, section: Section, zygo: LineServer, pool: LineServer, batch: list[dict], turn: str,
          pause: float, seen: dict[str, list[float]]) -> None:
    lines = arc_jobs.payload(batch, turn)
    time.sleep(pause)
    ours = zygo.run(lines, SIZE)
    time.sleep(pause)
    theirs = pool.run(lines, SIZE)
    own = [result["own_us"] / 1000 for result in theirs.results()]
    bound = max(max(own), sum(own) / setting.cores)
    seen["own"].append(bound)
    for name, run in (("zygo", ours), ("pool", theirs)):
        seen[name].append(1000 * run.seconds)
        seen["over" if name == "zygo" else "pool_over"].append(1000 * run.seconds - bound)
    section.problems += [f"{r['id']}: {r['label']}" for r in ours.results() if r["label"] in ("SandboxError", "BadJob")]


def _cold(setting: Setting, batches: list[list[dict]]) -> Section:
    section = Section("reward", f"ms from starting the process to the last of {SIZE} results", part="cold")
    sides = (("zygo", setting.coprocess), ("pool", lambda: arc_jobs.start_pool(setting, chunk=1)))
    times: dict[str, list[float]] = {name: [] for name, _ in sides}
    for number in range(setting.effort.starts):
        progress(f"reward: cold start {number + 1} of {setting.effort.starts}")
        lines = arc_jobs.payload(batches[number % len(batches)], "cold")
        for name, start_server in sides:
            start = time.perf_counter()
            with start_server() as server:
                server.run(lines, SIZE)
                times[name].append(1000 * (time.perf_counter() - start))
    section.records.append({"starts": setting.effort.starts, **{f"{name}_ms": tails(t) for name, t in times.items()}})
    return section
