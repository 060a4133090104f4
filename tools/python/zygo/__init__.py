"""Programs and functions in sandboxes, from Python: see README.md of tools/python.

    import zygo

    with zygo.Pool() as pool:
        result = pool.run("def f(x): return x * 2", "f", [21])
        print(result.label, result.value[0])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .calls import ValueFuture
from .errors import (BadJob, Cancelled, DiskLimitExceeded, InvalidResult, JobFailed, MemoryLimitExceeded,
                     NonDeterministicCode, NoRuntime, OutputLimitExceeded, ProcessLimitExceeded, ProgramError,
                     RemoteTraceback, RuntimeLost, SandboxError, TimeoutException, UnsafeCode, ZygoError)
from .futures import Executor
from .job import Encoded, Job
from .parallel import parallel
from .pickles import CannotPickle
from .pool import Pool, is_inside
from .pool import default as default_pool
from .result import Evidence, Output, RemoteException, Result, Usage
from .session import Session
from .shaped import NamedRecord, Record
from .standing import shutdown

if TYPE_CHECKING:
    from . import cluster
    from .aio import AsyncPool, AsyncSession
    from .joblib_backend import register_joblib

__version__ = "0.1.0"

__all__ = [
    "AsyncPool", "AsyncSession", "BadJob", "Cancelled", "CannotPickle", "DiskLimitExceeded", "Encoded", "Evidence",
    "Executor", "InvalidResult", "Job", "JobFailed", "MemoryLimitExceeded", "NamedRecord", "NoRuntime", "NonDeterministicCode",
    "Output", "OutputLimitExceeded", "Pool", "ProcessLimitExceeded", "ProgramError", "Record", "RemoteException",
    "RemoteTraceback", "Result", "RuntimeLost", "SandboxError", "Session", "TimeoutException", "UnsafeCode", "Usage",
    "ValueFuture", "ZygoError", "context", "default_pool", "is_inside", "parallel", "register_joblib", "run",
    "shutdown",
]


_LATE = {"AsyncPool": "aio", "AsyncSession": "aio", "register_joblib": "joblib_backend"}  # asyncio and joblib take long to import


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "cluster":
        return import_module(".cluster", __name__)
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_LATE[name]}", __name__), name)


def context() -> Any:
    """In a job: what the pool's context_func has returned. None without one, or outside."""
    import sys

    return getattr(sys.modules.get("zygo_setup"), "context", None)


def run(source: Any, func: Any = None, inputs: Any = None, **fields: Any) -> Result:
    """One program, in the process's default pool."""
    return default_pool().run(source, func, inputs, **fields)
