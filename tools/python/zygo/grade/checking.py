"""Problems that bring their own test code, as HumanEval's and MBPP's. The tests run in one sandbox, the program in another
(`testing.py` has what crosses between them), strictly: an operator of the program's own never decides about a plain value.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .. import checks
from ..pool import Pool
from . import pools, trouble
from .suites import jobs
from .testing import SuiteResult, outcome_of


def job_of(program: str, tests: str, names: Sequence[str], timeout: float, helpers: str = "",
           memory_mb: int = 1024, pool: Optional[Pool] = None) -> Dict[str, Any]:
    """The program has `names`; `tests` use them, and decide; `helpers` are run before, beside them."""
    assertions = {"helpers": helpers, "tests": tests, "names": list(names)}
    ready: Dict[str, Any] = {} if pool is None else {"same_python": pool.has_this_python, "preloaded": pools.has_harness(pool),
                                     "tests_template": pools.tests_template(pool)}
    return jobs.job_of({"assertions": assertions}, timeout, memory_mb, strict=True, script=program, **ready)


def _names_called(tests: str) -> List[str]:
    """The functions that assertions call and nobody there defines."""
    tree = ast.parse(tests)
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {alias.asname or alias.name.partition(".")[0] for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    called = [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return sorted({name for name in called if name not in own and not hasattr(builtins, name)})


def _job_of_problem(problem: Mapping[str, Any], completion: str, timeout: float, pool: Pool) -> Dict[str, Any]:
    """HumanEval has `prompt`, `test` (which defines check) and `entry_point`; MBPP `test_list` and its set-up."""
    if "test_list" in problem:
        tests = "\n".join([str(problem.get("test_setup_code") or ""), *problem["test_list"]])
        return job_of(completion, tests, _names_called(tests), timeout, pool=pool)
    entry, prompt = str(problem["entry_point"]), str(problem["prompt"])
    tests = f"{problem['test']}\ncheck({entry})\n"
    return job_of(prompt + completion, tests, [entry], timeout, _helpers_of(prompt), pool=pool)


def _helpers_of(prompt: str) -> str:
    """What stands before the function that a prompt leaves open, as a program: with a body as indented as the prompt's."""
    indents = [match[1] for match in re.finditer(r"^([ \t]+)\S", prompt, re.MULTILINE)]
    for indent in dict.fromkeys([*reversed(indents), "    ", "\t", ""]):
        text = f"{prompt}\n{indent}pass\n"
        try:
            compile(text, "prompt", "exec")
        except (SyntaxError, ValueError):
            continue
        return text
    warnings.warn("a prompt is no beginning of a program: the tests do without what it defines", stacklevel=4)
    return ""


def _words(found: SuiteResult) -> str:
    if found.passed:
        return "passed"
    if found.label == "TimeoutException":
        return "timed out"
    said = found.tests[0].detail if found.tests and not found.tests[0].ok else ""
    return f"failed: {said or found.label}"


def check_correctness(problem: Mapping[str, Any], completion: str, timeout: float,
                      completion_id: Optional[int] = None, pool: Optional[Pool] = None) -> Dict[str, Any]:
    """`{"task_id", "passed", "result", "completion_id"}`, as HumanEval's harness has it, and zygo's `label`."""
    pool = pools.chosen(pool)
    found = outcome_of(trouble.run(pool, _job_of_problem(problem, completion, timeout, pool)))
    return {"task_id": problem.get("task_id"), "passed": found.passed, "result": _words(found),
            "completion_id": completion_id, "label": found.label}


def check_stdin(code: str, tests: Sequence[Mapping[str, str]], timeout: float = 6, compare: str = "lines",
                memory_mb: int = 1024, pool: Optional[Pool] = None, template: str = "python") -> List[str]:
    """LiveCodeBench's way: the label of each test `{"input", "output"}`, run as a script of its own."""
    milliseconds = checks.milliseconds("timeout", timeout)
    result = trouble.run(pool, {
        "source": code, "template": template,
        "limits": {"cpu_ms": milliseconds, "wall_ms": 2 * milliseconds, "memory_mb": memory_mb},
        "tests": [{"stdin": test["input"], "expect": test["output"], "compare": compare} for test in tests]})
    if result.by in ("caller", "sandbox"):
        result.check()
    return [str(test["label"]) for test in result.tests or []] or [result.label] * len(tests)


def pass_at_k(samples: int, correct: int, k: int) -> float:
    """The chance that one of k samples is right, of which `correct` among `samples` were: the unbiased estimate."""
    if not 0 <= correct <= samples or not 1 <= k <= samples:
        raise ValueError(f"pass@{k} of {correct} among {samples}")
    wrong = 1.0
    for i in range(k):
        wrong *= max(0, samples - correct - i) / (samples - i)
    return 1.0 - wrong
