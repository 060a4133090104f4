"""Pilots that join by TLS, through a proxy that ends it in front of the router."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
import unittest
from pathlib import Path

from cluster.routing import CALLER, TOKENS, RoutingTestCase, bearer
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
class Tls(RoutingTestCase):
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
        self.await_line(pilot, "127.0.0.1")
        _, other = self.certificate("IP:127.0.0.1")
        stranger = self.join(self.proxy(router, key, cert), other)
        self.await_line(stranger, "certificate")
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


if __name__ == "__main__":
    unittest.main()
