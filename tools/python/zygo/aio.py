"""The pool for asyncio: the same names, to be awaited."""

from __future__ import annotations

import asyncio
import collections
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Deque, Dict, Iterable, List, Mapping, Optional, Set, Type, TypeVar

from . import checks
from .job import AnyJob, Inputs
from .pool import Pool
from .result import Result
from .session import Keep, Session

T = TypeVar("T")


class AsyncPool:
    """Takes what `Pool` takes, or a pool that is there: `AsyncPool(pool=pool)`. Cancelling a task (`wait_for`) takes
    its job back, also from a runtime that has it already."""

    def __init__(self, *args: Any, pool: Optional[Pool] = None, **options: Any) -> None:
        self._own = pool is None
        self.pool = pool or Pool(*args, **options)

    async def __aenter__(self) -> AsyncPool:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        await self.close(wait=kind is None)

    async def close(self, wait: bool = True) -> None:
        if self._own:
            await _elsewhere(self.pool.close, wait)

    def submit(self, source: AnyJob, func: Optional[str] = None, inputs: Inputs = None,
               **fields: Any) -> asyncio.Future[Result]:
        return asyncio.wrap_future(self.pool.submit(source, func, inputs, **fields))

    async def run(self, source: AnyJob, func: Optional[str] = None, inputs: Inputs = None,
                  **fields: Any) -> Result:
        return checks.told(await self.submit(source, func, inputs, **fields))

    def session(self, **fields: Any) -> AsyncSession:
        """Steps that keep their variables; `fields` are those of docs/jobs.md, for every step."""
        return AsyncSession(self.pool.session(**fields))

    async def call(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        return await asyncio.wrap_future(self.pool.submit_call(function, args, kwargs))

    def _next(self, job: AnyJob, first: bool) -> asyncio.Future[Result]:
        return self.submit(job) if first else asyncio.wrap_future(self.pool._submit(job))

    async def map(self, jobs: Iterable[AnyJob]) -> List[Result]:
        return [result async for result in self.imap(jobs)]

    async def imap(self, jobs: Iterable[AnyJob]) -> AsyncIterator[Result]:
        """In the order of the jobs, which are taken from their iterator little by little."""
        under_way: Deque[asyncio.Future[Result]] = collections.deque()
        ahead, first = self.pool._ahead(), True
        try:
            for job in jobs:
                under_way.append(self._next(job, first))
                first = False
                if len(under_way) >= ahead:
                    yield checks.told(await under_way.popleft())
            while under_way:
                yield checks.told(await under_way.popleft())
        finally:
            for future in under_way:
                future.cancel()

    async def imap_unordered(self, jobs: Iterable[AnyJob]) -> AsyncIterator[Result]:
        under_way: Set[asyncio.Future[Result]] = set()
        rest, ahead, more, first = iter(jobs), self.pool._ahead(), True, True
        try:
            while more or under_way:
                while more and len(under_way) < ahead:
                    job = next(rest, None)
                    more = job is not None
                    if job is not None:
                        under_way.add(self._next(job, first))
                        first = False
                if under_way:
                    done, under_way = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                    for future in done:
                        yield checks.told(future.result())
        finally:
            for future in under_way:
                future.cancel()


class AsyncSession:
    """A `Session` for asyncio, made by `AsyncPool.session()`. Its steps run one after the other, in the order in which they
    are awaited; those of its branches run beside them. Cancelling a task takes its step back, and the session stays."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._turn: Optional[asyncio.Lock] = None  # is made in the loop that waits for it

    async def __aenter__(self) -> AsyncSession:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        await self.close()

    @property
    def node(self) -> Optional[str]:
        return self.session.node

    async def run(self, source: AnyJob = "", func: Optional[str] = None, inputs: Inputs = None, **fields: Any) -> Result:
        self._turn = self._turn or asyncio.Lock()
        step = self.session._step(source, func, inputs, fields)
        async with self._turn:
            result = await asyncio.wrap_future(self.session._submit(step))
            return self.session._moved(step, checks.told(result))

    async def try_all(self, sources: Iterable[AnyJob], keep: Keep = "all", score: Optional[Mapping[str, Any]] = None,
                      **fields: Any) -> List[Result]:
        steps = [self.session._step(source, None, None, fields) for source in sources]
        futures = [asyncio.wrap_future(future) for future in self.session._submit_all(steps, keep, score)]
        try:
            return self.session._tried(steps, [checks.told(await future) for future in futures])
        finally:
            for future in futures:
                future.cancel()

    def at(self, result: Result) -> AsyncSession:
        return AsyncSession(self.session.at(result))

    def branch(self) -> AsyncSession:
        return AsyncSession(self.session.branch())

    def undo(self, steps: int = 1) -> AsyncSession:
        self.session.undo(steps)
        return self

    async def log(self) -> List[Dict[str, Any]]:
        return await _elsewhere(self.session.log)

    async def tree(self) -> List[Dict[str, Any]]:
        return await _elsewhere(self.session.tree)

    async def close(self) -> None:
        await _elsewhere(self.session.close)


async def _elsewhere(function: Callable[..., T], *arguments: Any) -> T:
    """On a thread, for it waits for an answer."""
    return await asyncio.get_running_loop().run_in_executor(None, function, *arguments)
