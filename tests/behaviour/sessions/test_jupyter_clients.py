"""JupyterLab's and VS Code's own client library works with zygo's kernels: with `zygo kernel` through Jupyter's server,
with those of `zygo serve --api jupyter`, and with these through a server that has them for its gateway.

Needs the package jupyter-server, libzmq.so.5, and node and npm with its registry; skipped without.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import npm
import zygo
from npm import NpmTestCase
from serve import Service

PROGRAM = zygo.CHECKOUT / "tests/data/jupyter/client.mjs"
WAIT = 120

SEEN = {
    "spec": ["Python 3 (zygo)", "python"],
    "info": ["ok", "python", ".py"],
    "stream": [["stdout", "out\n"], ["stderr", "to stderr\n"]],
    "result": [["execute_result", "[1, 2, 3]"]],
    "display": [["display_data", "<b>shown</b>"]],
    "update": [["display_data", "'one'"], ["update_display_data", "'two'"]],
    "error": ["NameError", [["error", "NameError", "name 'nowhere' is not defined", True]], True],
    "complete": [["numbers"], 4, 8],
    "inspect": [True, True],
    "isComplete": ["complete", "incomplete", "invalid"],
    "history": ["nowhere + 1"],
    "comms": {},
    "undo": [["ok", "[1, 2, 3]"], ["ok", True], ["ok", "[1, 2]"]],
    "other": ["Name: ", False, "NameError", [["execute_result", "'other'"]]],
    "input": [["execute_result", "'Hello, Ada'"]],
    "apart": [["execute_result", "[1, 2]"]],
    "interrupt": ["KeyboardInterrupt", [["stdout", "begun\n"], ["error", "KeyboardInterrupt", "", True]],
                  [["execute_result", "(7, [1, 2])"]]],
    "restart": [[["execute_result", "2"]], 1, "NameError", [["execute_result", "'other'"]]],
    "shutdown": [["dead", False], ["dead", False]],
}


RECONNECTED = [["stdout", "begun\nand ended\n"], ["execute_result", "8"]]

TOKEN = "0123456789abcdef-ann"


class Server:
    """Jupyter's server for this user alone, with every file in a folder of its own. Its kernel is zygo's, installed, or
    those of a gateway."""

    def __init__(self, folder: Path, gateway: str = "") -> None:
        places = {name: str(folder / name) for name in ("HOME", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR",
                                                        "JUPYTER_CONFIG_DIR", "IPYTHONDIR")}
        for place in places.values():
            os.mkdir(place)
        variables = zygo.environment(**places, JUPYTER_GATEWAY_AUTH_TOKEN=TOKEN)
        installed = zygo.run_cli("kernel", "install", env=variables)
        assert installed.code == 0, installed.stderr
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]  # Who takes it meanwhile makes the server try others.
        self.process = subprocess.Popen(
            ["jupyter-server", "--no-browser", "--allow-root", "--log-level=WARN", "--ServerApp.ip=127.0.0.1",
             f"--ServerApp.port={port}", f"--ServerApp.root_dir={folder}",
             *([f"--gateway-url={gateway}"] if gateway else []),
             f"--MappingKernelManager.kernel_info_timeout={WAIT * zygo.PATIENCE}"],
            env=variables, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert self.process.stderr
        lines = zygo.Lines(self.process.stderr)
        said: list[str] = []
        try:
            while not (found := re.search(r"(http://127\.0\.0\.1:\d+/)\S*\?token=(\w+)", said[-1] if said else "")):
                line = lines.next(timeout=WAIT)
                assert line or self.process.poll() is None, said
                said.append(line.decode(errors="replace"))
        except BaseException:
            self.stop()
            raise
        self.url, self.token = found.groups()

    def stop(self) -> str:
        """Ends its kernels, too; what it complained of since it was ready."""
        self.process.terminate()
        try:
            return self.process.communicate(timeout=WAIT * zygo.PATIENCE)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise


class Clients(NpmTestCase):
    packages = ("@jupyterlab/services@7.6.6",)

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        shutil.copy(PROGRAM, cls.place)

    def check(self, url: str, token: str, kernel: str, forgets: bool = False) -> None:
        self.maxDiff = None
        memory, expected = ("forgets", SEEN) if forgets else ("keeps", {**SEEN, "reconnected": RECONNECTED})
        self.assertEqual(json.loads(self.output_of("node", PROGRAM.name, url, token, kernel, memory)), expected)

    def check_through_server(self, kernel: str, gateway: str = "") -> None:
        with tempfile.TemporaryDirectory(prefix="behaviour-jupyter-") as folder:
            server = Server(Path(folder), gateway)
            try:
                # Jupyter's server does not tell its gateway whose connection it is.
                self.check(server.url, server.token, kernel, forgets=bool(gateway))
            finally:
                complaints = server.stop()
                if sys.exc_info()[0]:
                    print(complaints, file=sys.stderr)

    def gateway(self) -> str:
        tokens = self.enterContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-"))
        tokens.write(f"ann {TOKEN} jobs\n")
        tokens.flush()
        service = Service("--api", "jupyter", "--log", "off", "--tokens", tokens.name)
        self.addCleanup(service.stop)
        return f"http://127.0.0.1:{service.port}/"

    def test_an_installed_kernel_through_jupyters_server(self) -> None:
        self.check_through_server("zygo")

    def test_kernels_of_a_service(self) -> None:
        self.check(self.gateway(), TOKEN, "python3")

    def test_kernels_of_a_service_through_jupyters_server(self) -> None:
        self.check_through_server("python3", self.gateway())


def missing() -> str | None:
    """What this host lacks beside node and npm, if anything."""
    if not shutil.which("jupyter-server"):
        return "no jupyter-server in PATH (apt-get install --no-install-recommends jupyter-server)"
    try:
        ctypes.CDLL("libzmq.so.5")
    except OSError as lack:
        return f"{lack} (apt-get install libzmq5)"
    return None


if __name__ == "__main__":
    npm.main(missing())
