"""The limit, driven from outside: one warm interpreter per core, each forking jobs as fast as the kernel lets it."""
import json
import os
import subprocess
from pathlib import Path

from .programs import ONE_THREAD
from .system import BenchError, pinned

WORKER = Path(__file__).with_name("limit_worker.py")


class Limit:
    """One interpreter with `modules` loaded, on one CPU."""

    def __init__(self, python: str, module: Path, modules: tuple[str, ...], cpu: int):
        with pinned({cpu}):
            self._process = subprocess.Popen(
                [python, "-I", str(WORKER), str(module), *modules],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={"PATH": os.defpath, **ONE_THREAD},
            )
        self.modules_loaded = self._answer()

    def start(self, program: str, n: int) -> None:
        self._process.stdin.write(json.dumps([program, n]).encode() + b"\n")
        self._process.stdin.flush()

    def finish(self) -> list[float]:
        """The microseconds of each fork of the run that was started."""
        return self._answer()

    def run(self, program: str, n: int) -> list[float]:
        self.start(program, n)
        return self.finish()

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()

    def _answer(self):
        line = self._process.stdout.readline()
        if not line:
            raise BenchError(f"the limit's interpreter ended with status {self._process.wait()}")
        return json.loads(line)


class Limits:
    """One interpreter per CPU, running together."""

    def __init__(self, python: str, module: Path, modules: tuple[str, ...], cpus: list[int]):
        self._each = [Limit(python, module, modules, cpu) for cpu in cpus]

    def __enter__(self) -> "Limits":
        return self

    def __exit__(self, *_) -> None:
        for limit in self._each:
            limit.close()

    def times(self, program: str, n: int) -> list[list[float]]:
        for limit in self._each:
            limit.start(program, n)
        return [limit.finish() for limit in self._each]

    def rate(self, program: str, n: int) -> float:
        """Jobs a second of all interpreters together."""
        return sum(1e6 * len(times) / sum(times) for times in self.times(program, n))
