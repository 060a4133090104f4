"""Pilots that join by TLS, and operators that look by it, through a proxy that ends it in front of the router."""

from __future__ import annotations

import json
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import unittest
from pathlib import Path

import zygo
from cluster.routing import CALLER, PILOT, TOKENS, RoutingTestCase, bearer
from cluster.test_scale import Scale, ScaleTestCase
from serve import Service


def relay(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


@unittest.skipUnless(shutil.which("openssl"), "there is no openssl to make a certificate with")
class TlsTestCase(RoutingTestCase):
    def certificate(self, name: str) -> tuple[Path, Path]:
        folder = self.folder()
        key, cert = folder / "key.pem", folder / "cert.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert),
                        "-days", "2", "-subj", "/CN=router", "-addext", f"subjectAltName={name}"],
                       check=True, capture_output=True)
        return key, cert

    def proxy(self, router: Service, key: Path, cert: Path) -> int:
        """Its port. Each connection has two threads, and ends with either side."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def serve() -> None:
            while True:
                try:
                    plain, _ = listener.accept()
                except OSError:
                    return
                try:
                    client = context.wrap_socket(plain, server_side=True)
                except (ssl.SSLError, OSError):
                    continue
                inner = router.connect(600)
                threading.Thread(target=relay, args=(client, inner), daemon=True).start()
                threading.Thread(target=relay, args=(inner, client), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        return int(listener.getsockname()[1])


class Tls(TlsTestCase):
    def join(self, port: int, ca: Path) -> Service:
        pilot = Service("--log", "text", "--workers", "2", "--join", f"https://127.0.0.1:{port}", "--ca-file", str(ca),
                        listen=(), command="pilot")
        self.addCleanup(pilot.stop)
        return pilot

    def test_jobs_go_through_a_proxy_with_tls(self) -> None:
        router = self.router()
        key, cert = self.certificate("IP:127.0.0.1")
        self.join(self.proxy(router, key, cert), cert)
        self.await_pilots(router, 1)
        self.assertEqual(router.run("print(6 * 7)")["stdout"]["text"], "42\n")
        self.assertEqual(router.run("print('x' * 3000000)", limits={"stdout_kb": 4000})["stdout"]["bytes"], 3000001)

    def test_a_router_that_is_not_who_it_should_be_gets_no_pilot(self) -> None:
        router = self.router()
        key, cert = self.certificate("IP:127.0.0.2")
        pilot = self.join(self.proxy(router, key, cert), cert)
        pilot.await_line("127.0.0.1")
        _, other = self.certificate("IP:127.0.0.1")
        stranger = self.join(self.proxy(router, key, cert), other)
        stranger.await_line("certificate")
        self.assertEqual(self.pilots(router), [])

    def test_a_request_is_passed_on_by_tls(self) -> None:
        tokens = self.folder() / "tokens"
        tokens.write_text(TOKENS, encoding="utf-8")
        key, cert = self.certificate("IP:127.0.0.1")
        east = self.router("--name", "east", "--peer", "west=http://127.0.0.1:9", "--tokens", str(tokens))
        ports = {"good": self.proxy(east, key, cert), "wrong": self.proxy(east, *self.certificate("IP:127.0.0.1"))}
        kept = east.ask("POST", "/v1/jobs?async=1", {"source": "1"}, bearer(CALLER))
        for which, status in (("good", 202), ("wrong", 502)):
            west = self.router("--name", "west", "--peer", f"east=https://127.0.0.1:{ports[which]}", "--ca-file", str(cert),
                               "--tokens", str(tokens))
            answer = west.ask("GET", kept.headers["location"], headers=bearer(CALLER))
            self.assertEqual(answer.status, status, answer.body)
            self.assertIn("queued" if which == "good" else "certificate", answer.body.decode())


class Operators(TlsTestCase, ScaleTestCase):
    def setUp(self) -> None:
        super().setUp()
        key, self.cert = self.certificate("IP:127.0.0.1")
        self.url = f"https://127.0.0.1:{self.proxy(self.router_here, key, self.cert)}"

    def test_zygo_scale_looks_at_a_router_by_tls_and_its_pilots_join_so(self) -> None:
        engines = self.engines()
        scale = Scale(engines, "--engine", "slurm", "--url", self.url, "--ca-file", str(self.cert), "--min", "1", "--max", "1",
                      "--ending", f"{30 * zygo.PATIENCE:.0f}s", "--pilot-token-file", self.token_file(PILOT))
        self.addCleanup(scale.end, signal.SIGKILL)

        told = scale.await_line(lambda line: line["joined"] == 1)

        self.assertEqual(told["trouble"], "")
        said = Path(f"/proc/{engines.pids()[0]}/cmdline").read_bytes()
        self.assertIn(f"\0--ca-file\0{self.cert}\0".encode(), said)
        self.assertEqual(scale.end()[0], 0)
        self.assert_none_left(engines)

    def test_a_router_that_nobody_vouches_for_is_not_believed(self) -> None:
        _, other = self.certificate("IP:127.0.0.1")
        scale = Scale(self.engines(), "--engine", "slurm", "--url", self.url, "--ca-file", str(other), "--max", "1",
                      "--pilot-token-file", self.token_file(PILOT))
        self.addCleanup(scale.end, signal.SIGKILL)

        self.assertIn("certificate", scale.await_line(lambda line: bool(line["trouble"]))["trouble"])

    def test_zygo_top_shows_a_router_by_tls(self) -> None:
        shown = zygo.run_cli("top", "--once", "--json", "--url", self.url, "--ca-file", str(self.cert))
        self.assertEqual(shown.code, 0, shown.stderr)
        self.assertEqual(json.loads(shown.out)["cluster"]["pilots"], [])
        _, other = self.certificate("IP:127.0.0.1")
        refused = zygo.run_cli("top", "--once", "--url", self.url, env=zygo.environment(SSL_CERT_FILE=str(other)))
        self.assertEqual(refused.code, 125)
        self.assertIn("certificate", refused.stderr)

    def test_zygo_health_asks_a_router_by_tls(self) -> None:
        self.assertEqual(zygo.run_cli("health", "--quiet", "--ca-file", str(self.cert), self.url).code, 0)
        _, other = self.certificate("IP:127.0.0.1")
        for said, options in (("certificate", ("--ca-file", str(other), self.url)), ("404", ("--ca-file", str(self.cert), self.url + "/a"))):
            asked = zygo.run_cli("health", *options)
            self.assertEqual(asked.code, 1)
            self.assertIn(said, asked.stderr)
        mistaken = zygo.run_cli("health", "--ca-file", str(self.cert), self.url.replace("https", "http"))
        self.assertEqual(mistaken.code, 2)
        self.assertIn("--ca-file", mistaken.stderr)


if __name__ == "__main__":
    unittest.main()
