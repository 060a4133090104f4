"""Sessions: steps that keep their variables, can be undone, and go on from one state in many ways (docs/sessions.md)."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Type, Union

from . import checks, job
from .errors import ZygoError
from .result import Result
from .transport.base import ResultFuture, SessionWay

if TYPE_CHECKING:
    from .pool import Pool

Keep = Union[str, Mapping[str, int]]


class Session:
    """Made by `Pool.session()`. `fields` are those of docs/jobs.md, for every step.

    Ended by `close()` or as a context manager: of a service all nodes are freed then, an embedded runtime frees them by and
    by. Sessions made by `branch` and `at` are of the same tree, and end with it."""

    def __init__(self, pool: Pool, fields: Mapping[str, Any], path: Iterable[str] = (), way: Optional[SessionWay] = None) -> None:
        self._pool = pool
        self._fields = dict(fields)
        self._path: List[str] = list(path)
        self._way = way or pool.transport.session(pool._common(), self._fields) or _ByJobs(pool, self._fields)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()

    @property
    def node(self) -> Optional[str]:
        """The state that the next step goes on from; None before the first."""
        return self._path[-1] if self._path else None

    def run(self, source: job.AnyJob = "", func: Optional[str] = None, inputs: job.Inputs = None, **fields: Any) -> Result:
        """One step. Its result's `session` says whether it was kept; where not, this session stays where it was."""
        step = self._step(source, func, inputs, fields)
        return self._moved(step, _ended([self._submit(step)])[0])

    def try_all(self, sources: Iterable[job.AnyJob], keep: Keep = "all", score: Optional[Mapping[str, Any]] = None,
                **fields: Any) -> List[Result]:
        """Steps side by side, each from this state, which stays. `at()` goes on from the one that was best. `keep` and
        `score` are a service's (docs/sessions.md); a step's score is in its `more`."""
        steps = [self._step(source, None, None, fields) for source in sources]
        return self._tried(steps, _ended(self._submit_all(steps, keep, score)))

    def at(self, result: Result) -> Session:
        """A session that goes on from what a step has left."""
        if not result.session or not result.session["node"]:
            raise ValueError("the result is not that of a step that was kept")
        node = result.session["node"]
        return self._on(self._path if node == self.node else [*self._path, node])

    def branch(self) -> Session:
        """Another one that goes on from this state."""
        return self._on(self._path)

    def undo(self, steps: int = 1) -> Session:
        """Back by so many steps that were kept. Nothing is lost: `at()` finds the way forward again."""
        if not 0 <= steps <= len(self._path):
            raise ValueError(f"there are {len(self._path)} steps to undo, not {steps}")
        del self._path[len(self._path) - steps:]
        return self

    def log(self) -> List[Dict[str, Any]]:
        """The steps from the first to this state, as they were sent, with `node`, `parent` and `label`."""
        return self._way.log(self.node)

    def tree(self) -> List[Dict[str, Any]]:
        """All nodes, also those of other branches: `node`, `parent`, `label`, `bytes`; of a service also whether each is `there`,
        and what else it says of them."""
        return self._way.tree()

    def close(self) -> None:
        """Ends the session, with all of its branches. Steps under way are cancelled, by a service."""
        self._way.close()

    def _on(self, path: Sequence[str]) -> Session:
        return Session(self._pool, self._fields, path, self._way)

    # The parts that `AsyncSession` awaits

    def _step(self, source: job.AnyJob, func: Optional[str], inputs: job.Inputs, fields: Mapping[str, Any]) -> job.Fields:
        step = job.fields_of(source, fields)
        for name, value in (("func", func), ("inputs", inputs)):
            if value is not None:
                step[name] = value
        return step

    def _submit(self, step: job.Fields) -> ResultFuture:
        self._pool.check_early(step)
        return self._way.submit(self.node, step)

    def _submit_all(self, steps: List[job.Fields], keep: Keep, score: Optional[Mapping[str, Any]]) -> List[ResultFuture]:
        for step in steps[:1]:
            self._pool.check_early(step)
        return self._way.submit_all(self.node, steps, keep, score)

    def _moved(self, step: job.Fields, result: Result) -> Result:
        self._way.note(step, result)
        if result.session and result.session["kept"]:
            self._path.append(result.session["node"])
        return result

    def _tried(self, steps: List[job.Fields], results: List[Result]) -> List[Result]:
        for step, result in zip(steps, results):
            self._way.note(step, result)
        return results


def _ended(futures: List[ResultFuture]) -> List[Result]:
    """What comes of them; who stops waiting (Ctrl-C) takes them back."""
    try:
        return [checks.told(future.result()) for future in futures]
    finally:
        for future in futures:
            future.cancel()


class _ByJobs(SessionWay):
    """Of an embedded runtime: steps are jobs, and what is known of their nodes is what was seen here."""

    def __init__(self, pool: Pool, fields: Mapping[str, Any]) -> None:
        self._pool, self._fields = pool, fields
        self._seen: Dict[str, Dict[str, Any]] = {}
        self._closed = False

    def submit(self, node: Optional[str], step: job.Fields) -> ResultFuture:
        if self._closed:
            raise ZygoError("the session is closed")
        return self._pool._submit({**job.fields_of(step, self._fields), "session": node or "new"})

    def submit_all(self, node: Optional[str], steps: List[job.Fields], keep: Any, score: Any) -> List[ResultFuture]:
        if keep != "all" or score is not None:
            raise ValueError("keep and score are for sessions of a service: give the pool a url")
        return [self.submit(node, step) for step in steps]

    def note(self, step: job.Fields, result: Result) -> None:
        told = result.session
        if told and told["kept"]:
            self._seen[told["node"]] = {"node": told["node"], "parent": told["parent"], "label": result.label,
                                        "bytes": told["bytes"], "step": step}

    def log(self, node: Optional[str]) -> List[Dict[str, Any]]:
        steps: List[Dict[str, Any]] = []
        while node is not None:
            one = self._seen[node]
            steps.append({"node": node, "parent": one["parent"], "label": one["label"], **one["step"]})
            node = one["parent"]
        return steps[::-1]

    def tree(self) -> List[Dict[str, Any]]:
        return [{name: value for name, value in one.items() if name != "step"} for one in self._seen.values()]

    def close(self) -> None:
        self._closed = True
