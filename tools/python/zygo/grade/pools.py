"""The pool of graders that bring none, and what a pool has ready for the cells of tests."""

from __future__ import annotations

import importlib.util
import threading
from typing import Dict, Optional, Tuple

from ..pool import Pool
from ..standing import FUNCTIONS
from .suites.jobs import HARNESS

_PYTEST = ("pytest", "_pytest.assertion.rewrite", "unittest.mock")

_own: Dict[Tuple[str, ...], Pool] = {}
_lock = threading.Lock()


def chosen(pool: Optional[Pool]) -> Pool:
    """The caller's, or one whose tests' cells have the harness in their memory already, and pytest where it is installed."""
    if pool is not None:
        return pool
    preload = (*HARNESS, *(_PYTEST if importlib.util.find_spec("pytest") else ()))
    with _lock:
        own = _own.get(preload)
        if own is None or own._closed:
            own = _own[preload] = Pool(template="python", preload=preload)
        return own


def tests_template(pool: Pool) -> str:
    return "python" + FUNCTIONS if pool._own_template else "python"


def has_harness(pool: Pool) -> bool:
    return set(HARNESS) <= set(pool._options.preload)
