"""Row `deadline`: endless loops with a wall limit of one second; how late are they stopped?"""
from .report import Section
from .setting import Setting
from .system import progress, tails

WALL_MS = 1000


def deadline(setting: Setting) -> Section:
    section = Section(
        "deadline",
        "ms past a wall limit of 1 s: by the result's usage.wall_ms, and from sending the job to hearing the result",
    )
    cores = len(setting.cpus)
    _loops(setting, section, "as many as cores", cores, ())
    count = setting.effort.loops
    _loops(setting, section, "all at once", count, ("--workers", str(count)))
    return section


def _loops(setting: Setting, section: Section, how: str, window: int, arguments: tuple[str, ...]) -> None:
    count = setting.effort.loops
    progress(f"deadline: {count} endless loops, {window} at a time")
    limits = {"wall_ms": WALL_MS, "cpu_ms": 100 * WALL_MS}
    jobs = [{"id": f"loop-{i}", "source": "while True:\n    pass", "limits": limits} for i in range(count)]
    greeting = [{"id": f"warm-{i}", "source": "print(1)"} for i in range(window)]
    with setting.coprocess(*arguments) as zygo:
        zygo.windowed(greeting, window)
        heard = zygo.windowed(jobs, window)
    other = [r["label"] for _, r in heard if r["label"] != "TimeoutException"]
    if other:
        section.problems.append(f"{how}: {len(other)} of {count} loops were not TimeoutException but {sorted(set(other))}")
    heard = [(seconds, r) for seconds, r in heard if r["label"] == "TimeoutException"]
    if not heard:
        return
    results = [result for _, result in heard]
    early = sum(r["usage"]["wall_ms"] < WALL_MS for r in results)
    if early:
        section.problems.append(f"{how}: {early} of {count} loops ended before their limit")
    section.records.append({
        "loops": len(heard), "how": how, "at_once": window,
        "usage_ms": tails([r["usage"]["wall_ms"] - WALL_MS for r in results]),
        "heard_ms": tails([seconds * 1000 - WALL_MS for seconds, _ in heard]),
        "contended": sum(bool(r["usage"].get("contended")) for r in results),
    })
