"""zygo's own trouble is not the program's: a run that ends as SandboxError says nothing about it, and is tried again."""

from __future__ import annotations

from typing import Any, Optional

from ..pool import Pool, default
from ..result import Result
from ..transport.base import log

TRIES = 3  # of a job that zygo has failed, or whose runtime is lost


def is_ours(result: Result) -> bool:
    """Whether the job, or one of its tests, has not been judged because of zygo itself."""
    return result.by == "sandbox" or any(test.get("by") == "sandbox" for test in result.tests or ())


def run(pool: Optional[Pool], job: Any) -> Result:
    """The result of a job. After TRIES ends as SandboxError, in one of its tests, too, that is raised."""
    pool = pool or default()
    for tries_left in reversed(range(TRIES)):
        result = pool.run(job)
        if not is_ours(result):
            return result
        if tries_left:
            log.warning("a job ended as SandboxError (%s) and is run again", result.reason)
    return raised(result)


def raised(result: Result) -> Result:
    """Raises SandboxError, where that is not the label of the whole."""
    if result.by != "sandbox":
        test = next(test for test in result.tests or () if test.get("by") == "sandbox")
        result = Result("SandboxError", "sandbox", False, detail={"test": test["name"], **test.get("detail", {})})
    return result.check()
