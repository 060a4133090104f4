"""The README's examples, as pasted, the files of examples/, and the examples of docs/guide/."""

from __future__ import annotations

import re
import subprocess
import unittest

import support

README = (support.SOURCE / "README.md").read_text(encoding="utf-8")
# Each block with what it prints, where that is shown.
BLOCK = re.compile(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(README)
GUIDE = sorted((support.CHECKOUT / "docs/guide").glob("*.md"))
PRINTED = {  # by those whose output is not shown
    "reward function: 32": "7.0 ['IndexError', 'OK', 'SyntaxError', ",
    "as GRPO trainers call": "[1.0, 0.5, 0.0]",
    "HumanEval harness": "pass@1 0.2",
    "A tool for verl": "\nOK: 42\n",
    "An environment for verifiers": "\n42\n",
    "An environment for TRL": "\n42\n1.0\n",
}


@support.needs_functions
class Examples(unittest.TestCase):
    def test_each_block_of_the_readme_prints_what_it_says(self) -> None:
        for code, wanted in BLOCKS:
            if "joblib" in code and not support.has("joblib") or "zygo.cluster" in code:  # test_cluster.py has engines
                continue
            with self.subTest(code=code[:60]):
                ended = support.python(code)
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))
                if wanted:
                    self.assertEqual(ended.stdout, wanted)
                else:
                    printed = [words for name, words in PRINTED.items() if name in code]
                    self.assertIn(printed[0], ended.stdout)

    def test_each_block_of_the_guide_prints_what_it_says(self) -> None:
        for page in GUIDE:
            for code, wanted in BLOCK.findall(page.read_text(encoding="utf-8")):
                with self.subTest(page=page.name, code=code[:60]):
                    ended = support.python(code)
                    self.assertEqual((ended.returncode, ended.stderr, ended.stdout), (0, "", wanted))

    def test_each_example_stands_in_the_readme(self) -> None:
        for path in sorted((support.SOURCE / "examples").glob("*.py")):
            self.assertIn(f"```python\n{path.read_text(encoding='utf-8')}```", README, path.name)


class Package(unittest.TestCase):
    def test_what_takes_long_to_import_waits_for_its_use(self) -> None:
        ended = support.python("import sys, zygo\nprint({'asyncio', 'joblib', 'http.client'} & set(sys.modules))\n"
                               "print(zygo.AsyncPool.__name__, 'asyncio' in sys.modules)")

        self.assertEqual(ended.stdout, "set()\nAsyncPool True\n", ended.stderr)

    @support.needs_checkout
    def test_annotations_are_right(self) -> None:
        try:
            ended = subprocess.run(["mypy", "--cache-dir=/dev/null", "zygo"], cwd=support.SOURCE, capture_output=True,
                                   text=True, check=False)
        except FileNotFoundError:
            self.skipTest("mypy is not installed")
        self.assertEqual(ended.returncode, 0, ended.stdout)


if __name__ == "__main__":
    support.main()
