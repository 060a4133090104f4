"""What the determinism check costs: tiny jobs that run twice, under different seeds, against once."""
from ..programs import NUMPY
from ..report import Section
from ..setting import WARM_UP, Setting, lines_of, wrong_answers
from ..system import progress, ratios, spread
from ..turns import turn


def determinism(setting: Setting) -> list[Section]:
    progress("determinism: jobs that run once and twice")
    section = Section("determinism", f"tiny {NUMPY} jobs/s on {setting.cores} core(s), `determinism` 2 against 1")
    rates: dict[int, list[float]] = {1: [], 2: []}
    results = []
    with setting.coprocess() as zygo:
        for number in range(-1, setting.effort.rounds):  # round -1 warms up
            for runs in rates:
                count = (setting.effort.jobs if number >= 0 else WARM_UP) * setting.cores
                run = turn(zygo, lines_of(NUMPY, "tiny", count, determinism={"runs": runs}), count)
                results += run.results()
                if number >= 0:
                    rates[runs].append(count / run.seconds)
    section.problems += wrong_answers(results, "tiny")
    section.records.append({
        "once_jobs/s": spread(rates[1]), "twice_jobs/s": spread(rates[2]), "once/twice": ratios(rates[1], rates[2]),
    })
    return [section]
