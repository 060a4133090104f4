"""`zygo scale`: pilots come while jobs wait, go when they are idle, and none is left at the end. The engines are the tests'
own (tests/python/engines.py) and start real pilots as processes of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Callable
from typing import Any

import zygo
from cluster.routing import OPERATOR, PILOT, TOKENS, RoutingTestCase, bearer
from serve import Service

sys.path.append(str(zygo.CHECKOUT / "tests/python"))
from engines import WORDS, Engines, is_alive  # noqa: E402

ENGINES = ("slurm", "htcondor")


class Scale:
    """A `zygo scale --json` that a test has started."""

    def __init__(self, engines: Engines, *options: str) -> None:
        self.process = subprocess.Popen([str(zygo.BINARY), "scale", "--json", "--every", "50ms", *options],
                                        env=zygo.environment(**engines.environment(), ZYGO_BIN=str(zygo.BINARY)), cwd=engines.folder,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdout
        self.lines = zygo.Lines(self.process.stdout)

    def await_line(self, fits: Callable[[dict[str, Any]], bool], timeout: float = 120) -> dict[str, Any]:
        """It writes a line for each look, so the time is that of all of them."""
        deadline = time.monotonic() + timeout * zygo.PATIENCE
        last = b""
        while time.monotonic() < deadline:
            line = self.lines.next()
            if not line:
                raise AssertionError(f"it ended before it said so: {self.end()}")
            told: dict[str, Any] = json.loads(line)
            if fits(told):
                return told
            last = line
        raise AssertionError(f"it has not said so within {timeout} s, but {last.decode()}")

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60 * zygo.PATIENCE)
        return self.process.returncode, err.decode(errors="replace")


class ScaleTestCase(RoutingTestCase):
    def setUp(self) -> None:
        super().setUp()
        self.router_here = self.router()

    def engines(self, mode: str = "run") -> Engines:
        engines = Engines(self.folder(), mode)
        self.addCleanup(self.end_all, engines)
        return engines

    @staticmethod
    def end_all(engines: Engines) -> None:
        for pid in engines.pids():
            if is_alive(pid):
                os.kill(pid, signal.SIGKILL)

    def scale(self, engines: Engines, engine: str, *options: str, router: Service | None = None) -> Scale:
        port = (router or self.router_here).port
        token = () if "--pilot-token-file" in options else ("--pilot-token-file", self.token_file(PILOT))
        ending = () if "--ending" in options else ("--ending", f"{30 * zygo.PATIENCE:.0f}s")
        scale = Scale(engines, "--engine", engine, "--url", f"http://127.0.0.1:{port}", *ending, *token, *options)
        self.addCleanup(scale.end, signal.SIGKILL)
        return scale

    def assert_none_left(self, engines: Engines) -> None:
        self.assertEqual(engines.queued(), [])
        self.assertEqual([pid for pid in engines.pids() if is_alive(pid)], [])


class Scaling(ScaleTestCase):
    def test_a_job_that_waits_brings_a_pilot_which_goes_at_the_end(self) -> None:
        for engine in ENGINES:
            with self.subTest(engine):
                engines = self.engines()
                scale = self.scale(engines, engine, "--max", "2")

                self.assertEqual(self.router_here.run("print(6 * 7)")["label"], "OK")

                self.assertGreaterEqual(len(engines.pids()), 1)
                self.assertEqual(scale.end()[0], 0)
                self.assert_none_left(engines)

    def test_there_are_never_fewer_than_the_least(self) -> None:
        for engine in ENGINES:
            with self.subTest(engine):
                engines = self.engines()
                scale = self.scale(engines, engine, "--min", "2", "--max", "4")
                told = scale.await_line(lambda line: line["joined"] == 2)
                self.assertEqual((told["running"], told["waiting"], told["trouble"]), (2, 0, ""))

                os.kill(engines.pids()[0], signal.SIGKILL)

                scale.await_line(lambda line: line["more"] == 1)
                scale.await_line(lambda line: line["joined"] == 2)
                self.assertEqual(len(engines.pids()), 3)
                self.assertEqual(scale.end()[0], 0)
                self.assert_none_left(engines)

    def test_pilots_with_nothing_to_do_go_and_come_again(self) -> None:
        engines = self.engines()
        scale = self.scale(engines, "slurm", "--max", "1", "--idle", "300ms")
        for turn in (1, 2):
            self.assertEqual(self.router_here.run("print(1)")["label"], "OK")
            scale.await_line(lambda line: line["retire"] == 1)
            scale.await_line(lambda line: line["running"] == 0)
            self.assertEqual(len(engines.pids()), turn)
        self.assertEqual(scale.end()[0], 0)
        self.assert_none_left(engines)

    def test_one_that_is_started_again_finds_the_pilots_of_the_last_one(self) -> None:
        engines = self.engines()
        first = self.scale(engines, "slurm", "--min", "1", "--max", "1", "--name", "mine")
        first.await_line(lambda line: line["joined"] == 1)
        first.end(signal.SIGKILL)
        self.assertEqual(len(engines.queued()), 1)

        second = self.scale(engines, "slurm", "--min", "1", "--max", "1", "--name", "mine")

        second.await_line(lambda line: line["joined"] == 1)
        self.assertEqual(second.end()[0], 0)
        self.assertEqual(len(engines.pids()), 1)
        self.assert_none_left(engines)

    def test_slots_that_wait_are_told_with_the_engines_words_and_recalled_at_the_end(self) -> None:
        engines = self.engines("pending")
        scale = self.scale(engines, "slurm", "--min", "2", "--max", "9")

        told = scale.await_line(lambda line: line["waiting"] == 2)

        self.assertEqual(told["waits"], WORDS["pending"])
        self.assertEqual(scale.end()[0], 0)
        self.assert_none_left(engines)

    def test_a_router_with_tokens_is_asked_with_one(self) -> None:
        router = self.router("--tokens", self.tokens_file())
        engines = self.engines()
        operator = self.folder() / "operator"
        operator.write_text(OPERATOR + "\n", encoding="utf-8")
        without = self.scale(engines, "slurm", "--min", "1", "--max", "1", router=router)
        told = without.await_line(lambda line: bool(line["trouble"]))
        self.assertIn("--token-file", told["trouble"])
        without.end()

        scale = self.scale(engines, "slurm", "--min", "1", "--max", "1", "--token-file", str(operator), router=router)

        scale.await_line(lambda line: line["joined"] == 1)
        self.assertEqual(len(self.pilots(router, bearer(OPERATOR))), 1)
        for secret in (PILOT, OPERATOR):
            self.assertNotIn(secret, engines.asked())

    def tokens_file(self) -> str:
        path = self.folder() / "tokens"
        path.write_text(TOKENS, encoding="utf-8")
        path.chmod(0o600)
        return str(path)


class Trouble(ScaleTestCase):
    def test_an_engine_that_refuses_is_told_in_its_words_and_asked_again(self) -> None:
        engines = self.engines("refuse")
        scale = self.scale(engines, "slurm", "--min", "1", "--max", "1")
        told = scale.await_line(lambda line: bool(line["trouble"]))
        self.assertIn(WORDS["refuse"], told["trouble"])

        engines.set_mode("run")

        scale.await_line(lambda line: line["joined"] == 1)
        self.assertEqual(scale.end()[0], 0)

    def test_an_engine_that_is_not_there_is_told(self) -> None:
        engines = self.engines()
        (engines.path / "squeue").unlink()
        scale = self.scale(engines, "slurm", "--max", "1")

        told = scale.await_line(lambda line: bool(line["trouble"]))

        self.assertIn("squeue", told["trouble"])

    def test_pilots_that_do_not_go_are_an_error_at_the_end(self) -> None:
        engines = self.engines("pending")
        scale = self.scale(engines, "slurm", "--min", "1", "--max", "1", "--ending", "1s")
        scale.await_line(lambda line: line["waiting"] == 1)
        engines.set_mode("keep")

        code, err = scale.end()

        self.assertEqual(code, 125)
        self.assertIn(WORDS["keep"], err)

    def test_a_dry_run_asks_for_nothing(self) -> None:
        engines = self.engines()
        scale = self.scale(engines, "slurm", "--min", "3", "--max", "9", "--dry-run")

        scale.await_line(lambda line: line["more"] == 3)

        self.assertEqual(scale.end()[0], 0)
        self.assertNotIn("sbatch", engines.asked())

    def test_mistakes_are_named_before_anything_is_asked(self) -> None:
        engines = self.engines()
        for words, options in {
                "HorizontalPodAutoscaler": ("--engine", "kubernetes", "--max", "1"),
                "no fewer than --min 3": ("--engine", "slurm", "--min", "3", "--max", "2"),
                "said by other options": ("--engine", "slurm", "--max", "1", "--directive", "array=1-9"),
                "expected NAME=VALUE": ("--engine", "slurm", "--max", "1", "--directive", "partition"),
                "--name: expected": ("--engine", "slurm", "--max", "1", "--name", "a b"),
                "no --url is https://": ("--engine", "slurm", "--max", "1", "--cert-file", "/c", "--key-file", "/k"),
                "pilots join nobody by https://": ("--engine", "slurm", "--max", "1", "--pilot-ca-file", "/c"),
                "/none": ("--engine", "slurm", "--max", "1", "--token-file", "/none")}.items():
            with self.subTest(words):
                ended = zygo.run_cli("scale", "--url", f"http://127.0.0.1:{self.router_here.port}", "--pilot-token-file", "/t",
                                     *options)
                self.assertEqual(ended.code, 2, ended.stderr)
                self.assertIn(words, ended.stderr)
        self.assertEqual(engines.asked(), "")


if __name__ == "__main__":
    unittest.main()
