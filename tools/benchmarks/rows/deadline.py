"""Endless loops with a wall limit of one second: how late are they stopped?"""
import json

from ..coprocess import job_line
from ..lateness import lateness
from ..report import Section
from ..setting import Setting, new_id
from ..system import progress, tails

WALL_MS = 1000


def deadline(setting: Setting) -> list[Section]:
    section = Section(
        "deadline",
        "ms past the deadline of a wall limit of 1 s, which comes later by waited_ms, the whole milliseconds that the loop waited for a CPU: "
        "until the kill was sent, until the loop was reaped, and until the result was heard",
    )
    cores, loops = setting.cores, setting.effort.loops
    _loops(setting, section, "as many as cores", max(cores, loops // 2), cores)
    _loops(setting, section, "2 x cores", max(2 * cores, loops), 2 * cores)
    _loops(setting, section, "all at once", loops, loops)
    return [section]


def _loops(setting: Setting, section: Section, how: str, count: int, window: int) -> None:
    progress(f"deadline: {count} endless loops, {window} at a time")
    limits = {"wall_ms": WALL_MS, "cpu_ms": 100 * WALL_MS}
    spinning = {"source": "while True:\n    pass", "limits": limits}
    loops = {(name := new_id("loop")): job_line({"id": name, **spinning}) for _ in range(count)}
    greeting = {(name := new_id("warm")): job_line({"id": name, "source": "print(1)"}) for _ in range(window)}
    with setting.coprocess("--workers", str(window)) as zygo:
        zygo.windowed(greeting, window)
        heard = [(1000 * seconds, json.loads(answer)) for seconds, answer in zygo.windowed(loops, window)]
    other = [r["label"] for _, r in heard if r["label"] != "TimeoutException"]
    if other:
        section.problems.append(f"{how}: {len(other)} of {count} loops ended with {sorted(set(other))}")
    killed = [(ms, r["usage"]["wall_us"] / 1000, r["detail"].get("waited_ms", 0), late)
              for ms, r in heard if (late := lateness(r))]
    if not killed:
        return
    if early := sum(late.ended_ms < 0 for *_, late in killed):
        section.problems.append(f"{how}: {early} of {count} loops ended before their deadline")
    section.records.append({
        "how": how, "loops": len(killed), "at_once": window, "waited_ms": tails([waited for _, _, waited, _ in killed]),
        "kill_ms": tails([late.kill_ms for *_, late in killed if late.kill_ms is not None]),
        "usage_ms": tails([late.ended_ms for *_, late in killed]),
        "heard_ms": tails([heard_ms - wall_ms + late.ended_ms for heard_ms, wall_ms, _, late in killed]),
    })
