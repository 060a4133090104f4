"""`concurrent.futures` with a sandbox around each call."""

from __future__ import annotations

import concurrent.futures
import itertools
import threading
import time
import weakref
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence

from .calls import Call, Lane, ValueFuture
from .errors import TimeoutException
from .pool import Caller, Pool, default, in_order

_AHEAD = 1000


class Executor(concurrent.futures.Executor):
    """As ProcessPoolExecutor, with these differences: each call (or chunk of them) has a fresh sandbox, so nothing
    stays from one to the next; values come back in the typed form; `map` takes its inputs little by little,
    `buffersize` ahead.
    """

    def __init__(self, max_workers: Optional[int] = None, pool: Optional[Pool] = None, *,
                 limits: Optional[Mapping[str, int]] = None, types: Sequence[type] = (),
                 trust_results: Optional[bool] = None, **pool_options: Any) -> None:
        if max_workers is not None and max_workers < 1:
            raise ValueError(f"max_workers={max_workers}: there must be one at least")
        self._pool = pool or (Pool(**pool_options) if pool_options else default())
        lane = Lane(max_workers) if max_workers and max_workers < self._pool.workers else Lane()
        self._lane, self._types, self._trust = lane, types, trust_results
        self._fields: Dict[str, Any] = {"limits": dict(limits)} if limits else {}
        self._pool.check_early(self._fields)
        self._lock = threading.Lock()
        self._futures: weakref.WeakSet[ValueFuture] = weakref.WeakSet()
        self._ended = False

    def _keep(self, future: ValueFuture) -> ValueFuture:
        with self._lock:
            self._futures.add(future)
        return future

    def _new_caller(self) -> Caller:
        """What a function closes over may change from one call to the next, so what was pickled is not kept longer."""
        return self._pool.caller(self._lane, self._trust, self._types, **self._fields)

    def _check_open(self) -> None:
        if self._ended:
            raise RuntimeError("cannot schedule new futures after shutdown")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> ValueFuture:
        """A future of the value; it raises what the function raised, or what became of the job."""
        self._check_open()
        return self._keep(self._new_caller().submit([(fn, args, kwargs)], many=False))

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], timeout: Optional[float] = None,
            chunksize: int = 1, buffersize: int = _AHEAD) -> Iterator[Any]:
        """Values in order. `chunksize` calls share a sandbox, `buffersize` of them are under way at most."""
        self._check_open()
        if chunksize < 1 or buffersize < 1:
            raise ValueError("chunksize and buffersize must be at least 1")
        caller = self._new_caller()
        calls: Iterator[Call] = ((fn, args, {}) for args in zip(*iterables))
        futures = (self._keep(caller.submit(chunk)) for chunk in _chunks(calls, chunksize))
        give_up = None if timeout is None else time.monotonic() + timeout
        return itertools.chain.from_iterable(_limited(futures, max(1, buffersize // chunksize), give_up))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._ended = True
        with self._lock:
            futures = [future for future in self._futures if not future.done()]
        if cancel_futures:
            for future in futures:
                if not future.running():
                    future.cancel()
        if wait:
            concurrent.futures.wait(futures)


def _chunks(calls: Iterator[Call], size: int) -> Iterator[List[Call]]:
    while True:
        chunk = list(itertools.islice(calls, size))
        if not chunk:
            return
        yield chunk


def _limited(futures: Iterator[ValueFuture], ahead: int, give_up: Optional[float]) -> Iterator[List[Any]]:
    if give_up is None:
        return in_order(futures, ahead)
    return in_order((_Timed(future, give_up) for future in futures), ahead)


class _Timed:
    """A future whose value must be there by a certain time."""

    def __init__(self, future: ValueFuture, give_up: float) -> None:
        self._future, self._give_up = future, give_up

    def result(self) -> Any:
        try:
            return self._future.result(max(0, self._give_up - time.monotonic()))
        except TimeoutException:  # the job's own, in its sandbox
            raise
        except concurrent.futures.TimeoutError:
            raise concurrent.futures.TimeoutError() from None

    def cancel(self) -> None:
        self._future.cancel()
