"""`@zygo.parallel`: the loop over inputs of Sage's decorator, each call in a sandbox of its own."""

from __future__ import annotations

import functools
import inspect
from types import GeneratorType
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from . import checks
from .calls import Lane, Pickler, ValueFuture
from .errors import SandboxError, ZygoError
from .pool import Pool, completed, is_inside
from .result import Result, failed

Arguments = Tuple[Tuple[Any, ...], Dict[str, Any]]
Pair = Tuple[Arguments, Any]

_AHEAD_PER_CPU = 4
_READY_WORKERS = 2  # more than calls at once: the next is with its cell when one ends
_TRIES = 3  # of a call that zygo itself has failed


class Parallel:
    """A function that, given a list or an iterator of inputs, yields `((args, kwargs), value)` as the calls complete;
    where a call has no value, a `Result` that is false and says why by its label (`TimeoutException`, `ValueError`).
    What says nothing about a call (`NoRuntime`, `RuntimeLost`, `BadJob`) is raised; so is `SandboxError`, when the other
    calls are over and a call was tried three times. Given anything else it is the function itself.
    """

    def __init__(self, function: Callable[..., Any], ncpus: Optional[int], timeout: Optional[float],
                 limits: Mapping[str, int], types: Sequence[type], trust_results: bool, pool: Optional[Pool],
                 options: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self._function, self._ncpus, self._types, self._trust = function, ncpus, types, trust_results
        self._limits = dict(limits)
        if timeout:  # 0 is none, as Sage has it
            self._limits["wall_ms"] = checks.milliseconds("timeout", timeout)
        if ncpus is not None and ncpus < 1:
            raise ValueError(f"ncpus={ncpus}: there must be one at least")
        inspect.signature(Pool).bind(**options)  # TypeError: it has no such option
        self._pool, self._options = pool, options
        if pool is not None and self._limits:
            pool.check_early({"limits": self._limits})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and isinstance(args[0], (list, GeneratorType, Iterator)):
            return self.over(args[0])
        return self._function(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """As a method: `self` goes along with each call."""
        if instance is None:
            return self
        bound = Parallel(functools.partial(self._function, instance), self._ncpus, None, self._limits, self._types,
                         self._trust, self._pool, self._options)
        return bound

    def over(self, inputs: Iterable[Any]) -> Iterator[Pair]:
        if is_inside():
            return self._in_place(inputs)
        return self._over(inputs)

    def _in_place(self, inputs: Iterable[Any]) -> Iterator[Pair]:
        for one in inputs:
            args, kwargs = arguments_of(one)
            yield (args, kwargs), self._function(*args, **kwargs)

    def _over(self, inputs: Iterable[Any]) -> Iterator[Pair]:
        pool = self.pool()
        ncpus = self._ncpus or pool.workers
        caller = pool.caller(Lane(ncpus) if ncpus < pool.workers else None, self._trust, self._types,
                             limits=self._limits)
        pickler = Pickler(pool._options.python_path)
        given: Dict[int, Arguments] = {}

        def calls(of: Iterable[Arguments]) -> Iterator[ValueFuture]:
            for args, kwargs in of:
                future = caller.submit([(self._function, args, kwargs)], many=False, pickler=pickler)
                given[id(future)] = (args, kwargs)
                yield future

        rest: Iterable[Arguments] = map(arguments_of, inputs)
        for tries_left in reversed(range(_TRIES)):
            failed_here: List[Arguments] = []
            trouble: Optional[SandboxError] = None
            for future in completed(calls(rest), _AHEAD_PER_CPU * ncpus):
                arguments = given.pop(id(future))
                error = future.exception()
                if isinstance(error, SandboxError):
                    failed_here.append(arguments)
                    trouble = error
                else:
                    yield arguments, outcome_of(future)
            if trouble is None:
                return
            if not tries_left:
                raise trouble
            rest = failed_here

    def pool(self) -> Pool:
        if self._pool is None:
            options = dict(self._options)
            if self._ncpus and "workers" not in options and "url" not in options:
                options["workers"] = self._ncpus
            self._pool = Pool(**options)
        return self._pool

    def __getstate__(self) -> Dict[str, Any]:
        """Sent to a sandbox, where a pool of its own means calls in place."""
        return {**self.__dict__, "_pool": None}


def outcome_of(future: ValueFuture) -> Any:
    error = future.exception()
    if error is None:
        return future.result()
    result = getattr(error, "result", None)
    if isinstance(result, Result) and result.by not in ("caller", "sandbox"):
        return result
    # Nothing is said about the call: there is no runtime, or what was asked of it is no job.
    if isinstance(error, ZygoError) or not isinstance(error, Exception):
        raise error
    cause = getattr(error.__cause__, "result", None)
    return cause if isinstance(cause, Result) else failed(type(error).__name__, "program", str(error))


def arguments_of(one: Any) -> Arguments:
    """`(args, kwargs)`, a tuple of arguments, a dict of named ones, or the only argument."""
    if isinstance(one, tuple):
        if len(one) == 2 and isinstance(one[0], tuple) and isinstance(one[1], dict):
            return one[0], one[1]
        return one, {}
    return ((), one) if isinstance(one, dict) else ((one,), {})


def parallel(function: Union[None, int, Callable[..., Any]] = None, *, ncpus: Optional[int] = None,
             timeout: Optional[float] = None, limits: Optional[Mapping[str, int]] = None, types: Sequence[type] = (),
             trust_results: bool = False, pool: Optional[Pool] = None, **pool_options: Any) -> Any:
    """`@parallel`, `@parallel(8)`, `@parallel(ncpus=8, timeout=2)`; other options are those of `Pool`."""
    if isinstance(function, int):
        ncpus, function = function, None

    def decorate(plain: Callable[..., Any]) -> Parallel:
        return Parallel(plain, ncpus, timeout, limits or {}, types, trust_results, pool, pool_options)

    return decorate if function is None else decorate(function)
