"""`zygo init`: what it writes runs as its README says, and nothing that is there is changed."""

from __future__ import annotations

import json
import re
import sys
import unittest

import zygo
from zygo import ZygoTestCase

PACKAGE = str(zygo.CHECKOUT / "tools/python")


class Examples(ZygoTestCase):
    def setUp(self) -> None:
        self.home = self.folder()

    def init(self, *words: str) -> zygo.Finished:
        return zygo.run_command([str(zygo.BINARY), "init", *words], cwd=str(self.home))

    def python(self, *words: str, folder: str, stdin: str = "") -> zygo.Finished:
        extra = {"PYTHONPATH": PACKAGE, "ZYGO_BIN": str(zygo.BINARY)}
        return zygo.run_command([sys.executable, "-B", *words], stdin=stdin.encode(), cwd=str(self.home / folder),
                                env=zygo.environment(**extra))

    def test_the_reward_is_a_share_for_each_answer(self) -> None:
        self.assertEqual(self.init("reward").code, 0)

        ended = self.python("reward.py", folder="zygo-reward")

        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertEqual([line.split()[0] for line in ended.stdout.splitlines()], ["1.00", "0.67", "0.00", "0.00", "0.00"])

    def test_the_problem_judges_its_own_submissions(self) -> None:
        self.assertEqual(self.init("judge", "mine").code, 0)
        for line in re.findall(r"^    zygo (.*)$", (self.home / "mine/README.md").read_text(), re.MULTILINE):
            with self.subTest(line):
                ended = zygo.run_command([str(zygo.BINARY), *line.split()], cwd=str(self.home / "mine"))

                self.assertEqual(ended.code, 0, ended.stdout + ended.stderr)
                self.assertIn("AC", ended.stdout)

    def test_the_cells_of_the_notebook_run_one_after_another(self) -> None:
        self.assertEqual(self.init("notebook").code, 0)
        cells = json.loads((self.home / "zygo-notebook/zygo.ipynb").read_text())["cells"]
        source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")

        ended = self.python("-c", source, folder="zygo-notebook")

        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertEqual(ended.stdout, "[4, 10, 18]\nOK program\nTimeoutException limit\nUnsafeCode policy\n"
                                       "MemoryLimitExceeded limit\n")

    def test_nothing_that_is_there_is_changed(self) -> None:
        (self.home / "zygo-reward").mkdir()
        (self.home / "zygo-reward/reward.py").write_text("mine")
        (self.home / "file").write_text("mine")
        (self.home / "link").symlink_to(self.home / "zygo-reward")

        for words in (("reward",), ("reward", "file"), ("reward", "link"), ("reward", "none/below")):
            with self.subTest(words):
                ended = self.init(*words)

                self.assertEqual((ended.code, ended.stdout), (2, ""))
        self.assertEqual(sorted(path.name for path in self.home.rglob("*")), ["file", "link", "reward.py", "zygo-reward"])
        self.assertEqual((self.home / "zygo-reward/reward.py").read_text(), "mine")

    def test_an_empty_folder_will_do_and_another_kind_is_a_mistake(self) -> None:
        (self.home / "new").mkdir()

        self.assertEqual(self.init("judge", "new", "--quiet").stdout, "")
        self.assertTrue((self.home / "new/problem.yaml").exists())
        self.assertEqual(self.init("essay").code, 2)


if __name__ == "__main__":
    unittest.main()
