"""The kernels of a service, by the HTTP and WebSocket API of a Jupyter server (`zygo serve --api jupyter`)."""

from __future__ import annotations

import json
import signal
import socket
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import host
from apis.jupyter_client import Kernel, binary
from serve import Service
from ws_client import BINARY, CLOSE, TEXT, Closed, WebSocket, frame
from zygo import PATIENCE, ZygoTestCase

ANN, BOB = "0123456789abcdef-ann", "0123456789abcdef-bob"


class JupyterCase(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        tokens = cls.enterClassContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-"))
        tokens.write(f"ann {ANN}\nbob {BOB} jobs\ninfo 0123456789abcdef-info info\n")
        tokens.flush()
        cls.service = Service("--api", "jupyter", "--log", "off", "--tokens", tokens.name, "--grace", "100ms")
        cls.addClassCleanup(cls.service.stop)

    def kernel(self, token: str = ANN, **body: object) -> Kernel:
        made = Kernel(self.service, token, **body)
        self.addCleanup(made.end)
        return made

    def nodes(self) -> float:
        lines = self.service.ask("GET", "/metrics", None, {"Authorization": f"Bearer {ANN}"}).body.decode().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("zygo_nodes "))


class Cells(JupyterCase):
    def test_cells_follow_one_another(self) -> None:
        kernel = self.kernel()
        first = kernel.run("x = 6\nprint('set')")
        self.assertEqual((first.status, first.count, first.stdout, first.value), ("ok", 1, "set\n", None))
        self.assertEqual(first.kinds, ["busy", "execute_input", "stream", "execute_reply", "idle"])
        self.assertEqual((kernel.run("x * 7").value, kernel.run("Out[2] + 1").value), ("42", "43"))

    def test_cells_that_were_sent_together_run_in_their_order_up_to_an_error(self) -> None:
        kernel = self.kernel()
        sent = [kernel.execute(code) for code in ("x = [1]", "x.append(2); 1 / 0", "x.append(3)", "x.append(4)")]
        cells = [kernel.result_of(message) for message in sent]
        self.assertEqual([cell.status for cell in cells], ["ok", "error", "aborted", "aborted"])
        self.assertEqual(cells[1].error, ("ZeroDivisionError", "division by zero"))
        self.assertEqual(kernel.run("x").value, "[1, 2]")

    def test_what_ends_a_cell_leaves_the_state_before_it(self) -> None:
        kernel = self.kernel()
        kernel.run("x = [1]")
        ended = kernel.run("x.append(2)\nimport os, signal; os.kill(os.getpid(), signal.SIGKILL)")
        assert ended.error
        self.assertEqual((ended.status, ended.error[0]), ("error", "Signalled"))
        self.assertIn("variables and files are as they were before this cell", ended.error[1])
        ended = kernel.run("x.append(2)\nimport os; ends = os.pipe()")
        self.assertIn("not kept: an open pipe", ended.stderr)
        self.assertEqual(kernel.run("x").value, "[1]")

    def test_input_is_asked_of_who_runs_the_cell(self) -> None:
        kernel = self.kernel()
        other = Kernel(self.service, ANN, kernel.id)
        self.addCleanup(other.close)
        long_one = "a" * 300_000
        self.assertEqual(kernel.run("first = input('? ')\nlen(first), input()", long_one, "two").value, "(300000, 'two')")
        other.run("1")
        refused = kernel.run("input()", allow_stdin=False)
        assert refused.error
        self.assertEqual(refused.error[0], "StdinNotImplementedError")

    def test_an_interrupt_keeps_the_state_and_the_second_ends_the_cell(self) -> None:
        kernel = self.kernel()
        message = kernel.execute("x = 1\nprint('begun', flush=True)\nwhile True: pass")
        while kernel.socket.message()["msg_type"] != "stream":
            pass
        self.assertEqual(kernel.at("GET").json["execution_state"], "busy")
        self.assertEqual(kernel.at("POST", "/interrupt").status, 204)
        self.assertEqual(kernel.reply_to(message)["ename"], "KeyboardInterrupt")
        self.assertEqual(kernel.run("x").value, "1")
        message = kernel.execute("x = 2\nimport signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
                                 "print('begun', flush=True)\nwhile True: pass")
        while kernel.socket.message()["msg_type"] != "stream":
            pass
        for _ in range(2):
            kernel.send("interrupt_request", {}, "control")
        self.assertEqual(kernel.reply_to(message)["evalue"].split(";")[0], "the cell was ended")
        self.assertEqual(kernel.run("x").value, "1")

    def test_questions_and_history_are_answered(self) -> None:
        kernel = self.kernel()
        kernel.run("number = 1")
        completed = kernel.reply_to(kernel.send("complete_request", {"code": "numb", "cursor_pos": 4}))
        self.assertEqual(completed["matches"], ["number"])
        info = kernel.reply_to(kernel.send("kernel_info_request", {}))
        self.assertEqual((info["protocol_version"], info["implementation"]), ("5.3", "zygo"))
        history = kernel.reply_to(kernel.send("history_request", {"hist_access_type": "tail", "n": 1}))
        self.assertEqual(history["history"], [[1, 1, "number = 1"]])
        self.assertEqual(kernel.reply_to(kernel.send("debug_request", {}, "control"))["status"], "error")

    def test_undo_and_branches(self) -> None:
        kernel = self.kernel()
        for code in ("x = 1", "x = 2\nopen('f', 'w').close()", "%undo"):
            kernel.run(code)
        self.assertEqual(kernel.run("import os; x, os.listdir('.')").value, "(1, [])")

    def test_a_flood_waits_for_a_client_that_does_not_read(self) -> None:
        kernel = self.kernel()
        kernel.connect(receive_buffer=4096)
        message = kernel.execute("for i in range(9_000): display(i)\nopen('done', 'w').close()")
        watcher = Kernel(self.service, ANN)
        self.addCleanup(watcher.end)
        for _ in range(50):  # whose cells run meanwhile
            watcher.run("1")
        self.assertEqual(kernel.at("GET").json["execution_state"], "busy")
        self.assertEqual(kernel.result_of(message).kinds.count("display_data"), 9_000)
        self.assertEqual(kernel.run("import os; os.listdir('.')").value, "['done']")


class Kernels(JupyterCase):
    def test_a_kernel_is_its_clients_alone(self) -> None:
        kernel = self.kernel()
        bob = {"Authorization": f"token {BOB}"}
        self.assertNotIn(kernel.id, self.service.ask("GET", "/api/kernels", None, bob).body.decode())
        self.assertIn(kernel.id, kernel.ask("GET", "/api/kernels").body.decode())
        for method, what in (("GET", ""), ("DELETE", ""), ("POST", "/interrupt"), ("POST", "/restart"), ("GET", "/channels")):
            answer = self.service.ask(method, f"/api/kernels/{kernel.id}{what}", None, bob)
            self.assertEqual((answer.status, answer.json["message"]), (404, f"Kernel does not exist: {kernel.id}"))
        self.assertEqual(kernel.run("1").value, "1")

    def test_a_token_comes_by_its_scheme_or_in_the_address(self) -> None:
        for path, headers, status in (("?token=" + ANN, {}, 200), ("", {"Authorization": f"Token {ANN}"}, 200),
                                      ("", {"Authorization": f"Bearer {ANN}"}, 200), ("?token=wrong", {}, 401),
                                      ("", {}, 401), ("?=" + ANN, {}, 401), ("?token=0123456789abcdef-info", {}, 403),
                                      ("?token=" + ANN, {"Authorization": "token wrong"}, 401)):
            self.assertEqual(self.service.ask("GET", "/api/kernels" + path, None, headers).status, status, (path, headers))
        self.assertEqual(self.service.ask("GET", "/api").status, 200)

    def test_what_can_be_started(self) -> None:
        specs = self.service.ask("GET", f"/api/kernelspecs?token={BOB}").json
        self.assertEqual(specs["default"], "python3")
        self.assertEqual(specs["kernelspecs"]["python3"]["spec"]["language"], "python")
        self.assertEqual(self.service.ask("GET", f"/api/kernelspecs/python3?token={BOB}").json["name"], "python3")
        self.assertEqual(self.service.ask("GET", f"/api/kernelspecs/ruby?token={BOB}").status, 404)
        numpy = self.kernel(name="python-numpy", env={"KERNEL_WORD": "there", "PATH_OF_MINE": "not"})
        self.assertEqual(numpy.run("import os, sys; 'numpy' in sys.modules, os.environ.get('KERNEL_WORD'), "
                                   "os.environ.get('PATH_OF_MINE')").value, "(True, 'there', None)")
        for body, status in ((b"[", 400), (b"[]", 400), ({"name": 1}, 400), ({"name": "ruby"}, 400),
                             ({"name": "python-none"}, 500)):
            answer = self.service.ask("POST", f"/api/kernels?token={BOB}", body)
            self.assertEqual((answer.status, list(answer.json)), (status, ["message", "reason"]), body)

    def test_a_kernel_outlives_its_sockets_and_ends_with_delete(self) -> None:
        kernel = Kernel(self.service, BOB)
        kernel.run("x = 1")
        kernel.close()
        kernel.connect()
        self.assertEqual(kernel.run("x").value, "1")
        self.assertGreater(self.nodes(), 0)
        self.assertEqual(kernel.at("DELETE").status, 204)
        with self.assertRaises(Closed) as closed:
            while True:
                kernel.socket.message()
        self.assertEqual(closed.exception.code, 1000)
        self.assertEqual(kernel.at("DELETE").status, 404)
        kernel.close()

    def leave(self, kernel: Kernel) -> None:
        before = kernel.at("GET").json["connections"]
        kernel.close()
        deadline = time.monotonic() + 20 * PATIENCE
        while kernel.at("GET").json["connections"] == before:
            self.assertLess(time.monotonic(), deadline, "the service has not noticed")

    def test_who_comes_again_is_told_what_it_has_missed(self) -> None:
        kernel = self.kernel()
        other = Kernel(self.service, ANN, kernel.id)
        self.addCleanup(other.close)
        cell = kernel.execute("print('begun')\nwhile True: pass", stop_on_error=False)
        while "stream" not in kernel.cells[cell].kinds:
            kernel.take_next()
        queued = kernel.execute("'and then'")
        self.leave(kernel)
        self.assertEqual(kernel.at("POST", "/interrupt").status, 204)
        self.assertEqual(other.run("'of another'").value, "'of another'")  # it came behind
        kernel.connect()
        ended = kernel.result_of(cell)
        self.assertEqual((ended.status, ended.stdout, ended.kinds[-3:]), ("error", "begun\n", ["error", "execute_reply", "idle"]))
        self.assertEqual(kernel.result_of(queued).kinds, ["busy", "execute_input", "execute_result", "execute_reply", "idle"])

    def test_what_was_missed_comes_before_what_is_asked_then(self) -> None:
        kernel = self.kernel()
        other = Kernel(self.service, ANN, kernel.id)
        self.addCleanup(other.close)
        self.leave(kernel)
        cell = other.execute("print('missed')")
        other.result_of(cell)
        header = {"msg_id": "early", "msg_type": "kernel_info_request"}
        text = json.dumps({"channel": "shell", "header": header, "parent_header": {}, "content": {}}).encode()
        kernel.connect(early=frame(TEXT, text))
        heard: list[str] = []
        while "early" not in heard:
            heard.append(kernel.socket.message()["parent_header"]["msg_id"])
        self.assertEqual(heard, [cell] * 4 + ["early"])  # busy, the input, the output, idle

    def test_only_the_last_who_left_is_told_and_only_the_latest(self) -> None:
        kernel = self.kernel()
        early, late = (Kernel(self.service, ANN, kernel.id) for _ in range(2))
        for each in (early, late):
            self.addCleanup(each.close)
            self.leave(each)
        kernel.run("for part in range(300): print(f'{part:>9999}')")
        for each, most in ((early, 0), (late, 1 << 20)):
            each.connect()
            last = each.send("kernel_info_request", {})
            seen = ""
            while (told := each.socket.message())["parent_header"]["msg_id"] != last:
                seen += told["content"].get("text", "")
            self.assertLessEqual(len(seen), most)
            self.assertEqual(seen.endswith(f"{299:>9999}\n"), each is late)

    def test_a_restart_is_a_new_interpreter_for_the_same_sockets(self) -> None:
        kernel = self.kernel()
        kernel.run("x = 1")
        kernel.execute("while True: pass")
        self.assertEqual(kernel.at("POST", "/restart").json["execution_state"], "idle")
        cell = kernel.run("x")
        self.assertEqual((cell.error, cell.count), (("NameError", "name 'x' is not defined"), 1))
        kernel.send("shutdown_request", {"restart": True}, "control")
        self.assertEqual(kernel.run("2").count, 1)

    def test_two_restarts_at_once_are_one(self) -> None:
        kernel = self.kernel()
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(lambda _: kernel.at("POST", "/restart"), range(4)))
        self.assertEqual([answer.status for answer in answers], [200] * 4)
        self.assertEqual(kernel.run("1").count, 1)

    def test_a_socket_that_closes_behind_its_words_takes_nothing_with_it(self) -> None:
        """The answer to them is what the close goes with: the kernel is told of it while it speaks."""
        kernel = self.kernel()
        kernel.connect(receive_buffer=4096)
        kernel.execute("for i in range(9_000): display(i)")
        other = Kernel(self.service, ANN, kernel.id)
        self.addCleanup(other.close)
        restarted = other.send("shutdown_request", {"restart": True})
        header = {"msg_id": "1", "msg_type": "kernel_info_request"}
        text = json.dumps({"channel": "control", "header": header, "parent_header": {}, "content": {}}).encode()
        kernel.socket.sock.sendall(frame(TEXT, text) + frame(CLOSE, b"\x03\xe8"))
        kernel.socket.sock.shutdown(socket.SHUT_WR)
        self.assertEqual(other.reply_to(restarted)["restart"], True)
        self.assertEqual(other.run("1").count, 1)

    def test_a_client_ends_its_kernel(self) -> None:
        kernel = Kernel(self.service, BOB)
        kernel.send("shutdown_request", {"restart": False}, "control")
        with self.assertRaises(Closed):
            while True:
                kernel.socket.message()
        self.assertEqual(kernel.at("GET").status, 404)
        kernel.close()

    def test_what_is_no_message_closes_the_socket_and_not_the_kernel(self) -> None:
        kernel = self.kernel()
        kernel.run("x = 1")
        header = {"msg_id": "1", "msg_type": "execute_request"}
        for opcode, payload in ((TEXT, b"["), (TEXT, b"{}"), (TEXT, json.dumps({"channel": "iopub", "header": header}).encode()),
                                (TEXT, json.dumps({"channel": "shell", "header": {**header, "session": "s" * 300}}).encode()),
                                (BINARY, b"x")):
            kernel.socket.send_frame(opcode, payload)
            with self.assertRaises(Closed) as closed:
                while True:
                    kernel.socket.message()
            self.assertEqual(closed.exception.code, 1003, payload)
            kernel.connect()
        self.assertEqual(kernel.run("x").value, "1")

    def binary_socket(self, kernel: Kernel) -> WebSocket:
        sock = self.service.connect()
        self.addCleanup(sock.close)
        return WebSocket(sock, f"/api/kernels/{kernel.id}/channels?token={ANN}",
                         "Sec-WebSocket-Protocol: v1.kernel.websocket.jupyter.org")

    def test_a_message_without_a_channel_is_a_request(self) -> None:
        """As smolagents' executors send it."""
        kernel = self.kernel()
        header = {"msg_id": "mine", "msg_type": "execute_request", "username": "a", "session": "b", "version": "5.0"}
        kernel.socket.send(header=header, parent_header={}, metadata={}, content={"code": "6 * 7", "allow_stdin": False})
        told = kernel.socket.message()
        while told["msg_type"] != "execute_result" or told["parent_header"].get("msg_id") != "mine":
            told = kernel.socket.message()
        self.assertEqual(told["content"]["data"]["text/plain"], "42")

    def test_the_subprotocol_of_new_servers(self) -> None:
        kernel = self.kernel()
        there = self.binary_socket(kernel)
        self.assertIn("Sec-WebSocket-Protocol: v1.kernel.websocket.jupyter.org\r\n", there.head + "\r\n")
        header = {"msg_id": "1", "msg_type": "kernel_info_request"}
        there.send_frame(BINARY, binary("shell", header, {}, {}, {}))
        while True:
            opcode, payload = there.frame()
            self.assertEqual(opcode, BINARY)
            numbers = [int.from_bytes(payload[8 * i:8 * i + 8], "little") for i in range(7)]
            self.assertEqual((numbers[0], numbers[-1]), (6, len(payload)))
            parts = [payload[begin:end] for begin, end in zip(numbers[1:], numbers[2:])]
            if parts[0] == b"shell":
                break
        self.assertEqual((json.loads(parts[1])["msg_type"], json.loads(parts[2])["msg_id"]), ("kernel_info_reply", "1"))
        for wrong in (b"", b"\xff" * 64, binary("shell", [], {}, {}, {}), binary("shell", header, {}, {}, {})[:60]):
            there = self.binary_socket(kernel)
            there.send_frame(BINARY, wrong)
            with self.assertRaises(Closed) as closed:
                while True:
                    there.message()
            self.assertEqual(closed.exception.code, 1003, wrong)

    def test_one_client_has_so_many_kernels(self) -> None:
        kept = [self.kernel(BOB) for _ in range(2)]
        before = {each["id"] for each in kept[0].ask("GET", "/api/kernels").json}
        for _ in range(64):
            answer = kept[0].ask("POST", "/api/kernels")
            self.assertEqual(answer.status, 201, answer.body)
        now = kept[0].ask("GET", "/api/kernels").json
        self.assertEqual(len(now), 64)
        self.assertLessEqual({each.id for each in kept}, {each["id"] for each in now})  # somebody is connected to them
        self.assertLessEqual(before, {each.id for each in kept} | before)
        for each in now:
            if each["id"] not in {kernel.id for kernel in kept}:
                kept[0].ask("DELETE", f"/api/kernels/{each['id']}")


class Ends(ZygoTestCase):
    def test_a_service_that_ends_says_so_and_leaves_nothing(self) -> None:
        host.adopt_orphans()
        before = host.Snapshot.take()
        service = Service("--api", "jupyter", "--log", "off", "--grace", "100ms")
        try:
            idle, busy = Kernel(service), Kernel(service)
            message = busy.execute("print('begun', flush=True)\nwhile True: pass")
            while busy.socket.message()["msg_type"] != "stream":
                pass
            service.process.send_signal(signal.SIGTERM)
            reply = busy.reply_to(message)
            self.assertEqual((reply["status"], reply["ename"]), ("error", "KeyboardInterrupt"))
            for kernel in (idle, busy):
                with self.assertRaises(Closed) as closed:
                    while True:
                        kernel.socket.message()
                self.assertEqual(closed.exception.code, 1001)
                kernel.close()
            self.assertEqual(service.wait()[0], 0)
        finally:
            service.stop()
        self.assertEqual(before.leftovers(), [])

    def test_pages_of_other_sites_are_refused(self) -> None:
        service = Service("--api", "jupyter", "--log", "off")
        self.addCleanup(service.stop)
        answer = service.ask("POST", "/api/kernels", {}, {"Origin": "http://evil.example"})
        self.assertEqual(answer.status, 403)
        kernel = Kernel(service)
        self.addCleanup(kernel.close)
        sock = service.connect()
        self.addCleanup(sock.close)
        with self.assertRaisesRegex(AssertionError, "403"):
            WebSocket(sock, f"/api/kernels/{kernel.id}/channels", "Origin: http://evil.example")


if __name__ == "__main__":
    unittest.main()
