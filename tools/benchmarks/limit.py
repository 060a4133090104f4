"""The limit, driven from outside: one warm interpreter per core, each forking jobs as fast as the kernel lets it."""
import os
from collections.abc import Sequence
from pathlib import Path

from .helper import Helper
from .programs import ONE_THREAD
from .system import cpu_seconds, pinned

WORKER = Path(__file__).with_name("limit_worker.py")


class Limits:
    """One interpreter with `modules` loaded per CPU; they run together, or one of them alone."""

    def __init__(self, python: str, module: Path, modules: Sequence[str], cpus: Sequence[int]):
        self._each: list[Helper] = []
        command = [python, "-I", str(WORKER), str(module), *modules]
        for cpu in cpus:
            with pinned({cpu}):
                self._each.append(Helper("the limit's interpreter", command, {"PATH": os.defpath, **ONE_THREAD}))
        for helper in self._each:
            helper.answer()

    def __enter__(self) -> "Limits":
        return self

    def __exit__(self, *_) -> None:
        for helper in self._each:
            helper.close()

    def times(self, program: str, n: int) -> list[float]:
        """The microseconds of each of `n` forks in the interpreter of the last CPU."""
        return self._each[-1].ask([program, n])

    def rate(self, program: str, n: int, cores: int | None = None) -> float:
        """Jobs a second of the interpreters of the last `cores` CPUs, or of all, `n` jobs each."""
        together = self._each[-cores:] if cores else self._each
        for helper in together:
            helper.send([program, n])
        return sum(1e6 * n / sum(helper.answer()) for helper in together)

    def cpu_seconds(self) -> float:
        """Of all interpreters and what they have forked."""
        return sum(cpu_seconds(helper.pid) for helper in self._each)
