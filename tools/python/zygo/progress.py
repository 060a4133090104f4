"""Progress by tqdm, where that is installed."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Sized, TypeVar

T = TypeVar("T")


def tracked(results: Iterator[T], jobs: Iterable[Any], wanted: bool) -> Iterator[T]:
    """The same results; with a bar on stderr that counts them."""
    if not wanted:
        return results
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return results
    total = len(jobs) if isinstance(jobs, Sized) else None
    return iter(tqdm(results, total=total, unit=" jobs"))
