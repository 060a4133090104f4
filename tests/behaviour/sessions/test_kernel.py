"""zygo as a kernel of Jupyter, by Jupyter's own clients: their test suite, notebooks, and what only zygo has.

Needs the packages python3-jupyter-kernel-test and python3-nbclient, and libzmq.so.5; skipped without.
"""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tempfile
import unittest
from queue import Empty
from typing import Any

import zygo

SKIPPED = 77  # What ctest takes for a skipped test.
PATIENCE = 120

try:
    import jupyter_kernel_test
    import nbclient
    import nbformat
    from jupyter_client import KernelManager
    ctypes.CDLL("libzmq.so.5")
except (ImportError, OSError) as missing:
    print(f"SKIPPED: {missing}; on Debian: python3-jupyter-kernel-test python3-nbclient", file=sys.stderr)
    sys.exit(SKIPPED)

jupyter_kernel_test.TIMEOUT = PATIENCE


def setUpModule() -> None:
    folder = tempfile.TemporaryDirectory(prefix="behaviour-kernel-")
    unittest.addModuleCleanup(folder.cleanup)
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        os.environ[name] = folder.name
    subprocess.run([zygo.BINARY, "kernel", "install"], check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE)
    subprocess.run([zygo.BINARY, "kernel", "install", "--name", "zygo-small", "--cpu", "1s"], check=True,
                   stdout=subprocess.DEVNULL, timeout=PATIENCE)


class Suite(jupyter_kernel_test.KernelTests):
    """What jupyter_kernel_test asks of a kernel of Python."""

    kernel_name = "zygo"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    completion_samples = [{"text": "zi", "matches": {"zip"}}, {"text": "'a'; pri", "matches": {"print"}}]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n", "await x", "%time x"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2", "def f(x):"]
    invalid_code_samples = ["import = 7q"]
    code_page_something = "zip?"
    code_generate_error = "raise"
    code_execute_result = [{"code": "1+2+3", "result": "6"}, {"code": "[n*n for n in range(1, 4)]", "result": "[1, 4, 9]"}]
    code_display_data = [{"code": "from IPython.display import HTML, display; display(HTML('<b>test</b>'))", "mime": "text/html"},
                         {"code": "from IPython.display import Math, display; display(Math('\\\\frac{1}{2}'))", "mime": "text/latex"}]
    code_history_pattern = "1?2*"
    supported_history_operations = ("tail", "range", "search")
    code_inspect_sample = "zip"
    code_clear_output = "from IPython.display import clear_output; clear_output()"


class KernelTestCase(unittest.TestCase):
    name = "zygo"

    @classmethod
    def setUpClass(cls) -> None:
        cls.manager = KernelManager(kernel_name=cls.name)
        cls.manager.start_kernel()
        cls.addClassCleanup(cls.manager.shutdown_kernel, now=True)
        cls.client = cls.manager.blocking_client()
        cls.client.start_channels()
        cls.addClassCleanup(cls.client.stop_channels)
        cls.client.wait_for_ready(timeout=PATIENCE)

    def collect(self, asked: str, until: str = "idle") -> list[dict[str, Any]]:
        """What is published for this request, until the kernel is idle or prints a text."""
        found: list[dict[str, Any]] = []
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != asked:
                continue
            found.append(message)
            content = message["content"]
            if content.get("execution_state") == "idle" or (until != "idle" and until in content.get("text", "")):
                return found

    def reply(self, asked: str) -> dict[str, Any]:
        while True:
            message = self.client.get_shell_msg(timeout=PATIENCE)
            if message["parent_header"]["msg_id"] == asked:
                return dict(message["content"])

    def run_cell(self, code: str, **options: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        asked = self.client.execute(code, **options)
        shown = self.collect(asked)
        return self.reply(asked), [m for m in shown if m["msg_type"] not in ("status", "execute_input")]

    def fine(self, code: str) -> list[dict[str, Any]]:
        reply, shown = self.run_cell(code)
        self.assertEqual(reply["status"], "ok", reply)
        return shown

    def printed(self, code: str, stream: str = "stdout") -> str:
        return "".join(m["content"]["text"] for m in self.fine(code) if m["content"].get("name") == stream)

    def value(self, code: str) -> str:
        results = [m for m in self.fine(code) if m["msg_type"] == "execute_result"]
        self.assertEqual(len(results), 1, results)
        return str(results[0]["content"]["data"]["text/plain"])

    def wrong(self, code: str) -> dict[str, Any]:
        reply, shown = self.run_cell(code)
        self.assertEqual(reply["status"], "error", reply)
        self.assertEqual([m["content"]["ename"] for m in shown if m["msg_type"] == "error"], [reply["ename"]])
        return reply


class Cells(KernelTestCase):
    def test_output_comes_while_a_cell_runs_and_an_interrupt_keeps_the_state(self) -> None:
        asked = self.client.execute("kept = 1\nprint('begun')\nwhile True: pass")
        self.collect(asked, until="begun")
        self.manager.interrupt_kernel()
        self.collect(asked)
        self.assertEqual(self.reply(asked)["ename"], "KeyboardInterrupt")
        self.assertEqual(self.value("kept"), "1")

    def test_who_insists_ends_a_cell_that_does_not_listen(self) -> None:
        self.fine("before = 1")
        asked = self.client.execute(
            "before = 2\nwhile True:\n  try:\n    print('begun')\n    while True: pass\n  except KeyboardInterrupt: print('not yet')")
        self.collect(asked, until="begun")
        self.manager.interrupt_kernel()
        self.collect(asked, until="not yet")
        self.manager.interrupt_kernel()
        self.collect(asked)
        reply = self.reply(asked)
        self.assertEqual(reply["ename"], "KeyboardInterrupt")
        self.assertIn("as they were before this cell", reply["evalue"])
        self.assertEqual(self.value("before"), "1")

    def test_an_answer_may_be_longer_than_its_pipe(self) -> None:
        asked = self.client.execute("len(input('Name: '))", allow_stdin=True)
        self.client.get_stdin_msg(timeout=PATIENCE)
        self.client.input("a" * 3_000_000)
        shown = self.collect(asked)
        self.assertEqual([m["content"]["data"]["text/plain"] for m in shown if m["msg_type"] == "execute_result"], ["3000000"])
        self.assertEqual(self.reply(asked)["status"], "ok")

    def test_a_cell_asks_its_user(self) -> None:
        for code, answer, password in (("input('Name: ')", "me \u00e4\n\"", False),
                                       ("import getpass; getpass.getpass('Secret: ')", "s", True)):
            asked = self.client.execute(code, allow_stdin=True)
            request = self.client.get_stdin_msg(timeout=PATIENCE)["content"]
            self.assertEqual((request["prompt"][-2:], request["password"]), (": ", password))
            self.client.input(answer)
            shown = self.collect(asked)
            self.assertEqual([m["content"]["data"]["text/plain"] for m in shown if m["msg_type"] == "execute_result"],
                             [repr(answer)])
            self.assertEqual(self.reply(asked)["status"], "ok")
        self.assertEqual(self.run_cell("input()", allow_stdin=False)[0]["ename"], "StdinNotImplementedError")

    def test_a_cell_may_await(self) -> None:
        self.assertEqual(self.value("import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 7\n"
                                    "task = asyncio.create_task(f())\nawait task"), "7")
        self.assertEqual(self.value("asyncio.run(f())"), "7")

    def test_an_object_to_display_takes_a_file_by_its_name(self) -> None:
        self.fine("from IPython.display import HTML, Image, JSON, Math, SVG\nopen('a.svg', 'w').write('<svg/>')\n"
                  "open('b.png', 'wb').write(b'png')\nopen('c.gif', 'wb').write(b'GIF8')\n"
                  "open('d.json', 'w').write('[1]')\nopen('e.tex', 'w').write('x^2')")
        for code, data in (("SVG('a.svg')", {"image/svg+xml": "<svg/>", "text/plain": "<IPython.core.display.SVG object>"}),
                           ("SVG('<svg></svg>')", {"image/svg+xml": "<svg></svg>", "text/plain": "<IPython.core.display.SVG object>"}),
                           ("HTML('a\\0b')", {"text/html": "a\0b", "text/plain": "<IPython.core.display.HTML object>"}),
                           ("JSON(filename='d.json')", {"application/json": [1], "text/plain": "<IPython.core.display.JSON object>"}),
                           ("Math('e.tex')", {"text/latex": "$\\displaystyle x^2$", "text/plain": "<IPython.core.display.Math object>"}),
                           ("Image('c.gif')", {"image/gif": "R0lGOA==", "text/plain": "<IPython.core.display.Image object>"}),
                           ("Image('b.png')", {"image/png": "cG5n", "text/plain": "<IPython.core.display.Image object>"})):
            with self.subTest(code):
                self.assertEqual(self.fine(code)[0]["content"]["data"], data)
        self.assertEqual(self.run_cell("Image('none.png')")[0]["ename"], "FileNotFoundError")
        self.assertEqual(self.run_cell("Image('http://a/b.png')")[0]["evalue"], "a cell has no network: url cannot be read")

    def test_what_is_displayed_can_be_changed(self) -> None:
        shown = self.fine("handle = display('one', display_id=True); handle.update('two')")
        self.assertEqual([m["msg_type"] for m in shown], ["display_data", "update_display_data"])
        first, second = (m["content"] for m in shown)
        self.assertEqual(first["transient"]["display_id"], second["transient"]["display_id"])
        self.assertEqual(second["data"]["text/plain"], "'two'")

    def test_order_and_kinds_of_output(self) -> None:
        shown = self.fine("print('a', end='')\ndisplay(1)\nprint('b', end='')\n2")
        self.assertEqual([m["msg_type"] for m in shown], ["stream", "display_data", "stream", "execute_result"])
        self.assertEqual(self.printed("import os, sys; _ = os.write(2, b'\\xc3'); _ = os.write(2, b'\\xa4\\xff')", "stderr"), "\u00e4\ufffd")
        self.assertEqual(self.printed("print('\\x1e' * 3)"), "\x1e\x1e\x1e\n")
        self.assertEqual(self.fine("3;"), [])

    def test_tracebacks_are_those_of_ipython(self) -> None:
        self.fine("def f():\n    return 1/0")
        told = "\n".join(self.wrong("x = 1\nf()")["traceback"])
        plain = "".join(piece.partition("m")[2] if at else piece for at, piece in enumerate(told.split("\x1b[")))
        self.assertIn("ZeroDivisionError                         Traceback (most recent call last)\nCell In[", plain)
        self.assertIn(", line 2\n      1 x = 1\n----> 2 f()\n", plain)
        self.assertIn(", line 2, in f\n      1 def f():\n----> 2     return 1/0\n", plain)
        self.assertTrue(plain.endswith("ZeroDivisionError: division by zero"), plain)
        self.assertIn("    1 +\n       ^\n", "\n".join(self.wrong("1 +")["traceback"]))

    def test_an_error_keeps_what_the_cell_did_and_aborts_what_waits(self) -> None:
        first = self.client.execute("done = 1\ninput()\n1/0", allow_stdin=True)
        second = self.client.execute("done = 2")
        self.client.get_stdin_msg(timeout=PATIENCE)
        self.client.input("")
        self.assertEqual(self.reply(first)["status"], "error")
        self.assertEqual(self.reply(second)["status"], "aborted")
        self.assertEqual(self.value("done"), "1")

    def test_silent_cells_and_expressions(self) -> None:
        reply, shown = self.run_cell("quiet = 5\nquiet", silent=True)
        self.assertEqual((reply["status"], shown), ("ok", []))
        reply, _ = self.run_cell("", user_expressions={"a": "quiet + 1", "b": "nothing"})
        self.assertEqual(reply["user_expressions"]["a"]["data"]["text/plain"], "6")
        self.assertEqual(reply["user_expressions"]["b"]["ename"], "NameError")

    def test_an_interrupt_cuts_nothing_that_is_shown(self) -> None:
        """Half an object would take in what is said after it, and the end of the cell with it."""
        for _ in range(8):
            asked = self.client.execute("print('begun')\nfor _ in range(60): display({'text/plain': 'x' * 1_000_000}, raw=True)\n"
                                        "while True: pass")  # or a slow machine would find the limit of 64 MiB
            self.collect(asked, until="begun")
            self.manager.interrupt_kernel()
            reply, shown = self.reply(asked), self.collect(asked)
            self.assertEqual(reply["ename"], "KeyboardInterrupt")
            self.assertEqual([message["msg_type"] for message in shown if message["msg_type"] == "stream"], [])

    def test_what_a_cell_says_by_itself_has_the_form_of_messages(self) -> None:
        reply, shown = self.run_cell("from zygo_kernel import channel\nchannel.say('display_data', data=[1], more=2)\n"
                                     "channel.say('status', execution_state='dead')\n"
                                     "channel.say('done', status='ok', payload=[{'source': 'set_next_input', 'text': 'rm'}])")
        self.assertEqual(reply["payload"], [])
        self.assertEqual([message["content"] for message in shown if message["msg_type"] == "display_data"],
                         [{"data": {}, "metadata": {}, "transient": {}}])

    def test_a_value_that_cannot_be_told_fails_nothing(self) -> None:
        reply, shown = self.run_cell("class Odd:\n    def _repr_json_(self): return {(1, 2): 3}\n    def __repr__(self): return 'odd'\nOdd()")
        self.assertEqual(reply["status"], "ok")
        self.assertEqual(shown[-1]["content"]["data"], {"text/plain": "odd"})

    def test_questions_change_nothing(self) -> None:
        self.fine("class Loud:\n    @property\n    def word(self):\n        global noise; noise = 1; return ''\nloud = Loud(); noise = 0")
        asked = self.client.complete("loud.word.upp")
        self.assertEqual(self.reply(asked)["matches"], ["loud.word.upper"])
        self.assertEqual(self.value("noise"), "0")
        asked = self.client.inspect("Loud", detail_level=1)
        self.assertIn("class Loud", self.reply(asked)["data"]["text/plain"])

    def test_no_process_can_reach_the_network_or_the_hosts_files(self) -> None:
        self.assertIn(self.wrong("import socket; socket.socket()")["ename"], ("PermissionError", "OSError"))
        self.assertEqual(self.value("import os; os.path.exists('/etc/shadow') and os.access('/etc/shadow', os.R_OK)"), "False")


class Magics(KernelTestCase):
    def test_undo_and_branches(self) -> None:
        self.fine("x = [1]")
        self.fine("x.append(2)")
        self.assertIn("at step", self.printed("%undo"))
        self.assertEqual(self.value("x"), "[1]")
        self.fine("%branch other")
        self.fine("x = 'other'")
        self.fine("%branch main")
        self.assertEqual(self.value("x"), "[1]")
        self.fine("%branch other")
        self.assertEqual(self.value("x"), "'other'")
        self.assertIn("(other)", self.printed("%tree"))
        self.assertEqual(self.wrong("%undo 1000")["ename"], "UsageError")
        self.assertEqual(self.wrong("x = 1\n%undo")["evalue"], "%undo stands alone in its cell")

    def test_all_can_be_undone(self) -> None:
        steps = int(self.printed("%undo 0").split()[2].rstrip(",")) if "step" in self.printed("%undo 0") else 0
        self.assertIn("at the beginning", self.printed(f"%undo {steps}"))
        self.assertEqual(self.value("1 + 1"), "2")

    def test_what_has_no_number_is_no_step(self) -> None:
        self.fine("steps = 1")
        before = self.printed("%undo 0")
        for code, options in (("", {}), (" \n", {}), ("silent = 1", {"silent": True}), ("unnoted = 1", {"store_history": False})):
            self.run_cell(code, **options)
            self.assertEqual(self.printed("%undo 0"), before)
        self.assertEqual(self.value("silent, unnoted"), "(1, 1)")
        self.fine("steps = 2")
        self.printed("%undo 2")
        self.assertEqual(self.value("steps, silent"), "(1, 1)")

    def test_a_magic_that_fails_aborts_what_waits(self) -> None:
        first = self.client.execute("input()", allow_stdin=True)
        second = self.client.execute("%go nowhere")
        third = self.client.execute("came_here = 1")
        self.client.get_stdin_msg(timeout=PATIENCE)
        self.client.input("")
        self.assertEqual([self.reply(asked)["status"] for asked in (first, second, third)], ["ok", "error", "aborted"])
        self.assertEqual(self.wrong("came_here")["ename"], "NameError")

    def test_unknown_magics_say_so(self) -> None:
        for code in ("%nosuch 1", "%%nosuch\nx"):
            told = self.wrong(code)
            self.assertEqual(told["ename"], "UsageError")
            self.assertIn("%nosuch` not found; known are", told["evalue"])
        self.assertIn("no network", self.wrong("%pip install x")["evalue"])

    def test_commands_of_the_shell(self) -> None:
        self.assertEqual(self.printed("word = 'said'\nfor n in range(2):\n    !echo {word} $n"), "said 0\nsaid 1\n")
        self.assertEqual(self.value("lines = !printf 'a\\nb\\n'\nlines"), "['a', 'b']")
        self.fine("!echo 7 > n; exit 3")
        self.assertEqual(self.value("[open('n').read(), _exit_code]"), "['7\\n', 3]")
        self.assertEqual(self.printed("%%bash\nx=1\necho $x"), "1\n")
        self.fine("behind = 1\n!sleep 600 &")  # ends with its cell
        self.assertEqual(self.value("behind"), "1")

    def test_an_interrupt_ends_a_command(self) -> None:
        asked = self.client.execute("after = 1\n!echo begun; sleep 600; echo no")
        self.collect(asked, until="begun")
        self.manager.interrupt_kernel()
        self.collect(asked)
        self.assertEqual(self.reply(asked)["ename"], "KeyboardInterrupt")
        self.assertEqual(self.value("after"), "1")

    def test_an_interrupt_while_a_command_begins(self) -> None:
        """The command is there already, and what would end it is not."""
        self.fine("import os, signal, subprocess\nclass Popen(subprocess.Popen):\n    def _execute_child(self, *args):\n"
                  "        super()._execute_child(*args)\n        os.kill(os.getpid(), signal.SIGINT)\nplain, subprocess.Popen = subprocess.Popen, Popen")
        self.assertEqual(self.wrong("kept = 1\n!sleep 600")["ename"], "KeyboardInterrupt")
        self.assertEqual(self.value("subprocess.Popen = plain\nkept"), "1")

    def test_others(self) -> None:
        self.assertRegex(self.printed("%time x = sum(range(100))"), r"^CPU times: user .*\nWall time: ")
        self.assertRegex(self.printed("%timeit -n 2 -r 2 1 + 1"), r"per loop \(mean ± std\. dev\. of 2 runs, 2 loops each\)")
        self.assertEqual(self.value("import os; os.makedirs('d', exist_ok=True)\n%cd d\n%pwd\nos.path.basename(os.getcwd())"), "'d'")
        self.fine("%cd ..")
        self.assertEqual(self.value("%env WORD=said\nos.environ['WORD']"), "'said'")
        self.assertEqual(self.fine("%matplotlib inline"), [])
        self.assertEqual(self.value("text = '''\n%not a magic\n'''\n%time len(text)"), "14")


class Limits(KernelTestCase):
    name = "zygo-small"

    def test_a_limit_leaves_the_state_as_it_was(self) -> None:
        self.fine("x = 1")
        told = self.wrong("x = 2\nwhile True: pass")
        self.assertEqual(told["ename"], "TimeoutException")
        self.assertIn("as they were before this cell", told["evalue"])
        self.assertEqual(self.value("x"), "1")


class Pictures(KernelTestCase):
    def test_figures_are_shown_as_pictures(self) -> None:
        if self.run_cell("import matplotlib")[0]["status"] != "ok":
            print("SKIPPED: no matplotlib (python3-matplotlib)", file=sys.stderr)
            self.skipTest("no matplotlib")
        shown = self.fine("%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]);")
        self.assertEqual([m["content"]["data"]["image/png"][:8] for m in shown if m["msg_type"] == "display_data"], ["iVBORw0K"])
        shown = self.fine("figure = plt.figure(); plt.plot([2, 1]); plt.show(); print('after')")
        self.assertEqual([m["msg_type"] for m in shown], ["display_data", "stream"])
        shown = self.fine("plt.title('$x^2$')\nformula = 1;")  # whose fonts matplotlib keeps open
        self.assertEqual([m["msg_type"] for m in shown], ["display_data"])
        self.assertEqual(self.value("formula"), "1")


class Life(unittest.TestCase):
    def test_a_notebook_is_executed(self) -> None:
        cells = ["import math\nx = 6", "print(x)", "x * 7", "display({'text/html': '<b>7</b>', 'text/plain': '7'}, raw=True)"]
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in cells])
        nbclient.NotebookClient(book, kernel_name="zygo", timeout=PATIENCE).execute()
        outputs = [cell["outputs"] for cell in book["cells"]]
        self.assertEqual(outputs[1][0]["text"], "6\n")
        self.assertEqual(outputs[2][0]["data"]["text/plain"], "42")
        self.assertEqual(outputs[3][0]["data"]["text/html"], "<b>7</b>")
        nbformat.validate(book)

    def children(self, pid: int) -> list[int]:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            found = [int(word) for word in file.read().split()]
        return found + [below for child in found for below in self.children(child)]

    def begun(self) -> tuple[KernelManager, list[int]]:
        manager = KernelManager(kernel_name="zygo")
        manager.start_kernel()
        self.addCleanup(manager.shutdown_kernel, now=True)
        client = manager.blocking_client()
        client.start_channels()
        self.addCleanup(client.stop_channels)
        client.wait_for_ready(timeout=PATIENCE)
        client.execute_interactive("x = 1", timeout=PATIENCE)
        pid = manager.provisioner.pid
        return manager, [os.pidfd_open(each) for each in (pid, *self.children(pid))]

    def gone(self, descriptors: list[int]) -> None:
        import select
        for descriptor in descriptors:
            self.assertTrue(select.select([descriptor], [], [], PATIENCE)[0], "a process of the kernel is still there")
            os.close(descriptor)

    def test_a_kernel_that_was_shut_down_leaves_no_process(self) -> None:
        manager, processes = self.begun()
        manager.shutdown_kernel()
        self.gone(processes)

    def test_a_kernel_that_was_killed_leaves_no_process(self) -> None:
        manager, processes = self.begun()
        manager.shutdown_kernel(now=True)
        self.gone(processes)

    def test_a_restart_begins_anew(self) -> None:
        manager, _ = self.begun()
        manager.restart_kernel()
        client = manager.blocking_client()
        client.start_channels()
        self.addCleanup(client.stop_channels)
        client.wait_for_ready(timeout=PATIENCE)
        reply = client.execute("x", reply=True, timeout=PATIENCE)
        self.assertEqual(reply["content"]["ename"], "NameError")

    def test_who_has_not_the_key_is_not_heard(self) -> None:
        manager, _ = self.begun()
        stranger = manager.blocking_client()
        stranger.session.key = b"another"
        stranger.start_channels()
        self.addCleanup(stranger.stop_channels)
        stranger.kernel_info()
        client = manager.blocking_client()
        client.start_channels()
        self.addCleanup(client.stop_channels)
        client.wait_for_ready(timeout=PATIENCE)
        client.execute("1", reply=True, timeout=PATIENCE)  # which came behind it, and is answered
        with self.assertRaises(Empty):
            stranger.get_shell_msg(timeout=0)


class Mistakes(zygo.ZygoTestCase):
    def test_a_connection_file_that_is_none(self) -> None:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"transport": "tcp", "ip": "127.0.0.1", "key": ""}, file)
            file.flush()
            ended = subprocess.run([zygo.BINARY, "kernel", "run", "-f", file.name], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((ended.returncode, ended.stderr), (2, f"zygo kernel run: {file.name}: has no key\n"))

    def test_options_are_checked_when_a_kernel_is_installed(self) -> None:
        ended = subprocess.run([zygo.BINARY, "kernel", "install", "--template", "nosuch"], capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(ended.returncode, 2)
        self.assertIn('template "nosuch" is unknown', ended.stderr)


if __name__ == "__main__":
    unittest.main()
