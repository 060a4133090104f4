"""`zygo blob`: contents that jobs name by their digest instead of carrying them."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Finished, ZygoTestCase

NOWHERE = "sha256:" + "0" * 64


class Blobs(ZygoTestCase):
    def setUp(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="behaviour-blobs-"))
        self.addCleanup(shutil.rmtree, self.home)

    def zygo(self, *arguments: str, **how: Any) -> Finished:
        return zygo.run_cli(*arguments, env=zygo.environment(ZYGO_HOME=str(self.home / "home")), **how)

    def put(self, content: bytes) -> str:
        (self.home / "file").write_bytes(content)
        ended = self.zygo("blob", "put", str(self.home / "file"))
        self.assertEqual(ended.code, 0, ended.stderr)
        return ended.stdout.strip()

    def run_job(self, **fields: Any) -> dict[str, Any]:
        return json.loads(self.zygo("batch", "-", stdin=zygo.lines_of([fields])).out)

    def test_a_source_and_a_file_by_digest(self) -> None:
        source, data = self.put(b"print(open('data').read())\n"), self.put("größer\n".encode())
        self.assertEqual(data, "sha256:" + hashlib.sha256("größer\n".encode()).hexdigest())

        result = self.run_job(source={"blob": source}, files={"data": {"blob": data}})

        self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "größer\n\n"), zygo.brief(result))

    def test_a_file_of_a_checker_by_digest(self) -> None:
        checks = "import sys\nsys.exit(0 if open('value').read() == open(sys.argv[2]).read() else 1)\n"
        job = {"source": "print(7)", "tests": [{"expect": "", "compare": "checker"}]}
        value = self.put(b"7\n")

        labels = [self.run_job(**job, checker={"template": "python", "source": checks, "files": {"value": {"blob": blob}}})
                  for blob in (value, NOWHERE)]

        self.assertEqual([result["label"] for result in labels], ["OK", "BadJob"], labels)
        self.assertIn('checker.files["value"].blob: no blob', labels[1]["detail"]["message"])

    def test_further_sources_by_digest(self) -> None:
        number = {"number.c": {"blob": self.put(b"int number(void) { return 7; }\n")}}
        source = "int number(void);\nint main(void) { return number() - 7; }\n"
        tests = [{"expect": "", "compare": "checker"}]

        program = self.run_job(template="c", source=source, sources=number)
        checked = self.run_job(source="", tests=tests, checker={"template": "c", "source": source, "sources": number})

        self.assertEqual([program["label"], checked["label"]], ["OK", "OK"], (program, checked))

    def test_one_that_is_not_there_is_the_callers_mistake_and_named(self) -> None:
        self.assertIn(f"source.blob: no blob {NOWHERE}", self.run_job(source={"blob": NOWHERE})["detail"]["message"])
        result = self.run_job(source="1", files={"a": {"blob": NOWHERE}})
        self.assertEqual(result["label"], "BadJob")
        self.assertIn('files["a"].blob: no blob', result["detail"]["message"])

    def test_what_is_no_digest_is_refused(self) -> None:
        for wrong in ("x", "sha256:../../../etc/passwd", "sha256:" + "A" * 64, 1):
            with self.subTest(wrong):
                self.assertIn("source.blob: expected", self.run_job(source={"blob": wrong})["detail"]["message"])

    def test_list_and_remove(self) -> None:
        digest = self.put(b"x")
        listed = json.loads(self.zygo("blob", "list", "--json").out)
        self.assertEqual([(each["digest"], each["bytes"]) for each in listed], [(digest, 1)])

        self.assertEqual(self.zygo("blob", "remove", digest).code, 0)

        self.assertEqual(json.loads(self.zygo("blob", "list", "--json").out), [])
        self.assertEqual(self.zygo("blob", "remove", digest).code, 2)

    def test_a_file_that_is_not_there(self) -> None:
        ended = self.zygo("blob", "put", str(self.home / "absent"))

        self.assertEqual(ended.code, 2)
        self.assertIn("absent: No such file", ended.stderr)


if __name__ == "__main__":
    unittest.main()
