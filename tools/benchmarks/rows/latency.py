"""One tiny job at a time on one core, back to back and after idle gaps, against the bare fork."""
import json
import time

from ..coprocess import Coprocess
from ..limit import Limits
from ..programs import PROGRAMS
from ..report import Section
from ..setting import WARM_UP, Setting, jobs_of, lines_of, wrong_answers
from ..system import percentile, progress, tails

IDLE_SECONDS = 0.03


def latency(setting: Setting) -> list[Section]:
    section = Section("latency", "one tiny job at a time on one core, microseconds; `idle`: 30 ms after the job before")
    effort = setting.effort
    for template in setting.templates:
        progress(f"latency: {template}")
        with setting.limits(template) as limits, setting.one_core() as zygo:
            zygo.run(lines_of(template, "tiny", WARM_UP), WARM_UP)
            limits.times(PROGRAMS["tiny"], WARM_UP)
            _ask(section, zygo, template, "busy", effort.asks, limits, pause=0)
            _ask(section, zygo, template, "idle", effort.idle_asks, limits, pause=IDLE_SECONDS)
    return [section]


def _ask(section: Section, zygo: Coprocess, template: str, when: str, count: int, limits: Limits, pause: float) -> None:
    """Tenths of the asks and of the limit's forks alternate."""
    ours, theirs, answers = [], [], []
    share = max(1, count // 10)
    for _ in range(10):
        for line in jobs_of(template, "tiny", share).values():
            if pause:
                time.sleep(pause)
            seconds, answer = zygo.ask(line)
            ours.append(seconds * 1e6)
            answers.append(answer)
        for _ in range(share if pause else 1):
            if pause:
                time.sleep(pause)
            theirs += limits.times(PROGRAMS["tiny"], 1 if pause else share)
    section.problems += wrong_answers([json.loads(answer) for answer in answers], "tiny")
    section.records.append({
        "template": template, "when": when, "jobs": len(ours), "zygo_us": tails(ours), "limit_us": tails(theirs),
        "p99/p50": percentile(ours, 0.99) / percentile(ours, 0.5),
        "zygo/limit_p50": percentile(ours, 0.5) / percentile(theirs, 0.5),
    })
