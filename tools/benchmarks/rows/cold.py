"""Cold start: from starting `zygo batch` to its first result, against `python3 -c "import X"`."""
import json
import subprocess
import time

from ..programs import ONE_THREAD
from ..report import Section
from ..setting import Setting, jobs_of, wrong_answers
from ..system import BenchError, progress, ratios, spread

IMPORTS = {"python": "pass", "python-numpy": "import numpy", "python-pandas": "import pandas"}


def cold(setting: Setting) -> list[Section]:
    section = Section("cold", "ms from process start to the first result; `python3 -c \"import X\"` from start to exit")
    for template in setting.templates:
        ours, theirs, results = [], [], []
        for number in range(setting.effort.starts):
            progress(f"cold: {template}, {number + 1} of {setting.effort.starts}")
            milliseconds, result = _first_result(setting, template)
            ours.append(milliseconds)
            results.append(result)
            theirs.append(_plain(setting, IMPORTS[template]))
        section.problems += wrong_answers(results, "tiny")
        section.records.append({
            "template": template, "starts": setting.effort.starts, "zygo_ms": spread(ours),
            "compared_with": IMPORTS[template], "python_ms": spread(theirs), "zygo/python": ratios(ours, theirs),
        })
    return [section]


def _first_result(setting: Setting, template: str) -> tuple[float, dict]:
    (line,) = jobs_of(template, "tiny", 1).values()
    start = time.perf_counter()
    with setting.coprocess() as zygo:
        _, answer = zygo.ask(line)
        return 1000 * (time.perf_counter() - start), json.loads(answer)


def _plain(setting: Setting, program: str) -> float:
    start = time.perf_counter()
    ended = subprocess.run([setting.python, "-c", program], env=ONE_THREAD, capture_output=True, check=False)
    milliseconds = 1000 * (time.perf_counter() - start)
    if ended.returncode:
        complaint = ended.stderr[-300:].decode(errors="replace")
        raise BenchError(f"{setting.python} -c '{program}' ended with {ended.returncode}: {complaint}")
    return milliseconds
