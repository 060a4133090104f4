"""E2B's own JavaScript SDKs, unmodified, work with a service that their two URLs point to."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import unittest
from pathlib import Path
from typing import Any

import npm
import zygo
from npm import NpmTestCase
from serve import Service

PROXY = zygo.CHECKOUT / "service/apis/e2b/nginx.conf"
AROUND_THE_SITE = """
daemon off;
pid {place}/nginx.pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    include {place}/site.conf;
}}
"""
NAMES = zygo.CHECKOUT / "tests/data/e2b/names.cjs"
PROGRAM = zygo.CHECKOUT / "tests/data/e2b/sdk.mjs"


class Sdk(NpmTestCase):
    packages = ("e2b@2.51.0", "@e2b/code-interpreter@2.8.0")
    options: tuple[str, ...] = ()
    forks, snapshot, killed, no_file = ["43", "42"], "42", [True, False, False], "FileNotFoundError"
    told: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        service = Service("--api", "e2b", "--log", "off", *cls.options, ZYGO_HOME=str(cls.place / "home"))
        cls.addClassCleanup(service.stop)
        shutil.copy(PROGRAM, cls.place)
        cls.told = json.loads(cls.output_of("node", PROGRAM.name, E2B_API_KEY="e2b_00", **cls.variables(service, cls.place)))

    @classmethod
    def variables(cls, service: Service, _place: Path) -> dict[str, str]:
        """Where the SDK finds the service."""
        url = f"http://127.0.0.1:{service.port}"
        return {"E2B_API_URL": url, "E2B_SANDBOX_URL": url}

    def test_code(self) -> None:
        self.assertEqual(self.told["code"], {"text": "42", "stdout": "hi\n", "count": 1, "again": "42", "html": "<b>",
                                             "error": "ZeroDivisionError", "streamed": ["a\n"]})

    def test_contexts(self) -> None:
        self.assertEqual(self.told["contexts"], {"apart": "False", "listed": 2, "restarted": "False", "left": 1,
                                                 "other": "SandboxError"})

    def test_files(self) -> None:
        self.assertEqual(self.told["files"], {"written": "/home/user/a/b.txt", "read": "hello", "seen": "hello", "names": ["a"],
                                              "exists": [True, False], "made": [True, False], "moved": "/home/user/c.txt",
                                              "size": 5, "gone": self.no_file, "many": ["p", "q"], "bytes": [1, 2, 255]})

    def test_commands(self) -> None:
        self.assertEqual(self.told["commands"], {"stdout": "out\n", "stderr": "err\n", "exit": 7, "late": "TimeoutError",
                                                 "terminal": "SandboxError", "listed": []})

    def test_sandboxes(self) -> None:
        self.assertEqual(self.told["sandboxes"], {"info": {"a": "b c"}, "running": True, "listed": True, "connected": "42",
                                                  "other": "False", "forks": self.forks, "snapshot": self.snapshot,
                                                  "paused": ["paused", False, True], "resumed": "42", "metrics": "SandboxError",
                                                  "killed": self.killed, "after": "TimeoutError"})


class OlderSdk(Sdk):
    packages = ("e2b@2.30.2", "@e2b/code-interpreter@2.7.0")  # the first that knows E2B_SANDBOX_URL
    forks = []  # not in this version


class ByNames(Sdk):
    """Behind the proxy of service/apis/e2b/nginx.conf: a host for each sandbox, by TLS."""

    packages = ("e2b@2.8.4", "@e2b/code-interpreter@2.3.3")  # knows nothing but names
    options = ("--allow-host", "*.sandbox.example")
    forks, snapshot, killed, no_file = [], None, [None, None, False], "NotFoundError"  # the first two are not in this version

    @classmethod
    def setUpClass(cls) -> None:
        if lack := [name for name in ("nginx", "openssl") if not shutil.which(name)]:
            raise unittest.SkipTest(f"SKIPPED: no {' and no '.join(lack)} in PATH (apt-get install nginx-light openssl)")
        super().setUpClass()

    @classmethod
    def variables(cls, service: Service, place: Path) -> dict[str, str]:
        domain, listening = "sandbox.example", socket.create_server(("127.0.0.1", 0))
        port, inherited = listening.getsockname()[1], listening.fileno()
        key, certificate = place / "key.pem", place / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", certificate,
                        "-subj", f"/CN={domain}", "-addext", f"subjectAltName=DNS:*.{domain}"], check=True, capture_output=True)
        site = PROXY.read_text()
        for ours, here in (("listen 443", f"listen 127.0.0.1:{port}"), ("/etc/ssl/certs/sandbox.example.pem", f"{certificate}"),
                           ("/etc/ssl/private/sandbox.example.key", f"{key}"), ("127.0.0.1:8000", f"127.0.0.1:{service.port}")):
            assert site.count(ours) == 1, ours
            site = site.replace(ours, here)
        (place / "site.conf").write_text(site)
        (place / "nginx.conf").write_text(AROUND_THE_SITE.format(place=place))
        with listening:  # handed on as nginx hands sockets on to its next version: who connects early waits in the queue
            proxy = subprocess.Popen(["nginx", "-c", place / "nginx.conf", "-p", place, "-e", "stderr"], pass_fds=[inherited],
                                     env=zygo.environment(NGINX=f"{inherited};"), stderr=subprocess.DEVNULL)
        cls.addClassCleanup(proxy.wait)
        cls.addClassCleanup(proxy.terminate)
        return {"E2B_DOMAIN": f"{domain}:{port}", "NODE_EXTRA_CA_CERTS": f"{certificate}",
                "NODE_OPTIONS": f"--require {NAMES}"}


if __name__ == "__main__":
    npm.main()
