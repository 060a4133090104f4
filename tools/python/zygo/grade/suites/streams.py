"""Streams in memory that the tests give to the program: `io.StringIO` and `io.BytesIO`, as they are made by default.

The program has a copy of what is left to read, so that `with`, `read`, `readlines` and `print(file=..)` go there. At the end
of the call that it was given in, a stream comes back as far as it was read; what the program wrote comes back only where
nothing was left to read. So nothing that the tests had in a stream is ever changed, or seen again once they have read it.
"""

from __future__ import annotations

import io
from typing import Any, Dict, List, Optional

_KINDS: Dict[Any, str] = {io.StringIO: "t", io.BytesIO: "b"}
_MAKERS = {letter: kind for kind, letter in _KINDS.items()}
_MOST = 4 << 20  # characters; a longer one is a handle like other objects


def is_stream(value: Any) -> bool:
    return type(value) in _KINDS


def rest_of(stream: Any) -> Optional[List[Any]]:
    """Kind and rest, or nothing: one that is closed, or that changes line ends, is no copy of its text."""
    if stream.closed or (_KINDS[type(stream)] == "t" and stream.__getstate__()[1] != "\n"):
        return None
    rest = stream.getvalue()[stream.tell():]
    if len(rest) > _MOST:
        return None
    return [_KINDS[type(stream)], rest.hex() if type(rest) is bytes else rest]


def copy_of(kind: str, rest: str) -> Any:
    return _MAKERS[kind](bytes.fromhex(rest) if kind == "b" else rest)


def state_of(copy: Any) -> List[Any]:
    """Kind, all that is in it, and the place; no place: it is closed."""
    if copy.closed:
        return [_KINDS[type(copy)], "", None]
    text = copy.getvalue()
    return [_KINDS[type(copy)], text.hex() if type(text) is bytes else text, copy.tell()]


class Loan:
    """The tests' side of a stream during the call that it was given in."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._begin = stream, stream.tell()
        self._left = len(stream.getvalue()) - self._begin
        self._is_back = False

    def take_back(self, kind: Any, text: Any, place: Any) -> Any:
        """Raises ValueError or TypeError for what no `state_of` says."""
        if kind != _KINDS[type(self._stream)] or type(text) is not str or type(place) not in (int, type(None)):
            raise ValueError("a stream that is none")
        if self._is_back or self._stream.closed:  # given twice, or closed by a callback
            return self._stream
        self._is_back = True
        if place is None:
            self._stream.close()
        elif self._left > 0:
            self._stream.seek(self._begin + min(max(place, 0), self._left))
        else:
            self._stream.seek(0, io.SEEK_END)
            self._stream.write(bytes.fromhex(text) if kind == "b" else text)
        return self._stream
