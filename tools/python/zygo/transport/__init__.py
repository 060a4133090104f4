"""Ways to a runtime: `embedded` keeps a `zygo batch` as a coprocess, `http` speaks to a `zygo serve`."""

from .base import Transport

__all__ = ["Transport"]
