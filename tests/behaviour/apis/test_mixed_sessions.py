"""Sessions of many clients and several APIs at once, over time-outs, clients that leave, and cells that are killed: none
finds what is another's, and nothing is left.

`ZYGO_MIXED=1000` makes a thousand of them (thirty in CI); `ZYGO_SEED` begins elsewhere."""

from __future__ import annotations

import http.client
import json
import os
import random
import signal
import socket
import tempfile
import threading
import time
import unittest
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import host
from apis.jupyter_client import Kernel
from apis.mcp_client import HttpClient
from serve import Service, ask_on
from zygo import PATIENCE, ZygoTestCase

SESSIONS = int(os.environ.get("ZYGO_MIXED", "30"))
SEED = int(os.environ.get("ZYGO_SEED", "0")) or 20261128
MOVES = 6
AT_ONCE = 8
TOKENS = {name: f"0123456789abcdef-{name}" for name in ("ann", "bob", "eve")}
PASSING = ("it would start in", "the first step could not be run")  # what a busy service says, and one whose cell was killed
LOST = {"SandboxError", "Cancelled"}


class User:
    """One session. `run` gives the label of a step, and its value as text. `late` is what ends a step, and its label."""

    late = "while True: pass", "TimeoutException"

    def __init__(self, service: Service, token: str, name: str) -> None:
        self.service, self.token, self.name = service, token, name
        self.mine: list[int] = []
        self.begin()

    def begin(self) -> None:
        raise NotImplementedError

    def run(self, source: str) -> tuple[str, str | None]:
        raise NotImplementedError

    def end(self) -> None:
        raise NotImplementedError

    def leave(self, source: str) -> None:
        """Sends a step, and hangs up."""
        raise NotImplementedError

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=120)
        try:
            return ask_on(connection, method, path, body, {"Content-Type": "application/json", **self.headers(), **headers})
        finally:
            connection.close()

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def hang_up_after(self, path: str, body: Any) -> None:
        data = json.dumps(body).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "localhost", "Content-Type": "application/json",
                                                                  **self.headers(), "Content-Length": str(len(data))}.items())
        with socket.create_connection(("127.0.0.1", self.service.port)) as there:
            there.sendall(f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + data)


class Native(User):
    def begin(self) -> None:
        answer = self.ask("POST", "/v1/sessions", {})
        assert answer.status == 200, answer.body
        self.session, self.node = answer.json["session"], answer.json["node"]

    def run(self, source: str) -> tuple[str, str | None]:
        answer = self.ask("POST", f"/v1/nodes/{self.node}/run", {"source": source})
        assert answer.status == 200, answer.body
        self.node = answer.json["node"]
        shown = answer.json.get("display")
        return answer.json["label"], shown["text/plain"] if shown else None

    def leave(self, source: str) -> None:
        self.hang_up_after(f"/v1/nodes/{self.node}/run", {"source": source})

    def end(self) -> None:
        assert self.ask("DELETE", f"/v1/sessions/{self.session}").status == 200


class Mcp(User):
    def begin(self) -> None:
        self.client = HttpClient(self.service, self.token)

    def run(self, source: str) -> tuple[str, str | None]:
        result = self.client.python(source)
        if "structuredContent" not in result:
            assert any(words in result["content"][0]["text"] for words in PASSING), result
            return "Cancelled", None
        told = result["structuredContent"]
        return told["label"], told["value"]

    def headers(self) -> dict[str, str]:
        return self.client.headers

    def leave(self, source: str) -> None:
        self.hang_up_after("/mcp", {"jsonrpc": "2.0", "method": "tools/call", "id": 10 ** 6,
                                    "params": {"name": "run_python", "arguments": {"code": source}}})

    def end(self) -> None:
        assert self.client.end() in (200, 204)


class E2b(User):
    """Its code has a minute at least."""

    late = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "Signalled"

    def begin(self) -> None:
        self.inside: dict[str, str] = {}
        answer = self.ask("POST", "/v2/sandboxes", {"templateID": "code-interpreter-v1", "timeout": 3600})
        assert answer.status == 201, answer.body
        self.sandbox = answer.json["sandboxID"]
        self.inside = {"E2b-Sandbox-Id": self.sandbox, "E2b-Sandbox-Port": "49999", "X-Access-Token": answer.json["envdAccessToken"]}

    def run(self, source: str) -> tuple[str, str | None]:
        answer = self.ask("POST", "/execute", {"code": source})
        assert answer.status == 200, answer.body
        records = [json.loads(line) for line in answer.body.splitlines()]
        label = next((record["name"] for record in records if record["type"] == "error"), "OK")
        return label, next((record["text"] for record in records if record["type"] == "result"), None)

    def headers(self) -> dict[str, str]:
        return {"X-API-Key": self.token, **self.inside}

    def leave(self, source: str) -> None:
        self.hang_up_after("/execute", {"code": source})

    def end(self) -> None:
        self.inside = {}
        answer = self.ask("DELETE", f"/sandboxes/{self.sandbox}")
        assert answer.status == 204, answer.body


class Jupyter(User):
    """As E2b; a cell goes on when its client has left."""

    late = E2b.late

    def begin(self) -> None:
        self.kernel = Kernel(self.service, self.token)

    def run(self, source: str) -> tuple[str, str | None]:
        cell = self.kernel.run(source)
        if cell.status == "aborted" or (cell.error and any(words in cell.error[1] for words in PASSING)):
            return "Cancelled", None
        return cell.error[0] if cell.error else "OK", cell.value

    def leave(self, source: str) -> None:
        message = self.kernel.execute("import time; print('begun', flush=True); time.sleep(30)")
        while not self.kernel.cells[message].stdout and not self.kernel.cells[message].is_over():
            self.kernel.take_next()
        self.kernel.connect()
        assert self.kernel.at("POST", "/interrupt").status == 204

    def end(self) -> None:
        self.kernel.end()


class Nemo(User):
    """Its session begins with its first cell."""

    def begin(self) -> None:
        pass

    def cell(self, source: str) -> dict[str, Any]:
        return {"generated_code": source, "language": "ipython", "timeout": 1 if source.endswith(self.late[0]) else 60,
                "max_output_characters": 10_000}

    def run(self, source: str) -> tuple[str, str | None]:
        answer = self.ask("POST", "/execute", self.cell(source))
        if answer.status == 502:
            return "Cancelled", None
        assert answer.status == 200, answer.body
        lines = answer.json["stdout"].splitlines() or [""]
        if answer.json["process_status"] == "timeout":
            return "TimeoutException", None
        return ("OK", lines[-1]) if answer.json["process_status"] == "completed" else (lines[-1].partition(":")[0], None)

    def headers(self) -> dict[str, str]:
        return {**super().headers(), "X-Session-ID": self.name}

    def leave(self, source: str) -> None:
        self.hang_up_after("/execute", self.cell(source))

    def end(self) -> None:
        assert self.ask("DELETE", f"/sessions/{self.name}").status == 200


KINDS: tuple[Callable[..., User], ...] = (Native, Mcp, E2b, Jupyter, Nemo)


class MixedSessions(ZygoTestCase):
    def setUp(self) -> None:
        host.adopt_orphans()
        before = host.Snapshot.take()
        tokens = self.enterContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-"))
        tokens.write("".join(f"{name} {token} jobs,info,metrics\n" for name, token in TOKENS.items()))
        tokens.flush()
        defaults = self.enterContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-defaults-", suffix=".json"))
        defaults.write('{"limits": {"cpu_ms": 400}}')
        defaults.flush()
        self.service = Service("--api", "mcp", "--api", "e2b", "--api", "jupyter", "--api", "nemo", "--log", "off", "--grace", "100ms", "--tokens", tokens.name,
                               "--defaults", defaults.name, "--nodes-memory", "1G")
        self.addCleanup(lambda: self.assertEqual(before.leftovers(), []))
        self.addCleanup(self.service.stop)
        self.wrong: list[str] = []

    def test_none_is_mixed_and_none_is_left(self) -> None:
        over = threading.Event()
        saboteur = threading.Thread(target=self.kill_cells, args=(over,))
        saboteur.start()
        try:
            with ThreadPoolExecutor(AT_ONCE) as threads:
                list(threads.map(self.use, range(SESSIONS)))
        finally:
            over.set()
            saboteur.join()
        self.assertEqual(self.wrong, [])
        self.assertGreater(self.killed, 0)
        self.await_no_nodes()

    def await_no_nodes(self) -> None:
        """Steps whose clients have left may end a little later than the sessions that they were of."""
        deadline = time.monotonic() + 30 * PATIENCE
        asker = {"Authorization": f"Bearer {TOKENS['ann']}"}
        while True:
            lines = self.service.ask("GET", "/metrics", None, asker).body.decode().splitlines()
            nodes = {line.split()[0]: float(line.split()[1]) for line in lines if line.startswith("zygo_nodes")}
            left = {name: nodes[name] for name in ("zygo_nodes", "zygo_nodes_bytes")}
            if not any(left.values()):
                return
            self.assertLess(time.monotonic(), deadline, left)

    def kill_cells(self, over: threading.Event) -> None:
        """One that runs a step, now and then; not so many that nobody gets on, however slow the machine is."""
        chance, self.killed = random.Random(SEED), 0
        while self.killed < SESSIONS // 2 and not over.wait(0.1):
            chains = host.chains_of(self.service.process.pid)
            if chains and chance.random() < 0.4:
                try:
                    os.kill(chance.choice(chains)[1], signal.SIGKILL)
                    self.killed += 1
                except ProcessLookupError:
                    pass

    def use(self, number: int) -> None:
        chance = random.Random(SEED + number)
        name = chance.choice(list(TOKENS))
        user = None
        try:
            user = self.begun(lambda: chance.choice(KINDS)(self.service, TOKENS[name], f"{name}-{number}"))
            self.step(user, f"mine, me = [], {user.name!r}")
            for move in range(MOVES):
                self.move(user, chance, number * 100 + move)
                self.look(user)
        except Exception as error:  # of a thread, for the test
            self.wrong.append(f"{type(user).__name__} {number}: {type(error).__name__}: {error}")
        finally:
            if user:
                user.end()

    def begun(self, begin: Callable[[], User]) -> User:
        """A session whose first step was killed has not begun."""
        for _ in range(SESSIONS):
            try:
                return begin()
            except AssertionError as error:
                if not any(words in str(error) for words in ("sandbox", "SandboxError", *PASSING)):
                    raise
        raise AssertionError("no session could be begun")

    def step(self, user: User, source: str, label: str = "OK") -> str | None:
        """Whose cell was killed is where it was, and tries again."""
        for _ in range(SESSIONS):
            ended, value = user.run(source)
            if ended not in LOST:
                self.assertEqual(ended, label, source)
                return value
        raise AssertionError(f"killed again and again: {source}")

    def move(self, user: User, chance: random.Random, what: int) -> None:
        kind = chance.choice(("add", "add", "late", "leave", "raise"))
        if kind == "add":
            self.step(user, f"mine.append({what})\nopen('mine', 'a').write('{what} ')")
            user.mine.append(what)
        elif kind == "late":
            source, label = user.late
            self.step(user, f"mine.append(-1)\n{source}", label)
        elif kind == "leave":
            user.leave("mine.append(-2)\nimport time; time.sleep(30)")
        else:
            self.step(user, f"mine.append({what})\n1 / 0", "ZeroDivisionError")
            user.mine.append(what)

    def look(self, user: User) -> None:
        value = self.step(user, "import os; [me, mine, open('mine').read() if 'mine' in os.listdir('.') else '']")
        me, mine, written = eval(value or "()")  # our own words, or what is wrong
        self.assertEqual((me, mine), (user.name, user.mine))
        self.assertEqual([int(word) for word in written.split()], [n for n in user.mine if str(n) in written.split()])
        self.assertLessEqual(set(written.split()), {str(n) for n in user.mine})


if __name__ == "__main__":
    unittest.main()
