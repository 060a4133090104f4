"""The API of Judge0 CE, as its clients use it."""

from __future__ import annotations

import base64
import json
import time
import unittest
from typing import Any

from apis.judge0_client import ANN, BOB, C, CPP, EXECUTABLE, PLAIN_TEXT, PYTHON, Judge0Case

# The keys that Judge0's own Python client insists on.
CONFIGURATION = """allow_enable_network allow_enable_per_process_and_thread_memory_limit
allow_enable_per_process_and_thread_time_limit allowed_languages_for_compile_options callbacks_max_tries
callbacks_timeout cpu_extra_time cpu_time_limit enable_additional_files enable_batched_submissions
enable_callbacks enable_command_line_arguments enable_compiler_options enable_network
enable_per_process_and_thread_memory_limit enable_per_process_and_thread_time_limit enable_submission_delete
enable_wait_result maintenance_mode max_cpu_extra_time max_cpu_time_limit max_extract_size max_file_size
max_max_file_size max_max_processes_and_or_threads max_memory_limit max_number_of_runs
max_processes_and_or_threads max_queue_size max_stack_limit max_submission_batch_size max_wall_time_limit
memory_limit number_of_runs redirect_stderr_to_stdout stack_limit submission_cache_duration
use_docs_as_homepage wall_time_limit""".split()


def encoded(text: str | bytes) -> str:
    return base64.encodebytes(text if isinstance(text, bytes) else text.encode()).decode()


class Facts(Judge0Case):
    def test_languages_have_the_originals_ids(self) -> None:
        listed = {each["id"]: each["name"] for each in self.ask("GET", "/languages").json}

        self.assertRegex(listed[PYTHON], r"^Python \(3\.\d+\.\d+")
        self.assertRegex(listed[C], r"^C \(GCC \d+")
        self.assertNotIn(45, listed)  # an assembler
        every = self.ask("GET", "/languages/all").json
        self.assertEqual({each["id"] for each in every if not each["is_archived"]}, set(listed))
        self.assertEqual(self.ask("GET", f"/languages/{PYTHON}").json["name"], listed[PYTHON])
        self.assertEqual(self.ask("GET", "/languages/45").status, 404)

    def test_the_configuration_has_what_the_python_client_needs(self) -> None:
        configuration = self.ask("GET", "/config_info").json

        self.assertEqual([key for key in CONFIGURATION if key not in configuration], [])
        self.assertEqual(configuration["max_submission_batch_size"], 20)

    def test_statuses_and_the_version(self) -> None:
        statuses = self.ask("GET", "/statuses").json

        self.assertEqual([each["id"] for each in statuses], list(range(1, 15)))
        self.assertEqual(statuses[4], {"id": 5, "description": "Time Limit Exceeded"})
        self.assertEqual(self.ask("GET", "/about").json["version"], "1.13.1")

    def test_the_other_edition_is_below_a_prefix(self) -> None:
        self.assertEqual(self.ask("GET", "/extra-ce/about").json["version"], "1.13.1-extra")
        listed = {each["id"] for each in self.ask("GET", "/extra-ce/languages").json}
        self.assertLessEqual({10, 89}, listed)
        self.assertNotIn(PYTHON, listed)
        body = {"source_code": "print(input())", "language_id": 10, "stdin": "in"}
        answer = self.ask("POST", "/extra-ce/submissions?wait=true", body)
        self.assertEqual((answer.status, answer.json["stdout"]), (201, "in\n"), answer.body)
        created = self.ask("POST", "/extra-ce/submissions/batch", {"submissions": [body]}).json
        self.assertEqual(self.ended(created[0]["token"])["stdout"], "in\n")
        self.assertEqual(self.ask("GET", f"/extra-ce/submissions/{created[0]['token']}").json["stdout"], "in\n")
        self.assertEqual(self.ask("POST", "/submissions", body).status, 422)

    def test_a_token_is_asked_for(self) -> None:
        self.assertEqual(self.ask("POST", "/authenticate").status, 200)
        for path in ("/authenticate", "/submissions"):
            self.assertEqual(self.ask("POST", path, {}, key="wrong").status, 401)


class Programs(Judge0Case):
    def test_accepted_and_wrong(self) -> None:
        answer = self.run_it("import sys; print(input()[::-1]); print('x', file=sys.stderr)", stdin="abc")
        self.assertEqual([answer[name] for name in ("stdout", "stderr", "compile_output", "message")], ["cba\n", "x\n", None, None])
        self.assertEqual(self.status(answer), (3, "Accepted"))
        self.assertGreaterEqual(float(answer["time"]), 0)
        for expected, status in (("cba  \n\n", 3), ("cbb", 4)):
            with self.subTest(expected):
                self.assertEqual(self.run_it("print('cba')", expected_output=expected)["status"]["id"], status)

    def test_languages(self) -> None:
        listed = {each["id"] for each in self.ask("GET", "/languages").json}
        for language, source in ((46, "read a; echo $a$1"),
                                 (C, "#include <stdio.h>\nint main(int n, char** v) { char s[9]; scanf(\"%8s\", s); printf(\"%s%s\\n\", s, v[1]); }"),
                                 (CPP, "#include <iostream>\nint main(int, char** v) { std::string s; std::cin >> s; std::cout << s << v[1] << '\\n'; }"),
                                 (62, "public class Main { public static void main(String[] v) { System.out.println(new java.util.Scanner(System.in).next() + v[0]); } }"),
                                 (63, "console.log(require('fs').readFileSync(0, 'utf8').trim() + process.argv[2])"),
                                 (64, "print(io.read() .. arg[1])"), (68, "<?php echo trim(fgets(STDIN)) . $argv[1] . \"\\n\";"),
                                 (72, "puts STDIN.gets.chomp + ARGV[0]"), (85, "$_ = <STDIN>; chomp; print \"$_$ARGV[0]\\n\""),
                                 (73, "fn main() { let mut s = String::new(); std::io::stdin().read_line(&mut s).unwrap(); println!(\"{}{}\", s.trim(), std::env::args().nth(1).unwrap()); }"),
                                 (60, "package main\nimport (\"fmt\"; \"os\")\nfunc main() { var s string; fmt.Scan(&s); fmt.Println(s + os.Args[1]) }")):
            if language not in listed:
                continue
            with self.subTest(language):
                answer = self.run_it(source, language, stdin="a\n", command_line_arguments="'b c'")

                self.assertEqual((answer["stdout"], answer["stderr"], self.status(answer)), ("ab c\n", None, (3, "Accepted")), answer)

    def test_a_compiler_that_refuses(self) -> None:
        answer = self.run_it("int main( {", C)

        self.assertEqual(self.status(answer), (6, "Compilation Error"))
        self.assertIn("error:", answer["compile_output"])
        self.assertEqual([answer[name] for name in ("stdout", "stderr", "time", "memory")], [None] * 4)

    def test_options_of_compilers(self) -> None:
        source = "#include <stdio.h>\nint main() { puts(A); }"
        answer = self.run_it(source, C, compiler_options="-DA='\"b c\"' -O3")

        self.assertEqual(answer["stdout"], "b c\n", answer)

    def test_ends_of_programs(self) -> None:
        raises = "#include <signal.h>\nint main() {{ raise({}); }}"
        for source, language, status, message in (
                ("raise SystemExit(3)", PYTHON, 11, "Exited with error status 3"),
                ("1 / 0", PYTHON, 11, "Exited with error status 1"),
                ("int main() { return 3; }", C, 11, "Exited with error status 3"),
                (raises.format("SIGSEGV"), C, 7, "Caught fatal signal 11"),
                (raises.format("SIGXFSZ"), C, 8, "DiskLimitExceeded: "),
                (raises.format("SIGFPE"), C, 9, "Caught fatal signal 8"),
                (raises.format("SIGABRT"), C, 10, "Caught fatal signal 6"),
                (raises.format("SIGTERM"), C, 12, "Caught fatal signal 15"),
                ("import socket; socket.socket()", PYTHON, 12, "UnsafeCode: "),
                ("a = bytearray(200 << 20)", PYTHON, 12, "MemoryLimitExceeded: "),
                ("print('a' * (2 << 20))", PYTHON, 8, "OutputLimitExceeded: ")):
            with self.subTest(source):
                answer = self.run_it(source, language)

                self.assertEqual(answer["status"]["id"], status, answer)
                self.assertTrue(answer["message"].startswith(message), answer["message"])

    def test_a_file_that_grows_too_large(self) -> None:
        source = "#include <stdio.h>\nint main() { FILE* f = fopen(\"a\", \"w\"); for (int i = 0; i < 1 << 21; ++i) fputc(0, f); fclose(f); }"

        self.assertEqual(self.run_it(source, C)["status"]["id"], 8)
        self.assertEqual(self.run_it(source, C, max_file_size=4096)["status"]["id"], 3)

    def test_limits_of_time(self) -> None:
        answer = self.run_it("print('here', flush=True)\nwhile True: pass", cpu_time_limit=0.3, cpu_extra_time=0)
        self.assertEqual((self.status(answer), answer["stdout"], answer["message"]),
                         ((5, "Time Limit Exceeded"), "here\n", "Time limit exceeded"))
        answer = self.run_it("import time; time.sleep(9)", wall_time_limit=1)
        self.assertEqual((answer["status"]["id"], answer["message"]), (5, "Time limit exceeded (wall clock)"))

    def test_who_ends_within_the_extra_time_is_late_and_told_how_much(self) -> None:
        source = "import time\nwhile time.process_time() < 0.5: pass\nprint('here')"
        answer = self.run_it(source, cpu_time_limit=0.2, cpu_extra_time=5)

        self.assertEqual((answer["status"]["id"], answer["stdout"]), (5, "here\n"))
        self.assertGreater(float(answer["time"]), 0.4)

    def test_an_executable_and_a_text(self) -> None:
        with open("/bin/echo", "rb") as file:
            answer = self.submit(encoded(file.read()), EXECUTABLE, "?wait=true&base64_encoded=true", command_line_arguments="a b")
        self.assertEqual(base64.b64decode(answer.json["stdout"] or ""), b"a b\n", answer.body)
        self.assertEqual(self.run_it("a\nb", PLAIN_TEXT)["stdout"], "a\nb")


class Encodings(Judge0Case):
    def test_base64_both_ways(self) -> None:
        answer = self.submit(encoded("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read() * 20); raise SystemExit(2)"),
                             query="?base64_encoded=true&wait=true", stdin=encoded(bytes([0, 255, 254])))

        lines = answer.json["stdout"].splitlines(keepends=True)
        self.assertEqual(base64.b64decode("".join(lines)), bytes([0, 255, 254]) * 20)
        self.assertEqual([len(line) for line in lines], [61, 21])
        self.assertEqual(base64.b64decode(answer.json["message"]), b"Exited with error status 2")

    def test_output_that_is_no_text_needs_base64(self) -> None:
        answer = self.submit("import sys; sys.stdout.buffer.write(bytes([255]))", query="?wait=true")

        self.assertEqual(answer.status, 201, answer.body)
        self.assertIn("cannot be converted to UTF-8, use base64_encoded=true", answer.json["error"])
        token = answer.json["token"]
        self.assertEqual(self.get(token).status, 400)
        self.assertEqual(self.get(token, "?fields=status_id").json, {"status_id": 3})
        self.assertEqual(self.get(token, "?base64_encoded=true").json["stdout"], "/w==\n")

    def test_long_output_comes_whole(self) -> None:
        answer = self.submit("print('a' * 3000000, end='')", query="?wait=true", max_file_size=4096)

        self.assertEqual((answer.status, len(answer.json["stdout"])), (201, 3_000_000))


class Store(Judge0Case):
    def test_a_submission_is_fetched_by_its_token(self) -> None:
        answer = self.submit("print(input())", stdin="a", expected_output="a")

        self.assertEqual((answer.status, list(answer.json)), (201, ["token"]))
        self.assertRegex(answer.json["token"], r"^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$")
        whole = self.ended(answer.json["token"], "?fields=*")
        self.assertEqual([whole[name] for name in ("source_code", "stdin", "stdout", "status_id", "exit_code", "cpu_time_limit")],
                         ["print(input())", "a", "a\n", 3, 0, "5.0"])
        self.assertRegex(whole["finished_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(self.get(answer.json["token"], "?fields=time,nonsense").json, {"error": "invalid fields: [nonsense]"})

    def test_nobody_else_finds_it(self) -> None:
        token = self.run_it("print(1)")["token"]

        self.assertEqual(self.get(token).status, 200)
        self.assertEqual(self.get(token, key=BOB).status, 404)
        self.assertEqual(self.ask("GET", f"/submissions/batch?tokens={token}&fields=token", key=BOB).json, {"submissions": [None]})
        self.assertEqual(self.ask("DELETE", f"/submissions/{token}", key=BOB).status, 404)
        self.assertEqual(self.get("00000000-0000-4000-8000-000000000000").status, 404)

    def test_a_submission_that_has_ended_can_be_deleted(self) -> None:
        running = self.submit("import time; time.sleep(2)").json["token"]
        refused = self.ask("DELETE", f"/submissions/{running}")
        self.assertEqual(refused.status, 400)
        self.assertRegex(refused.json["error"], r"its status is [12] \((In Queue|Processing)\)")
        token = self.run_it("print(1)")["token"]
        self.assertEqual(self.ask("DELETE", f"/submissions/{token}").json["stdout"], encoded("1\n"))
        self.assertEqual(self.get(token).status, 404)

    def test_a_batch(self) -> None:
        batch = [{"source_code": f"print({i})", "language_id": PYTHON, "expected_output": "1"} for i in range(3)]
        answer = self.ask("POST", "/submissions/batch", {"submissions": batch + [{"source_code": "x"}]})

        self.assertEqual(answer.status, 201, answer.body)
        self.assertEqual(answer.json[3], {"language_id": ["can't be blank"]})
        tokens = [each["token"] for each in answer.json[:3]]
        for token in tokens:
            self.ended(token)
        told = self.ask("GET", f"/submissions/batch?tokens={','.join(tokens)},x&fields=token,status_id").json["submissions"]
        self.assertEqual(told, [{"token": token, "status_id": status} for token, status in zip(tokens, (4, 3, 4))] + [None])

    def test_batches_are_bounded(self) -> None:
        one = {"source_code": "1", "language_id": PYTHON}
        for submissions, why in (([], "at least one"), ([one] * 21, "less than or equal to 20")):
            answer = self.ask("POST", "/submissions/batch", {"submissions": submissions})

            self.assertEqual(answer.status, 400)
            self.assertIn(why, answer.json["error"])
        self.assertEqual(self.ask("POST", "/submissions/batch", {"submissions": [{}]}).status, 422)
        self.assertEqual(self.ask("GET", "/submissions/batch?tokens=" + ",".join("x" * 21)).status, 400)
        self.assertEqual(self.ask("GET", "/submissions/batch").status, 400)

    def test_what_is_no_submission_is_told(self) -> None:
        for more, wrong in (({"cpu_time_limit": 16}, {"cpu_time_limit": ["must be less than or equal to 15.0"]}),
                            ({"enable_network": True}, {"enable_network": ["enabling network is not allowed"]}),
                            ({"callback_url": "http://a"}, {"callback_url": ["setting callback is not allowed"]}),
                            ({"language_id": 45}, {"language_id": ["language with id 45 doesn't exist"]})):
            with self.subTest(more):
                answer = self.submit("print(1)", **more)

                self.assertEqual((answer.status, answer.json), (422, wrong))
        self.assertEqual(self.ask("POST", "/submissions", "[").status, 400)


class SmallQueue(Judge0Case):
    options = ("--workers", "1", "--queue", "4")

    def test_a_batch_that_does_not_fit_is_not_taken_at_all(self) -> None:
        one = {"source_code": "import time; time.sleep(0.2)", "language_id": PYTHON}
        answer = self.ask("POST", "/submissions/batch", {"submissions": [one] * 20})

        self.assertEqual((answer.status, answer.json), (503, {"error": "queue is full"}))
        self.assertIn("retry-after", answer.headers)
        self.assertEqual(self.run_it("print(1)")["status"]["id"], 3)


    def test_a_client_that_disconnects_withdraws_its_submission(self) -> None:
        client = self.service.client()
        body = {"source_code": "import time; time.sleep(9)", "language_id": PYTHON, "wall_time_limit": 20}
        client.request("POST", "/submissions?wait=true", json.dumps(body), {"X-Auth-Token": ANN})
        client.close()

        began = time.monotonic()
        self.assertEqual(self.run_it("print(1)")["status"]["id"], 3)
        self.assertLess(time.monotonic() - began, 8)


class ShortMemory(Judge0Case):
    options = ("--keep", "200ms")

    def test_a_result_is_forgotten_when_its_time_is_over(self) -> None:
        token = self.run_it("print(1)")["token"]

        deadline = time.monotonic() + 30
        while self.get(token).status == 200:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        self.assertEqual(self.get(token).json, {"error": "there is no submission with this token, or no more"})


if __name__ == "__main__":
    unittest.main()
