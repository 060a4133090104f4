"""What the setup code of a template says of the jobs that it will have: calls that most calls are like. zygo tries them
when the template has started, and prepares for each job the memory that all of them write to (shim/README.md).
"""

from __future__ import annotations

import sys
from typing import Any, Dict

from . import pickles

# As functions of a caller's own script.
_FUNCTIONS = '''
import os

def small(number):
    return number > 0

def usual(rows, scale=2):
    counts = {}
    for row in rows:
        for item in row:
            counts[item] = counts.get(item, 0) + scale
    return {"name": os.path.basename("a/b"), "counts": counts, "rows": [list(reversed(row)) for row in rows]}

def arrays(array):
    return (array * 2).sum(axis=0)
'''

# It stands behind `inside.py`. Code that has run before finds its caches filled in every job.
_SETUP = '''
def _like(function, *arguments):
    data = pickle.dumps((arguments, {}), protocol=5)
    for _ in range(20):
        call(None, function, data)
    return f"from zygo_setup import call\\ndef f(_):\\n    return call(None, {function!r}, {data!r})\\n"


__trials__ = []
if sys.version_info[:2] == _VERSION:  # else their bytecode is another interpreter's
    __trials__ += [_like(_SMALL, 1), _like(_USUAL, [[1, 2], [3]], 4)]
    if "numpy" in sys.modules:
        __trials__.append(_like(_ARRAYS, sys.modules["numpy"].ones((2, 2))))
'''


def source() -> str:
    """Empty where functions of a script cannot be sent at all."""
    script: Dict[str, Any] = {"__name__": "__main__"}
    exec(compile(_FUNCTIONS, "main.py", "exec", dont_inherit=True), script)
    try:
        named: Dict[str, Any] = {
            f"_{name.upper()}": pickles.dump_function(script[name]) for name in ("small", "usual", "arrays")}
    except pickles.CannotPickle:
        return ""
    named["_VERSION"] = tuple(sys.version_info[:2])
    return "".join(f"{name} = {value!r}\n" for name, value in named.items()) + _SETUP
