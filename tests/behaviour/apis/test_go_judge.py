"""go-judge's REST API, as judges use it: compile once, keep the executable, run it for each test."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from serve import Answer, Service
from zygo import ZygoTestCase

SECOND = 1_000_000_000
MIB = 1 << 20
SUM = "#include <cstdio>\nint main() { int a, b; if (scanf(\"%d %d\", &a, &b) == 2) printf(\"%d\\n\", a + b); }\n"


def command(*args: str, stdin: str = "", **more: Any) -> dict[str, Any]:
    files = [{"content": stdin}, {"name": "stdout", "max": 1 << 16}, {"name": "stderr", "max": 1 << 16}]
    return {"args": list(args), "env": ["PATH=/usr/bin:/bin"], "files": files, "cpuLimit": 20 * SECOND,
            "clockLimit": 60 * SECOND, "memoryLimit": 512 * MIB, "procLimit": 50} | more


class GoJudge(ZygoTestCase):
    service: Service
    options: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-go-judge-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--api", "go-judge", "--workers", "2", "--log", "off", *cls.options, ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def request(self, *commands: dict[str, Any], **more: Any) -> Answer:
        return self.service.ask("POST", "/run", {"cmd": list(commands)} | more, timeout=90)

    def results(self, *commands: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
        answer = self.request(*commands, **more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def run_one(self, *args: str, **more: Any) -> dict[str, Any]:
        return self.results(command(*args, **more))[0]

    def assert_ended(self, result: dict[str, Any], status: str, exit_status: int = 0) -> None:
        self.assertEqual((result["status"], result["exitStatus"]), (status, exit_status), result)

    def compiled(self, source: str) -> str:
        made = self.run_one("/usr/bin/g++", "-O1", "a.cc", "-o", "a", copyIn={"a.cc": {"content": source}},
                            copyOutCached=["a"])
        self.assert_ended(made, "Accepted")
        return made["fileIds"]["a"]


class Commands(GoJudge):
    def test_a_command_of_the_image(self) -> None:
        result = self.run_one("/bin/cat", "-", stdin="hello\n")

        self.assert_ended(result, "Accepted")
        self.assertEqual(result["files"], {"stdout": "hello\n", "stderr": ""})
        self.assertNotIn("fileError", result)
        for field in ("time", "runTime", "memory", "procPeak"):
            self.assertIsInstance(result[field], int)

    def test_names_are_looked_for_and_the_environment_is_given(self) -> None:
        result = self.run_one("sh", "-c", "echo $WORD; pwd -L >&2; exit 3", env=["WORD=a=b"])

        self.assert_ended(result, "Nonzero Exit Status", 3)
        self.assertEqual(result["files"]["stdout"], "a=b\n")

    def test_ends(self) -> None:
        for args, limits, status, code in (
                (("/bin/sh", "-c", "kill -SEGV $$"), {}, "Signalled", 11),
                (("/bin/sh", "-c", "while :; do :; done"), {"cpuLimit": SECOND // 5}, "Time Limit Exceeded", 9),
                (("/bin/sleep", "30"), {"clockLimit": SECOND // 5}, "Time Limit Exceeded", 9),
                (("/usr/bin/python3", "-c", "b'x' * (1 << 28)"), {"memoryLimit": 64 * MIB}, "Memory Limit Exceeded", None),
                (("/no/such/program",), {}, "Internal Error", 0)):
            with self.subTest(args):
                result = self.run_one(*args, **limits)

                if code is None:
                    self.assertEqual(result["status"], status, result)
                else:
                    self.assert_ended(result, status, code)

    def test_output_over_the_limit_is_kept_up_to_it(self) -> None:
        files = [None, {"name": "out", "max": 100}, None]
        result = self.run_one("/usr/bin/python3", "-c", "print('x' * 100000)", files=files)

        self.assertEqual(result["status"], "Output Limit Exceeded", result)
        self.assertEqual(result["files"], {"out": "x" * 100})
        self.assertEqual(result["fileError"][0]["type"], "CollectSizeExceeded")

    def test_what_a_program_may_do_is_by_what_it_is(self) -> None:
        program = self.compiled("#include <unistd.h>\nint main() { return fork() < 0 ? 3 : 0; }\n")
        forked = self.run_one("./a", copyIn={"a": {"fileId": program}})
        self.assertEqual(forked["status"], "Dangerous Syscall", forked)
        self.assertEqual(forked["zygo"]["label"], "UnsafeCode")

        socket = self.run_one("/usr/bin/python3", "-c", "import socket\nsocket.socket()")
        self.assertEqual(socket["status"], "Dangerous Syscall", socket)

        # A tool that starts others gets over what it is refused, or says so itself.
        overlooked = self.run_one("/bin/sh", "-c", "python3 -c 'import socket; socket.socket()' 2> /dev/null; echo $?")
        self.assert_ended(overlooked, "Accepted")
        self.assertEqual(overlooked["files"]["stdout"], "1\n")

    def test_several_commands_at_once(self) -> None:
        results = self.results(*(command("/bin/echo", str(i)) for i in range(5)))

        self.assertEqual([result["files"]["stdout"] for result in results], [f"{i}\n" for i in range(5)])

    def test_requests_that_are_none(self) -> None:
        for body, status, text in (({}, 400, "no cmd provided"), ({"cmd": []}, 400, "no cmd provided"),
                                   ({"cmd": [command("/bin/ls", tty=True)]}, 400, "cmd[0].tty: there are no terminals here"),
                                   ({"cmd": [command("a", copyIn={"a": {"fileId": "NOBODYAS"}})]}, 500,
                                    'file does not exists with id: "NOBODYAS"')):
            answer = self.service.ask("POST", "/run", body)
            self.assertEqual((answer.status, answer.json), (status, text))
        self.assertEqual(self.service.ask("POST", "/run", b"{").status, 400)

    def test_no_file_of_this_host_is_read(self) -> None:
        result = self.request(command("/bin/cat", "a", copyIn={"a": {"src": "/etc/passwd"}}))

        self.assertEqual(result.status, 400)
        self.assertIn("--file-source", result.json)


class CompileOnce(GoJudge):
    def test_a_judges_day(self) -> None:
        program = self.compiled(SUM)
        for name in ("a", "./a", "/w/a"):
            with self.subTest(name):
                result = self.run_one(name, stdin="1 2", copyIn={"a": {"fileId": program}}, procLimit=1)

                self.assert_ended(result, "Accepted")
                self.assertEqual(result["files"]["stdout"], "3\n")

        listed = self.service.ask("GET", "/file").json
        self.assertEqual(listed[program], "a")
        fetched = self.service.ask("GET", f"/file/{program}")
        self.assertTrue(fetched.body.startswith(b"\x7fELF"))
        self.assertIn("attachment", fetched.headers["content-disposition"])
        self.assertEqual(self.service.ask("DELETE", f"/file/{program}").status, 200)
        self.assertEqual(self.service.ask("DELETE", f"/file/{program}").status, 404)
        self.assertEqual(self.service.ask("GET", f"/file/{program}").status, 404)

    def test_a_source_that_does_not_compile(self) -> None:
        result = self.run_one("/usr/bin/g++", "a.cc", "-o", "a", copyIn={"a.cc": {"content": "int main() { return x; }"}},
                              copyOutCached=["a"])

        self.assert_ended(result, "Nonzero Exit Status", 1)
        self.assertIn("error", result["files"]["stderr"])
        self.assertEqual(result["fileError"][0]["type"], "CopyOutOpen")
        self.assertNotIn("fileIds", result)

    def test_what_is_copied_in_is_executed_from_sealed_memory_alone(self) -> None:
        program = self.compiled("#include <cstdio>\n#include <unistd.h>\n#include <errno.h>\n"
                                "int main(int, char** v) {\n"
                                "  if (FILE* f = fopen(\"x\", \"w\")) { fputs(\"#!/bin/sh\\necho out\\n\", f); fclose(f); }\n"
                                "  execl(\"b\", \"b\", nullptr); int b = errno; printf(\"%d %s\\n\", b != 0, v[0]);\n}\n")
        copy_in = {"a": {"fileId": program}, "b": {"fileId": program}}
        result = self.run_one("./a", copyIn=copy_in)

        self.assertEqual(result["status"], "Dangerous Syscall", result)
        self.assertEqual(result["files"]["stdout"], "1 ./a\n")

    def test_a_script_is_run_by_its_interpreter(self) -> None:
        result = self.run_one("./s", "two words", copyIn={"s": {"content": "#!/bin/sh -e\necho \"$0: $1\"\n"}})

        self.assert_ended(result, "Accepted")
        self.assertEqual(result["files"]["stdout"], "./s: two words\n")

    def test_a_shell_may_execute_what_its_tools_made(self) -> None:
        result = self.run_one("/bin/bash", "-c", "g++ -o a a.cc && echo 4 5 | ./a", copyIn={"a.cc": {"content": SUM}})

        self.assert_ended(result, "Accepted")
        self.assertEqual(result["files"]["stdout"], "9\n")

    @unittest.skipUnless(shutil.which("javac"), "javac is not installed")
    def test_java_makes_its_own_refused_calls(self) -> None:
        source = 'public class Main { public static void main(String[] a) { System.out.println("java"); } }'
        made = self.run_one("/usr/bin/bash", "-c", "javac -d /w -encoding utf8 ./Main.java && jar cf Main.jar *.class",
                            copyIn={"Main.java": {"content": source}}, copyOutCached=["Main.jar"], procLimit=200)
        self.assert_ended(made, "Accepted")

        result = self.run_one("/usr/bin/java", "-cp", "Main.jar", "Main", procLimit=200,
                              copyIn={"Main.jar": {"fileId": made["fileIds"]["Main.jar"]}})
        self.assert_ended(result, "Accepted")
        self.assertEqual(result["files"]["stdout"], "java\n")


class Files(GoJudge):
    def upload(self, name: str, content: bytes) -> str:
        body = (b"--xyz\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + name.encode() +
                b"\"\r\nContent-Type: application/octet-stream\r\n\r\n" + content + b"\r\n--xyz--\r\n")
        answer = self.service.ask("POST", "/file", body, {"Content-Type": "multipart/form-data; boundary=xyz"})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_what_is_handed_in_is_there_byte_by_byte(self) -> None:
        content = bytes(range(256)) + b"\r\n--xy"
        name = self.upload("1.in", content)

        self.assertRegex(name, r"^[A-Z2-7]{8}$")
        self.assertEqual(self.service.ask("GET", f"/file/{name}").body, content)
        files = [{"fileId": name}, {"name": "stdout", "max": 1000}]
        copied = self.run_one("/bin/cp", "in", "out", files=files, copyIn={"in": {"fileId": name}}, copyOutCached=["out"])
        self.assertEqual(self.service.ask("GET", f"/file/{copied['fileIds']['out']}").body, content)

        self.assertEqual(self.service.ask("POST", "/file", b"no form").status, 400)

    def test_files_go_in_and_out(self) -> None:
        script = "cat dir/in /tmp/in2 link > /w/out; ln -s /dev/urandom l; mkfifo p; printf %05000d 7 > large"
        result = self.run_one("/bin/sh", "-c", script, copyOut=["/w/out", "no?", "stdout"], copyOutCached=["stderr"],
                              copyIn={"dir/in": {"content": "1"}, "/tmp/in2": {"content": "2"}, "link": {"symlink": "dir/in"}})
        self.assert_ended(result, "Accepted")
        self.assertEqual(result["files"], {"/w/out": "121", "stdout": ""})
        self.assertEqual(set(result["fileIds"]), {"stderr"})

        refused = self.run_one("/bin/sh", "-c", script, copyOut=["l", "p", "no", "large", "../etc/passwd"], copyOutMax=100)
        self.assertEqual(refused["status"], "File Error", refused)
        self.assertEqual([error["type"] for error in refused["fileError"]],
                         ["CopyOutNotRegularFile", "CopyOutNotRegularFile", "CopyOutOpen", "CopyOutSizeExceeded", "CopyOutOpen"])
        self.assertEqual(refused["error"], refused["fileError"][0]["message"])

        cut = self.run_one("/bin/sh", "-c", "echo 1234567890 > a; echo 1 > b", copyOut=["a", "b"], copyOutMax=5, copyOutTruncate=True)
        self.assertEqual((cut["status"], cut["files"]["a"], cut["files"]["b"]), ("File Error", "12345", "1\n"))

    def test_standard_streams_under_other_names(self) -> None:
        result = self.run_one("/bin/sh", "-c", "cat in", stdin="by a link", copyIn={"in": {"symlink": "/dev/stdin"}})

        self.assert_ended(result, "Accepted")
        self.assertEqual(result["files"]["stdout"], "by a link")

        program = self.compiled("#include <cstdio>\nint main() { int a, b; freopen(\"in\", \"r\", stdin);\n"
                                "freopen(\"out\", \"w\", stdout); scanf(\"%d %d\", &a, &b); printf(\"%d\", a + b); }\n")
        links = {"in": {"symlink": "/dev/stdin"}, "out": {"symlink": "/dev/stdout"}}
        result = self.run_one("./a", stdin="1 2", copyIn={"a": {"fileId": program}} | links)
        self.assert_ended(result, "Accepted")
        self.assertEqual(result["files"]["stdout"], "3")

    def test_version_and_config(self) -> None:
        version = self.service.ask("GET", "/version").json
        self.assertRegex(version["buildVersion"], r"^v1\.\d+\.\d+$")
        self.assertTrue(version["copyOutOptional"])
        config = self.service.ask("GET", "/config").json
        self.assertTrue(config["fixSymlinkEscape"])
        self.assertIsInstance(config["runnerConfig"]["cgroupControllers"], list)


class Conversations(GoJudge):
    GUESSER = "for i in range(3):\n print(i, flush=True)\n assert input() == str(i)"
    ECHO = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)\nprint('over', file=sys.stderr)"

    def pipe(self, start: int, end: int, **more: Any) -> dict[str, Any]:
        return {"in": {"index": start, "fd": 1}, "out": {"index": end, "fd": 0}} | more

    def python(self, program: str, stdin: dict[str, Any] | None, stdout: dict[str, Any] | None) -> dict[str, Any]:
        return command("/usr/bin/python3", "-c", program, files=[stdin, stdout, {"name": "stderr", "max": 10_000}])

    def test_two_that_talk(self) -> None:
        results = self.results(self.python(self.GUESSER, None, None), self.python(self.ECHO, None, None),
                               pipeMapping=[self.pipe(0, 1, proxy=True, name="said", max=100), self.pipe(1, 0)])

        self.assertEqual([result["status"] for result in results], ["Accepted", "Accepted"], results)
        self.assertEqual(results[1]["files"], {"stderr": "over\n"})

    def test_one_that_listens(self) -> None:
        collected = {"name": "stdout", "max": 100}
        results = self.results(self.python("import sys\nprint(len(sys.stdin.read()))", None, collected),
                               self.python("print('A' * (1 << 20), end=input())", {"content": "!\n"}, None),
                               pipeMapping=[self.pipe(1, 0)])

        self.assertEqual([result["status"] for result in results], ["Accepted", "Accepted"], results)
        self.assertEqual(results[0]["files"]["stdout"], f"{(1 << 20) + 1}\n")

    def test_other_pipes_are_refused(self) -> None:
        answer = self.request(*[command("/bin/cat")] * 3, pipeMapping=[self.pipe(0, 1)])

        self.assertEqual(answer.status, 400)
        self.assertIn("two commands", answer.json)


class LocalFiles(GoJudge):
    @classmethod
    def setUpClass(cls) -> None:
        directory = tempfile.TemporaryDirectory(prefix="behaviour-go-judge-data-")
        cls.addClassCleanup(directory.cleanup)
        cls.data = Path(directory.name)
        (cls.data / "in").mkdir()
        (cls.data / "in/1.in").write_text("1 2")
        (cls.data / "out").symlink_to("/etc/passwd")
        cls.options = ("--file-source", str(cls.data / "in"))
        super().setUpClass()

    def test_only_what_is_offered_can_be_named(self) -> None:
        result = self.run_one("/bin/cat", files=[{"src": str(self.data / "in/1.in")}, {"name": "stdout", "max": 100}])
        self.assertEqual(result["files"]["stdout"], "1 2")

        (self.data / "in/link").symlink_to("../out")
        for path in ("../out", "link", "none", "../in/../out"):
            answer = self.request(command("/bin/cat", files=[{"src": str(self.data / "in" / path)}]))
            self.assertEqual(answer.status, 500, answer.body)


class Owners(ZygoTestCase):
    def test_holders_of_tokens_do_not_see_each_others_files(self) -> None:
        with tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-") as tokens:
            keys = {name: f"0123456789abcdef-{name}" for name in ("one", "two")}
            tokens.write("".join(f"{name} {key}\n" for name, key in keys.items()))
            tokens.flush()
            service = Service("--api", "go-judge", "--log", "off", "--tokens", tokens.name)
            self.addCleanup(service.stop)
            one, two = ({"Authorization": f"Bearer {key}", "Content-Type": "multipart/form-data; boundary=b"}
                        for key in keys.values())
            form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\nmine\r\n--b--\r\n'
            name = service.ask("POST", "/file", form, one).json

            self.assertEqual(service.ask("GET", "/file", None, one).json, {name: "f"})
            self.assertEqual(service.ask("GET", "/file", None, two).json, {})
            self.assertEqual(service.ask("GET", f"/file/{name}", None, two).status, 404)
            self.assertEqual(service.ask("GET", "/file").status, 401)
            self.assertEqual(service.ask("GET", "/version").status, 200)


class LowerLevels(ZygoTestCase):
    """No mounts: there is no /w, and on `minimal` no compiler."""

    def test_executables_that_come_along_and_compilers(self) -> None:
        for level, compiles in (("contained", True), ("minimal", False)):
            with self.subTest(level):
                service = Service("--api", "go-judge", "--level", level, "--require", level, "--log", "off")
                self.addCleanup(service.stop)
                program = Path("/bin/true").read_bytes()
                form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + program + b"\r\n--b--\r\n"
                name = service.ask("POST", "/file", form, {"Content-Type": "multipart/form-data; boundary=b"}).json
                run = service.ask("POST", "/run", {"cmd": [command("/w/f", copyIn={"f": {"fileId": name}})]}).json[0]
                self.assertEqual(run["status"], "Accepted", run)

                made = service.ask("POST", "/run", {"cmd": [command("/usr/bin/g++", "-c", "a.cc", copyIn={"a.cc": {"content": SUM}},
                                                                    copyOut=["a.o"])]}).json[0]
                self.assertEqual(made["status"], "Accepted" if compiles else "Internal Error", made)
                if not compiles:
                    self.assertIn("minimal", made["error"])


if __name__ == "__main__":
    unittest.main()
