"""Exchanges of a client of version 1 of the HTTP API, recorded once, and replayed against the service of today.

Every field of a recorded answer must still be there, with the same type, and with the same value unless it is a measurement,
a fact of the host or a text for people. What was added since is no matter. `ZYGO_TEST_RECORD=1` fills in answers that
tests/data/exchanges does not have yet, and changes none: a recorded answer is a promise (docs/stability.md).
"""

from __future__ import annotations

import json
import os
import re
import unittest
from typing import Any, Iterator

from serve import Answer, Service
from ws_client import WebSocket
import zygo
from zygo import ZygoTestCase

RECORDED = zygo.CHECKOUT / "tests/data/exchanges/v1.json"
HEADERS = ("content-type", "location", "idempotent-replayed")  # those that clients of the native API read

# Below these names only types are compared: measurements, the host's facts, digests, texts for people.
FREE = frozenset({"usage", "timing_us", "enforced", "level", "template", "version", "workers", "limits", "message", "measured_ms",
        "peak_bytes", "argument", "traceback", "record", "waited_ms"})
SOMETIMES = {"rollback"}  # not in every answer, says docs/architecture.md
FREE_PATHS = ("/v1/runtimes", "/v1/templates", "/v1/info")
MADE = re.compile(r"\b[jb]-[0-9a-f-]{8,}\b")  # ids that the service makes
KINDS = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "object", type(None): "null"}


def broken(old: Any, new: Any, where: str, free: bool = False, varies: frozenset[str] = FREE) -> Iterator[str]:
    """What of the old answer the new one does not keep. `free`: only types are compared, as below the names in `varies`."""
    if KINDS[type(old)] != KINDS[type(new)]:
        yield f"{where}: was {KINDS[type(old)]}, is {KINDS[type(new)]}"
    elif isinstance(old, dict):
        for name, value in old.items():
            if name not in new:
                yield f"{where}.{name}: is gone"
            else:
                yield from broken(value, new[name], f"{where}.{name}", free or name in varies, varies)
    elif isinstance(old, list) and free:
        yield from broken(old[0], new[0], f"{where}[0]", free, varies) if old and new else ()
    elif isinstance(old, list) and len(old) != len(new):
        yield f"{where}: had {len(old)} items, has {len(new)}"
    elif isinstance(old, list):
        for number, (before, after) in enumerate(zip(old, new)):
            yield from broken(before, after, f"{where}[{number}]", free, varies)
    elif not free and plain(old) != plain(new):
        yield f"{where}: was {old!r}, is {new!r}"


def plain(value: Any) -> Any:
    return MADE.sub("ID", value) if isinstance(value, str) else value


def of_answer(answer: Answer) -> dict[str, Any]:
    """As it is recorded. Lines come in any order, so they are sorted by their ids."""
    kept: dict[str, Any] = {"status": answer.status, "headers": {n: answer.headers[n] for n in HEADERS if n in answer.headers}}
    kind = answer.headers.get("content-type", "")
    if "ndjson" in kind:
        return kept | {"lines": sorted(answer.lines, key=lambda line: str(line["id"]))}
    return kept | ({"body": answer.json} if "json" in kind else {"text": answer.body.decode()})


def without(value: Any, names: set[str]) -> Any:
    if isinstance(value, list):
        return [without(item, names) for item in value]
    return {n: without(v, names) for n, v in value.items() if n not in names} if isinstance(value, dict) else value


def attach(service: Service, exchange: dict[str, Any]) -> dict[str, Any]:
    """Over a WebSocket: all messages are sent, then all are read."""
    with service.connect() as sock:
        web = WebSocket(sock, exchange["path"])
        for message in exchange["messages"]:
            web.send(**message)
        messages, closed = web.rest()
    # Whether a job that is withdrawn had started is chance.
    kept = [message for message in messages if message["type"] != "started" or "end" in exchange["messages"][-1]]
    return {"messages": kept, "close": closed.code}


def ask(service: Service, exchange: dict[str, Any], made: str) -> dict[str, Any]:
    """The answer as it is recorded; `made` is the id that the service gave last."""
    if exchange["method"] == "ATTACH":
        return attach(service, exchange)
    body = exchange.get("body")
    data = body.encode() if isinstance(body, str) else body
    path = exchange["path"].replace("$ID", made)
    return of_answer(service.ask(exchange["method"], path, data, exchange.get("headers"), timeout=120))


class Exchanges(ZygoTestCase):
    def test_a_client_of_version_1_gets_what_it_got(self) -> None:
        exchanges = json.loads(RECORDED.read_text())
        home = self.folder()
        service = Service("--log", "off", "--durable", str(home / "jobs.db"), ZYGO_HOME=str(home))
        self.addCleanup(service.stop)
        made = ""
        for exchange in exchanges:
            answer = ask(service, exchange, made)
            if answer.get("status") == 202 and "location" in answer["headers"]:
                made = answer["body"]["id"]
            if os.environ.get("ZYGO_TEST_RECORD"):
                exchange.setdefault("answer", without(answer, SOMETIMES))
            with self.subTest(exchange["name"]):
                self.assertIn("answer", exchange, "is not recorded: ZYGO_TEST_RECORD=1")
                free = exchange["path"] in FREE_PATHS
                found = broken(exchange["answer"], answer, "answer", free, FREE | set(exchange.get("varies", ())))
                self.assertEqual(list(found), [])
        if os.environ.get("ZYGO_TEST_RECORD"):
            RECORDED.write_text(json.dumps(exchanges, indent=1, ensure_ascii=False) + "\n")


class TheComparison(unittest.TestCase):
    def test_it_sees_what_is_gone_or_has_changed_and_nothing_else(self) -> None:
        old = {"label": "OK", "detail": {"code": 3}, "usage": {"cpu_ms": 4}, "list": [1, "a"], "id": "j-0123456789ab", "value": None}
        new = {**old, "usage": {"cpu_ms": 9.5, "more": 1}, "id": "j-ba9876543210", "added": []}
        self.assertEqual(list(broken(old, new, "a")), [])
        for changes, found in (({"label": "NotOk"}, "a.label: was 'OK', is 'NotOk'"), ({"detail": {}}, "a.detail.code: is gone"),
                               ({"usage": {"cpu_ms": "4"}}, "a.usage.cpu_ms: was number, is text"),
                               ({"usage": {}}, "a.usage.cpu_ms: is gone"), ({"list": [1]}, "a.list: had 2 items, has 1"),
                               ({"list": [1, "b"]}, "a.list[1]: was 'a', is 'b'"), ({"value": 0}, "a.value: was null, is number"),
                               ({"id": "other"}, "a.id: was 'j-0123456789ab', is 'other'")):
            with self.subTest(found):
                self.assertEqual(list(broken(old, {**new, **changes}, "a")), [found])


if __name__ == "__main__":
    unittest.main()
