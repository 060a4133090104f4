"""Rows `tiny` and `latency`: small jobs through the whole path, against the bare fork of the same interpreter."""
import json
import time

from .coprocess import Coprocess
from .limit import Limits
from .programs import PROGRAMS, programs_of
from .report import Section
from .setting import Setting, lines_of, wrong_answers
from .system import percentile, pinned, progress, spread, tails

SETTLE_SECONDS = 0.05  # what one side still does after its last answer must not fall on the other
IDLE_SECONDS = 0.03
WARM_UP = 100


def tiny(setting: Setting) -> Section:
    section = Section("tiny", "jobs/s, zygo (isolated, JSON in and out) against the limit (bare fork + job + wait)")
    for template in setting.templates:
        modules = setting.limit_modules(template)
        for cpus, workers in (((setting.cpu,), ("--workers", "1")), (setting.cpus, ())):
            if workers or len(cpus) > 1:
                with pinned(set(cpus)), setting.coprocess(*workers) as zygo:
                    with Limits(setting.python, setting.limit_module, modules, list(cpus)) as limits:
                        _throughput(setting, section, template, zygo, limits, len(cpus))
    return section


def _throughput(
    setting: Setting, section: Section, template: str, zygo: Coprocess, limits: Limits, cores: int
) -> None:
    for program in programs_of(template):
        progress(f"tiny: {template}, {program}, {cores} core(s)")
        zygo.run(lines_of(template, program, WARM_UP * cores), WARM_UP * cores)
        limits.rate(PROGRAMS[program], WARM_UP)
        ours, theirs, results = [], [], []
        for _ in range(setting.effort.rounds):
            count = setting.effort.jobs * cores
            payload = lines_of(template, program, count)
            time.sleep(SETTLE_SECONDS)
            run = zygo.run(payload, count)
            ours.append(count / run.seconds)
            results += run.results()
            time.sleep(SETTLE_SECONDS)
            theirs.append(limits.rate(PROGRAMS[program], setting.effort.jobs))
        section.problems += wrong_answers(results, program)
        section.records.append({
            "template": template, "job": program, "cores": cores, "zygo_jobs/s": spread(ours),
            "limit_jobs/s": spread(theirs), "zygo/limit": spread([a / b for a, b in zip(ours, theirs)]),
        })


def latency(setting: Setting) -> Section:
    section = Section("latency", "one tiny job at a time on one core, microseconds; `idle`: 30 ms after the job before")
    effort = setting.effort
    for template in setting.templates:
        progress(f"latency: {template}")
        modules = setting.limit_modules(template)
        with pinned({setting.cpu}), setting.coprocess("--workers", "1") as zygo:
            with Limits(setting.python, setting.limit_module, modules, [setting.cpu]) as limits:
                zygo.run(lines_of(template, "tiny", WARM_UP), WARM_UP)
                _ask(section, zygo, template, "busy", effort.asks, limits, pause=0)
                _ask(section, zygo, template, "idle", effort.idle_asks, limits, pause=IDLE_SECONDS)
    return section


def _ask(
    section: Section, zygo: Coprocess, template: str, when: str, count: int, limits: Limits, pause: float
) -> None:
    """Tenths of the asks and of the limit's forks alternate."""
    ours, theirs, answers = [], [], []
    share = max(1, count // 10)
    for _ in range(10):
        for line in lines_of(template, "tiny", share).splitlines(keepends=True):
            if pause:
                time.sleep(pause)
            seconds, answer = zygo.ask(line)
            ours.append(seconds * 1e6)
            answers.append(answer)
        (times,) = limits.times(PROGRAMS["tiny"], share)
        theirs += times
    section.problems += wrong_answers([json.loads(answer) for answer in answers], "tiny")
    section.records.append({
        "template": template, "when": when, "jobs": len(ours), "zygo_us": tails(ours), "limit_us": tails(theirs),
        "p99/p50": percentile(ours, 0.99) / percentile(ours, 0.5),
        "limit/zygo_p50": percentile(theirs, 0.5) / percentile(ours, 0.5),
    })

