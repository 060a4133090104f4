"""Compiled once on this host: what a compiler made is there for the next process, and trusted only if it is ours."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Finished

HELLO = '#include <cstdio>\nint main() { puts("hello"); }\n'


class BuildCache(unittest.TestCase):
    def setUp(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="behaviour-builds-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.builds = self.home / "builds"

    def run_cpp(self, source: str, *options: str, level: str = "full") -> tuple[dict[str, Any], Finished]:
        (self.home / "program.cpp").write_text(source)
        ended = zygo.run_cli("run", "--json", "--level", level, *options, str(self.home / "program.cpp"),
                             env=zygo.environment(ZYGO_HOME=str(self.home)))
        return json.loads(ended.out), ended

    def assert_says_hello(self, result: dict[str, Any], *, cached: bool) -> None:
        self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "hello\n"), zygo.brief(result))
        self.assertEqual(result["compile"]["cached"], cached)

    def entries(self) -> list[Path]:
        return list(self.builds.iterdir()) if self.builds.exists() else []

    def test_the_next_process_does_not_compile_again(self) -> None:
        first, _ = self.run_cpp(HELLO)
        self.assert_says_hello(first, cached=False)
        self.assertEqual([oct(entry.stat().st_mode & 0o777) for entry in (self.builds, *self.entries())], ["0o700", "0o600"])

        second, _ = self.run_cpp(HELLO)

        self.assert_says_hello(second, cached=True)
        self.assertEqual(second["compile"]["wall_ms"], first["compile"]["wall_ms"])  # what it took, when it was made

    def test_another_source_or_level_is_another_build(self) -> None:
        self.run_cpp(HELLO)

        self.assertFalse(self.run_cpp(HELLO + "// \n")[0]["compile"]["cached"])
        levels = json.loads(zygo.run_cli("doctor", "--json").out)["levels"]
        if not levels["contained"]["available"]:
            self.skipTest("this host does not give level contained (see `zygo doctor`)")
        self.assert_says_hello(self.run_cpp(HELLO, level="contained")[0], cached=False)
        self.assert_says_hello(self.run_cpp(HELLO, level="contained")[0], cached=True)

    def test_it_can_be_turned_off(self) -> None:
        for _ in range(2):
            self.assert_says_hello(self.run_cpp(HELLO, "--build-cache", "0")[0], cached=False)
        self.assertEqual(self.entries(), [])

    def test_a_build_that_failed_is_not_kept(self) -> None:
        result, _ = self.run_cpp("int main( {\n")

        self.assertEqual(result["label"], "CompilationError")
        self.assertEqual(self.entries(), [])

    def test_a_damaged_entry_is_built_again(self) -> None:
        self.run_cpp(HELLO)
        (entry,) = self.entries()
        whole = entry.read_bytes()
        entry.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))

        self.assert_says_hello(self.run_cpp(HELLO)[0], cached=False)

        self.assertEqual([each.name for each in self.entries()], [entry.name])
        self.assert_says_hello(self.run_cpp(HELLO)[0], cached=True)

    def test_what_somebody_else_could_have_put_there_is_not_run(self) -> None:
        self.run_cpp(HELLO)
        self.builds.chmod(0o777)

        result, ended = self.run_cpp(HELLO)

        self.assert_says_hello(result, cached=False)
        self.assertIn(f"compiled programs are not kept: {self.builds}: others may write to it (chmod go-w)", ended.stderr)


if __name__ == "__main__":
    unittest.main()
