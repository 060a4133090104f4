"""What E2B's code interpreter tells of code: output while it runs, what is shown, charts, data of tables, magics."""

from __future__ import annotations

import http.client
import json
import sys
import unittest
from typing import Any

from apis.e2b_client import E2bCase


class Output(E2bCase):
    def begin(self, sandbox: dict[str, Any], code: str) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """A client that has not read its answer."""
        client = self.service.client(60)
        self.addCleanup(client.close)
        client.request("POST", "/execute", json.dumps({"code": code}),
                       {"E2b-Sandbox-Id": sandbox["sandboxID"], "X-Access-Token": sandbox["envdAccessToken"]})
        return client, client.getresponse()

    def test_it_comes_while_the_code_runs(self) -> None:
        sandbox = self.create()
        client, response = self.begin(sandbox, "import sys\nprint('out')\nprint('err', file=sys.stderr)\nwhile True: pass")
        told = {"stdout": "", "stderr": ""}
        while told != {"stdout": "out\n", "stderr": "err\n"}:
            record = json.loads(response.readline())
            if record["type"] in told:
                told[record["type"]] += record["text"]
        response.close()
        client.close()

        self.assertEqual(self.run_code(sandbox, "'sys' in globals()").text, "False")

    def test_much_of_it(self) -> None:
        told = self.run_code(self.create(), "import sys\nfor _ in range(100):\n    print('\u00e4' * 9_999)\n    print('e' * 999, file=sys.stderr)")

        self.assertEqual((told.stdout, told.stderr, told.error), (("\u00e4" * 9_999 + "\n") * 100, ("e" * 999 + "\n") * 100, None))

    def test_a_client_that_reads_late_gets_all_of_it(self) -> None:
        sandbox = self.create()
        _, response = self.begin(sandbox, "x = 1\nfor _ in range(150):\n    print('a' * 99_999)\n7")
        self.assertEqual(self.run_code(sandbox, "x").text, "1")  # the first code has ended

        records = [json.loads(line) for line in response]

        self.assertEqual("".join(record["text"] for record in records if record["type"] == "stdout"), ("a" * 99_999 + "\n") * 150)
        self.assertEqual(records[-1], {"type": "result", "is_main_result": True, "text": "7"})

    def test_a_client_that_leaves_before_the_rest(self) -> None:
        sandbox = self.create()
        client, response = self.begin(sandbox, "x = 1\nfor _ in range(150):\n    print('a' * 99_999)")
        self.assertEqual(self.run_code(sandbox, "x").text, "1")
        response.close()
        client.close()

        self.assertEqual(self.run_code(sandbox, "x").text, "1")

    def test_what_others_print_comes_between_it(self) -> None:
        sandbox = self.create()
        code = ("import subprocess\nother = subprocess.Popen(['sh', '-c', 'while :; do echo other; done'])\n"
                "from IPython.display import HTML\nfor _ in range(5): display(HTML('h' * 300_000))\nother.kill(); other.wait();")
        told = self.run_code(sandbox, code)

        self.assertEqual([len(result["html"]) for result in told.results], [300_000] * 5)
        self.assertEqual(set(told.stdout.split("\n")) - {""}, {"other"})

    def test_a_program_that_says_half_of_something(self) -> None:
        """What is left of it at the end is no output, and whoever does not read costs no more than its bytes."""
        code = ("from zygo_kernel import channel\nimport sys\nprint('a', flush=True)\n"
                "sys.stdout.buffer.write(b'\\x1e' + channel.word + b':9999999:' + b'\\x01' * 1_000_000)\nsys.stdout.flush()")
        self.assertEqual(self.run_code(self.create(), code).stdout, "a\n")

    def test_very_many_types(self) -> None:
        told = self.run_code(self.create(), "display({f'application/x{i}': '' for i in range(100_000)} | {'text/plain': 'a'}, raw=True)\n7")
        self.assertEqual(told.text, "7")
        self.assertLessEqual(len(told.results[0].get("extra", {})), 100)

    def test_what_is_shown_comes_between_it(self) -> None:
        sandbox = self.create()
        answer = self.inside(sandbox, "POST", "/execute", {"code": "print(1)\ndisplay('a')\nprint(2)\n3"})
        records = [json.loads(line) for line in answer.body.splitlines()]

        self.assertEqual([record["type"] for record in records], ["number_of_executions", "stdout", "result", "stdout", "result"])
        self.assertEqual([record["is_main_result"] for record in records if record["type"] == "result"], [False, True])

    def test_what_a_program_says_by_itself(self) -> None:
        """It may know how its interpreter speaks: whoever it speaks for is its own client."""
        sandbox = self.create()
        for said in ("'done', status='error'", "'done', status='error', ename=1, evalue=[], traceback=[2, 'x']", "'execute_result', data=[]",
                     "'display_data', data={'text/plain': 5, 'application/vnd.zygo.chart+json': [1]}", "'input', prompt='?'", "'stream'", "3"):
            with self.subTest(said):
                answer = self.inside(sandbox, "POST", "/execute", {"code": f"from zygo_kernel import channel\nchannel.say({said})\n7"})
                self.assertEqual(answer.status, 200)
                self.assertIn({"type": "result", "is_main_result": True, "text": "7"}, [json.loads(line) for line in answer.body.splitlines()])


class Cells(E2bCase):
    def test_magics_and_commands_of_the_shell(self) -> None:
        sandbox = self.create()

        self.assertEqual(self.run_code(sandbox, "!echo one; echo two >&2").stdout, "one\n")
        self.assertEqual(self.run_code(sandbox, "lines = !printf 'a\\nb'\nlines").text, "['a', 'b']")
        self.assertEqual(self.run_code(sandbox, "%%bash\necho $((6 * 7))").stdout, "42\n")
        self.assertEqual(self.run_code(sandbox, "%pwd").error, None)
        for code in ("!pip install x", "!python3 -m pip install x", "%pip install x", "!apt-get install -y x"):
            self.assertIn("there is no network", self.run_code(sandbox, code).error["value"], code)
        undo = self.run_code(sandbox, "%undo").error["value"]
        self.assertIn("not found", undo)
        self.assertNotIn("%tree", undo)

    def test_processes(self) -> None:
        sandbox = self.create()
        told = self.run_code(sandbox, "import multiprocessing\nprocess = multiprocessing.Process(target=print, args=('x',))\n"
                                      "process.start(); process.join(); process.exitcode")
        self.assertEqual((told.stdout, told.text), ("x\n", "0"))

    def test_a_stream_that_was_closed_is_there_again(self) -> None:
        sandbox = self.create()
        wrap = "import io, sys\nsys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\nprint(1)\n2"
        for code in (wrap, wrap, "import sys\nsys.stdout.close()\nprint(1)", "sys.stderr.detach()", "del sys.stdout"):
            self.run_code(sandbox, code)
        told = self.run_code(sandbox, "print('a')\nprint('b', file=sys.stderr)\n3")

        self.assertEqual((told.stdout, told.stderr, told.text, told.error), ("a\n", "b\n", "3", None))

    def test_an_exception_that_cannot_be_compared(self) -> None:
        code = "class E(Exception):\n    def __eq__(self, other): raise ValueError\ntry:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise E('mine')"
        self.assertEqual(self.run_code(self.create(), code).error["name"], "E")

    def test_long_words_of_an_exception(self) -> None:
        sandbox = self.create()
        error = self.run_code(sandbox, "x = 1\nraise ValueError('y' * 10_000_000)").error
        self.assertEqual((error["name"], self.run_code(sandbox, "x").text), ("ValueError", "1"))

    def test_await_at_top_level(self) -> None:
        told = self.run_code(self.create(), "import asyncio\nasync def f():\n    await asyncio.sleep(0)\n    return 5\nawait f()")
        self.assertEqual((told.text, told.error), ("5", None))

    def test_the_shell_is_at_home(self) -> None:
        self.assertEqual(self.run_code(self.create(), "!test -d /home/user && pwd || echo /home/user").stdout, "/home/user\n")

    def test_earlier_results_have_names(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "6 * 7")

        self.assertEqual(self.run_code(sandbox, "_ + 1, _1, In[1], Out[1]").text, "(43, 42, '6 * 7', 42)")

    def test_nobody_answers_a_question(self) -> None:
        told = self.run_code(self.create(), "input('?')")
        self.assertEqual(told.error["name"], "StdinNotImplementedError")

    def test_an_exception_names_its_line(self) -> None:
        error = self.run_code(self.create(), "def f():\n    return 1 / 0\nf()").error
        self.assertIn("In[1], line 3", error["traceback"])
        self.assertIn("return 1 / 0", error["traceback"])
        self.assertNotIn("\x1b", error["traceback"])

    def test_contexts_snapshots_and_forks_have_the_interpreter(self) -> None:
        sandbox = self.create()
        context = self.inside(sandbox, "POST", "/contexts", {}).json["id"]
        self.run_code(sandbox, "x = 1")
        snapshot = self.ask("POST", f"/sandboxes/{sandbox['sandboxID']}/snapshots", {"name": "s"}).json["snapshotID"]
        fork = self.ask("POST", f"/sandboxes/{sandbox['sandboxID']}/fork", {"count": 1}).json[0]["sandbox"]

        self.assertEqual(self.run_code(sandbox, "%who\n5", context_id=context).text, "5")
        for other in (self.create(templateID=snapshot), fork):
            self.assertEqual(self.run_code(other, "display(x)\nx + 1").text, "2")


class Tables(E2bCase):
    def test_the_data_of_a_table(self) -> None:
        sandbox = self.create()
        if self.run_code(sandbox, "import pandas").error:
            print("SKIPPED: no pandas (python3-pandas)", file=sys.stderr)
            self.skipTest("no pandas")

        result, = self.run_code(sandbox, "pandas.DataFrame({'a': [1, 2], 'b': ['x', None]})").results

        self.assertEqual(result["data"], {"a": [1, 2], "b": ["x", None]})
        self.assertIn("<table", result["html"])
        large, = self.run_code(sandbox, "pandas.DataFrame({'a': ['x' * 100] * 200_000})").results
        self.assertNotIn("data", large)
        self.assertIn("<table", large["html"])
        self.assertNotIn("data", self.run_code(sandbox, "[1, 2]").results[0])

    def test_lists_and_dicts_are_json(self) -> None:
        sandbox = self.create()

        self.assertEqual(self.run_code(sandbox, "{'a': [1, None]}").results[0]["json"], {"a": [1, None]})
        for code in ("[float('nan')]", "x = []; x.append(x); x", "[object()]", "['a' * 2_000_000]", "(1, 2)"):
            self.assertNotIn("json", self.run_code(sandbox, code).results[0], code)


class Charts(E2bCase):
    def shown(self, code: str) -> list[dict[str, Any]]:
        sandbox = self.create()
        if self.run_code(sandbox, "import matplotlib").error:
            print("SKIPPED: no matplotlib (python3-matplotlib)", file=sys.stderr)
            self.skipTest("no matplotlib")
        told = self.run_code(sandbox, "import matplotlib.pyplot as plt\n" + code)
        self.assertIsNone(told.error)
        return told.results

    def test_a_picture_and_its_data(self) -> None:
        result, = self.shown("plt.plot([1, 2, 3], [4, 5, 6], label='one')\nplt.title('t')\nplt.xlabel('x (s)')\nplt.show()")

        self.assertFalse(result["is_main_result"])
        self.assertEqual(result["png"][:8], "iVBORw0K")
        chart = result["chart"]
        self.assertEqual((chart["type"], chart["title"], chart["x_label"], chart["x_unit"]), ("line", "t", "x (s)", "s"))
        self.assertEqual(chart["elements"], [{"label": "one", "points": [[1, 4], [2, 5], [3, 6]]}])

    def test_kinds_of_charts(self) -> None:
        for code, kind, elements in (
                ("plt.bar(['a', 'b'], [1, 2])", "bar", 2), ("plt.pie([1, 3], labels=['a', 'b'])", "pie", 2), ("plt.scatter([1], [2])", "scatter", 1),
                ("plt.boxplot([[1, 2, 9], [3, 4]], patch_artist=True)", "box_and_whisker", 2),
                ("_, axes = plt.subplots(1, 2)\naxes[0].plot([1])\naxes[1].bar(['a'], [1])", "superchart", 2)):
            with self.subTest(kind):
                result, = self.shown(code + "\nplt.show()")
                self.assertEqual((result["chart"]["type"], len(result["chart"]["elements"])), (kind, elements))

    def test_figures_with_formulas_leave_the_state(self) -> None:
        """matplotlib has open files of fonts for them, in cycles."""
        sandbox = self.create()
        self.shown("")
        for code in ("plt.title('$x^2$'); plt.show()", "plt.yscale('log'); plt.plot([1, 10])", "plt.loglog([1, 9]); plt.savefig('a.png')",
                     "plt.title('$y$'); figure = plt.gcf()\nfigure",
                     "plt.title('$z$'); plt.savefig('a.svg'); plt.savefig('a.pdf')"):
            with self.subTest(code):
                self.assertIsNone(self.run_code(sandbox, "import matplotlib.pyplot as plt\nx = 41\n" + code).error)
                self.assertEqual(self.run_code(sandbox, "x, vars().pop('x')").text, "(41, 41)")

    def test_many_of_them_leave_the_state(self) -> None:
        """What their data takes of the output of a cell is bounded; pictures come all the same."""
        results = self.shown("import random\nfor _ in range(12):\n    plt.plot([random.random() for _ in range(20_000)])\n    plt.show()")

        self.assertEqual(len([result for result in results if "png" in result]), 12)
        self.assertLess(len([result for result in results if "chart" in result]), 12)

    def test_the_backend_is_there_though_it_was_looked_for(self) -> None:
        results = self.shown("plt.plot([1])\nplt.show()\nprint(1)\nplt.plot([2])\nplt.show()")
        self.assertEqual(len(results), 2)
        told = self.run_code(self.create(), "import importlib.util\nimportlib.util.find_spec('matplotlib')\nimport matplotlib.pyplot as plt\n"
                                            "plt.plot([1])\nplt.show()\nplt.plot([2])\nplt.show()")
        self.assertEqual(len(told.results), 2)

    def test_a_program_that_is_started_has_its_own_matplotlib(self) -> None:
        self.shown("")
        sandbox = self.create()
        self.run_code(sandbox, "import matplotlib.pyplot\n"
                               "open('plot.py', 'w').write('import matplotlib.pyplot as plt\\nplt.plot([1])\\nplt.savefig(\"a.png\")\\n')")

        self.assertEqual(self.run_command(sandbox, "python3 plot.py && ls a.png")["stdout"], b"a.png\n")
        self.assertEqual(self.run_code(sandbox, "!python3 plot.py && ls a.png").stdout, "a.png\n")


if __name__ == "__main__":
    unittest.main()
