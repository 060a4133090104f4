# comments, docstrings and type hints
"""A solution.

>>> 1 + 1
2
"""
from __future__ import annotations

from typing import Any, Optional  # not used

# The words assert, sys.exit and "passed" stand in comments only.
VERSION: str = "1.0"
__author__ = "somebody"
# PROGRAM
