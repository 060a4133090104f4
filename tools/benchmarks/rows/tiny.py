"""Small jobs through the whole path against the bare fork of the same interpreter: jobs/s, on one core and on all.

What `all` gives over `one core` is a ratio within a turn, too, and the limit's own is beside it: two hyperthreads of
one core, or a busy machine, do not give twice the rate to anyone.
"""
import contextlib

from ..coprocess import Coprocess
from ..limit import Limits
from ..programs import PROGRAMS, programs_of
from ..report import Section
from ..setting import WARM_UP, Setting, lines_of, wrong_answers
from ..system import pinned, progress, ratios, spread
from ..turns import turn


def tiny(setting: Setting) -> list[Section]:
    section = Section("tiny", "jobs/s, zygo (isolated, JSON in and out) against the limit (bare fork + job + wait)")
    for template in setting.templates:
        with contextlib.ExitStack() as stack:
            with pinned({setting.cpu}):
                one = stack.enter_context(setting.coprocess("--workers", "1"))
            every = stack.enter_context(setting.coprocess()) if setting.cores > 1 else None
            limits = stack.enter_context(setting.limits(template))
            for program in programs_of(template):
                progress(f"tiny: {template}, {program}")
                _program(setting, section, template, program, one, every, limits)
    return [section]


def _program(setting: Setting, section: Section, template: str, program: str, one: Coprocess, every: Coprocess | None,
             limits: Limits) -> None:
    sides = [(one, 1), (every, setting.cores)] if every else [(one, 1)]
    ours: dict[int, list[float]] = {cores: [] for _, cores in sides}
    theirs: dict[int, list[float]] = {cores: [] for _, cores in sides}
    results = []
    for round_number in range(-1, setting.effort.rounds):  # round -1 warms up
        for zygo, cores in sides:
            each = setting.effort.jobs if round_number >= 0 else WARM_UP
            with pinned({setting.cpu} if cores == 1 else set(setting.cpus)):
                run = turn(zygo, lines_of(template, program, each * cores), each * cores)
            rate = limits.rate(PROGRAMS[program], each, cores)
            if round_number >= 0:
                ours[cores].append(each * cores / run.seconds)
                theirs[cores].append(rate)
            results += run.results()
    section.problems += wrong_answers(results, program)
    for _, cores in sides:
        several = cores > 1
        section.records.append({
            "template": template, "job": program, "cores": cores, "zygo_jobs/s": spread(ours[cores]),
            "limit_jobs/s": spread(theirs[cores]), "zygo/limit": ratios(ours[cores], theirs[cores]),
            "zygo_all/one_core": ratios(ours[cores], ours[1]) if several else None,
            "limit_all/one_core": ratios(theirs[cores], theirs[1]) if several else None,
        })
