"""What the tests of the Python package share: where it is, and the places that it must work against alike: the embedded
runtime and a service. Zygo is $ZYGO_BIN, or build/release/bin/zygo of this checkout. Outside of a checkout, beside nothing but
docs/ and what else of tools/python is no part of the package, both package and program are the installed ones.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, ClassVar

CHECKOUT = Path(__file__).resolve().parents[2]
SOURCE = CHECKOUT / "tools/python"
OF_CHECKOUT = (SOURCE / "zygo").is_dir()
if OF_CHECKOUT:
    os.environ.setdefault("ZYGO_BIN", str(CHECKOUT / "build/release/bin/zygo"))
    sys.path.insert(0, str(SOURCE))

import zygo  # noqa: E402
import zygo.binary  # noqa: E402

PACKAGE = Path(zygo.__file__).resolve().parents[1]
BINARY = Path(os.environ["ZYGO_BIN"] if OF_CHECKOUT else zygo.binary.find())
needs_checkout = unittest.skipUnless(OF_CHECKOUT, "is about the sources of the package, and an installed one is tested")

PATIENCE = 60 * float(os.environ.get("ZYGO_TEST_PATIENCE") or 1)
SKIPPED = 77


def has(module: str) -> bool:
    try:
        __import__(module)
    except ImportError:
        return False
    return True


FUNCTIONS = has("cloudpickle")
needs_functions = unittest.skipUnless(FUNCTIONS, "functions of __main__ need cloudpickle")
needs_numpy = unittest.skipUnless(FUNCTIONS and has("numpy"), "needs numpy")
needs_pytest = unittest.skipUnless(has("pytest"), "needs pytest")
needs_pandas = unittest.skipUnless(FUNCTIONS and has("pandas"), "needs pandas")


class Service:
    """A `zygo serve` on a unix socket in a folder of its own, ended with SIGTERM."""

    def __init__(self, *options: str) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="zygo-test-")
        self.url = f"unix:{self._folder.name}/socket"
        self._process = subprocess.Popen(
            [str(BINARY), "serve", "--json", "--log", "off", "--listen", self.url, "--python", sys.executable, *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert self._process.stdout
        ready = self._process.stdout.readline()
        if not ready:
            raise AssertionError(f"zygo serve ended with {self._process.wait()}")
        self.pid = json.loads(ready)["pid"]

    def end(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        assert self._process.stdout
        self._process.stdout.close()
        self._process.wait(PATIENCE)
        self._folder.cleanup()


class Place:
    """A mixin of test cases; the two below say against what. `self.pool(...)` is closed with the test."""

    service: ClassVar[Service | None] = None
    maxDiff = None

    @classmethod
    def options(cls) -> dict[str, Any]:
        return {"url": cls.service.url} if cls.service else {}

    def pool(self, **options: Any) -> zygo.Pool:
        pool = zygo.Pool(**{**self.options(), **options})
        self.addCleanup(pool.close)  # type: ignore[attr-defined]
        return pool


class OnEmbedded(Place):
    pass


class OnService(Place):
    @classmethod
    def setUpClass(cls) -> None:
        cls.service = Service("--preload", "numpy,cloudpickle" if has("numpy") else "json", "--template", "functions")

    @classmethod
    def tearDownClass(cls) -> None:
        assert cls.service
        cls.service.end()

    @classmethod
    def options(cls) -> dict[str, Any]:
        return {**super().options(), "template": "functions"}


def python(code: str, timeout: float = PATIENCE, **extra: str) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter with the package on its path."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE), **extra}
    return subprocess.run([sys.executable, "-B", "-c", code], env=environment, capture_output=True, text=True,
                          timeout=timeout, check=False)


def main() -> None:
    """Skips loudly where nothing could be tested."""
    if not BINARY.is_file():
        raise SystemExit(f"no zygo binary at {BINARY}; build it, or set ZYGO_BIN")
    program = unittest.main(exit=False, verbosity=1)
    result = program.result
    ran = result.testsRun - len(result.skipped)
    sys.exit(1 if not result.wasSuccessful() else SKIPPED if ran == 0 else 0)
