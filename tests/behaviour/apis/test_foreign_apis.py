"""The APIs of others, as their clients use them: one pool, other words."""

from __future__ import annotations

import base64
import functools
import json
import tempfile
import unittest
from typing import Any

import zygo
from serve import Answer, Service
from zygo import ZygoTestCase

KEY = "0123456789abcdef-key"
# They end well where the compiler's options leave out what the original's options check.
OVERFLOWS = ("fn main() { let n = i32::MAX - 1 + std::env::args().count() as i32; let m = n + 1; "
             'println!("{}", m); }')
ASSERTS = 'class Main { public static void main(String[] a) { assert 1 == 2 : "it is not"; System.out.println("past it"); } }'
IS_OPTIMISED = "#include <cstdio>\nint main() {\n#ifdef __OPTIMIZE__\nputs(\"yes\");\n#else\nputs(\"no\");\n#endif\n}\n"


@functools.cache
def offered() -> set[str]:
    return {each["name"] for each in json.loads(zygo.run_cli("runtime", "list", "--json").out) if each["available"]}


def needs(runtime: str) -> Any:
    return unittest.skipUnless(runtime in offered(), f"{runtime} is not installed (see `zygo runtime list`)")


class Foreign(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-foreign-")
        cls.addClassCleanup(home.cleanup)
        apis = [part for name in ("sandbox-fusion", "piston", "dify") for part in ("--api", name)]
        cls.service = Service(*apis, "--log", "off", ZYGO_HOME=home.name, PISTON_RUN_TIMEOUT="2000",
                              PISTON_VERSIONS="python=3.10.0")
        cls.addClassCleanup(cls.service.stop)

    def post(self, path: str, **body: Any) -> Answer:
        return self.service.ask("POST", path, body, {"Content-Type": "application/json"})


class SandboxFusion(Foreign):
    def run_code(self, code: str, **more: Any) -> dict[str, Any]:
        answer = self.post("/run_code", code=code, **{"language": "python"} | more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_a_program_that_ends_well(self) -> None:
        answer = self.run_code("print(input()[::-1])", stdin="abc")

        self.assertEqual((answer["status"], answer["message"]), ("Success", ""))
        self.assertIsNone(answer["compile_result"])
        run = answer["run_result"]
        self.assertEqual((run["status"], run["return_code"], run["stdout"]), ("Finished", 0, "cba\n"))
        self.assertEqual(answer["zygo"]["label"], "OK")

    def test_ends_that_are_none(self) -> None:
        for code, status, returned, label in (
                ("raise ValueError('x')", "Finished", 1, "ValueError"),
                ("import sys; sys.exit(3)", "Finished", 3, "NonZeroExit"),
                ("import os; os.abort()", "Finished", -6, "Signalled"),
                ("while True: pass", "TimeLimitExceeded", None, "TimeoutException"),
                ("x = bytearray(1 << 30)", "Finished", -9, "MemoryLimitExceeded"),
                ("import socket; socket.socket()", "Finished", -31, "UnsafeCode")):
            with self.subTest(code):
                answer = self.run_code(code, run_timeout=1.5 if status == "TimeLimitExceeded" else 20, memory_limit_MB=256)

                self.assertEqual(answer["status"], "Failed")
                self.assertEqual(answer["zygo"]["label"], label)
                self.assertEqual((answer["run_result"]["status"], answer["run_result"]["return_code"]), (status, returned))

    def test_output_that_the_original_loses(self) -> None:
        self.assertEqual(len(self.run_code("print('x' * 500000)")["run_result"]["stdout"]), 500001)

    def test_output_before_a_timeout_is_kept(self) -> None:
        answer = self.run_code("print('begun', flush=True)\nwhile True: pass", run_timeout=2)

        self.assertEqual(answer["run_result"]["stdout"], "begun\n")

    def test_files_in_and_out(self) -> None:
        answer = self.run_code(
            "open('b', 'wb').write(open('a/x', 'rb').read() * 2)",
            files={"a/x": base64.b64encode(b"\xff\n").decode(), "none": None}, fetch_files=["b", "missing"])

        self.assertEqual(answer["status"], "Success", answer)
        self.assertEqual(answer["files"], {"b": base64.b64encode(b"\xff\n\xff\n").decode()})

    def test_a_compiled_language(self) -> None:
        good = self.run_code("#include <iostream>\nint main() { std::cout << 7; }", language="cpp")
        self.assertEqual((good["compile_result"]["return_code"], good["run_result"]["stdout"]), (0, "7"))

        bad = self.run_code("int main() { return x; }", language="cpp")
        self.assertEqual((bad["status"], bad["compile_result"]["return_code"], bad["run_result"]), ("Failed", 1, None))
        self.assertIn("'x' was not declared", bad["compile_result"]["stderr"].replace("‘", "'").replace("’", "'"))

    def test_javas_assertions_are_checked(self) -> None:
        answer = self.run_code(ASSERTS, language="java")

        self.assertEqual((answer["status"], answer["compile_result"]["return_code"]), ("Failed", 0), answer)
        self.assertEqual((answer["run_result"]["return_code"], answer["run_result"]["stdout"]), (1, ""))
        self.assertIn("AssertionError: it is not", answer["run_result"]["stderr"])

    @needs("rust")
    def test_rusts_overflows_are_found(self) -> None:
        answer = self.run_code(OVERFLOWS, language="rust")

        self.assertEqual((answer["status"], answer["run_result"]["return_code"]), ("Failed", 101), answer)
        self.assertIn("attempt to add with overflow", answer["run_result"]["stderr"])

    def test_c_plus_plus_is_not_optimised(self) -> None:
        self.assertEqual(self.run_code(IS_OPTIMISED, language="cpp")["run_result"]["stdout"], "no\n")

    @needs("php")
    def test_php_without_a_tag_is_a_program(self) -> None:
        for code in ("echo 6 * 7;", "\n <?php echo 6 * 7;"):
            with self.subTest(code):
                self.assertEqual(self.run_code(code, language="php")["run_result"]["stdout"], "42")

    def test_what_is_no_request(self) -> None:
        self.assertEqual(self.post("/run_code", language="python").status, 422)
        self.assertEqual(self.post("/run_code", code="", language="cobol").json["detail"][0]["loc"], ["body", "language"])
        self.assertEqual(self.post("/run_code", code="", files={"../x": ""}).status, 400)
        self.assertEqual(self.service.ask("POST", "/run_code", b"\xff\x00{").status, 422)

    def test_ping(self) -> None:
        self.assertEqual(self.service.ask("GET", "/v1/ping").json, "pong")


class Piston(Foreign):
    def execute(self, content: str, **more: Any) -> dict[str, Any]:
        answer = self.post("/api/v2/execute", **{"language": "py", "version": "3.x", "files": [{"content": content}]} | more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_a_version_that_clients_insist_on_is_the_operators_to_allow(self) -> None:
        self.assertEqual(self.execute("print(6 * 7)", version="3.10.0")["version"], "3.10.0")
        self.assertNotEqual(self.execute("print(6 * 7)", version="*")["version"], "3.10.0")

    def test_a_body_without_fields_lacks_the_first(self) -> None:
        for body in ([], {}):
            answer = self.service.ask("POST", "/api/v2/execute", body, {"Content-Type": "application/json"})
            self.assertEqual((answer.status, answer.json), (400, {"message": "language is required as a string"}))

    def test_runtimes(self) -> None:
        runtimes = {one["language"]: one for one in self.service.ask("GET", "/api/v2/runtimes").json}

        self.assertIn("py", runtimes["python"]["aliases"])
        self.assertRegex(runtimes["cpp17"]["version"], r"^\d+\.\d+\.\d+$")

    def test_a_program_that_ends_well(self) -> None:
        answer = self.execute("import sys, data\nprint(data.x, sys.argv[1:], repr(input()))", args=["a", "b"],
                              files=[{"name": "main.py", "content": "import sys, data\nprint(data.x, sys.argv[1:], repr(input()))"},
                                     {"name": "data.py", "content": "x = 5"}])

        self.assertEqual(answer["run"]["stdout"], "5 ['a', 'b'] ''\n")
        self.assertEqual([answer["run"][key] for key in ("code", "signal", "status", "message")], [0, None, None, None])
        self.assertEqual(answer["language"], "python")
        self.assertNotIn("compile", answer)

    def test_ends_that_are_none(self) -> None:
        for content, status, signal, code in (("raise SystemExit(3)", "RE", None, 3),
                                              ("import os; os.abort()", "SG", "SIGABRT", None),
                                              ("while True: pass", "TO", "SIGKILL", None),
                                              ("print('x' * 5000)", "OL", "SIGKILL", None)):
            with self.subTest(content):
                run = self.execute(content)["run"]

                self.assertEqual((run["status"], run["signal"], run["code"]), (status, signal, code))
                if status == "OL":
                    self.assertEqual(len(run["stdout"]), 1024)

    def test_a_compiled_language(self) -> None:
        good = self.execute("#include <cstdio>\nint main() { puts(\"7\"); }", language="c++17", version="*")
        self.assertEqual((good["compile"]["code"], good["run"]["stdout"]), (0, "7\n"))

        bad = self.execute("int main() { return x; }", language="c++17", version="*")
        self.assertEqual(bad["compile"]["code"], 1)
        self.assertEqual(bad["run"], bad["compile"])

    def test_languages_are_called_as_by_the_original_and_have_its_options(self) -> None:
        for name in ("c++", "cpp", "g++"):
            with self.subTest(name):
                answer = self.execute(IS_OPTIMISED, language=name, version="*")
                self.assertEqual((answer["language"], answer["run"]["stdout"]), ("c++", "no\n"))
        ours = self.execute(IS_OPTIMISED, language="cpp20", version="*")
        self.assertEqual(ours["run"]["stdout"], "yes\n")
        listed = [(one["language"], one["version"]) for one in self.service.ask("GET", "/api/v2/runtimes").json]
        self.assertIn("c++", [language for language, _ in listed])
        self.assertEqual(len(listed), len(set(listed)))
        self.assertEqual({language for language, _ in listed if [each for each, _ in listed].count(language) > 1}, {"python"})

    @needs("rust")
    def test_rusts_overflows_are_found(self) -> None:
        answer = self.execute(OVERFLOWS, language="rust", version="*")

        self.assertEqual(answer["run"]["code"], 101, answer)
        self.assertIn("attempt to add with overflow", answer["run"]["stderr"])

    def test_refusals(self) -> None:
        self.assertEqual(self.post("/api/v2/execute").json, {"message": "language is required as a string"})
        self.assertEqual(self.post("/api/v2/execute", language="py", version="2", files=[{"content": ""}]).json,
                         {"message": "py-2 runtime is unknown"})
        late = self.post("/api/v2/execute", language="py", version="*", files=[{"content": ""}], run_timeout=2001)
        self.assertEqual((late.status, late.json["message"]), (400, "run_timeout cannot exceed the configured limit of 2000"))
        self.assertEqual(self.service.ask("POST", "/api/v2/execute", b"{}").status, 415)
        self.assertEqual(self.service.ask("GET", "/api/v2/nothing").json, {"message": "Not Found"})


class Dify(Foreign):
    def test_both_languages(self) -> None:
        for language, code in (("python3", "print(6 * 7)"), ("nodejs", "console.log(6 * 7)")):
            with self.subTest(language):
                answer = self.post("/v1/sandbox/run", language=language, code=code, preload="", enable_network=False).json

                self.assertEqual((answer["code"], answer["message"]), (0, "success"))
                self.assertEqual((answer["data"]["stdout"], answer["data"]["error"], answer["data"]["exit_code"]), ("42\n", "", 0))

    def test_an_error_is_told_by_its_text(self) -> None:
        answer = self.post("/v1/sandbox/run", language="python3", code="1 / 0").json

        self.assertEqual(answer["data"]["exit_code"], 1)
        self.assertIn("ZeroDivisionError", answer["data"]["error"])

    def test_other_languages(self) -> None:
        answer = self.post("/v1/sandbox/run", language="ruby", code="1")

        self.assertEqual((answer.status, answer.json["code"]), (400, -400))

    def test_health(self) -> None:
        self.assertEqual(self.service.ask("GET", "/health").json, "ok")


class Switches(ZygoTestCase):
    def test_what_was_not_asked_for_is_not_there(self) -> None:
        service = Service("--api", "dify", "--log", "off")
        self.addCleanup(service.stop)

        self.assertEqual(service.ask("POST", "/run_code", {"code": ""}).status, 404)
        self.assertEqual(service.ask("GET", "/api/v2/runtimes").status, 404)
        self.assertEqual(service.ask("GET", "/health").status, 200)

    def test_difys_key_is_a_token(self) -> None:
        with tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-") as tokens:
            tokens.write(f"dify {KEY} jobs\n")
            tokens.flush()
            service = Service("--api", "dify", "--log", "off", "--tokens", tokens.name)
            self.addCleanup(service.stop)
            job = {"language": "python3", "code": "print(1)"}

            self.assertEqual(service.ask("POST", "/v1/sandbox/run", job).status, 401)
            self.assertEqual(service.ask("POST", "/v1/sandbox/run", job, {"X-Api-Key": "wrong"}).status, 401)
            self.assertEqual(service.ask("POST", "/v1/sandbox/run", job, {"X-Api-Key": KEY}).json["code"], 0)

    def test_an_api_nobody_knows_is_refused(self) -> None:
        ended = zygo.run_cli("serve", "--api", "judge1")

        self.assertEqual(ended.code, 2)
        self.assertIn(b"judge1", ended.err)


if __name__ == "__main__":
    unittest.main()
