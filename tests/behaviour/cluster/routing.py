"""A router of a test's own and its pilots."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import zygo
from serve import Service

CALLER, PILOT, OPERATOR = "caller-token-0123456789", "pilot-token-0123456789", "operator-token-0123456789"
TOKENS = f"caller {CALLER} jobs\npilot {PILOT} pilot\noperator {OPERATOR} metrics,admin\n"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def resume(processes: list[int]) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


class RoutingTestCase(zygo.ZygoTestCase):
    """Routers and pilots end with the test."""

    def router(self, *options: str, **how: Any) -> Service:
        router = Service("--log", "text", *options, command="route", **how)
        self.addCleanup(router.stop)
        return router

    def pilot(self, *routers: Service, options: tuple[str, ...] = (), **how: Any) -> Service:
        joins = [part for router in routers for part in ("--join", f"http://127.0.0.1:{router.port}")]
        workers = () if "--workers" in options else ("--workers", "2")
        pilot = Service("--log", "text", *joins, *workers, *options, listen=(), command="pilot", **how)
        self.addCleanup(pilot.stop)
        return pilot

    def token_file(self, token: str) -> str:
        path: Path = self.folder() / "token"
        path.write_text(token + "\n", encoding="utf-8")
        return str(path)

    def pilots(self, router: Service, headers: dict[str, str] | None = None) -> list[dict[str, Any]]:
        answer = router.ask("GET", "/v1/pilots", headers=headers)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json["pilots"]

    def cluster(self, router: Service) -> dict[str, Any]:
        return router.ask("GET", "/v1/pilots").json

    def await_pilots(self, router: Service, count: int, headers: dict[str, str] | None = None,
                     timeout: float = 30) -> list[dict[str, Any]]:
        """Until so many are ready; the router tells nobody of its own accord."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        while True:
            found = [each for each in self.pilots(router, headers) if each["state"] == "ready"]
            if len(found) == count:
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"{len(found)} pilots are ready, not {count}: {found}")
            time.sleep(0.02)

    def await_cluster(self, router: Service, is_so: Callable[[dict[str, Any]], bool], timeout: float = 30) -> dict[str, Any]:
        """What the router tells of its pilots, when it is so."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        while True:
            told = self.cluster(router)
            if is_so(told):
                return told
            if time.monotonic() > deadline:
                raise AssertionError(f"it has not come to pass: {told}")
            time.sleep(0.02)

    def await_value(self, ask: Callable[[], Any], value: Any, timeout: float = 30) -> None:
        """Asks until it is so; nobody tells."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        while (found := ask()) != value:
            if time.monotonic() > deadline:
                raise AssertionError(f"it is {found!r}, not {value!r}")
            time.sleep(0.02)

    def await_runtimes(self, router: Service, timeout: float = 30) -> set[str]:
        """Their names, when the first pilot has asked its tools for their versions and told."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        while time.monotonic() < deadline:
            answer = router.ask("GET", "/v1/runtimes")
            if answer.json:
                return {each["name"] for each in answer.json}
            time.sleep(0.05)
        raise AssertionError("no pilot has told its languages")

