"""Sessions from Python, of an embedded runtime and of a service, and for asyncio."""

from __future__ import annotations

import asyncio
import http.server
import json
import os
import threading
import time
import unittest
from typing import Any, ClassVar

import support

import zygo

ENDLESS, PATIENT = "while True: pass", {"cpu_ms": 60_000, "wall_ms": 60_000}


class InTrouble(http.server.BaseHTTPRequestHandler):
    """A service that is busy at first, then closes the connection, and then answers."""

    protocol_version = "HTTP/1.1"
    steps: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/v1/sessions":
            return self.answer(200, {"session": "s-1", "node": "n-1"})
        self.steps.append(self.path)
        if len(self.steps) == 1:
            return self.answer(503, {"error": {"code": "busy", "message": "later"}})
        if len(self.steps) == 2:
            self.close_connection = True
            return None
        told = {"node": "n-2", "parent": "n-1", "kept": True, "bytes": 1}
        return self.answer(200, {"node": "n-2", "parent": "n-1", "id": "j-1", "label": "OK", "by": "program", "ok": True, "session": told})

    def do_DELETE(self) -> None:
        self.answer(200, {})

    def answer(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class AServiceInTrouble(unittest.TestCase):
    def test_is_waited_for_and_asked_again(self) -> None:
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), InTrouble) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            with zygo.Pool("python", url=f"http://127.0.0.1:{server.server_port}", standing=False) as pool, pool.session() as session:
                result = session.run("1")
            server.shutdown()

        self.assertEqual((result.label, session.node, InTrouble.steps), ("OK", "n-2", ["/v1/nodes/n-1/run"] * 3))
        self.assertIsNone(result.session["parent"])


class Sessions(support.Place):
    def session(self, **fields: Any) -> zygo.Session:
        session = self.pool(template="python").session(**fields)
        self.addCleanup(session.close)  # type: ignore[attr-defined]
        return session

    def test_steps_keep_their_variables_and_can_be_undone(self) -> None:
        session = self.session()
        self.assertIsNone(session.node)

        first = session.run("words = ['a']")
        session.run("words.append('b')")

        self.assertEqual((first.session["parent"], first.session["kept"], first.more), (None, True, {}))
        self.assertEqual(session.run("words").value, ["a", "b"])
        self.assertEqual(session.undo(2).run("words").value, ["a"])
        self.assertEqual(session.undo(2).run("words").label, "NameError")
        self.assertRaises(ValueError, session.undo, 9)

    def test_branches_and_tries_go_on_from_one_state(self) -> None:
        session = self.session()
        session.run("words = ['a']")
        branch = session.branch()
        session.run("words.append('b')")

        tried = branch.try_all(["words + ['c']", {"source": "len(words)", "tag": 7}, "1 / 0"], limits={"cpu_ms": 4000})

        self.assertEqual([(each.label, each.value, each.tag) for each in tried],
                         [("OK", ["a", "c"], None), ("OK", 1, 7), ("ZeroDivisionError", None, None)])
        self.assertEqual(branch.at(tried[0]).run("_ + ['d']").value, ["a", "c", "d"])
        self.assertEqual((session.run("words").value, branch.run("words").value), (["a", "b"], ["a"]))
        self.assertEqual(self.session().try_all([]), [])

    def test_a_step_that_is_not_kept_leaves_the_session_where_it_was(self) -> None:
        session = self.session(limits={"cpu_ms": 200})

        lost = session.run(ENDLESS)
        self.assertEqual((lost.label, lost.session["kept"], lost.session["node"], session.node),
                         ("TimeoutException", False, None, None))
        self.assertRaises(ValueError, session.at, lost)
        session.run("x = 1")
        node = session.node
        self.assertEqual((session.run(ENDLESS, limits={"cpu_ms": 100}).label, session.node), ("TimeoutException", node))
        self.assertEqual(session.run("x").value, 1)

    def test_fields_of_the_session_are_those_of_each_step(self) -> None:
        session = self.session(env={"NAME": "ada"}, limits={"memory_mb": 64})

        self.assertEqual(session.run("import os; os.environ['NAME']", env={"MORE": "1"}).value, "ada")
        self.assertEqual(session.run("os.environ.get('MORE', '')").value, "1")
        self.assertEqual(session.run("x = bytearray(1 << 28)").label, "MemoryLimitExceeded")
        self.assertEqual(session.run("def f(x): return (x, x)").label, "OK")
        self.assertEqual(session.run("", "f", [1, (2,)]).value, [(1, 1), ((2,), (2,))])

    def test_a_result_with_an_id_has_its_line(self) -> None:
        session = self.session()
        for result in (session.run("6 * 7", id="mine"), session.try_all([{"source": "6 * 7", "id": "mine"}])[0]):
            self.assertEqual((result.id, json.loads(result.line)["id"], json.loads(result.line)["value"]), ("mine", "mine", 42))

    def test_the_log_and_the_tree_tell_what_was_run(self) -> None:
        session = self.session()
        self.assertEqual((session.log(), session.tree()), ([], []))
        session.run("x = 1", tag="first")
        tried = session.try_all(["x + 1", "x / 0"])
        session.run("x += int(input())", stdin="5")

        log = session.log()
        tree = {each["node"]: each for each in session.tree()}

        self.assertEqual([(each["source"], each.get("tag"), each.get("stdin"), each["label"]) for each in log],
                         [("x = 1", "first", None, "OK"), ("x += int(input())", None, "5", "OK")])
        self.assertEqual([each["node"] for each in log], session._path)
        first = log[0]["node"]
        self.assertEqual([tree.pop(each.session["node"])["parent"] for each in tried], [first, first])
        self.assertEqual({node: (each["parent"], each["label"], each["bytes"] > 0) for node, each in tree.items()},
                         {first: (None, "OK", True), session.node: (first, "OK", True)})
        self.assertEqual([each["source"] for each in session.at(tried[1]).log()], ["x = 1", "x / 0"])

    def test_what_is_shown_of_a_step(self) -> None:
        session = self.session(limits={"cpu_ms": 300})
        shown = [session.run(source).shown for source in (
            "print('a')\n[1] * 3", "x = 1", "import sys\nprint('e', file=sys.stderr)\n1 / 0", "while True: pass", "raise SystemExit(3)")]

        self.assertEqual(shown[:2], ["a\n[1, 1, 1]", ""])
        self.assertRegex(shown[2], r"\Ae\nTraceback (?s:.*)\nZeroDivisionError: division by zero\Z")
        self.assertRegex(shown[3], r"\ATimeoutException: limit=cpu, limit_ms=300, ")
        self.assertEqual(shown[4], "NonZeroExit: code=3")

    def test_a_session_that_is_closed_takes_no_step(self) -> None:
        with self.session() as session:
            session.run("x = 1")
            branch = session.branch()
        for closed in (session, branch):
            self.assertRaises(zygo.ZygoError, closed.run, "x")
            self.assertRaises(zygo.ZygoError, closed.try_all, ["x"])
        never = self.session()
        never.close()
        self.assertRaises(zygo.ZygoError, never.run, "1")

    def test_mistakes_raise_or_are_told_of_the_step(self) -> None:
        with self.assertRaisesRegex(zygo.BadJob, "cpu_ms"):
            self.session(limits={"cpu_ms": 0})
        session = self.session()
        with self.assertRaisesRegex(zygo.BadJob, "sauce"):
            session.run("1", sauce=1)
        bad = session.run("1", files={"../x": {"text": ""}})
        self.assertEqual((bad.label, bad.by, session.node), ("BadJob", "caller", None))
        session._path.append("n-" + "0" * 24)
        gone = session.run("1")
        self.assertEqual((gone.label, gone.by), ("BadJob", "caller"))
        self.assertEqual([each.label for each in session.try_all(["1", "2"])], ["BadJob"] * 2)

    def test_what_is_said_of_a_node_is_asked_about_once(self) -> None:
        session = self.session()
        session.run("x = 0", limits={"cpu_ms": 4321})
        agreed = len(session._pool.transport.agreed)

        for _ in range(3):
            session.run("x += 1", limits={"cpu_ms": 4321})

        self.assertEqual(len(session._pool.transport.agreed), agreed)

    def test_asyncio_has_the_same(self) -> None:
        async def main() -> None:
            async with zygo.AsyncPool(**{**self.options(), "template": "python"}) as pool, pool.session() as session:
                await session.run("words = ['a']")
                branch = session.branch()
                await asyncio.gather(*[session.run(f"words.append({number})") for number in range(5)])
                self.assertEqual((await session.run("words")).value, ["a", 0, 1, 2, 3, 4])
                tried = await branch.try_all(["words + ['c']", "1 / 0"])
                self.assertEqual([each.label for each in tried], ["OK", "ZeroDivisionError"])
                self.assertEqual((await branch.at(tried[0]).run("_")).value, ["a", "c"])
                self.assertEqual([each["source"] for each in await branch.log()], ["words = ['a']"])
                self.assertEqual(len(await branch.tree()), 10)
                self.assertEqual((await session.undo(6).run("words")).value, ["a"])
                node = session.node
            self.assertEqual(session.node, node)
            with self.assertRaises(zygo.ZygoError):
                await branch.run("1")

        asyncio.run(main())

    def test_a_task_that_is_cancelled_takes_its_step_back(self) -> None:
        async def main() -> None:
            async with zygo.AsyncPool(**{**self.options(), "template": "python"}) as pool, pool.session() as session:
                await session.run("x = 1")
                for _ in range(2 * pool.pool.workers):
                    with self.assertRaises(asyncio.TimeoutError):
                        await asyncio.wait_for(session.run(ENDLESS, limits=PATIENT), 0.2)
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(session.try_all([ENDLESS] * 3, limits=PATIENT), 0.2)
                self.assertEqual((await asyncio.wait_for(session.run("x"), support.PATIENCE)).value, 1)

        asyncio.run(main())


class Embedded(support.OnEmbedded, Sessions, unittest.TestCase):
    def test_has_no_scores(self) -> None:
        session = self.session()
        self.assertRaises(ValueError, session.try_all, ["1"], keep="none")
        self.assertRaises(ValueError, session.try_all, ["1"], score={"source": "", "func": "f"})


class OnAService(support.OnService, Sessions, unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.service = support.Service()

    def test_the_best_are_kept(self) -> None:
        session = self.session()
        session.run("x = 10")

        tried = session.try_all([f"x + {number}" for number in range(6)] + ["1 / 0"], keep={"best": 2},
                                score={"source": "def score(value): return value % 4", "func": "score"})

        self.assertEqual([each.more.get("score") for each in tried], [2, 3, 0, 1, 2, 3, None])
        self.assertEqual([index for index, each in enumerate(tried) if each.session["kept"]], [1, 5])
        self.assertEqual(session.at(tried[5]).run("_").value, 15)
        self.assertRaises(ValueError, session.at, tried[0])

    def test_more_steps_than_one_request_has(self) -> None:
        session = self.session()
        steps = [f"{number}" for number in range(300)]

        self.assertEqual([each.value for each in session.try_all(steps, keep="none")], list(range(300)))
        self.assertRaises(ValueError, session.try_all, steps, keep={"best": 1})

    def test_close_frees_all_nodes(self) -> None:
        session = self.session()
        session.run("x = 1")
        branch = session.branch()
        branch.run("x = 2")
        asked = session._way

        session.close()

        status, content = session._pool.transport._answer("GET", f"/v1/sessions/{asked._session}")
        self.assertEqual(status, 410, content)
        session.close()

    def test_a_session_that_nobody_has_any_more_is_ended(self) -> None:
        session = self.pool(template="python").session()
        session.run("x = 1")
        branch, asked, transport = session.branch(), f"/v1/sessions/{session._way._session}", session._pool.transport
        del session
        self.assertEqual(branch.run("x").value, 1)
        del branch

        deadline = time.monotonic() + support.PATIENCE
        while transport._answer("GET", asked)[0] == 200 and time.monotonic() < deadline:
            time.sleep(0.01)  # There is no event for what a thread of the pool has done.

        self.assertEqual(transport._answer("GET", asked)[0], 410)

    def test_many_sessions_at_once(self) -> None:
        pool, seen = self.pool(template="python"), []

        def work(number: int) -> None:
            with pool.session() as session:
                session.run(f"x = {number}")
                for _ in range(3):
                    session.run("x += 1")
                seen.append(session.run("x").value - number)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(40)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(support.PATIENCE)

        self.assertEqual(seen, [3] * 40)

    def test_steps_of_a_child_of_fork_go_on_from_its_parents_nodes(self) -> None:
        session = self.session()
        session.run("x = 1")
        read, write = os.pipe()
        pid = os.fork()
        if not pid:
            try:
                os.write(write, b"%d" % session.run("x + 1").value)
            finally:
                os._exit(0)
        os.close(write)
        with open(read, "rb") as answer:
            self.assertEqual(answer.read(), b"2")
        os.waitpid(pid, 0)
        self.assertEqual(session.run("x").value, 1)

    def test_a_connection_that_was_closed_is_made_again(self) -> None:
        session = self.session()
        session.run("x = 1")
        for connection in session._pool.transport.requests._connections:
            connection.sock.shutdown(2)

        self.assertEqual(session.run("x").value, 1)

    def test_a_service_that_is_gone_is_lost(self) -> None:
        service = support.Service()
        session = zygo.Pool("python", url=service.url).session()
        self.assertEqual(session.run("1").value, 1)
        service.end()

        self.assertRaises(zygo.RuntimeLost, session.run, "1")
        self.assertRaises(zygo.RuntimeLost, session.try_all, ["1", "2"])


if __name__ == "__main__":
    support.main()
