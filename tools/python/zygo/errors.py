"""Every exception of this package. What a program did wrong is a `JobFailed` and carries the result; what zygo or the
caller did wrong is not.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Dict, Optional, Type

if TYPE_CHECKING:
    from .result import Result


class ZygoError(Exception):
    """Whatever this package raises of its own."""


class RuntimeLost(ZygoError, ConnectionError):
    """The runtime ended, or the service cannot be reached: nothing is said about the job. Safe to try again."""


class NoRuntime(ZygoError):
    """There is no zygo to talk to: no binary, or one that cannot work here."""


class InvalidResult(ZygoError):
    """A value that cannot be handed over: not of the typed format, or not what it says it is."""

    result: Optional[Result] = None


class JobFailed(ZygoError):
    """A job did not end with OK."""

    def __init__(self, message: str, result: Optional[Result] = None) -> None:
        super().__init__(message)
        self.result = result

    @property
    def label(self) -> str:
        return self.result.label if self.result is not None else ""

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.result)


class ProgramError(JobFailed):
    """The program raised something that is no builtin exception, or ended in a way of its own."""

    @property
    def remote_traceback(self) -> str:
        return _traceback(self.result) if self.result is not None else ""


class RemoteTraceback(Exception):
    """The cause of a builtin exception that a job raised: its traceback as text, and its result."""

    result: Optional[Result] = None

    def __str__(self) -> str:
        return f"\n{self.args[0]}" if self.args else ""


class TimeoutException(JobFailed, TimeoutError):
    """CPU or wall clock."""


class MemoryLimitExceeded(JobFailed, MemoryError):
    pass


class OutputLimitExceeded(JobFailed):
    pass


class DiskLimitExceeded(JobFailed):
    pass


class ProcessLimitExceeded(JobFailed):
    pass


class UnsafeCode(JobFailed):
    """A forbidden operation; `result.detail` names it."""


class NonDeterministicCode(JobFailed):
    """Runs under different seeds differ; `result.detail` says where."""


class BadJob(JobFailed, ValueError):
    """The job is malformed; the message names the field."""


class Cancelled(JobFailed):
    """Withdrawn before it ended."""


class SandboxError(JobFailed):
    """zygo's fault, never the program's. Safe to try again."""


OF_LABEL: Dict[str, Type[JobFailed]] = {
    kind.__name__: kind
    for kind in (TimeoutException, MemoryLimitExceeded, OutputLimitExceeded, DiskLimitExceeded, ProcessLimitExceeded,
                 UnsafeCode, NonDeterministicCode, BadJob, Cancelled, SandboxError)
}

# The names that mean something to a caller's event loop or interpreter stay out of the program's reach.
_RESERVED = {"StopIteration", "StopAsyncIteration", "BaseExceptionGroup", "ExceptionGroup"}
_BUILTIN: Dict[str, Type[Exception]] = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception) and name not in _RESERVED
}


def _traceback(result: Result) -> str:
    """Of a function by its own word; a script's is what it wrote."""
    return (result.exception.traceback if result.exception else "") or result.stderr.text


def _describe(result: Result) -> str:
    detail = ", ".join(f"{key} {value}" for key, value in result.detail.items() if value is not None)
    return f"{result.label} ({detail})" if detail else result.label


def _raised(result: Result) -> Exception:
    """The program's own exception: the same builtin type where there is one, else a ProgramError."""
    told = result.exception
    if told is None:
        return ProgramError(_describe(result), result)
    kind = _BUILTIN.get(told.type)
    if kind is not None and kind.__name__ == told.type:
        try:
            error = kind(told.message) if told.message else kind()
        except TypeError:  # UnicodeDecodeError and its kin want more than a message
            pass
        else:
            cause = RemoteTraceback(_traceback(result))
            cause.result = result
            error.__cause__ = cause
            return error
    return ProgramError(f"{told.type}: {told.message}" if told.message else told.type, result)


def exception_of(result: Result) -> Exception:
    """What a caller gets raised for a result that is not OK."""
    if result.by != "program":
        return OF_LABEL.get(result.label, JobFailed)(_describe(result), result)
    if result.label == "InvalidResult":
        invalid = InvalidResult(_describe(result))
        invalid.result = result
        return invalid
    return _raised(result)
