"""The stream of jobs and results, as bytes: lines, and raw parts in front of those that they belong to. Who has bytes of
64 KiB or more sends them as parts, for base64 costs a third more room and many times the time (docs/values.md).
"""

from __future__ import annotations

import base64
import json
from typing import Iterator, List, Optional, Sequence, Tuple

LEAST_PART = 64 << 10  # shorter ones travel in their line
MOST_PART_BYTES = 1 << 30  # of one job or result, together; the runtime's own bound
_HEAD = b'{"parts":['

HELLO = b'{"parts":[]}\n'  # who has sent this, or parts, gets parts

Part = bytes
Answer = Tuple[bytes, Sequence[Part]]


def announcement(parts: Sequence[Part]) -> bytes:
    """The line in front of parts."""
    return _HEAD + b",".join(b"%d" % len(part) for part in parts) + b"]}\n"


def _announced(line: bytes) -> Optional[List[int]]:
    if not line.startswith(_HEAD):
        return None
    sizes = json.loads(line)["parts"]
    if any(type(size) is not int or size < 0 for size in sizes) or sum(sizes) > MOST_PART_BYTES:
        raise ValueError("parts of no size that there is")
    return list(sizes)


def in_one_line(line: bytes, parts: Sequence[Part]) -> bytes:
    """A result as it is without parts. They stand in its value, which nothing follows that could look the same: a
    caller's own tag comes before."""
    for i in reversed(range(len(parts))):
        before, _, after = line.rpartition(b'"part":%d}' % i)
        line = b'%b"data":"%b"}%b' % (before, base64.b64encode(parts[i]), after)
    return line


class Answers:
    """Takes a stream of results apart. Not thread-safe."""

    def __init__(self) -> None:
        self._line: List[bytes] = []  # of the line under way
        self._chunks: List[bytes] = []  # of the part under way
        self._lacks = 0  # bytes of that part
        self._sizes: List[int] = []  # of the parts that come after it
        self._parts: List[Part] = []

    def feed(self, data: bytes) -> Iterator[Answer]:
        """The lines that are complete with these bytes. ValueError: this is no such stream."""
        at = 0
        while at < len(data):
            if self._lacks:
                at += self._take(data, at)
                continue
            end = data.find(b"\n", at)
            if end < 0:
                self._line.append(data[at:])
                return
            line, at = b"".join((*self._line, data[at:end])), end + 1
            self._line.clear()
            sizes = _announced(line)
            if sizes is None:
                parts, self._parts = self._parts, []
                yield line, parts
            else:
                self._sizes = sizes
                self._next_part()

    def _next_part(self) -> None:
        """Parts without a byte are complete at once."""
        while self._sizes and not self._lacks:
            self._lacks = self._sizes.pop(0)
            if not self._lacks:
                self._parts.append(b"")

    def _take(self, data: bytes, at: int) -> int:
        chunk = data[at:at + self._lacks] if at or len(data) > self._lacks else data
        self._chunks.append(chunk)
        self._lacks -= len(chunk)
        if not self._lacks:
            self._parts.append(b"".join(self._chunks))
            self._chunks.clear()
            self._next_part()
        return len(chunk)
