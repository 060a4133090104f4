"""Stand-ins for trouble that is nobody's but zygo's: jobs that end as SandboxError before a pool's runtime has them."""

from __future__ import annotations

from typing import Any

import zygo
from zygo.result import failed
from zygo.transport.base import ResultFuture, Transport


class Failing(Transport):
    """Fails the first jobs whose line has certain words, as often as it is told, and passes all others on."""

    def __init__(self, inner: Transport, times: int, words: bytes = b"") -> None:
        super().__init__()
        self._inner, self.left, self._words = inner, times, words
        self.failed = 0

    @property
    def workers(self) -> int:
        return self._inner.workers

    def takes_parts(self) -> bool:
        return self._inner.takes_parts()

    def refusal(self, line: bytes, template: Any) -> Any:
        return self._inner.refusal(line, template)

    def submit(self, line: bytes, id: Any = None, parts: Any = ()) -> ResultFuture:
        if not self.left or self._words not in line:
            return self._inner.submit(line, id, parts)
        self.left -= 1
        self.failed += 1
        future = ResultFuture()
        future.set_result(failed("SandboxError", "sandbox", "a fault that a test has made"))
        return future

    def close(self, wait: bool = True) -> None:
        self._inner.close(wait)

    def forget(self) -> None:
        pass


def failing(pool: zygo.Pool, times: int, words: bytes = b"") -> Failing:
    """Puts one between the pool, which has a runtime of its own (`standing=False`), and that."""
    transport = Failing(pool.transport, times, words)
    pool._mine = transport
    return transport
