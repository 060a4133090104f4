"""Tests that are code. The tests run in one sandbox, the program in another; between them go calls and values as text,
of builtin types only. So a program can end, print, patch `assert`, return objects with an `__eq__` of its own or walk its
frames as it likes: the tests do not run in its interpreter, and zygo takes the verdict from theirs.

Where the limit lies: arguments and values must be of builtin types (numbers, text, containers); a test that looks at a
changed argument, or hands over a function, cannot pass.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .. import checks
from ..pool import Pool
from ..result import Result
from . import trouble

# On both sides of the pipes.
_WIRE = '''
import builtins, json, os, sys

def pack(v):
    k = type(v)
    if v is None or k in (bool, int, float, str): return v
    if k is list: return [pack(i) for i in v]
    if k is complex: return {"c": [v.real, v.imag]}
    if k is bytes: return {"b": v.hex()}
    if k in (tuple, set, frozenset): return {k.__name__[0]: [pack(i) for i in v]}
    if k is dict: return {"d": [[pack(a), pack(b)] for a, b in v.items()]}
    for base in (bool, int, float, str, list, tuple, set, dict):
        if issubclass(k, base): return pack(base(v))
    if hasattr(v, "tolist"): return pack(v.tolist())
    raise TypeError("a value of type %s cannot be compared" % k.__name__)

def unpack(v):
    if type(v) is list: return [unpack(i) for i in v]
    if type(v) is not dict: return v
    (k, i), = v.items()
    if k == "c": return complex(*i)
    if k == "b": return bytes.fromhex(i)
    if k == "d": return {unpack(a): unpack(b) for a, b in i}
    return {"t": tuple, "s": set, "f": frozenset}[k](unpack(j) for j in i)
'''

_PROGRAM = '''
def serve(source):
    calls, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.dup2(2, 1)
    names = {"__name__": "__main__"}
    exec(compile(source, "program.py", "exec"), names)
    for line in calls:
        name, args, kwargs = unpack(json.loads(line))
        try:
            answer = {"value": pack(names[name](*args, **kwargs))}
        except Exception as error:
            answer = {"error": [type(error).__name__, str(error)[:1000]]}
        answers.write(json.dumps(answer) + "\\n")
        answers.flush()
'''

_TESTS = '''
import signal
calls, answers = os.fdopen(os.dup(1), "w"), os.fdopen(os.dup(0))
os.dup2(2, 1)

def wrong(why):
    sys.stderr.write(why[:500])
    sys.stderr.flush()
    os._exit(1)

def left():  # as what meets a closed pipe: whether the program failed by itself is not for the tests to say
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)

def candidate_of(name):
    def call(*args, **kwargs):
        question = json.dumps(pack([name, list(args), kwargs])) + "\\n"
        try:
            calls.write(question)
            calls.flush()
        except BrokenPipeError: left()
        line = answers.readline()
        if not line: left()
        try:
            answer = json.loads(line)
            value = unpack(answer["value"]) if "value" in answer else None
            kind, message = (None, None) if "value" in answer else map(str, answer["error"])
        except Exception: wrong("the program does not answer")
        if kind is None: return value
        error = getattr(builtins, kind, None)
        # An iterator of the tests would take it for its own end: all(map(candidate, ..)) would pass (as in PEP 479).
        if kind in ("StopIteration", "StopAsyncIteration"): raise RuntimeError("the program raised " + kind)
        if not (isinstance(error, type) and issubclass(error, Exception)): error = Exception
        raise error(message)
    call.__name__ = name
    return call

def check_all(helpers, tests, names):
    scope = {"__name__": "__main__"}
    try:
        exec(compile(helpers, "helpers.py", "exec"), scope)
    except Exception:
        pass
    scope.update({name: candidate_of(name) for name in names})
    try:
        exec(compile(tests, "tests.py", "exec"), scope)
    except BaseException as error:
        wrong(("%s: %s" % (type(error).__name__, error)).rstrip(": "))
    calls.close()
    os._exit(0)
'''


def job_of(program: str, tests: str, names: Sequence[str], timeout: float, helpers: str = "",
           memory_mb: int = 1024) -> Dict[str, Any]:
    """The program answers calls of `names`; `tests` make them, and decide; `helpers` are run before, beside them."""
    milliseconds = checks.milliseconds("timeout", timeout)
    judge = f"{_WIRE}{_TESTS}\ncheck_all({helpers!r}, {tests!r}, {list(names)!r})\n"
    return {
        "template": "python", "source": f"{_WIRE}{_PROGRAM}\nserve({program!r})\n", "tests": [{"name": "tests"}],
        "interactor": {"template": "python", "source": judge},
        "limits": {"cpu_ms": milliseconds, "wall_ms": milliseconds + 2000, "memory_mb": memory_mb},
    }


def _names_called(tests: str) -> List[str]:
    """The functions that assertions call and nobody there defines."""
    tree = ast.parse(tests)
    own = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    own |= {alias.asname or alias.name.partition(".")[0] for node in ast.walk(tree)
            if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    called = [node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    return sorted({name for name in called if name not in own and not hasattr(builtins, name)})


def _job_of_problem(problem: Mapping[str, Any], completion: str, timeout: float) -> Dict[str, Any]:
    """HumanEval has `prompt`, `test` (which defines check) and `entry_point`; MBPP `test_list` and its set-up."""
    if "test_list" in problem:
        tests = "\n".join([str(problem.get("test_setup_code") or ""), *problem["test_list"]])
        return job_of(completion, tests, _names_called(tests), timeout)
    entry, prompt = str(problem["entry_point"]), str(problem["prompt"])
    tests = f"{problem['test']}\ncheck({entry})\n"
    return job_of(prompt + completion, tests, [entry], timeout, _helpers_of(prompt))


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


def _words(result: Result) -> str:
    if result.ok:
        return "passed"
    if result.label == "TimeoutException":
        return "timed out"
    said = result.detail.get("interactor") if result.label == "WrongAnswer" else None
    return f"failed: {said or result.label}"


def check_correctness(problem: Mapping[str, Any], completion: str, timeout: float,
                      completion_id: Optional[int] = None, pool: Optional[Pool] = None) -> Dict[str, Any]:
    """`{"task_id", "passed", "result", "completion_id"}`, as HumanEval's harness has it, and zygo's `label`."""
    result = trouble.run(pool, _job_of_problem(problem, completion, timeout))
    if result.by in ("caller", "sandbox"):
        result.check()
    return {"task_id": problem.get("task_id"), "passed": result.ok, "result": _words(result),
            "completion_id": completion_id, "label": result.label}


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
