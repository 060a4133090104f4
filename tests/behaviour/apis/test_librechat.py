"""LibreChat's code API, as its server and its tool for models use it."""

from __future__ import annotations

import tempfile
import unittest
from typing import Any

from serve import Answer, Service
from zygo import ZygoTestCase

KEY = "0123456789abcdef-key"
OTHER = "fedcba9876543210-key"
BOUNDARY = "a-boundary-of-this-test"


class LibreChat(ZygoTestCase):
    service: Service

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        home = tempfile.TemporaryDirectory(prefix="behaviour-librechat-")
        cls.addClassCleanup(home.cleanup)
        tokens = cls.enterClassContext(tempfile.NamedTemporaryFile("w", prefix="behaviour-tokens-"))
        tokens.write(f"chat {KEY} jobs,blobs\nother {OTHER} jobs,blobs\n")
        tokens.flush()
        cls.service = Service("--api", "librechat", "--log", "off", "--tokens", tokens.name, ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def ask(self, method: str, path: str, body: Any = None, key: str = KEY, **headers: str) -> Answer:
        return self.service.ask(method, path, body, {"X-API-Key": key} | headers)

    def execute(self, code: str, lang: str = "py", **more: Any) -> dict[str, Any]:
        answer = self.ask("POST", "/exec", {"lang": lang, "code": code} | more)
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def download(self, file: dict[str, str], key: str = KEY) -> Answer:
        return self.ask("GET", f"/download/{file['storage_session_id']}/{file['id']}?kind=user&id=u", key=key)

    def test_a_program_with_arguments(self) -> None:
        answer = self.execute("import sys; print(sys.argv[1:]); print('x', file=sys.stderr)", args=["a", "b"])

        self.assertEqual((answer["stdout"], answer["stderr"], answer["files"]), ("['a', 'b']\n", "x\n", []))
        self.assertRegex(answer["session_id"], r"^[A-Za-z0-9_-]{21}$")

    def test_languages(self) -> None:
        for lang, code in (("bash", "echo 7"), ("js", "console.log(7)"),
                           ("c", '#include <stdio.h>\nint main(void) { puts("7"); }')):
            with self.subTest(lang):
                answer = self.execute(code, lang)

                self.assertEqual((answer["stdout"], answer["files"]), ("7\n", []))

    def test_the_files_of_a_session_are_listed(self) -> None:
        first, other = (self.execute(f"open('{name}', 'w').write('1')") for name in ("a.csv", "b.csv"))
        session, = {each["session_id"] for each in first["files"]}
        self.assertNotEqual(session, other["session_id"])

        full = self.ask("GET", f"/files/{session}?detail=full")
        self.assertEqual(full.json, [{"name": f"{session}/{first['files'][0]['id']}",
                                      "metadata": {"original-filename": "a.csv"}}])
        self.assertEqual(self.ask("GET", f"/files/{session}").body, full.body)
        self.assertEqual(self.ask("GET", f"/files/{session}?detail=normalized").json, first["files"])
        self.assertEqual(self.ask("GET", f"/files/{session}", key=OTHER).json, [])
        self.assertEqual(self.ask("GET", f"/files/{session}?detail=summary").status, 501)

    def test_files_come_back_and_go_on_to_the_next_run(self) -> None:
        first = self.execute("open('a.csv', 'w').write('1,2'); import os; os.mkdir('d'); open('d/b', 'wb').write(bytes([0, 255]))")

        files = {each["name"]: each for each in first["files"]}
        self.assertEqual(sorted(files), ["a.csv", "d/b"])
        for each in files.values():
            self.assertRegex(each["id"], r"^[A-Za-z0-9_-]{21}$")
            self.assertEqual(each["storage_session_id"], first["session_id"])
        self.assertEqual(self.download(files["d/b"]).body, bytes([0, 255]))

        second = self.execute("text = open('a.csv').read(); open('c', 'w').write(text * 2)", files=first["files"])

        after = {each["name"]: each for each in second["files"]}
        self.assertEqual(sorted(after), ["a.csv", "c", "d/b"])
        self.assertEqual(after["a.csv"], files["a.csv"] | {"inherited": True})
        self.assertEqual(self.download(after["c"]).body, b"1,21,2")

    def test_the_working_directory_is_found_where_models_are_told(self) -> None:
        if self.execute("")["zygo"]["level"] != "full":
            self.skipTest("/mnt/data is there on level full")
        for lang, code in (("py", "open('/mnt/data/a', 'w').write('1')"), ("bash", "printf 1 > /mnt/data/a")):
            with self.subTest(lang):
                answer = self.execute(code, lang)

                self.assertEqual((answer["stderr"], [each["name"] for each in answer["files"]]), ("", ["a"]))

    def test_a_changed_file_is_a_new_one(self) -> None:
        first = self.execute("open('a', 'w').write('1')")["files"]

        second = self.execute("open('a', 'w').write('2')", files=first)["files"]

        self.assertNotEqual(first[0]["id"], second[0]["id"])
        self.assertEqual([self.download(each[0]).body for each in (first, second)], [b"1", b"2"])

    def test_a_file_is_found_by_its_session_its_id_and_its_owner(self) -> None:
        file = self.execute("open('a', 'w').write('1')")["files"][0]

        self.assertEqual(self.download(file).status, 200)
        self.assertEqual(self.download(file | {"storage_session_id": "x" * 21}).status, 404)
        self.assertEqual(self.download(file | {"id": "x" * 21}).status, 404)
        self.assertEqual(self.download(file, key=OTHER).status, 404)
        self.assertEqual(self.download(file, key="wrong").status, 401)

    def test_an_upload_is_a_file_of_the_next_run(self) -> None:
        form = (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="up.txt"\r\n\r\n'
                f"hello\r\n--{BOUNDARY}--\r\n").encode()
        answer = self.ask("POST", "/upload", form, **{"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"})

        self.assertEqual((answer.status, answer.json["message"]), (200, "success"), answer.body)
        file = {"id": answer.json["files"][0]["fileId"], "name": answer.json["files"][0]["filename"],
                "session_id": answer.json["session_id"]}
        self.assertEqual(self.execute("print(open('up.txt').read())", files=[file])["stdout"], "hello\n")

    def test_a_file_that_is_lost_is_told(self) -> None:
        answer = self.execute("print(1)", files=[{"id": "x" * 21, "name": "gone", "session_id": "y" * 21}])

        self.assertEqual((answer["stdout"], answer["stderr"]), ("1\n", "gone is not kept here any more\n"))

    def test_a_program_that_fails_keeps_its_files(self) -> None:
        answer = self.execute("open('a', 'w').write('1'); 1 / 0")

        self.assertIn("ZeroDivisionError", answer["stderr"])
        self.assertEqual([each["name"] for each in answer["files"]], ["a"])

    def test_what_is_not_offered_is_named(self) -> None:
        answer = self.ask("POST", "/exec", {"lang": "f90", "code": "end"})
        self.assertEqual((answer.status, answer.json), (400, {"error": "the language f90 is not offered here"}))
        for path in ("/exec/programmatic", "/files/x/y"):
            with self.subTest(path):
                answer = self.ask("POST", path, {})

                self.assertEqual((answer.status, answer.json), (501, {"error": f"{path} is not offered here"}))


if __name__ == "__main__":
    unittest.main()
