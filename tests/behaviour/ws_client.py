"""A WebSocket client that can be as wrong as a test wants: frames are made and read by hand (RFC 6455)."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

KEY = "dGhlIHNhbXBsZSBub25jZQ=="  # the example of RFC 6455, 1.3
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def handshake(path: str, *more: str, drop: tuple[str, ...] = ()) -> bytes:
    """`more` comes last; a header whose name is in `drop` is left out."""
    lines = ["Host: 127.0.0.1", "Upgrade: websocket", "Connection: keep-alive, Upgrade", f"Sec-WebSocket-Key: {KEY}",
             "Sec-WebSocket-Version: 13"]
    kept = [line for line in lines if line.split(":")[0] not in drop]
    return "\r\n".join([f"GET {path} HTTP/1.1", *kept, *more]).encode() + b"\r\n\r\n"


def frame(opcode: int, payload: bytes = b"", fin: bool = True, mask: bytes | None = b"\x37\xfa\x21\x3d",
          reserved: int = 0) -> bytes:
    head = bytes([fin << 7 | reserved << 4 | opcode])
    bit = 0 if mask is None else 0x80
    if len(payload) < 126:
        head += bytes([bit | len(payload)])
    elif len(payload) < 1 << 16:
        head += bytes([bit | 126]) + struct.pack(">H", len(payload))
    else:
        head += bytes([bit | 127]) + struct.pack(">Q", len(payload))
    if mask is None:
        return head + payload
    stretched = (mask * (len(payload) // 4 + 1))[:len(payload)]
    masked = int.from_bytes(payload, "big") ^ int.from_bytes(stretched, "big")
    return head + mask + masked.to_bytes(len(payload), "big")


class Closed(Exception):
    """The service said close, or left without a word (code None)."""

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(code, reason)
        self.code, self.reason = code, reason


class WebSocket:
    """An open one. `early` is sent in one piece with the handshake."""

    def __init__(self, sock: socket.socket, path: str, *headers: str, early: bytes = b"") -> None:
        self.sock = sock
        self.pending = b""
        sock.sendall(handshake(path, *headers) + early)
        while b"\r\n\r\n" not in self.pending:
            self._more()
        head, _, self.pending = self.pending.partition(b"\r\n\r\n")
        self.head = head.decode()
        if not self.head.startswith("HTTP/1.1 101 "):
            raise AssertionError(self.head)

    def _more(self) -> None:
        try:
            data = self.sock.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            raise Closed(None)
        self.pending += data

    def _take(self, size: int) -> bytes:
        while len(self.pending) < size:
            self._more()
        taken, self.pending = self.pending[:size], self.pending[size:]
        return taken

    def send(self, **message: Any) -> None:
        self.send_frame(TEXT, json.dumps(message).encode())

    def send_frame(self, opcode: int, payload: bytes = b"", **how: Any) -> None:
        self.sock.sendall(frame(opcode, payload, **how))

    def frame(self) -> tuple[int, bytes]:
        """The next one: opcode and payload. Those of the service are whole and not masked."""
        first, second = self._take(2)
        assert first & 0xF0 == 0x80 and second < 0x80, (first, second)
        size = second
        if size == 126:
            size, = struct.unpack(">H", self._take(2))
        elif size == 127:
            size, = struct.unpack(">Q", self._take(8))
        return first & 0x0F, self._take(size)

    def message(self) -> dict[str, Any]:
        """The next one; pings are answered on the way. Closed at the end."""
        while True:
            opcode, payload = self.frame()
            if opcode == TEXT:
                return json.loads(payload)
            if opcode == CLOSE:
                code = struct.unpack(">H", payload[:2])[0] if payload else None
                raise Closed(code, payload[2:].decode())
            assert opcode == PING, opcode
            self.send_frame(PONG, payload)

    def expect(self, kind: str) -> dict[str, Any]:
        message = self.message()
        if message["type"] != kind:
            raise AssertionError(f"expected {kind}, got {message}")
        return message

    def read_until(self, text: str, stream: str = "stdout") -> str:
        """What has come on one stream when `text` is in it."""
        seen = ""
        while text not in seen:
            message = self.message()
            if message["type"] == stream:
                seen += message["text"]
            elif message["type"] in ("result", "error"):
                raise AssertionError(f"{text!r} never came: {seen!r}, {message}")
        return seen

    def rest(self) -> tuple[list[dict[str, Any]], Closed]:
        """All messages to the end, and the close."""
        messages = []
        while True:
            try:
                messages.append(self.message())
            except Closed as closed:
                return messages, closed


def texts(messages: list[dict[str, Any]], kind: str, field: str = "text") -> str:
    return "".join(message[field] for message in messages if message["type"] == kind)
