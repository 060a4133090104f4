"""Additional files of submissions to Judge0's API, and programs of several files."""

from __future__ import annotations

import base64
import io
import json
import unittest
import zipfile
from typing import Any

from apis.judge0_client import PROJECT, PYTHON, C, Judge0Case


def zipped(files: dict[str, str]) -> str:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return base64.b64encode(data.getvalue()).decode()


class AdditionalFiles(Judge0Case):
    def project(self, files: dict[str, str]) -> dict[str, Any]:
        answer = self.ask("POST", "/submissions?wait=true&fields=*", {"language_id": PROJECT, "additional_files": zipped(files)})
        self.assertEqual(answer.status, 201, answer.body)
        return answer.json

    def test_a_program_finds_them(self) -> None:
        files = zipped({"data.txt": "from afar", "package/sums.py": "def total(*all): return sum(all)"})
        source = "from package.sums import total\nprint(open('data.txt').read(), total(1, 2))"
        answer = self.run_it(source, additional_files=files, expected_output="from afar 3\n")
        self.assertEqual(self.status(answer), (3, "Accepted"), answer)
        answer = self.run_it('#include <stdio.h>\n#include "header.h"\nint main() { printf("%d", ANSWER); }', C, additional_files=zipped({"header.h": "#define ANSWER 42"}))
        self.assertEqual((self.status(answer), answer["stdout"]), ((3, "Accepted"), "42"))

    def test_a_project_is_compiled_and_run_by_its_own_scripts(self) -> None:
        answer = self.project({"compile": "gcc -o main main.c && echo done", "run": "./main | tr a-z A-Z",
                               "main.c": '#include <stdio.h>\nint main() { puts("hello"); }'})
        self.assertEqual((self.status(answer), answer["stdout"], answer["compile_output"]), ((3, "Accepted"), "HELLO\n", "done\n"))
        answer = self.project({"run": "cat; exit 3"})
        self.assertEqual((self.status(answer), answer["exit_code"]), ((11, "Runtime Error (NZEC)"), 3))

    def test_a_project_that_does_not_compile(self) -> None:
        answer = self.project({"compile": "echo wrong >&2; exit 1", "run": "echo ran"})
        self.assertEqual(self.status(answer), (6, "Compilation Error"))
        self.assertEqual((answer["compile_output"], answer["stdout"]), ("wrong\n", None))

    def test_what_is_wrong_is_told(self) -> None:
        files = zipped({"run": "true"})
        for fields, wrong in (({"language_id": PROJECT}, {"additional_files": ["can't be blank"]}),
                              ({"language_id": PROJECT, "additional_files": files, "source_code": "1"}, {"source_code": ["must be blank"]}),
                              ({"source_code": "1", "language_id": PYTHON, "additional_files": "?"}, {"additional_files": ["is not base64"]}),
                              ({"source_code": "1", "language_id": PYTHON, "additional_files": zipped({"big": "x" * (11 << 20)})},
                               {"additional_files": ["more than 10240 KB when it is extracted"]})):
            with self.subTest(wrong):
                answer = self.ask("POST", "/submissions", fields)
                self.assertEqual((answer.status, answer.json), (422, wrong))
        out = self.submit("1", additional_files=zipped({"../up": "x"}))
        self.assertEqual((out.status, list(out.json)), (422, ["additional_files"]), out.body)

    def test_large_ones_and_names_of_any_language(self) -> None:
        source = "import os\nprint(os.path.getsize('big'), open('data/\u00e9\u65e5.txt').read())"
        answer = self.run_it(source, additional_files=zipped({"big": "x" * (9 << 20), "data/\u00e9\u65e5.txt": "read"}))
        self.assertEqual((self.status(answer), answer["stdout"]), ((3, "Accepted"), f"{9 << 20} read\n"), answer)

    def test_a_key_in_other_letters_is_the_same(self) -> None:
        body = json.dumps({"source_code": "print(open('a').read())", "language_id": PYTHON, "additional_files": zipped({"a": "b"})})
        answer = self.ask("POST", "/submissions?wait=true", body.replace("additional_files", "additional\\u005ffiles").encode())
        self.assertEqual((answer.status, answer.json["stdout"]), (201, "b\n"), answer.body)

    def test_they_are_told_again(self) -> None:
        files = zipped({"a": "b"})
        token = self.submit("1", additional_files=files).json["token"]
        self.assertEqual(self.ended(token, "?fields=additional_files"), {"additional_files": files})


class LittleRoom(Judge0Case):
    options = ("--held", "32M", "--max-body", "1M")

    def test_what_holds_much_when_it_is_extracted_counts(self) -> None:
        one = {"source_code": "1", "language_id": PYTHON, "additional_files": zipped({"big": "\0" * (9 << 20)})}
        self.assertLess(len(one["additional_files"]), 20_000)
        answer = self.ask("POST", "/submissions/batch", {"submissions": [one] * 20})
        self.assertEqual((answer.status, answer.json), (503, {"error": "too many bytes are held already"}))
        self.service.await_metric_between("zygo_held_bytes ", 0, 1 << 20)
        self.assertEqual(self.ask("POST", "/submissions?wait=true", one).status, 201)

    def test_what_holds_little_does_not(self) -> None:
        small = {"source_code": "# additional_files" * 20, "language_id": PYTHON, "additional_files": zipped({"a": "b"})}
        none = {"source_code": "1", "language_id": PYTHON, "additional_files": None}
        answer = self.ask("POST", "/submissions/batch", {"submissions": [small, none] * 10})
        self.assertEqual(answer.status, 201, answer.body)


if __name__ == "__main__":
    unittest.main()
