"""The operators that cross between the cells: what a class defines of them, its proxy has as well."""

from __future__ import annotations

_BINARY = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()

COMPARISONS = {"__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}

# With the other operand, whose side the program is given.
ARITHMETIC = {f"__{side}{name}__": name for name in _BINARY for side in ("", "r", "i")}

OPERATORS = frozenset(
    list(ARITHMETIC) + list(COMPARISONS)
    + [f"__{name}__" for name in """neg pos abs invert int float complex index round trunc floor ceil bool len hash repr str
        bytes format getitem setitem delitem contains iter next reversed length_hint call enter exit""".split()])
