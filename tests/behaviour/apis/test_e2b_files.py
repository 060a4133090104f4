"""Files and commands of E2B's sandboxes, as its SDKs use them, in plain HTTP."""

from __future__ import annotations

import http.client
import json
import struct
import tempfile
import unittest
from typing import Any

from apis.e2b_client import E2bCase, envelope, messages_in
from serve import Answer


class Files(E2bCase):
    def write(self, sandbox: dict[str, Any], path: str, content: bytes) -> Answer:
        return self.inside(sandbox, "POST", f"/files?path={path}", content, Content_Type="application/octet-stream")

    def test_a_file_is_written_and_read_and_the_code_sees_it(self) -> None:
        sandbox = self.create()
        content = bytes(range(256)) * 5

        written = self.write(sandbox, "/home/user/a/b.bin", content)

        self.assertEqual((written.status, written.json[0]["path"]), (200, "/home/user/a/b.bin"))
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=a/b.bin").body, content)
        self.assertEqual(self.run_code(sandbox, "len(open('a/b.bin', 'rb').read())").text, "1280")

    def test_a_form_has_many_files(self) -> None:
        sandbox = self.create()
        form = b"".join(b'--b\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n' % each
                        for each in ((b"/tmp/x", b"1\r\n2"), (b"y", b""))) + b"--b--\r\n"
        answer = self.inside(sandbox, "POST", "/files", form, Content_Type="multipart/form-data; boundary=b")

        self.assertEqual([each["name"] for each in answer.json], ["x", "y"])
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=/tmp/x").body, b"1\r\n2")
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=y").body, b"")

    def test_calls_about_files(self) -> None:
        sandbox = self.create()
        self.write(sandbox, "a", b"12345")
        made = self.call(sandbox, "MakeDir", {"path": "d/e"})
        self.assertEqual((made.status, made.json["entry"]["type"]), (200, "FILE_TYPE_DIRECTORY"))
        self.assertEqual((self.call(sandbox, "MakeDir", {"path": "d/e"}).status), 409)

        entry = self.call(sandbox, "Stat", {"path": "a"}).json["entry"]
        self.assertEqual((entry["name"], entry["type"], entry["size"], entry["path"]), ("a", "FILE_TYPE_FILE", "5", "/home/user/a"))
        self.assertEqual(self.call(sandbox, "Move", {"source": "a", "destination": "d/b"}).json["entry"]["path"], "/home/user/d/b")
        self.call(sandbox, "MakeDir", {"path": "d/c/f"})
        for depth, names in ((1, ["b", "c", "e"]), (2, ["b", "c", "f", "e"]), (3, ["b", "c", "f", "e"])):
            listed = self.call(sandbox, "ListDir", {"path": "d", "depth": depth}).json["entries"]
            self.assertEqual([each["name"] for each in listed], names)
        self.assertEqual(self.call(sandbox, "Remove", {"path": "d"}).json, {})
        self.assertEqual(self.call(sandbox, "Stat", {"path": "d/b"}).json["code"], "not_found")

    def test_a_link_names_its_target_as_clients_know_it(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "import os\nopen('a', 'w').close()\nos.symlink('a', 'link')")
        entry = self.call(sandbox, "Stat", {"path": "link"}).json["entry"]
        self.assertEqual(entry["symlinkTarget"], "/home/user/a")
        self.assertEqual(self.call(sandbox, "MakeDir", {"path": "n" * 300}).json["code"], "invalid_argument")

    def test_a_place_that_cannot_be_written_to_is_refused(self) -> None:
        sandbox = self.create()
        written, made = self.write(sandbox, "/0/file", b"1"), self.call(sandbox, "MakeDir", {"path": "/0"})
        self.assertEqual((written.status, made.json["code"]), (403, "permission_denied"))
        for words in written.json["message"], made.json["message"]:
            self.assertIn("'/0'", words)
        self.assertEqual(self.run_code(sandbox, "1").text, "1")

    def test_names_and_times_that_are_none_do_not_hide_the_others(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "import os\nos.mkdir('d')\nfor name in (b'd/x\\xff', b'd/late', b'd/a'):\n    open(name, 'w').close()\n"
                               "os.utime('d/late', (0, 1 << 40))")

        listed = self.call(sandbox, "ListDir", {"path": "d", "depth": 1})

        self.assertEqual(listed.status, 200, listed.body)
        self.assertEqual([each["name"] for each in listed.json["entries"]], ["a", "late", "x\ufffd"])

    def test_a_file_that_is_overwritten_stays_that_file(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "import os\nopen('run.sh', 'w').close()\nos.chmod('run.sh', 0o755)\nos.symlink('run.sh', 'link')")

        self.assertEqual(self.write(sandbox, "link", b"12").status, 200)

        self.assertEqual(self.run_code(sandbox, "oct(os.stat('run.sh').st_mode & 0o777), os.path.islink('link'), open('run.sh').read()").text,
                         "('0o755', True, '12')")

    def test_files_are_there_though_the_working_directory_is_not(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "import os\nopen('f', 'w').close()\nos.mkdir('d')\nos.chdir('d')")
        self.run_code(sandbox, "os.rmdir('../d')")

        self.assertEqual(self.call(sandbox, "Stat", {"path": "f"}).status, 200)
        self.assertEqual(self.write(sandbox, "g", b"12").status, 200)
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=g").body, b"12")

    def test_a_folder_over_a_file_and_a_signed_url_are_refused(self) -> None:
        sandbox = self.create()
        self.write(sandbox, "f", b"")

        self.assertEqual(self.call(sandbox, "MakeDir", {"path": "f"}).json["code"], "invalid_argument")
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=f&signature=v1_x", X_Access_Token="").status, 501)

    def test_what_is_not_there(self) -> None:
        sandbox = self.create()
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=none").status, 404)
        self.assertEqual(self.inside(sandbox, "GET", "/files?path=/home/user").status, 400)
        self.assertEqual(self.call(sandbox, "ListDir", {"path": "none"}).status, 404)
        self.assertEqual(self.call(sandbox, "Stat", {}).json["code"], "invalid_argument")
        watch = self.call(sandbox, "CreateWatcher", {"path": "."})
        self.assertEqual((watch.status, watch.json["code"]), (501, "unimplemented"))

    def test_nothing_of_the_host_is_read(self) -> None:
        sandbox = self.create()
        with tempfile.NamedTemporaryFile(prefix="behaviour-secret-") as secret:
            secret.write(b"secret")
            secret.flush()
            for path in (secret.name, "../../../.." + secret.name, "/proc/1/environ"):
                answer = self.inside(sandbox, "GET", f"/files?path={path}")
                self.assertNotEqual(answer.status, 200, path)

    def test_looking_changes_nothing(self) -> None:
        sandbox = self.create()
        self.run_code(sandbox, "x = 1\nx")
        for _ in range(3):
            self.call(sandbox, "ListDir", {"path": "."})
        told = self.run_code(sandbox, "_, x")
        self.assertEqual((told.text, told.count), ("(1, 1)", 2))


class Commands(E2bCase):
    def test_a_command_has_output_and_an_exit(self) -> None:
        told = self.run_command(self.create(), "echo out; echo err >&2; exit 7")

        self.assertEqual((told["stdout"], told["stderr"], told["exit"], told["started"]), (b"out\n", b"err\n", 7, True))

    def test_commands_and_code_share_files_and_variables(self) -> None:
        sandbox = self.create(envVars={"A": "b"})
        self.run_code(sandbox, "open('f', 'w').write('1')")

        told = self.run_command(sandbox, "cat f; echo $A $C; pwd; echo 2 > g", process={"envs": {"C": "d"}})

        self.assertTrue(told["stdout"].startswith(b"1b d\n"), told)
        self.assertEqual(self.run_code(sandbox, "open('g').read()").text, r"2\n")

    def test_a_command_runs_within_its_time(self) -> None:
        sandbox = self.create()
        message = envelope({"process": {"cmd": "/bin/sleep", "args": ["60"]}})

        answer = self.inside(sandbox, "POST", "/process.Process/Start", message, Connect_Timeout_Ms="300")

        self.assertEqual(messages_in(answer.body)[-1][1]["error"]["code"], "deadline_exceeded")
        self.assertEqual(self.run_code(sandbox, "1").text, "1")

    def signal(self, sandbox: dict[str, Any], pid: int) -> Answer:
        return self.inside(sandbox, "POST", "/process.Process/SendSignal",
                           {"process": {"pid": pid}, "signal": "SIGNAL_SIGKILL"})

    def begin_command(self, sandbox: dict[str, Any], command: str) -> http.client.HTTPResponse:
        client = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=60)
        self.addCleanup(client.close)
        client.request("POST", "/process.Process/Start", envelope({"process": {"cmd": "/bin/sh", "args": ["-c", command]}}),
                       {"E2b-Sandbox-Id": sandbox["sandboxID"], "X-Access-Token": sandbox["envdAccessToken"],
                        "Content-Type": "application/connect+json"})
        return client.getresponse()

    def test_a_command_that_is_killed_ends(self) -> None:
        sandbox, other = self.create(), self.create()
        stream = self.begin_command(sandbox, "echo 1 > f; sleep 50")
        pid = json.loads(stream.read(struct.unpack(">BI", stream.read(5))[1]))["event"]["start"]["pid"]

        running, = self.inside(sandbox, "POST", "/process.Process/List", {}).json["processes"]
        self.assertEqual((running["pid"], running["config"]["args"]), (pid, ["-c", "echo 1 > f; sleep 50"]))
        self.assertEqual(self.signal(other, pid).json["code"], "not_found")
        self.assertEqual(self.signal(sandbox, pid).json, {})
        self.assertEqual(messages_in(stream.read())[0][1]["event"]["end"]["exitCode"], -1)
        self.assertEqual(self.signal(sandbox, pid).json["code"], "not_found")
        self.assertEqual(self.run_command(sandbox, "ls f")["exit"], 2)

    def test_what_is_not_offered_is_named(self) -> None:
        sandbox = self.create()
        self.assertEqual(self.run_command(sandbox, "ls", pty={"size": {}})["error"]["code"], "unimplemented")
        self.assertEqual(self.run_command(sandbox, "ls", stdin=True)["error"]["code"], "unimplemented")
        for method in ("SendInput", "Update", "CloseStdin"):
            answer = self.inside(sandbox, "POST", "/process.Process/" + method, {})
            self.assertEqual((answer.status, answer.json["code"]), (501, "unimplemented"))
            self.assertIn(method, answer.json["message"])
        self.assertEqual(self.inside(sandbox, "POST", "/process.Process/List", {}).json, {"processes": []})

    def test_a_stream_that_is_none_is_refused(self) -> None:
        answer = self.inside(self.create(), "POST", "/process.Process/Start", b"\0\0\0\0\x09{}")
        self.assertEqual(messages_in(answer.body)[-1][1]["error"]["code"], "invalid_argument")


if __name__ == "__main__":
    unittest.main()
