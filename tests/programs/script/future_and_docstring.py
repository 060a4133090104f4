# zygo: {"label": "OK", "stdout": "doc int\n"}
"""doc"""
from __future__ import annotations


def f(x: int) -> None: ...


print(__doc__, f.__annotations__["x"])
