"""A client of the kernels of `zygo serve --api jupyter`: REST, and messages over a WebSocket, in JSON."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from serve import Answer, Service
from ws_client import WebSocket
from zygo import PATIENCE


@dataclass
class Cell:
    """What a cell showed, and how it ended."""

    status: str = ""
    count: int = 0
    stdout: str = ""
    stderr: str = ""
    value: str | None = None
    error: tuple[str, str] | None = None
    kinds: list[str] = field(default_factory=list)

    def is_over(self) -> bool:
        return self.status != "" and self.kinds[-1] == "idle"

    def take(self, kind: str, content: dict[str, Any]) -> None:
        self.kinds.append(content["execution_state"] if kind == "status" else kind)
        if kind == "stream":
            setattr(self, content["name"], getattr(self, content["name"]) + content["text"])
        elif kind == "execute_result":
            self.value = content["data"]["text/plain"]
        elif kind == "error":
            self.error = content["ename"], content["evalue"]
        elif kind == "execute_reply":
            self.status, self.count = content["status"], content["execution_count"]


class Kernel:
    """One kernel, of the client with this token; of an earlier one, if `id` is given."""

    numbers = itertools.count()  # of messages: clients of one kernel see each other's

    def __init__(self, service: Service, token: str = "", id: str = "", **body: Any) -> None:
        self.service = service
        self.headers = {"Authorization": f"token {token}"} if token else {}
        self.cells: dict[str, Cell] = {}
        if not id:
            answer = self.ask("POST", "/api/kernels", body)
            assert answer.status == 201, answer.body
            id = answer.json["id"]
        self.id = id
        self.connect()

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        return self.service.ask(method, path, body, self.headers, timeout=120)

    def at(self, method: str, what: str = "") -> Answer:
        return self.ask(method, f"/api/kernels/{self.id}{what}")

    def connect(self, receive_buffer: int = 0, early: bytes = b"") -> None:
        """Anew, if it was. `early` is sent in one piece with the handshake."""
        if hasattr(self, "socket"):
            self.close()
        lines = [f"{name}: {value}" for name, value in self.headers.items()]
        sock = socket.socket()
        if receive_buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        sock.settimeout(120 * PATIENCE)
        sock.connect(("127.0.0.1", self.service.port))
        self.socket = WebSocket(sock, f"/api/kernels/{self.id}/channels?session_id={id(self)}", *lines, early=early)

    def close(self) -> None:
        self.socket.sock.close()

    def send(self, kind: str, content: dict[str, Any], channel: str = "shell",
             parent: dict[str, Any] | None = None) -> str:
        """The id of the message."""
        header = {"msg_id": f"m{next(self.numbers)}", "msg_type": kind, "session": "s", "username": "", "version": "5.3"}
        self.socket.send(channel=channel, header=header, parent_header=parent or {}, metadata={}, content=content)
        return str(header["msg_id"])

    def execute(self, code: str, **content: Any) -> str:
        message = self.send("execute_request", {"code": code, **content})
        self.cells[message] = Cell()
        return message

    def reply_to(self, message: str) -> dict[str, Any]:
        """The content of the reply to it; whatever else comes is passed over."""
        while True:
            told = self.socket.message()
            if told["parent_header"].get("msg_id") == message and told["channel"] in ("shell", "control"):
                return dict(told["content"])

    def result_of(self, message: str, answers: tuple[str, ...] = ()) -> Cell:
        """When it has ended, and is idle again. What comes for others in between is theirs."""
        given = iter(answers)
        while not self.cells[message].is_over():
            self.take_next(given)
        return self.cells.pop(message)

    def take_next(self, answers: Iterator[str] = iter(())) -> None:
        """One message, for the cell that it is of."""
        told = self.socket.message()
        cell = self.cells.get(told["parent_header"].get("msg_id"))
        if cell and told["msg_type"] == "input_request":
            self.send("input_reply", {"value": next(answers)}, "stdin", told["header"])
        elif cell:
            cell.take(told["msg_type"], told["content"])

    def run(self, code: str, *answers: str, **content: Any) -> Cell:
        return self.result_of(self.execute(code, **content), answers)

    def end(self) -> None:
        assert self.at("DELETE").status == 204
        self.close()


def binary(channel: str, *parts: Any) -> bytes:
    """A message of the subprotocol v1: header, parent, metadata, content."""
    texts = [channel.encode(), *(json.dumps(part).encode() for part in parts)]
    offsets = [8 * (len(texts) + 2)]
    for text in texts:
        offsets.append(offsets[-1] + len(text))
    return b"".join(number.to_bytes(8, "little") for number in (len(offsets), *offsets)) + b"".join(texts)
