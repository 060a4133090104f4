"""Packed environments that a router gives to its pilots (`zygo route --environment`, `zygo pilot --environment`)."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from cluster.routing import CALLER, OPERATOR, PILOT, TOKENS, RoutingTestCase, bearer
from serve import Service


class Environments(RoutingTestCase):
    home: Path
    archive: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.home = Path(tempfile.mkdtemp(prefix="behaviour-environments-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.home)
        cls.home.chmod(0o755)
        venv, cls.archive = cls.home / "venv", cls.home / "ml.tar.zst"
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", str(venv)], check=True, timeout=120)
        (site,) = venv.glob("lib/python3*/site-packages")
        (site / "ours.py").write_text("NAME = 'from the router'\n")
        packed = zygo.run_cli("image", "pack", "--venv", str(venv), "-o", str(cls.archive),
                              env=zygo.environment(ZYGO_HOME=str(cls.home / "packing")))
        assert packed.code == 0, packed.stderr
        shutil.rmtree(venv)
        cls.digest = "sha256:" + hashlib.sha256(cls.archive.read_bytes()).hexdigest()

    def setUp(self) -> None:
        super().setUp()
        self.tokens = self.folder() / "tokens"
        self.tokens.write_text(TOKENS, encoding="utf-8")
        self.store = self.folder()

    def serve(self, *options: str) -> Service:
        return self.router("--tokens", str(self.tokens), "--environment", f"ml={self.archive}", *options)

    def start_pilot(self, router: Service, *options: str, **how: Any) -> Service:
        how.setdefault("ZYGO_HOME", str(self.store))
        return self.pilot(router, options=("--token-file", self.token_file(PILOT), *options), **how)

    def kept(self) -> list[str]:
        return sorted(path.name for path in (self.store / "environments").iterdir() if path.suffix != ".lock")

    def test_a_pilot_has_an_environment_that_lies_at_its_router(self) -> None:
        router = self.serve()
        for name in ("ml", self.digest):
            self.start_pilot(router, "--environment", name)
        self.await_pilots(router, 2, bearer(OPERATOR))
        answer = router.ask("POST", "/v1/jobs", {"source": "import ours; print(ours.NAME)"}, bearer(CALLER))
        self.assertEqual(answer.json["stdout"]["text"], "from the router\n")
        self.assertEqual(self.kept(), [self.digest.removeprefix("sha256:") + ".tar.zst"])

    def test_a_host_that_has_it_asks_for_no_byte_of_it(self) -> None:
        router = self.serve()
        for _ in range(2):
            self.start_pilot(router, "--environment", "ml").stop()
        _, log = router.stop()
        self.assertEqual(log.count('"/v1/environments"'), 2, log)
        self.assertEqual(log.count("/v1/environments/sha256:"), 1, log)

    def refusal(self, router: Service, *options: str, **how: Any) -> tuple[int, str]:
        ended = zygo.run_cli("pilot", "--join", f"http://127.0.0.1:{router.port}", "--token-file", self.token_file(PILOT),
                             *options, env=zygo.environment(ZYGO_HOME=str(self.store), **how))
        return ended.code, ended.stderr

    def test_what_there_is_not_is_an_error_that_says_what_there_is(self) -> None:
        router = self.serve()
        code, said = self.refusal(router, "--environment", "nlp")
        self.assertEqual(code, 125)
        self.assertIn('has no environment "nlp"; it has ml', said)
        code, said = self.refusal(router, "--environment", "ml", "--python", "/usr/bin/python3.11")
        self.assertEqual((code, "--python" in said), (2, True), said)
        self.assertFalse((self.store / "environments").exists())

    def test_a_pilot_that_waits_for_it_can_be_ended(self) -> None:
        router = self.serve()
        folder = self.store / "environments"
        folder.mkdir()
        with (folder / (self.digest.removeprefix("sha256:") + ".tar.zst.lock")).open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # As another pilot of the host that is about to get it.
            pilot = subprocess.Popen([str(zygo.BINARY), "pilot", "--join", f"http://127.0.0.1:{router.port}", "--token-file",
                                      self.token_file(PILOT), "--environment", "ml"], stderr=subprocess.PIPE,
                                     env=zygo.environment(ZYGO_HOME=str(self.store)))
            router.await_line('"/v1/environments"')
            pilot.send_signal(signal.SIGTERM)
            _, said = pilot.communicate(timeout=60 * zygo.PATIENCE)
            self.assertEqual(pilot.returncode, 0, said)

    def test_it_is_for_pilots(self) -> None:
        router = self.serve()
        for token, status in ((CALLER, 403), (OPERATOR, 403), (PILOT, 200)):
            self.assertEqual(router.ask("GET", "/v1/environments", headers=bearer(token)).status, status)
        listed = router.ask("GET", "/v1/environments", headers=bearer(PILOT)).json
        self.assertEqual(listed, {"environments": [{"name": "ml", "digest": self.digest, "bytes": self.archive.stat().st_size}]})
        got = router.ask("GET", f"/v1/environments/{self.digest}", headers=bearer(PILOT))
        self.assertEqual(got.body, self.archive.read_bytes())
        self.assertEqual(router.ask("GET", "/v1/environments/ml", headers=bearer(PILOT)).status, 404)

    def test_another_content_than_was_said_is_not_kept(self) -> None:
        changing = self.folder() / "ml.tar.zst"
        shutil.copy(self.archive, changing)
        router = self.router("--tokens", str(self.tokens), "--environment", f"ml={changing}")
        with changing.open("r+b") as file:
            file.seek(100)
            file.write(b"changed")
        code, said = self.refusal(router, "--environment", "ml")
        self.assertEqual(code, 125)
        self.assertIn("another digest", said)
        with changing.open("r+b") as file:
            file.truncate(1000)
        self.assertIn("breaks off", self.refusal(router, "--environment", "ml")[1])
        self.assertEqual(self.kept(), [])

    def test_what_cannot_be_offered_is_named(self) -> None:
        for option, why in (("ml", "expected NAME=FILE"), (f"ml={zygo.BINARY}", "a packed environment"), ("ml=/no/such", "/no/such")):
            ended = zygo.run_cli("route", "--listen", "127.0.0.1:0", "--environment", option)
            self.assertEqual(ended.code, 2)
            self.assertIn(why, ended.stderr)


if __name__ == "__main__":
    unittest.main()
