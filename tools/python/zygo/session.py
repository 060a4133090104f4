"""Sessions: steps that keep their variables, can be undone, and go on from one state in many ways (docs/sessions.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable, List, Optional

from . import job
from .result import Result

if TYPE_CHECKING:
    from .pool import Pool


class Session:
    """Made by `Pool.session()`. `fields` are those of docs/jobs.md, for every step."""

    def __init__(self, pool: Pool, path: Iterable[str] = (), **fields: Any) -> None:
        self._pool = pool
        self._path: List[str] = list(path)
        self._fields = fields

    @property
    def node(self) -> Optional[str]:
        """The state that the next step goes on from; None before the first."""
        return self._path[-1] if self._path else None

    def run(self, source: job.AnyJob = "", func: Optional[str] = None, inputs: job.Inputs = None, **fields: Any) -> Result:
        """One step. Its result's `session` says whether it was kept; where not, this session stays where it was."""
        result = self._pool.run(source, func, inputs, **self._of_step(fields))
        if result.session and result.session["kept"]:
            self._path.append(result.session["node"])
        return result

    def try_all(self, sources: Iterable[job.AnyJob], **fields: Any) -> List[Result]:
        """Steps side by side, each from this state, which stays. `at()` goes on from the one that was best."""
        return self._pool.map([job.fields_of(source, self._of_step(fields)) for source in sources])

    def at(self, result: Result) -> Session:
        """A session that goes on from what a step has left."""
        if not result.session or not result.session["node"]:
            raise ValueError("the result is not that of a step that was kept")
        node = result.session["node"]
        return Session(self._pool, self._path if node == self.node else [*self._path, node], **self._fields)

    def branch(self) -> Session:
        """Another one that goes on from this state."""
        return Session(self._pool, self._path, **self._fields)

    def undo(self, steps: int = 1) -> Session:
        """Back by so many steps that were kept. Nothing is lost: `at()` finds the way forward again."""
        if not 0 <= steps <= len(self._path):
            raise ValueError(f"there are {len(self._path)} steps to undo, not {steps}")
        del self._path[len(self._path) - steps:]
        return self

    def _of_step(self, fields: Any) -> Any:
        return {**self._fields, **fields, "session": self.node or "new"}
