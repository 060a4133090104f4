"""Endless loops with a wall limit of one second: how late are they stopped?"""
import json

from ..coprocess import job_line
from ..report import Section
from ..setting import Setting, new_id
from ..system import progress, tails

WALL_MS = 1000


def deadline(setting: Setting) -> list[Section]:
    section = Section(
        "deadline",
        "ms past a wall limit of 1 s: by the result's usage.wall_us, and from sending the job to hearing the result",
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
    heard = [(ms, r) for ms, r in heard if r["label"] == "TimeoutException"]
    if not heard:
        return
    used = [r["usage"]["wall_us"] / 1000 - WALL_MS for _, r in heard]
    if early := sum(ms < 0 for ms in used):
        section.problems.append(f"{how}: {early} of {count} loops ended before their limit")
    section.records.append({
        "how": how, "loops": len(heard), "at_once": window, "usage_ms": tails(used),
        "heard_ms": tails([ms - WALL_MS for ms, _ in heard]),
        "contended": sum(bool(r["usage"].get("contended")) for _, r in heard),
    })
