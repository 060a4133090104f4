"""Raw JSON-RPC for the Model Context Protocol, over the pipes of a `zygo mcp` and over HTTP."""

from __future__ import annotations

import itertools
import json
import signal
import subprocess
from typing import Any

import zygo
from serve import Answer, Service

Message = dict[str, Any]
NEWEST = "2025-06-18"


class Client:
    """What a client asks, whichever way it goes."""

    def __init__(self) -> None:
        self.ids = itertools.count(1)
        self.notified: list[Message] = []

    def request(self, method: str, params: Message | None = None) -> Message:
        raise NotImplementedError

    def initialize(self, version: str = NEWEST) -> Message:
        return self.request("initialize", {"protocolVersion": version, "capabilities": {},
                                           "clientInfo": {"name": "test", "version": "1"}})["result"]

    def call(self, tool: str, **arguments: Any) -> Message:
        """The result of a tool."""
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return answer["result"]

    def python(self, code: str, **more: Any) -> Message:
        return self.call("run_python", code=code, **more)

    def value(self, code: str) -> str | None:
        result = self.python(code)
        assert result["isError"] is False, result
        return result["structuredContent"]["value"]


def message(method: str, params: Message | None, number: Any = None) -> Message:
    made: Message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    return made if number is None else made | {"id": number}


class StdioClient(Client):
    """A `zygo mcp` of its own. Closed by the test's clean-up."""

    def __init__(self, *options: str, begin: bool = True) -> None:
        super().__init__()
        self.process = subprocess.Popen([str(zygo.BINARY), "mcp", *options], env=zygo.environment(), bufsize=0,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert self.process.stdin and self.process.stdout
        self.stdin, self.lines = self.process.stdin, zygo.Lines(self.process.stdout)
        if begin:
            self.initialize()
            self.send(message("notifications/initialized", None))

    def send(self, what: Any) -> None:
        self.stdin.write((what if isinstance(what, bytes) else json.dumps(what).encode()) + b"\n")

    def next(self) -> Any:
        line = self.lines.next(timeout=60)
        assert line, self.process.communicate()[1]
        return json.loads(line)

    def ask(self, method: str, params: Message | None = None) -> int:
        number = next(self.ids)
        self.send(message(method, params, number))
        return number

    def answer(self, number: Any) -> Message:
        while (heard := self.next()).get("id") != number:
            assert "id" not in heard, heard
            self.notified.append(heard)
        return heard

    def request(self, method: str, params: Message | None = None) -> Message:
        return self.answer(self.ask(method, params))

    def close(self, number: int | None = None) -> tuple[int, str]:
        """The exit code, and what it wrote to stderr."""
        if number is None:
            self.stdin.close()
            self.process.stdin = None
        elif self.process.poll() is None:
            self.process.send_signal(number)
        try:
            _, err = self.process.communicate(timeout=30 * zygo.PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, err.decode(errors="replace")

    def drop(self) -> None:
        self.close(signal.SIGTERM)


class HttpClient(Client):
    def __init__(self, service: Service, token: str = "", begin: bool = True) -> None:
        super().__init__()
        self.service = service
        self.headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        if begin:
            self.initialize()

    def post(self, what: Any, **headers: str) -> Answer:
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.service.ask("POST", "/mcp", what, self.headers | more, timeout=60)

    def request(self, method: str, params: Message | None = None) -> Message:
        answer = self.post(message(method, params, next(self.ids)))
        if session := answer.headers.get("mcp-session-id"):
            self.headers["Mcp-Session-Id"] = session
        if not answer.headers["content-type"].startswith("text/event-stream"):
            return answer.json
        *before, last = events_in(answer.body)
        self.notified += before
        return last

    def initialize(self, version: str = NEWEST) -> Message:
        result = super().initialize(version)
        self.headers["MCP-Protocol-Version"] = result["protocolVersion"]
        return result

    def end(self) -> int:
        return self.service.ask("DELETE", "/mcp", None, self.headers).status


def events_in(body: bytes) -> list[Message]:
    events = []
    for event in body.decode().split("\n\n")[:-1]:
        name, data = event.split("\n")
        assert name == "event: message", event
        events.append(json.loads(data.removeprefix("data: ")))
    return events
