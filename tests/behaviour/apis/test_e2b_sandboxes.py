"""E2B's sandboxes as a whole, as its SDKs use them, in plain HTTP: lives, owners, forks, snapshots, bounds."""

from __future__ import annotations

import json
import os
import tempfile
import unittest
from typing import Any

from apis.e2b_client import ANN, BOB, E2bCase


class Sandboxes(E2bCase):
    def test_a_sandbox_is_told_of_and_listed(self) -> None:
        sandbox = self.create(metadata={"user": "a b", "x": "&"})
        told = self.ask("GET", "/sandboxes/" + sandbox["sandboxID"]).json

        self.assertEqual((told["state"], told["metadata"]), ("running", {"user": "a b", "x": "&"}))
        self.assertNotIn(sandbox["envdAccessToken"], json.dumps(told))
        for query, found in (("", True), ("?metadata=user%3Da%252520b", True), ("?metadata=user%3Dc", False),
                             ("?state=running", True), ("?state=paused", False)):
            with self.subTest(query):
                listed = [each["sandboxID"] for each in self.ask("GET", "/v2/sandboxes" + query).json]
                self.assertEqual(sandbox["sandboxID"] in listed, found)

    def test_a_list_has_pages(self) -> None:
        made = {self.create()["sandboxID"] for _ in range(3)}
        seen: list[str] = []
        token = ""
        for _ in range(100):
            answer = self.ask("GET", "/v2/sandboxes?limit=2&nextToken=" + token)
            self.assertLessEqual(len(answer.json), 2)
            seen += [each["sandboxID"] for each in answer.json]
            token = answer.headers.get("x-next-token", "")
            if not token:
                break
        self.assertEqual(len(seen), len(set(seen)))
        self.assertLessEqual(made, set(seen))

    def test_a_sandbox_belongs_to_the_holder_of_the_token(self) -> None:
        sandbox = self.create()
        path = "/sandboxes/" + sandbox["sandboxID"]

        for method, more in (("GET", ""), ("DELETE", ""), ("POST", "/timeout"), ("POST", "/pause"), ("POST", "/connect"),
                             ("POST", "/fork"), ("POST", "/snapshots")):
            with self.subTest(method + more):
                answer = self.ask(method, path + more, {"timeout": 1} if more == "/timeout" else None, key=BOB)
                self.assertEqual((answer.status, answer.json["code"]), (404, 404))
        self.assertEqual(self.ask("GET", "/v2/sandboxes", key=BOB).json, [])
        self.assertEqual(self.ask("GET", path, key="nobody's").status, 401)

    def test_nobody_comes_in_without_the_sandboxs_secret(self) -> None:
        sandbox, other = self.create(), self.create(BOB)
        for secret in ("", "x", ANN, other["envdAccessToken"]):
            with self.subTest(secret):
                for method, path in (("POST", "/execute"), ("GET", "/contexts"), ("GET", "/files?path=a"), ("GET", "/health"),
                                     ("POST", "/filesystem.Filesystem/Stat"), ("POST", "/process.Process/Start")):
                    answer = self.inside(sandbox, method, path, {"code": "1"}, X_Access_Token=secret)
                    self.assertEqual(answer.status, 401, path)

    def test_a_sandbox_that_is_killed_is_gone(self) -> None:
        sandbox = self.create()
        path = "/sandboxes/" + sandbox["sandboxID"]
        self.assertEqual(self.inside(sandbox, "GET", "/health").status, 204)

        self.assertEqual(self.ask("DELETE", path).status, 204)

        self.assertEqual(self.ask("DELETE", path).status, 404)
        self.assertEqual(self.inside(sandbox, "GET", "/health").status, 502)
        answer = self.inside(sandbox, "POST", "/execute", {"code": "1"})
        self.assertEqual((answer.status, b"was not found" in answer.body), (502, True))

    def test_a_sandbox_ends_with_its_timeout(self) -> None:
        sandbox = self.create()
        path = "/sandboxes/" + sandbox["sandboxID"]
        self.assertEqual(self.ask("POST", path + "/timeout", {"timeout": 0}).status, 204)
        self.assertEqual(self.ask("GET", path).status, 404)

        kept = self.create(autoPause=True)
        path = "/sandboxes/" + kept["sandboxID"]
        self.assertEqual(self.ask("POST", path + "/timeout", {"timeout": 0}).status, 204)
        self.assertEqual(self.ask("GET", path).json["state"], "paused")

    def test_pause_and_connect(self) -> None:
        sandbox = self.create()
        path = "/sandboxes/" + sandbox["sandboxID"]
        self.run_code(sandbox, "x = 1")

        self.assertEqual(self.ask("POST", path + "/pause").status, 204)
        self.assertEqual(self.ask("POST", path + "/pause").status, 409)
        self.assertEqual(self.inside(sandbox, "POST", "/execute", {"code": "x"}).status, 502)
        self.assertEqual(self.ask("POST", "/v2" + path + "/connect", {"timeout": 60}).status, 201)
        self.assertEqual(self.ask("POST", "/v2" + path + "/connect", {}).status, 200)
        self.assertEqual(self.run_code(sandbox, "x").text, "1")

    def test_forks_go_on_from_where_the_sandbox_is(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "x = 1\nopen('f', 'w').write('1')")

        answer = self.ask("POST", f"/sandboxes/{sandbox['sandboxID']}/fork", {"count": 3, "timeout": 300})

        self.assertEqual(answer.status, 201)
        forks = [each["sandbox"] for each in answer.json]
        self.assertEqual(len({fork["sandboxID"] for fork in forks}), 3)
        self.assertEqual([self.run_code(fork, f"x += {i}\nx, open('f').read()").text for i, fork in enumerate(forks)],
                         ["(1, '1')", "(2, '1')", "(3, '1')"])
        self.assertEqual(self.ask("DELETE", "/sandboxes/" + sandbox["sandboxID"]).status, 204)
        self.assertEqual(self.run_code(forks[2], "x").text, "3")
        for fork in forks:
            self.ask("DELETE", "/sandboxes/" + fork["sandboxID"])

    def test_a_snapshot_is_a_template(self) -> None:
        sandbox = self.create()
        path = "/sandboxes/" + sandbox["sandboxID"]
        self.run_code(sandbox, "x = 1")
        snapshot = self.ask("POST", path + "/snapshots", {"name": "here"})
        self.assertEqual((snapshot.status, snapshot.json["names"]), (201, ["here"]))
        self.run_code(sandbox, "x = 2")
        self.ask("DELETE", path)

        for name in ("here", snapshot.json["snapshotID"]):
            copy = self.create(templateID=name, envVars={"A": name})
            self.assertEqual(self.run_code(copy, "import os\nx, os.environ['A']").text, f"(1, '{name}')")
            context = self.inside(copy, "POST", "/contexts", {}).json["id"]
            self.assertEqual(self.run_code(copy, "import os\nos.environ['A']", context_id=context).text, name)

        self.assertEqual(len(self.ask("GET", "/snapshots").json), 1)
        self.assertEqual(self.ask("GET", "/snapshots", key=BOB).json, [])
        self.assertEqual(self.ask("DELETE", "/templates/here", key=BOB).status, 404)
        self.assertEqual(self.ask("DELETE", "/templates/here").status, 204)
        self.assertEqual(self.ask("DELETE", "/templates/here").status, 404)

    def test_a_client_has_so_many(self) -> None:
        sandbox = self.create(BOB)
        fork = "/sandboxes/" + sandbox["sandboxID"] + "/fork"

        answer = self.ask("POST", fork, {"count": 100, "timeout": 300}, key=BOB)

        made = [each["sandbox"]["sandboxID"] for each in answer.json if "sandbox" in each]
        errors = [each["error"]["code"] for each in answer.json if "error" in each]
        self.assertEqual((len(made), errors), (99, [429]))
        self.assertEqual(self.ask("POST", "/v2/sandboxes", {}, key=BOB).status, 429)
        self.create(ANN)
        for each in made:
            self.ask("DELETE", "/sandboxes/" + each, key=BOB)

    def test_what_is_not_offered_is_named(self) -> None:
        sandbox = self.create()
        for method, path in (("GET", f"/sandboxes/{sandbox['sandboxID']}/metrics"), ("GET", "/templates"),
                             ("PUT", f"/sandboxes/{sandbox['sandboxID']}/network"), ("POST", "/volumes")):
            with self.subTest(path):
                answer = self.ask(method, path, {})
                self.assertEqual(answer.status, 501)
                self.assertIn(path, answer.json["message"])
        self.assertEqual(self.ask("POST", "/v2/sandboxes", {"templateID": "no-such"}).status, 400)
        for wish in ({"mcp": {"a": {}}}, {"autoPause": True, "autoResume": {"enabled": True}}, {"autoPauseMemory": False}):
            self.assertEqual(self.ask("POST", "/v2/sandboxes", wish).status, 501, wish)
        for call in ("pause", "connect"):
            self.assertEqual(self.ask("POST", f"/sandboxes/{sandbox['sandboxID']}/{call}", {"memory": False}).status, 501, call)


class Bounded(E2bCase):
    options = ("--nodes-memory", "64M")

    def crowd(self, sandbox: dict[str, Any] | None = None) -> None:
        """So many states that those which nobody uses have to go. `sandbox`: one that is used."""
        for _ in range(30):
            made = self.ask("POST", "/v1/sessions", {"source": "x = bytes(range(256)) * 8000"})
            self.assertEqual(made.status, 200, made.body)
            if sandbox:
                self.assertEqual(self.run_code(sandbox, "1").text, "1")

    def test_a_sandbox_whose_state_had_to_go_is_no_file_that_is_not_there(self) -> None:
        stat, read, code = self.create(), self.create(), self.create()
        snapshot = self.ask("POST", f"/sandboxes/{code['sandboxID']}/snapshots", {}).json["snapshotID"]
        self.crowd()

        answer = self.call(stat, "Stat", {"path": "a"})
        self.assertEqual((answer.status, answer.json["code"]), (503, "unavailable"))
        self.assertEqual(self.inside(read, "GET", "/files?path=a").status, 502)
        self.assertEqual(self.run_code(code, "1").error["name"], "NotRun")
        for sandbox in (stat, read, code):
            self.assertEqual(self.inside(sandbox, "GET", "/health").status, 502)
        self.assertEqual(self.ask("POST", "/v2/sandboxes", {"templateID": snapshot}).status, 404)

    def test_contexts_begin_though_the_first_state_had_to_go(self) -> None:
        sandbox = self.create(envVars={"A": "a"})
        self.run_code(sandbox, "x = 1\nopen('f', 'w').write('1')")
        self.crowd(sandbox)
        usual = self.inside(sandbox, "GET", "/contexts").json[0]["id"]

        self.assertEqual(self.inside(sandbox, "POST", f"/contexts/{usual}/restart").status, 204)
        context = self.inside(sandbox, "POST", "/contexts", {})

        self.assertEqual(context.status, 201, context.body)
        for wish in ({}, {"context_id": context.json["id"]}):
            told = self.run_code(sandbox, "import os\n'x' in globals(), open('f').read(), os.environ['A']", **wish)
            self.assertEqual((told.text, told.error), ("(False, '1', 'a')", None))

    def test_what_cannot_be_kept_was_not_written(self) -> None:
        sandbox = self.create()

        answer = self.inside(sandbox, "POST", "/files?path=big", os.urandom(30 << 20), Content_Type="application/octet-stream")

        self.assertEqual(answer.status, 507, answer.body)
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=big").status, 404)


class BesideAnother(E2bCase):
    options = ("--api", "nemo")

    def test_a_request_that_names_no_sandbox_is_the_others(self) -> None:
        sandbox = self.create()

        nemo = self.ask("POST", "/execute", {"generated_code": "print(6 * 7)", "language": "python", "timeout": 20.0})

        self.assertEqual((nemo.status, nemo.json["stdout"]), (200, "42\n"), nemo.body)
        self.assertEqual(self.run_code(sandbox, "6 * 7").text, "42")
        self.assertEqual(self.inside(sandbox, "GET", "/contexts", E2b_Sandbox_Id="").status, 400)


class BesideAnotherThatIsNamedFirst(BesideAnother):
    apis = ("--api", "nemo", "--api", "e2b")
    options = ()


class AtTheLowestLevel(E2bCase):
    options = ("--level", "minimal")

    def test_code_files_contexts_and_commands_work(self) -> None:
        sandbox = self.create()
        written = self.inside(sandbox, "POST", "/files?path=/home/user/a/b", b"12", Content_Type="application/octet-stream")

        self.assertEqual(written.json[0]["path"], "/home/user/a/b")
        self.assertEqual(self.run_code(sandbox, "x = open('a/b').read()\nx").text, "12")
        self.assertEqual(self.run_command(sandbox, "cat a/b")["stdout"], b"12")
        self.run_code(sandbox, "import os\nos.makedirs('c/d')\nopen('c/e', 'w').close()\nos.chmod('c/d', 0)\nos.chmod('c/e', 0)")
        context = self.inside(sandbox, "POST", "/contexts", {}).json["id"]
        self.assertEqual(self.run_code(sandbox, "'x' in globals(), open('a/b').read()", context_id=context).text, "(False, '12')")
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=/home/user/a/b").body, b"12")


class WithoutPrograms(E2bCase):
    options: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        defaults = cls.enterClassContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-defaults-"))
        defaults.write('{"policy": {"profile": "default"}}')
        defaults.flush()
        cls.options = ("--defaults", defaults.name)
        super().setUpClass()

    def test_the_operators_profile_counts(self) -> None:
        sandbox = self.create()
        told = self.run_command(sandbox, "echo 1")

        self.assertIn(told["error"]["code"], ("permission_denied", "internal"))
        self.assertEqual(self.run_code(sandbox, "6 * 7").text, "42")


if __name__ == "__main__":
    unittest.main()
