"""Packages of Piston as runtimes: folders with scripts, whose authors know nothing of zygo."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from serve import Service
from zygo import ZygoTestCase

GRADER = """#!/usr/bin/env bash
# Compiles the first file, and keeps what it was called with.
echo "$@" > names
echo "$PISTON_LANGUAGE $GRADER_HOME" > about
gcc -o solution -x c "$1" || exit 1
"""
RUN_GRADER = """#!/usr/bin/env bash
main=$1; shift
echo "main $main, arguments $*, names $(cat names), about $(cat about), data $(cat "$GRADER_HOME/data")"
./solution
"""
SHOUT = """
import sys
print(open(sys.argv[1]).read().upper(), sys.argv[2:], sys.stdin.readline().strip())
"""


def write(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("__", ".").replace("_", "-")).write_text(text)


@unittest.skipUnless(shutil.which("gcc"), "there is no gcc here")
class Packages(ZygoTestCase):
    service: Service
    tree: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        place = tempfile.TemporaryDirectory(prefix="behaviour-packages-", dir="/var/tmp")
        cls.addClassCleanup(place.cleanup)
        Path(place.name).chmod(0o755)
        cls.tree = Path(place.name) / "packages"
        # As the original has installed one ...
        write(cls.tree / "grader" / "1.2.0", run=RUN_GRADER, compile=GRADER, data="secret\n",
              **{"pkg_info__json": json.dumps({"language": "grader", "version": "1.2.0", "aliases": ["judge"], "build_platform": "x"}),
                 "__env": f"GRADER_HOME={cls.tree}/grader/1.2.0\nPATH=/usr/bin:/bin"})
        # ... and as its sources are: several languages, an environment that nobody has cached.
        write(cls.tree / "shout" / "0.1.0", run='#!/bin/bash\nexec shouter "$@"\n', environment='export PATH=$PWD/bin:$PATH\n',
              **{"metadata__json": json.dumps({"language": "shout", "version": "0.1.0",
                                              "provides": [{"language": "shout", "aliases": ["loud"]}, {"language": "cry"}]})})
        # One that has the name that a runtime of ours has for an alias.
        write(cls.tree / "c++17" / "1.0.0", run='#!/bin/bash\necho "the operator\'s"\n',
              **{"pkg_info__json": json.dumps({"language": "c++17", "version": "1.0.0", "aliases": []})})
        (cls.tree / "shout" / "0.1.0" / "bin").mkdir()
        shouter = cls.tree / "shout" / "0.1.0" / "bin" / "shouter"
        shouter.write_text("#!/usr/bin/python3" + SHOUT)
        shouter.chmod(0o755)
        home = tempfile.TemporaryDirectory(prefix="behaviour-packages-home-")
        cls.addClassCleanup(home.cleanup)
        cls.service = Service("--api", "piston", "--log", "off", "--packages", str(cls.tree), ZYGO_HOME=home.name)
        cls.addClassCleanup(cls.service.stop)

    def execute(self, language: str, *files: dict[str, str], version: str = "*", **more: Any) -> dict[str, Any]:
        answer = self.service.ask("POST", "/api/v2/execute", {"language": language, "version": version, "files": files} | more,
                                  {"Content-Type": "application/json"})
        self.assertEqual(answer.status, 200, answer.body)
        return answer.json

    def test_they_are_listed(self) -> None:
        runtimes = {one["language"]: one for one in self.service.ask("GET", "/api/v2/runtimes").json}
        packages = self.service.ask("GET", "/api/v2/packages").json

        self.assertEqual((runtimes["grader"]["version"], "judge" in runtimes["grader"]["aliases"]), ("1.2.0", True))
        self.assertLessEqual({"shout", "cry", "python"}, runtimes.keys())
        self.assertIn({"language": "grader", "language_version": "1.2.0", "installed": True}, packages)

    def test_scripts_get_names_environment_and_folder(self) -> None:
        program = "#include <stdio.h>\nint main() { int n; scanf(\"%d\", &n); printf(\"%d\\n\", n * 2); return 3; }"
        answer = self.execute("judge", {"name": "sub/a.code", "content": program}, {"content": "x"},
                              {"name": "in.bin", "content": "/w==", "encoding": "base64"}, args=["-v"], stdin="21", version="1.x")

        self.assertEqual(answer["compile"]["code"], 0, answer)
        place = self.tree / "grader" / "1.2.0"
        self.assertEqual(answer["run"]["stdout"], f"main sub/a.code, arguments -v, names sub/a.code file1.code, "
                                                  f"about grader {place}, data secret\n42\n")
        self.assertEqual((answer["run"]["code"], answer["run"]["status"]), (3, "RE"))
        self.assertEqual((answer["language"], answer["version"]), ("grader", "1.2.0"))

    def test_a_compile_script_that_fails(self) -> None:
        answer = self.execute("grader", {"content": "int main() { return x; }"})

        self.assertEqual(answer["compile"]["code"], 1)
        self.assertIn("undeclared", answer["compile"]["stderr"])
        self.assertEqual(answer["run"], answer["compile"])

    def test_an_environment_that_nobody_has_cached_is_made_in_the_sandbox(self) -> None:
        for language in ("loud", "cry"):
            answer = self.execute(language, {"content": "hello"}, args=["a"], stdin="b")

            self.assertEqual(answer["run"]["stdout"], "HELLO ['a'] b\n", answer)
            self.assertNotIn("compile", answer)

    def test_one_comes_before_who_has_its_name_for_an_alias(self) -> None:
        answer = self.execute("c++17", {"content": "int main() {}"})

        self.assertEqual((answer["run"]["stdout"], answer["version"]), ("the operator's\n", "1.0.0"))

    def test_nothing_of_a_package_can_be_changed(self) -> None:
        answer = self.execute("shout", {"content": "x"})
        self.assertEqual(answer["run"]["code"], 0)
        job = self.service.run("import os; print(os.path.exists('%s'))" % self.tree)
        self.assertEqual(job["stdout"]["text"], "False\n")  # programs of other runtimes do not see it
        write_there = self.service.run("for f in shouter; do echo x > %s/shout/0.1.0/bin/$f; done" % self.tree, template="bash")
        self.assertNotEqual(write_there["label"], "OK")
        self.assertIn("python3", (self.tree / "shout" / "0.1.0" / "bin" / "shouter").read_text())

    def test_they_are_templates_for_everybody(self) -> None:
        result = self.service.run("words", template="shout-0.1.0", argv=["x"], stdin="y")

        self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "WORDS ['x'] y\n"))

    def test_folders_that_are_none_are_refused(self) -> None:
        ended = zygo.run_cli("run", "--packages", str(self.tree / "shout" / "0.1.0" / "bin"), "-", stdin=b"")

        self.assertEqual(ended.code, 2)
        self.assertIn(b"there is no package here", ended.err)


if __name__ == "__main__":
    unittest.main()
