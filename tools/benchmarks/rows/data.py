"""1 MB in and 1 MB out, one job at a time: as text by stdin and stdout, as text and as numbers by value."""
import json

from ..coprocess import Coprocess, job_line
from ..programs import NUMPY
from ..report import Section
from ..setting import WARM_UP, Setting, lines_of, new_id
from ..system import percentile, progress, tails

MEGABYTE = 1 << 20
TEXT = "x" * MEGABYTE
NUMBERS = [1234567] * (MEGABYTE // 8)  # seven digits and a comma

CASES = {
    "in, stdin": {"source": "import sys\nprint(len(sys.stdin.read()))", "stdin": TEXT},
    "in, text": {"source": "def f(x):\n    return len(x)", "inputs": [TEXT]},
    "in, numbers": {"source": "def f(x):\n    return len(x)", "inputs": [NUMBERS]},
    "out, stdout": {"source": f"print('x' * {MEGABYTE})"},
    "out, text": {"source": "def f(n):\n    return 'x' * n", "inputs": [MEGABYTE]},
    "out, numbers": {"source": "def f(n):\n    return [1234567] * n", "inputs": [len(NUMBERS)]},
}
RIGHT = {
    "in, stdin": lambda r: r["stdout"]["text"] == f"{MEGABYTE}\n",
    "in, text": lambda r: r["value"] == [MEGABYTE],
    "in, numbers": lambda r: r["value"] == [len(NUMBERS)],
    "out, stdout": lambda r: r["stdout"]["bytes"] == MEGABYTE + 1 and len(r["stdout"]["text"]) == MEGABYTE + 1,
    "out, text": lambda r: r["value"] == [TEXT],
    "out, numbers": lambda r: r["value"] == [NUMBERS],
}


def data(setting: Setting) -> list[Section]:
    section = Section("data", f"ms for one {NUMPY} job that moves 1 MB (2^20 bytes), a tiny job in turn with it")
    with setting.coprocess("--workers", "1") as zygo:
        zygo.run(lines_of(NUMPY, "tiny", WARM_UP), WARM_UP)
        for name in CASES:
            progress(f"data: {name}")
            _case(section, zygo, name, setting.effort.idle_asks)
    return [section]


def _case(section: Section, zygo: Coprocess, name: str, count: int) -> None:
    job = {"template": NUMPY, **CASES[name]}
    if "inputs" in job:
        job |= {"mode": "call", "func": "f"}
    large, tiny, wrong = [], [], []
    for _ in range(count):
        line = job_line({"id": new_id("data"), **job})
        seconds, answer = zygo.ask(line)
        large.append(1000 * seconds)
        seconds, _ = zygo.ask(lines_of(NUMPY, "tiny", 1))
        tiny.append(1000 * seconds)
        result = json.loads(answer)
        if result["label"] != "OK" or not RIGHT[name](result):
            wrong.append(result["label"])
    if wrong:
        section.problems.append(f"{name}: {len(wrong)} of {count} results were wrong, the first: {wrong[0]}")
    more = percentile(large, 0.5) - percentile(tiny, 0.5)
    section.records.append({
        "1_MB": name, "jobs": count, "zygo_ms": tails(large), "tiny_ms": tails(tiny), "more_ms": more,
        "MB/s": 1000 / more,
    })
