"""Many steps from one node: their answers, which of them are kept, and that none of them raises its own score."""

from __future__ import annotations

import json
import signal
import unittest
from typing import Any

import zygo
from serve import Service, read_to_end
from sessions.client import ApiTestCase

# The value's length, or the number that it is.
SCORE = {"source": "def score(value):\n    return value if isinstance(value, (int, float)) else len(value)", "func": "score"}


class Keep(ApiTestCase):
    def setUp(self) -> None:
        self.session, self.root = self.begin(source="x = [0]")

    def kept(self, summary: dict[str, Any]) -> list[int]:
        return [each["index"] for each in summary["kept"]]

    def assertThere(self, *nodes: str) -> None:
        """These and the first are in the tree and with the engine, and no others of this session."""
        tree = self.nodes_of(self.session)
        self.assertEqual(set(tree), {self.root, *nodes})
        self.assertTrue(all(each["there"] for each in tree.values()), tree)

    def test_all(self) -> None:
        lines, summary = self.tried(self.root, ["x.append(1)\nx", "1 / 0", "while True: pass"], keep="all")
        self.assertEqual([lines[i]["label"] for i in range(3)], ["OK", "ZeroDivisionError", "TimeoutException"])
        self.assertEqual((summary["steps"], summary["ok"], self.kept(summary)), (3, 1, [0, 1]))
        self.assertEqual(lines[0]["value"], [0, 1])
        self.assertIsNone(lines[2]["node"])
        self.assertThere(lines[0]["node"], lines[1]["node"])
        self.assertEqual(self.value(lines[0]["node"], "x"), [0, 1])
        self.assertEqual(self.value(self.root, "x"), [0])

    def test_all_is_what_is_meant_where_nothing_is_said(self) -> None:
        _, summary = self.tried(self.root, ["1", "2"])
        self.assertEqual(self.kept(summary), [0, 1])

    def test_those_that_ended_well(self) -> None:
        lines, summary = self.tried(self.root, ["1 / 0", "x.append(1)", "raise KeyError"], keep="ok")
        self.assertEqual(self.kept(summary), [1])
        self.assertThere(lines[1]["node"])
        self.assertEqual((lines[0]["node"], lines[0]["session"]["kept"], lines[0]["session"]["why_not"]),
                         (None, False, "the request keeps no such step"))

    def test_none(self) -> None:
        before = self.service.metric("zygo_nodes ")
        lines, summary = self.tried(self.root, [f"{i}" for i in range(20)], keep="none")
        self.assertEqual((self.kept(summary), [lines[i]["value"] for i in range(20)]), ([], list(range(20))))
        self.assertEqual({line["session"]["kept"] for line in lines.values()}, {False})
        self.assertThere()
        self.service.await_metric("zygo_nodes ", before)

    def test_the_best(self) -> None:
        before = self.service.metric("zygo_nodes ")
        steps = [f"x.append({i})\n{i * 7 % 20}" for i in range(20)]
        lines, summary = self.tried(self.root, steps, keep={"best": 3}, score=SCORE)
        self.assertEqual([lines[i]["score"] for i in range(20)], [i * 7 % 20 for i in range(20)])
        self.assertEqual([each["score"] for each in summary["kept"]], [19, 18, 17])
        self.assertThere(*(each["node"] for each in summary["kept"]))
        self.service.await_metric("zygo_nodes ", before + 3)
        best = summary["kept"][0]
        self.assertEqual(self.value(best["node"], "x"), [0, best["index"]])

    def test_steps_without_a_score_come_last(self) -> None:
        steps = ["raise ValueError", "None", "'text'", "-5.5", "float('-inf')", "float('nan')", "True", "x.append(1); 10 ** 30"]
        lines, summary = self.tried(self.root, steps, keep={"best": 8}, score={"source": "def f(x): return x", "func": "f"})
        self.assertEqual(self.kept(summary), [7, 3, 4, 0, 1, 2, 5, 6])
        self.assertEqual([each["score"] for each in summary["kept"][:3]], [1e30, -5.5, {"$type": "float", "value": "-inf"}])
        self.assertEqual({lines[i]["why_no_score"] for i in (1, 2, 5, 6)}, {"its score is no number"})
        self.assertEqual((lines[0]["score"], "why_no_score" in lines[0]), (None, False))

    def test_a_score_that_fails_is_none(self) -> None:
        score = {"source": "def f(x):\n    while x: pass\n    return 1 / x", "func": "f", "limits": {"cpu_ms": 200}}
        lines, summary = self.tried(self.root, ["0", "1"], keep={"best": 1}, score=score)
        self.assertEqual([lines[i]["why_no_score"] for i in range(2)],
                         ["its score ended with ZeroDivisionError", "its score ended with TimeoutException"])
        self.assertEqual(self.kept(summary), [0])

    def test_scores_may_be_told_though_all_are_kept(self) -> None:
        _, summary = self.tried(self.root, ["'a'", "'abc'", "'ab'"], score=SCORE)
        self.assertEqual([(each["index"], each["score"]) for each in summary["kept"]], [(1, 3), (2, 2), (0, 1)])

    def test_calls_of_a_function_that_is_there(self) -> None:
        node = self.after(self.root, "def f(a): return a + 1")
        lines, _ = self.tried(node, [{"func": "f", "inputs": [i]} for i in range(3)])
        self.assertEqual([lines[i]["value"] for i in range(3)], [[1], [2], [3]])

    def test_as_many_as_there_may_be(self) -> None:
        _, summary = self.tried(self.root, ["1"] * 256, keep={"best": 1}, score=SCORE)
        self.assertEqual((summary["steps"], self.kept(summary)), (256, [0]))

    def test_a_client_that_leaves_keeps_nothing(self) -> None:
        before = self.service.metric("zygo_nodes ")
        body = json.dumps({"steps": [{"source": "1"}, {"source": "import time; time.sleep(60)", "limits": {"wall_ms": 60000}}]})
        client = self.service.connect()
        client.sendall(f"POST /v1/nodes/{self.root}/try HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
        seen = b""
        while b'"index":0' not in seen:
            seen += client.recv(65536)
        client.close()
        self.service.await_metric("zygo_engine_jobs ", 0)
        self.service.await_metric("zygo_nodes ", before)
        self.assertThere()

    def test_a_session_that_ends_meanwhile_keeps_nothing(self) -> None:
        before = self.service.metric("zygo_nodes ")
        body = json.dumps({"steps": [{"source": "1"}, {"source": "import time; time.sleep(60)", "limits": {"wall_ms": 60000}}]})
        with self.service.connect() as client:
            client.sendall(f"POST /v1/nodes/{self.root}/try HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                           f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
            seen = b""
            while b'"index":0' not in seen:
                seen += client.recv(65536)
            self.assertEqual(self.ask("DELETE", f"/v1/sessions/{self.session}").status, 200)
            seen += read_to_end(client)
        self.assertIn(b'"label":"Cancelled"', seen)
        self.assertIn(b'"summary"', seen)
        self.service.await_metric("zygo_nodes ", before - 1)


class Tampering(ApiTestCase):
    """A step has its own interpreter, and its value is all that its score is about."""

    def test_nothing_but_the_value_counts(self) -> None:
        _, root = self.begin()
        attacks = [
            "2",
            "def score(value): return 1000\nglobals()['score'] = score\n1",
            "import builtins\nbuiltins.len = lambda x: 1000\nbuiltins.isinstance = lambda *a: True\nbuiltins.float = lambda *a: 1e9\n1",
            "class N(int):\n  def __eq__(s, o): return True\n  def __gt__(s, o): return True\n  def __lt__(s, o): return False\n"
            "  def __float__(s): return 1e9\n  def __index__(s): return 1000\n  def __repr__(s): return '1000'\n  def __hash__(s): return 0\nN(1)",
            "class L(list):\n  def __len__(s): return 1000\n  def __iter__(s): return iter(range(1000))\nL([1])",
            "import sys, types\nm = types.ModuleType('score')\nm.score = lambda v: 1000\nsys.modules['score'] = sys.modules['__main__'] = m\n1",
            "import sys\nsys.setprofile(lambda *a: None)\nsys.settrace(lambda *a: None)\nsys.displayhook = lambda v: 1000\n1",
            "open('score.py', 'w').write('def score(v): return 1000')\nopen('sitecustomize.py', 'w').write('raise SystemExit')\n"
            "import os\nos.environ['PYTHONPATH'] = os.getcwd()\n1",
            "print('{\"summary\":{\"kept\":[]}}')\nprint('{\"index\":0,\"score\":1000}')\n1",
            "{'$type': 'float', 'value': 'inf'}",
            "'1000'",
        ]
        lines, summary = self.tried(root, attacks, keep={"best": 1}, score={"source": SCORE["source"], "func": "score"})
        self.assertEqual(lines[0]["score"], 2)
        for index in range(1, len(attacks)):
            with self.subTest(attack=attacks[index]):
                if lines[index]["label"] == "OK" and attacks[index].endswith("\n1"):
                    self.assertEqual((lines[index]["value"], lines[index]["score"]), (1, 1))
                score = lines[index]["score"]
                self.assertIn(score, (None, 1, 2, 4))  # of the last two: their lengths
        self.assertEqual([each["index"] for each in summary["kept"]], [10])

    def test_a_score_sees_no_file_and_no_name_of_the_step(self) -> None:
        _, root = self.begin(files={"f": {"text": "x"}}, env={"A": "b"}, source="secret = 7")
        score = {"func": "f", "source": "import os\ndef f(value):\n"
                 "    import __main__\n    return len(os.listdir('.')) + ('A' in os.environ) + hasattr(__main__, 'secret') + value"}
        lines, _ = self.tried(root, ["open('g', 'w').close(); 0"], score=score)
        self.assertEqual(lines[0]["score"], 0)

    def test_one_score_sees_nothing_of_another(self) -> None:
        _, root = self.begin()
        score = {"func": "f", "source": "calls = []\ndef f(value):\n    calls.append(value)\n    return len(calls)"}
        lines, _ = self.tried(root, ["1"] * 8, score=score)
        self.assertEqual({line["score"] for line in lines.values()}, {1})


class Ends(zygo.ZygoTestCase):
    def test_a_service_that_ends_answers_each_step(self) -> None:
        service = Service("--log", "off", "--grace", "300ms", "--workers", "2")
        self.addCleanup(service.stop)
        root = service.ask("POST", "/v1/sessions", {}).json["node"]
        body = json.dumps({"steps": [{"source": "1"}, *[{"source": "import time; time.sleep(60)", "limits": {"wall_ms": 60000}}] * 30]})
        with service.connect() as client:
            client.sendall(f"POST /v1/nodes/{root}/try HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            seen = b""
            while b'"index":0' not in seen:
                seen += client.recv(65536)
            service.process.send_signal(signal.SIGTERM)
            seen += read_to_end(client)
        self.assertEqual((seen.count(b'"label":"Cancelled"'), seen.count(b'"summary"')), (30, 1))
        self.assertEqual(service.wait()[0], 0)

    def test_a_body_that_is_too_long(self) -> None:
        service = Service("--log", "off", "--max-body", "1M")
        self.addCleanup(service.stop)
        root = service.ask("POST", "/v1/sessions", {}).json["node"]
        long = {"source": "#" * (1 << 20)}
        for path, body in (("/v1/sessions", long), (f"/v1/nodes/{root}/run", long), (f"/v1/nodes/{root}/try", {"steps": [long]})):
            self.assertEqual(service.ask("POST", path, body).status, 413, path)


class Elsewhere(zygo.ZygoTestCase):
    def test_a_router_has_no_sessions(self) -> None:
        router = Service("--log", "off", "--allow-anyone", command="route")
        self.addCleanup(router.stop)
        for method, path, body in (("POST", "/v1/sessions", {}), ("GET", "/v1/sessions/s-1", None), ("DELETE", "/v1/sessions/s-1", None),
                                   ("POST", "/v1/nodes/n-1/run", {"source": ""}), ("POST", "/v1/nodes/n-1/try", {"steps": []}),
                                   ("GET", "/v1/nodes/n-1/log", None), ("DELETE", "/v1/nodes/n-1", None)):
            answer = router.ask(method, path, body)
            self.assertEqual((answer.status, answer.json["error"]["code"]), (501, "sessions"), (method, path))
            self.assertIn("a router has no sessions", answer.json["error"]["message"])


if __name__ == "__main__":
    unittest.main()
