"""Sessions over HTTP: their routes, who may use them, and what is told of nodes that are gone."""

from __future__ import annotations

import re
import tempfile
import unittest
from pathlib import Path
from typing import Any

import schema
import serve
from serve import Answer
from sessions.client import ApiTestCase

NOWHERE = "n-" + "0" * 24
ROUTES = (("POST", "/v1/nodes/{node}/run", {"source": "1"}), ("POST", "/v1/nodes/{node}/try", {"steps": [{"source": "1"}]}),
          ("GET", "/v1/nodes/{node}/log", None), ("DELETE", "/v1/nodes/{node}", None),
          ("GET", "/v1/sessions/{session}", None), ("DELETE", "/v1/sessions/{session}", None))


class Sessions(ApiTestCase):
    def test_undo_and_branch(self) -> None:
        _, root = self.begin()
        node = self.after(root, "words = ['a']")
        left = self.after(node, "words.append('b')")
        self.assertEqual(self.value(left, "words"), ["a", "b"])
        self.assertEqual(self.value(node, "words"), ["a"])
        result = self.run_at(left, "words.append(1 / 0)")
        self.assertLabel(result, "ZeroDivisionError")
        self.assertEqual(result["node"], result["session"]["node"])

    def test_a_step_that_is_not_kept_stays_where_it_was(self) -> None:
        _, root = self.begin()
        result = self.run_at(root, "while True: pass", limits={"cpu_ms": 200})
        self.assertLabel(result, "TimeoutException")
        self.assertEqual((result["node"], result["session"]["kept"]), (root, False))

    def test_a_function_is_called_with_inputs(self) -> None:
        _, root = self.begin(source="def f(x): return x * 2")
        answer = self.ask("POST", f"/v1/nodes/{root}/run", {"func": "f", "inputs": [1, "a"]})
        self.assertEqual(answer.json["value"], [2, "aa"])

    def test_what_the_session_says_holds_and_the_step_has_the_last_word(self) -> None:
        _, root = self.begin(limits={"cpu_ms": 1000, "memory_mb": 64}, env={"A": "b"}, files={"f": {"text": "1"}},
                             policy={"profile": "subprocess"})
        self.assertLabel(self.run_at(root, "while True: pass"), "TimeoutException")
        self.assertLabel(self.run_at(root, "x = bytearray(1 << 27)"), "MemoryLimitExceeded")
        self.assertLabel(self.run_at(root, "x = bytearray(1 << 27)", limits={"memory_mb": 256}), "OK")
        node = self.after(root, "import os, subprocess\nsubprocess.run(['true'])\nos.environ['A'] += 'c'\nopen('f', 'a').write('2')")
        self.assertEqual(self.value(node, "[os.environ['A'], open('f').read()]"), ["bc", "12"])
        added = self.run_at(node, "open('g').read() + input()", files={"g": {"text": "3"}}, stdin="4\n")
        self.assertEqual(added["value"], "34")

    def test_a_log_can_be_sent_again(self) -> None:
        session, root = self.begin(limits={"cpu_ms": 4000})
        node = self.after(root, "x = 1", "x += 1")
        self.after(root, "x = 'elsewhere'")
        answer = self.ask("POST", f"/v1/nodes/{node}/run", {"source": "x += int(input())", "stdin": "5", "tag": {"a": 1}})
        node = answer.json["node"]
        log = self.ask("GET", f"/v1/nodes/{node}/log").json
        self.assertEqual((log["session"], log["node"], len(log["steps"])), (session, node, 4))
        first, *steps = log["steps"]
        self.assertEqual((first["parent"], first["node"], first["label"], first["limits"]), (None, root, "OK", {"cpu_ms": 4000}))
        self.assertGreater(steps[-1].pop("seed"), 0)
        self.assertEqual({**steps[-1], "time": ""}, {"node": node, "parent": steps[-2]["node"], "label": "OK", "time": "",
                                                     "source": "x += int(input())", "stdin": "5", "tag": {"a": 1}})
        again = self.ask("POST", "/v1/sessions", first).json["node"]
        for step in steps:
            again = self.ask("POST", f"/v1/nodes/{again}/run", step).json["node"]
        self.assertEqual(self.value(again, "x"), 7)

    def test_the_tree(self) -> None:
        session, root = self.begin()
        left, right = self.after(root, "x = 1"), self.after(root, "x = 2")
        nodes = self.nodes_of(session)
        self.assertEqual({node: each["parent"] for node, each in nodes.items()}, {root: None, left: root, right: root})
        self.assertTrue(all(each["there"] and each["bytes"] > 0 and each["label"] == "OK" and each["time"].endswith("Z")
                            for each in nodes.values()), nodes)

    def test_a_node_that_is_deleted_leaves_its_children(self) -> None:
        session, root = self.begin()
        node = self.after(root, "x = 1")
        child = self.after(node, "x += 1")
        before = self.service.metric("zygo_nodes ")
        self.assertEqual(self.ask("DELETE", f"/v1/nodes/{node}").status, 200)
        self.service.await_metric("zygo_nodes ", before - 1)
        for method, path, body in ROUTES[:2] + ROUTES[3:4]:
            message = self.assertRefused(self.ask(method, path.format(node=node), body), 410, "gone")
            self.assertIn("its client has deleted it", message)
        self.assertEqual(self.value(child, "x"), 2)
        self.assertEqual([each["node"] for each in self.ask("GET", f"/v1/nodes/{child}/log").json["steps"]], [root, node, child])
        self.assertEqual({each: nodes["there"] for each, nodes in self.nodes_of(session).items() if each != child and nodes["parent"] != child},
                         {root: True, node: False})

    def test_a_session_that_is_ended_is_gone_with_its_nodes(self) -> None:
        before = self.service.metric("zygo_nodes ")
        session, root = self.begin()
        node = self.after(root, "x = 1")
        self.service.await_metric("zygo_nodes ", before + 2)
        self.assertEqual(self.ask("DELETE", f"/v1/sessions/{session}").status, 200)
        self.service.await_metric("zygo_nodes ", before)
        for method, path, body in ROUTES:
            message = self.assertRefused(self.ask(method, path.format(node=node, session=session), body), 410, "gone")
            self.assertIn(f'session "{session}" is gone: its client has ended it', message)
        gone = self.service.run("1", session=node)
        self.assertLabel(gone, "BadJob")

    def test_what_was_never_there(self) -> None:
        for method, path, body in ROUTES:
            code = "no_session" if "session" in path else "no_node"
            self.assertRefused(self.ask(method, path.format(node=NOWHERE, session="s-1"), body), 404, code)

    def test_bodies_that_are_none_name_the_field(self) -> None:
        _, root = self.begin()
        run, many = f"/v1/nodes/{root}/run", f"/v1/nodes/{root}/try"
        good = [{"source": "1"}]
        score = {"source": "def f(x): return x", "func": "f"}
        for where, body, path in (
                ("/v1/sessions", {"limits": {"cpu_ms": 0}}, "limits.cpu_ms"), ("/v1/sessions", {"session": "new"}, "session"),
                ("/v1/sessions", {"tests": []}, None), ("/v1/sessions", {"template": "nobody"}, "template"),
                ("/v1/sessions", [], None), ("/v1/sessions", {"outputs": ["*"]}, "outputs"),
                ("/v1/sessions", {"keep": False}, "keep"), ("/v1/sessions", b"{", None),
                (run, {}, "source"), (run, {"source": 1}, "source"), (run, {"source": "1", "session": "new"}, "session"),
                (run, {"source": "1", "tenant": "a"}, "tenant"), (run, {"source": "1", "template": "c"}, "template"),
                (run, {"source": "1", "policy": {"profile": "build"}}, "policy.profile"),
                (run, {"sauce": ""}, "sauce"), (run, {"func": "f"}, "inputs"),
                (many, {}, "steps"), (many, {"steps": []}, "steps"), (many, {"steps": good * 257}, "steps"),
                (many, {"steps": [*good, {"source": 1}]}, "steps[1].source"), (many, {"steps": [*good, {}]}, "steps[1].source"),
                (many, {"steps": [1]}, "steps[0]"), (many, {"steps": [{"source": "1", "limits": {"x": 1}}]}, None),
                (many, {"steps": good, "keep": "some"}, "keep"), (many, {"steps": good, "keep": {"best": 0}}, "keep.best"),
                (many, {"steps": good, "keep": {"best": 1}}, "score"), (many, {"steps": good, "score": {"source": ""}}, "score.func"),
                (many, {"steps": good, "score": {**score, "inputs": []}}, "score.inputs"),
                (many, {"steps": good, "score": {**score, "limits": {"cpu_ms": "1"}}}, "score.limits.cpu_ms"),
                (many, {"steps": good, "score": {**score, "template": "nobody"}}, "score.template"), (many, {"more": 1}, "more")):
            with self.subTest(where=where, body=body if len(str(body)) < 200 else "long"):
                answer = self.ask("POST", where, body)
                if where == "/v1/sessions" and body == {"tests": []}:
                    self.assertEqual(answer.status, 200)
                    continue
                self.assertRefused(answer, 400, "bad_job", path)

    def test_ways_that_steps_do_not_go(self) -> None:
        _, root = self.begin()
        path = f"/v1/nodes/{root}/run"
        self.assertRefused(self.ask("POST", path + "?async=1", {"source": "1"}), 400, "async")
        self.assertRefused(self.ask("POST", path, {"source": "1"}, **{"Idempotency-Key": "a"}), 400, "idempotency")
        self.assertRefused(self.ask("POST", path, {"source": "1"}, **{"X-Zygo-Patience": "soon"}), 400, "patience")

    def test_a_first_step_that_is_not_kept_is_no_session(self) -> None:
        message = self.assertRefused(self.ask("POST", "/v1/sessions", {"source": "import os; os._exit(1)"}), 422, "not_kept")
        self.assertIn("the program ended before its step was over", message)
        self.assertRefused(self.ask("POST", "/v1/sessions", {"source": "int main() {}", "template": "c"}), 400, "bad_job")
        _, root = self.begin(source="x = 3\n1 / 0")
        self.assertEqual(self.value(root, "x"), 3)


class Bounded(ApiTestCase):
    options = ("--nodes-memory", "16M")

    def test_a_node_that_had_to_make_room_says_so(self) -> None:
        session, root = self.begin()
        for _ in range(30):
            self.run_at(self.begin(source="x = bytes(range(256)) * 4000")[1], "1")
        self.assertEqual(self.nodes_of(session)[root]["there"], False)
        self.assertEqual(len(self.ask("GET", f"/v1/nodes/{root}/log").json["steps"]), 1)
        self.assertIn("its memory was needed for others", self.nodes_of(session)[root]["why_gone"])
        self.assertEqual(self.run_at(root, "1")["replayed"], 1)
        self.assertEqual(self.nodes_of(session)[root]["there"], True)

    def test_a_tree_says_what_is_gone_before_anybody_has_gone_on_from_it(self) -> None:
        session, root = self.begin()
        for _ in range(30):
            self.begin(source="x = bytes(range(256)) * 4000")
        self.assertIn("its memory was needed", self.nodes_of(session)[root]["why_gone"])


class Tenants(ApiTestCase):
    @classmethod
    def setUpClass(cls) -> None:
        home = tempfile.TemporaryDirectory(prefix="behaviour-sessions-")
        cls.addClassCleanup(home.cleanup)
        tokens = Path(home.name, "tokens")
        tokens.write_text("ann ann-has-this-long-token\nbob bob-has-this-long-token\n"
                          "boss boss-has-this-long-token jobs,tenant\nmeter meter-has-this-long-token metrics\n")
        tokens.chmod(0o600)
        cls.options = ("--tokens", str(tokens), "--tenant-by", "field")
        super().setUpClass()

    def by(self, name: str, method: str, path: str, body: Any = None) -> Answer:
        return self.ask(method, path, body, Authorization=f"Bearer {name}-has-this-long-token")

    def test_nobody_sees_another_tenants(self) -> None:
        made = self.by("ann", "POST", "/v1/sessions", {}).json
        for method, path, body in ROUTES:
            self.assertEqual(self.by("bob", method, path.format(**made), body).status, 404, path)
            self.assertEqual(self.by("meter", method, path.format(**made), body).status, 403, path)
            self.assertEqual(self.ask(method, path.format(**made), body).status, 401, path)
        never = self.by("bob", "GET", "/v1/sessions/s-1").json
        self.assertEqual(self.by("bob", "GET", f"/v1/sessions/{made['session']}").json, never)
        self.assertLabel(self.by("ann", "POST", f"/v1/nodes/{made['node']}/run", {"source": "1"}).json, "OK")
        self.by("ann", "DELETE", f"/v1/sessions/{made['session']}")
        for method, path, body in ROUTES:
            self.assertEqual(self.by("bob", method, path.format(**made), body).status, 404, path)
            self.assertEqual(self.by("ann", method, path.format(**made), body).status, 410, path)

    def test_who_may_name_a_tenant_acts_for_it(self) -> None:
        self.assertRefused(self.by("ann", "POST", "/v1/sessions", {"tenant": "carl"}), 403, "tenant")
        made = self.by("boss", "POST", "/v1/sessions", {"tenant": "ann"}).json
        self.assertLabel(self.by("ann", "POST", f"/v1/nodes/{made['node']}/run", {"source": "1"}).json, "OK")
        self.assertLabel(self.by("boss", "POST", f"/v1/nodes/{made['node']}/run", {"source": "1"}).json, "OK")
        self.assertEqual(self.by("bob", "GET", f"/v1/sessions/{made['session']}").status, 404)


    def test_each_sees_its_own_in_the_list(self) -> None:
        def listed(name: str) -> list[str]:
            return [each["session"] for each in self.by(name, "GET", "/v1/sessions").json["sessions"]]

        def counted() -> int:
            found = re.search(r"^zygo_sessions (\d+)$", self.by("meter", "GET", "/metrics").body.decode(), re.MULTILINE)
            return int(found[1]) if found else -1

        first, second = (self.by("ann", "POST", "/v1/sessions", {}).json for _ in range(2))
        of_bob = self.by("bob", "POST", "/v1/sessions", {}).json["session"]
        self.assertEqual(listed("ann")[:2], [second["session"], first["session"]])
        self.assertEqual(listed("bob")[:1], [of_bob])
        self.assertNotIn(of_bob, listed("ann"))
        self.assertLessEqual({of_bob, first["session"]}, set(listed("boss")))
        self.by("ann", "POST", f"/v1/nodes/{first['node']}/run", {"source": "1"})
        about = self.by("ann", "GET", "/v1/sessions").json["sessions"][0]
        self.assertEqual((about["session"], about["tenant"], about["nodes"]), (first["session"], "ann", 2))
        self.assertGreaterEqual(about["last"], about["began"])
        before = counted()
        self.assertGreaterEqual(before, 3)
        self.by("ann", "DELETE", f"/v1/sessions/{first['session']}")
        self.assertNotIn(first["session"], listed("ann"))
        self.assertEqual(counted(), before - 1)
        self.assertEqual(self.by("meter", "GET", "/v1/sessions").status, 403)


class Document(ApiTestCase):
    def test_answers_are_as_the_document_says(self) -> None:
        document = self.ask("GET", "/v1/openapi.json").json
        session, root = self.begin()
        self.tried(root, ["1", "1 / 0"], score={"source": "def f(x): return float('inf')", "func": "f"}, keep={"best": 1})
        self.ask("GET", f"/v1/nodes/{root}/log")
        self.run_at(root, "1")
        self.nodes_of(session)
        self.ask("GET", "/v1/sessions")
        self.ask("DELETE", f"/v1/nodes/{root}")
        self.ask("DELETE", f"/v1/sessions/{session}")
        seen = 0
        for (method, path, status), bodies in serve.BODIES.items():
            if not path.startswith(("/v1/sessions", "/v1/nodes")):
                continue
            self.assertIn(str(status), document["paths"][path][method.lower()]["responses"], (method, path))
            for body in bodies:
                self.assertEqual(schema.problems_of_answer(document, method, path, status, body), [], body[:500])
                seen += 1
        self.assertGreaterEqual(seen, 8)


if __name__ == "__main__":
    unittest.main()
