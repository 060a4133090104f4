"""The tests of a problem, in the shapes that data sets of trainers have."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Tuple

Tests = List[Dict[str, Any]]

_NAMES = {"input": "stdin", "output": "expect"}  # of open-r1's test cases and LiveCodeBench's


def tests_of(truth: Any) -> Tuple[Tests, Optional[str]]:
    """The tests as zygo's jobs have them, and the function that they call; None: they run the program as a script.

    truth   a list of tests, `{"stdin", "expect"}`, `{"input", "output"}` or `{"args", "expect"}`; `{"inputs", "outputs"}`
            with the `fn_name` of a function or without one; or one of these as JSON

    ValueError where it is none of them, or there is no test: that would be a reward of nothing.
    """
    if isinstance(truth, (str, bytes)):
        truth = json.loads(truth)
    if isinstance(truth, Mapping) and "inputs" in truth and "outputs" in truth:
        found, func = _columns(truth)
    elif isinstance(truth, (list, tuple)) and all(isinstance(test, Mapping) for test in truth):
        found, func = [{_NAMES.get(name, name): value for name, value in test.items()} for test in truth], None
    else:
        raise ValueError(f"no tests of a known shape: {truth!r:.100}")
    if not found:
        raise ValueError("a problem without a test, by which every program would be right or none")
    return found, func


def _columns(truth: Mapping[str, Any]) -> Tuple[Tests, Optional[str]]:
    inputs, outputs = truth["inputs"], truth["outputs"]
    if len(inputs) != len(outputs):
        raise ValueError(f"{len(inputs)} inputs, but {len(outputs)} outputs")
    func = truth.get("fn_name")
    if func is None:
        return [{"stdin": given, "expect": wanted} for given, wanted in zip(inputs, outputs)], None
    return [{"args": _arguments(given), "expect": _value(wanted), "compare": "json"}
            for given, wanted in zip(inputs, outputs)], func


def _arguments(given: Any) -> Any:
    """A list of them, or the text that has one in each line, as JSON (verl, verl/utils/reward_score/sandbox_fusion/utils.py)."""
    return [json.loads(line) for line in given.splitlines() if line.strip()] if isinstance(given, str) else list(given)


def _value(wanted: Any) -> Any:
    """A value, or its text as verl's wrapper prints it: JSON, or a string as it is."""
    if not isinstance(wanted, str):
        return wanted
    try:
        return json.loads(wanted)
    except ValueError:
        return wanted
