"""Nodes that are gone: their log makes them anew, under the same name, and the answer says so."""

from __future__ import annotations

import unittest
from concurrent.futures import ThreadPoolExecutor

import host
from sessions.client import ApiTestCase

DRAWS = "import random\nx = [random.random(), random.gauss(0, 1)]\nopen('f', 'a').write(str(x))"
LOOK = "[x, random.random(), open('f').read()]"


class Replay(ApiTestCase):
    def lose_all(self) -> None:
        """The processes that nodes can be put back into."""
        for template in host.templates_of(self.service.process.pid):
            host.kill_and_await(template)

    def there(self, session: str) -> dict[str, bool]:
        return {each["node"]: each["there"] for each in self.ask("GET", f"/v1/sessions/{session}").json["nodes"]}

    def test_the_state_is_as_it_was(self) -> None:
        session, root = self.begin(files={"given": {"text": "5"}}, env={"A": "b"})
        node = self.after(root, DRAWS, "x.append(int(open('given').read()))", "import os\nx.append(os.environ['A'])")
        before = self.run_at(node, LOOK)
        self.lose_all()
        answer = self.run_at(node, LOOK, seed=self.seed_of(before["node"]))
        self.assertLabel(answer, "OK")
        self.assertEqual((answer["replayed"], answer["parent"], answer["session"]["parent"]), (4, node, node))
        self.assertEqual(answer["value"], before["value"])
        self.assertEqual(answer["value"][0][2:], [5, "b"])
        again = self.run_at(node, "x")
        self.assertNotIn("replayed", again)
        self.assertEqual(again["parent"], node)
        self.assertEqual(self.value(answer["node"], "x"), before["value"][0])
        self.assertNotIn("replayed", self.run_at(root, "1"))  # it was made on the way
        self.assertEqual(self.there(session)[before["node"]], False)  # it was not

    def seed_of(self, node: str) -> int:
        return self.ask("GET", f"/v1/nodes/{node}/log").json["steps"][-1]["seed"]

    def test_a_long_log(self) -> None:
        _, node = self.begin(source="x = []")
        for i in range(30):
            node = self.after(node, f"x.append({i})")
        self.lose_all()
        answer = self.run_at(node, "sum(x)")
        self.assertEqual((answer["value"], answer["replayed"]), (435, 31))

    def test_only_what_is_missing_is_run(self) -> None:
        session, root = self.begin()
        self.lose_all()
        node = self.after(root, "x = 1")  # makes the first anew
        self.lose_all()
        self.assertEqual(self.run_at(root, "1")["replayed"], 1)
        self.assertEqual(self.run_at(node, "x")["replayed"], 1)

    def test_a_step_that_is_not_kept_names_its_parent(self) -> None:
        _, root = self.begin()
        node = self.after(root, "x = 1")
        self.lose_all()
        result = self.run_at(node, "while True: pass", limits={"cpu_ms": 200})
        self.assertLabel(result, "TimeoutException")
        self.assertEqual((result["node"], result["session"]["node"], result["session"]["parent"]), (node, node, node))
        self.assertEqual(self.value(node, "x"), 1)

    def test_a_deleted_node_stays_deleted_and_those_behind_it_are_there(self) -> None:
        _, root = self.begin()
        middle = self.after(root, "x = [1]")
        last = self.after(middle, "x.append(2)")
        self.assertEqual(self.ask("DELETE", f"/v1/nodes/{middle}").status, 200)
        self.lose_all()
        self.assertEqual(self.value(last, "x"), [1, 2])
        answer = self.ask("POST", f"/v1/nodes/{middle}/run", {"source": "x"})
        self.assertEqual((answer.status, "deleted" in answer.json["error"]["message"]), (410, True))

    def test_who_asks_at_once_waits_for_one_replay(self) -> None:
        _, root = self.begin()
        node = self.after(root, DRAWS)
        drawn = self.value(node, "x")
        self.lose_all()
        with ThreadPoolExecutor(8) as threads:
            results = list(threads.map(lambda _: self.run_at(node, "x"), range(8)))
        self.assertEqual([result["value"] for result in results], [drawn] * 8)
        self.assertNotIn("replayed", self.run_at(node, "x"))

    def test_branches_that_begin_alike_run_what_they_share_once(self) -> None:
        _, root = self.begin()
        stem = self.after(root, DRAWS, "x.append(1)", "x.append(2)")
        leaves = {self.after(stem, f"x.append({i})"): i for i in range(10, 18)}
        drawn = self.value(stem, "x")
        self.lose_all()
        with ThreadPoolExecutor(8) as threads:
            results = dict(zip(leaves, threads.map(lambda leaf: self.run_at(leaf, "x"), leaves)))
        for leaf, i in leaves.items():
            self.assertEqual(results[leaf]["value"], [*drawn, i])
        self.assertEqual(sum(result["replayed"] for result in results.values()), 4 + len(leaves))

    def test_branches_behind_a_deleted_node_are_there_and_it_is_not(self) -> None:
        _, root = self.begin()
        stem = self.after(root, DRAWS)
        leaves = {self.after(stem, f"x.append({i})"): i for i in range(8)}
        drawn = self.value(stem, "x")
        self.assertEqual(self.ask("DELETE", f"/v1/nodes/{stem}").status, 200)
        self.lose_all()
        with ThreadPoolExecutor(8) as threads:
            values = list(threads.map(lambda leaf: self.value(leaf, "x"), leaves))
        self.assertEqual(values, [[*drawn, i] for i in leaves.values()])
        self.assertEqual(self.ask("POST", f"/v1/nodes/{stem}/run", {"source": "x"}).status, 410)

    def test_many_steps_are_tried_at_a_node_that_is_made_anew(self) -> None:
        _, root = self.begin()
        node = self.after(root, "x = 3")
        self.lose_all()
        lines = self.ask("POST", f"/v1/nodes/{node}/try", {"steps": [{"source": f"x * {i}"} for i in range(6)]}).lines
        self.assertEqual(sorted(line["value"] for line in lines[:-1]), [0, 3, 6, 9, 12, 15])
        self.assertEqual({line["parent"] for line in lines[:-1]} | {line["session"]["parent"] for line in lines[:-1]}, {node})

    def test_a_step_that_ends_otherwise_is_told_and_nothing_is_run_at_its_state(self) -> None:
        """Half of them raise, and half of them do so when they are run once more."""
        _, root = self.begin()
        nodes = {}
        for _ in range(24):
            result = self.run_at(root, "import os\nif os.urandom(1)[0] % 2: raise ValueError\nx = 1")
            nodes[result["node"]] = result["label"]
        self.lose_all()
        told = [self.ask("POST", f"/v1/nodes/{node}/run", {"source": "'x' in globals()"}) for node in nodes]
        self.assertEqual({answer.status for answer in told}, {200, 410})
        for answer, label in zip(told, nodes.values()):
            if answer.status == 200:
                self.assertEqual(answer.json["value"], label == "OK")
            else:
                self.assertIn("step 2 of its log, run once more, ended otherwise", answer.json["error"]["message"])

    def test_a_session_that_is_over_is_not_made_anew(self) -> None:
        session, root = self.begin()
        self.lose_all()
        self.assertEqual(self.ask("DELETE", f"/v1/sessions/{session}").status, 200)
        self.assertEqual(self.ask("POST", f"/v1/nodes/{root}/run", {"source": "1"}).status, 410)


if __name__ == "__main__":
    unittest.main()
