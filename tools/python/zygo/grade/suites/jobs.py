"""The job of a program and its tests: the program's cell is the job, the tests' cell its interactor."""

from __future__ import annotations

import base64
import functools
import json
import marshal
import zlib
from pathlib import Path
from typing import Any, Dict, Mapping, Optional, Tuple

_HERE = Path(__file__).resolve().parent
_PROGRAM_SIDE = ("operators", "streams", "wire", "program_side")
_TESTS_SIDE = ("operators", "streams", "wire", "proxies", "session", "report", "tests_side")
_SUITE_SIDE = ("operators", "streams", "wire", "proxies", "session", "report", "frameworks", "plan", "tests_side")
# What a pool can preload, so that the tests' cells of its jobs have the harness already.
HARNESS = tuple(f"{__package__}.{name}" for name in _SUITE_SIDE)
_WALL_BEYOND_CPU_MS = 2000
_TESTS_CPU_MS = 5000  # what an interactor has at least


@functools.lru_cache(maxsize=None)
def _read(name: str) -> str:
    return (_HERE / f"{name}.py").read_text(encoding="utf-8")


@functools.lru_cache(maxsize=None)
def _order(modules: Tuple[str, ...], compiled: bool) -> Dict[str, Any]:
    if not compiled:
        return {"modules": modules, "sources": {name: _read(name) for name in modules}}
    codes = {name: compile(_read(name), f"{name}.py", "exec", optimize=2) for name in modules}
    return {"modules": modules, "compiled": base64.b64encode(zlib.compress(marshal.dumps(codes), 9)).decode()}


def _source(modules: Tuple[str, ...], compiled: bool, given: Mapping[str, Any]) -> str:
    order = json.dumps({**_order(modules, compiled), "with": given})
    return f"{_read('loader')}\n\nstart({json.dumps(order)})\n"


def _call(given: Mapping[str, Any]) -> str:
    """Of a harness that is there already."""
    return f"import json\nfrom {HARNESS[-1]} import main\n\nmain(**json.loads({json.dumps(json.dumps(given))}))\n"


def job_of(given: Mapping[str, Any], timeout: float, memory_mb: int, strict: bool, script: Optional[str] = None,
           program: Mapping[str, Any] = {}, files: Mapping[str, Any] = {}, tests_template: str = "python",
           same_python: bool = False, preloaded: bool = False) -> Dict[str, Any]:
    """`given` are arguments of `tests_side.main`; `program` and `files` the files of the two cells. `same_python`: the
    cells' interpreter is this one, which then compiles the harness once for all jobs. `preloaded`: the tests' template
    has HARNESS."""
    cpu_ms = max(1, round(timeout * 1000))
    wall_ms = cpu_ms + _WALL_BEYOND_CPU_MS
    tests = {"strict": strict, "wall": wall_ms / 1000 + 0.3, "cpu": 0.95 * max(cpu_ms, _TESTS_CPU_MS) / 1000, **given}
    side = _SUITE_SIDE if "suite" in given else _TESTS_SIDE
    source = _call(tests) if preloaded else _source(side, same_python, tests)
    return {
        "template": "python", "source": _source(_PROGRAM_SIDE, same_python, {"script": script}), "files": dict(program),
        "tests": [{"name": "tests"}], "policy": {"on_violation": "kill"},
        "interactor": {"template": tests_template, "source": source, "files": dict(files),
                       "protocol": "icpc", "feedback": True},
        "limits": {"cpu_ms": cpu_ms, "wall_ms": wall_ms, "memory_mb": memory_mb},
    }

