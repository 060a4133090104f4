"""One program, its inputs, its outputs; or the exception that says why there are none."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any, Dict, List, Optional, Sequence, Union

from .. import checks
from ..job import Encoded
from ..pool import Pool
from . import trouble


def encoded(inputs: Union[Sequence[Any], Encoded]) -> Encoded:
    return inputs if isinstance(inputs, Encoded) else Encoded([_as_array(one) for one in inputs])


def job_of(code: str, inputs: Union[Sequence[Any], Encoded], func_name: str, timeout: float, memory_mb: int,
           determinism: int, dsl: Union[None, str, ModuleType]) -> Dict[str, Any]:
    """`timeout` is CPU time; the wall clock has five times as much, for machines that are busy."""
    milliseconds = checks.milliseconds("timeout", timeout)
    return {
        "source": f"{_source_of(dsl)}\n{code}" if dsl else code, "func": func_name, "inputs": encoded(inputs),
        "limits": {"cpu_ms": milliseconds, "wall_ms": 5 * milliseconds + 1000, "memory_mb": memory_mb},
        "determinism": {"runs": determinism},
    }


def _source_of(dsl: Union[str, ModuleType]) -> str:
    if isinstance(dsl, ModuleType):
        return inspect.getsource(dsl)
    if not isinstance(dsl, str):
        raise TypeError(f"dsl: expected source text or a module, not {type(dsl).__name__}")
    return dsl


def _as_array(value: Any) -> Any:
    """A grid becomes an array; what is none stays."""
    import numpy

    if not isinstance(value, list):
        return value
    try:
        array = numpy.asarray(value)
    except ValueError:
        return value
    return value if array.dtype == object else array


def safe_code_execution(code: str, inputs: Sequence[Any], func_name: str = "task", timeout_duration: float = 1,
                        execution_method: str = "exec", dsl: Union[None, str, ModuleType] = None, memory_limit_mb: int = 2048,
                        determinism_runs: int = 2, pool: Optional[Pool] = None) -> List[Any]:
    """Runs `code`, which defines `func_name`, and calls that once for each input, as a numpy array. The list of what it
    returned; or TimeoutException, UnsafeCode, NonDeterministicCode, MemoryLimitExceeded, the program's own exception.
    What says nothing about the program is raised, too: BadJob, RuntimeLost, and SandboxError after three tries.

    `execution_method` is taken and has no effect: every program has a process and a sandbox of its own. `dsl` is source
    that comes before the code, or a module that has it. With determinism_runs=1 it runs once, under one seed.
    """
    job = job_of(code, inputs, func_name, timeout_duration, memory_limit_mb, determinism_runs, dsl)
    outputs: List[Any] = trouble.run(pool, job).check().value
    return outputs
