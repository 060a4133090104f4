"""SandboxFusion's judge and notebooks, as its clients use them."""

from __future__ import annotations

import base64
import concurrent.futures
import os
import signal
import tempfile
import unittest
from typing import Any

import host
from serve import Answer, Service
from zygo import ZygoTestCase

SUM = "Two numbers.\n```python\na, b = map(int, input().split())\nprint(a + b)\n```\nThat is all."


def case(given: str, expected: str) -> dict[str, Any]:
    return {"input": {"stdin": given}, "output": {"stdout": expected}}


class Fusion(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-fusion-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--api", "sandbox-fusion", "--log", "off", ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def post(self, path: str, **body: Any) -> Answer:
        return self.service.ask("POST", path, body)


@unittest.skipIf(os.geteuid() != 0, "a process of another uid is to be killed")
class WhatZygoHasFailed(Fusion):
    def test_is_answered_with_the_one_status_that_verl_tries_again(self) -> None:
        with concurrent.futures.ThreadPoolExecutor(1) as elsewhere:
            asked = elsewhere.submit(self.post, "/run_code", code="import time; time.sleep(30)", language="python")
            _, cell, _ = host.chain_of(self.service.process.pid)
            os.kill(cell, signal.SIGKILL)
            answer = asked.result(60)

        self.assertEqual(answer.status, 504, answer.body)
        self.assertEqual((answer.json["status"], answer.json["zygo"]["by"]), ("SandboxError", "sandbox"))
        self.assertEqual(self.post("/run_code", code="print(1)", language="python").json["status"], "Success")


class Submit(Fusion):
    def submit(self, completion: str, *cases: dict[str, Any], language: str = "python", **config: Any) -> dict[str, Any]:
        answer = self.post("/submit", dataset="mine", id=7, completion=completion,
                           config={"dataset_type": "CommonOJDataset", "language": language,
                                   "provided_data": {"id": 7, "content": "", "test": list(cases)}} | config)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_a_completion_that_is_right(self) -> None:
        answer = self.submit(SUM, case("1 2", "3\n"), case("2 2", "4.0000001\n\n"))

        self.assertEqual((answer["id"], answer["accepted"]), (7, True), answer)
        self.assertEqual(answer["extracted_code"], "a, b = map(int, input().split())\nprint(a + b)")
        self.assertEqual([test["passed"] for test in answer["tests"]], [True, True])
        info = answer["tests"][0]["exec_info"]
        self.assertEqual((info["status"], info["run_result"]["stdout"], info["run_result"]["return_code"]), ("Success", "3\n", 0))
        self.assertEqual(answer["tests"][0]["test_info"], case("1 2", "3\n"))
        self.assertEqual(answer["zygo"]["label"], "OK")
        self.assertLessEqual({"full_code", "test_code", "extracted_type", "extra"}, answer.keys())

    def test_it_stops_at_the_first_failure_unless_told_otherwise(self) -> None:
        cases = (case("1 2", "3"), case("1 2", "4"), case("x", "1"), case("3 3", "6"))

        first = self.submit(SUM, *cases)
        every = self.submit(SUM, *cases, extra={"run_all_cases": True})

        self.assertEqual((first["accepted"], [test["passed"] for test in first["tests"]]), (False, [True, False]))
        self.assertEqual(first["tests"][1]["exec_info"]["status"], "Success")
        self.assertEqual((every["accepted"], [test["passed"] for test in every["tests"]]), (False, [True, False, False, True]))
        self.assertEqual(every["tests"][2]["exec_info"]["status"], "Failed")
        self.assertIn("ValueError", every["tests"][2]["exec_info"]["run_result"]["stderr"])

    def test_a_compiled_language_is_compiled_once(self) -> None:
        code = "```cpp\n#include <iostream>\nint main() { int a; std::cin >> a; std::cout << a * 2; }\n```"
        answer = self.submit(code, case("1", "2"), case("2", "4"), language="cpp")

        self.assertTrue(answer["accepted"], answer)
        self.assertEqual(answer["tests"][1]["exec_info"]["compile_result"]["return_code"], 0)

        broken = self.submit(code.replace("a * 2", "b"), case("1", "2"), case("2", "4"), language="cpp")
        self.assertEqual((broken["accepted"], len(broken["tests"])), (False, 1))
        info = broken["tests"][0]["exec_info"]
        self.assertEqual((info["status"], info["compile_result"]["return_code"], info["run_result"]), ("Failed", 1, None))

    def test_limits_are_those_of_each_case(self) -> None:
        answer = self.submit("```python\nn = int(input())\nwhile n: pass\nprint(n)\n```", case("0", "0"), case("1", "1"), run_timeout=2)

        self.assertEqual([test["passed"] for test in answer["tests"]], [True, False])
        self.assertEqual(answer["tests"][1]["exec_info"]["run_result"]["status"], "TimeLimitExceeded")

    def test_long_output_is_compared_and_answered_whole(self) -> None:
        text = "x" * 100_000
        passed = self.submit("```python\nprint('x' * 100000)\n```", case("", text))["tests"][0]
        failed = self.submit("```python\nprint('x' * 100000 + 'y')\n```", case("", text))["tests"][0]

        self.assertTrue(passed["passed"])
        self.assertEqual(len(passed["exec_info"]["run_result"]["stdout"]), 100_001)
        self.assertEqual(passed["test_info"]["output"]["stdout"], "x" * 498 + "..." + "x" * 498)
        self.assertFalse(failed["passed"])
        self.assertEqual(failed["test_info"]["output"]["stdout"], text)

    def test_what_is_refused(self) -> None:
        def refusal(**changes: Any) -> tuple[int, Any]:
            request = {"dataset": "mine", "id": 1, "completion": "",
                       "config": {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": {"test": []}}}
            request["config"] = request["config"] | changes.pop("config", {})
            answer = self.post("/submit", **request | changes)
            return answer.status, answer.json.get("detail")

        self.assertEqual(refusal(config={"dataset_type": None}), (400, "no eval class found for dataset mine"))
        self.assertEqual(refusal(config={"dataset_type": "AutoEvalDataset"}), (400, "eval class AutoEvalDataset not found"))
        self.assertEqual(refusal(config={"language": None}),
                         (400, "config.language field must exist for CommonOJDataset, got None"))
        status, detail = refusal(config={"provided_data": None})
        self.assertEqual((status, "no data of mine is kept here" in detail), (400, True))
        self.assertEqual(refusal(completion=3)[1][0]["loc"], ["body", "completion"])
        self.assertEqual(refusal(config={"language": "cobol"})[1][0]["loc"], ["body", "config", "language"])
        self.assertEqual(self.post("/submit", dataset="x").status, 422)

    def test_no_cases_are_all_right(self) -> None:
        answer = self.submit(SUM)

        self.assertEqual((answer["accepted"], answer["tests"]), (True, []))


class Jupyter(Fusion):
    def run_cells(self, *cells: str, **more: Any) -> dict[str, Any]:
        answer = self.post("/run_jupyter", cells=cells, **more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_cells_share_one_process(self) -> None:
        answer = self.run_cells("a = 'hello'", "a", "print(a)", "import sys\nprint(a, file=sys.stderr)\na + '!'")

        self.assertEqual((answer["status"], answer["driver"]["return_code"]), ("Success", 0), answer)
        first, second, third, fourth = answer["cells"]
        self.assertEqual(first, {"stdout": "", "stderr": "", "display": [], "error": []})
        self.assertEqual(second["display"], [{"text/plain": "'hello'"}])
        self.assertEqual((third["stdout"], third["display"]), ("hello\n", []))
        self.assertEqual((fourth["stderr"], fourth["display"]), ("hello\n", [{"text/plain": "'hello!'"}]))

    def test_a_cell_that_fails_does_not_stop_the_next(self) -> None:
        answer = self.run_cells("def f(): return 1 / 0\nprint('before')\nf()", "import sys; sys.exit(3)", "x =", "print('on')")

        self.assertEqual(answer["status"], "Success", answer)
        errors = [cell["error"] for cell in answer["cells"]]
        self.assertEqual([error[0]["ename"] if error else None for error in errors],
                         ["ZeroDivisionError", "SystemExit", "SyntaxError", None])
        self.assertEqual(errors[0][0]["evalue"], "division by zero")
        trace = errors[0][0]["traceback"]
        self.assertIn('  File "<cell 1>", line 3, in <module>', trace)
        self.assertIn("    def f(): return 1 / 0", trace)
        self.assertFalse(any("run_cell" in line or "execute" in line for line in trace), trace)
        self.assertEqual([answer["cells"][i]["stdout"] for i in (0, 3)], ["before\n", "on\n"])

    def test_output_of_the_process_itself_and_rich_values(self) -> None:
        answer = self.run_cells(
            "import os\nos.write(1, b'raw\\xff\\n')\nNone",
            "class Page:\n    def __repr__(self): return 'page'\n    def _repr_html_(self): return '<p>'\nPage()",
            "display(1, 2)\n3;", "import __main__, pickle\npickle.loads(pickle.dumps(Page()))")

        cells = answer["cells"]
        self.assertEqual(cells[0]["stdout"], "raw\ufffd\n")
        self.assertEqual(cells[1]["display"], [{"text/plain": "page", "text/html": "<p>"}])
        self.assertEqual(cells[2]["display"], [{"text/plain": "1"}, {"text/plain": "2"}])
        self.assertEqual((cells[3]["error"], cells[3]["display"][0]["text/plain"]), ([], "page"))

    def test_files_in_and_out(self) -> None:
        answer = self.run_cells("data = open('in.txt').read()", "open('out.txt', 'w').write(data * 2)",
                                files={"in.txt": base64.b64encode(b"hi").decode()}, fetch_files=["out.txt", "none"])

        self.assertEqual(answer["files"], {"out.txt": base64.b64encode(b"hihi").decode()})
        self.assertEqual(answer["cells"][1]["display"], [{"text/plain": "4"}])

    def test_limits_end_all_of_it(self) -> None:
        answer = self.run_cells("print(1)", "while True: pass", total_timeout=0.5)
        self.assertEqual((answer["status"], answer["driver"]["status"], answer["cells"]), ("Failed", "TimeLimitExceeded", []))

        dead = self.run_cells("import os\nos._exit(3)")
        self.assertEqual((dead["status"], dead["driver"]["return_code"], dead["cells"]), ("Failed", 3, []))

    def test_what_is_no_request(self) -> None:
        self.assertEqual(self.post("/run_jupyter").status, 422)
        self.assertEqual(self.post("/run_jupyter", cells=[1]).json["detail"][0]["loc"], ["body", "cells"])
        self.assertEqual(self.post("/run_jupyter", cells=[], kernel="julia").status, 422)
        self.assertEqual(self.run_cells()["cells"], [])


if __name__ == "__main__":
    unittest.main()
