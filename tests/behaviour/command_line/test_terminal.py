"""On a terminal nothing that a program wrote moves the cursor, hides text or passes for zygo's own word."""

from __future__ import annotations

import json
import os
import pty
import re
import unittest
from pathlib import Path

import zygo
from zygo import ZygoTestCase

# Controls of both sets and marks of direction; `\r\n` is the terminal's own, colours are zygo's.
HOSTILE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OWN = re.compile(r"\x1b\[[0-9;]*[mK]|\r")
PROGRAM = r"""
import sys
text = "\x1b[2J\x1b]0;title\x07\x9b31m\x7f\x08\r\u202eevil\u2066\u200f\u061c\x85"
print(text)
sys.stderr.write(text + "\nzygo: OK")
raise type("E" + text, (Exception,), {})(text)
"""


class OnATerminal(ZygoTestCase):
    def shown(self, *arguments: str) -> str:
        """All that arrives at the terminal."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(zygo.BINARY, [str(zygo.BINARY), *arguments], {**zygo.environment(), "TERM": "xterm"})
        output = b""
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:  # EIO: the other end is closed
                break
            if not data:
                break
            output += data
        os.close(terminal)
        os.waitpid(pid, 0)
        return output.decode()

    def program(self) -> Path:
        path = self.folder() / "program.py"
        path.write_text(PROGRAM)
        return path

    def assertHarmless(self, shown: str) -> None:
        self.assertIn("evil", shown)
        self.assertEqual(HOSTILE.findall(OWN.sub("", shown)), [])

    def test_a_run_shows_no_control_of_the_programs(self) -> None:
        self.assertHarmless(self.shown("run", str(self.program())))

    def test_a_run_as_json_shows_none_either(self) -> None:
        self.assertHarmless(self.shown("run", "--json", str(self.program())))

    def test_results_of_a_batch_show_none_either(self) -> None:
        jobs = self.folder() / "jobs.jsonl"
        jobs.write_text(json.dumps({"id": "\x9b2Jid", "source": PROGRAM}) + "\n")

        self.assertHarmless(self.shown("batch", str(jobs)))

    def test_zygos_word_begins_a_line_of_its_own(self) -> None:
        """Whatever the program left unfinished on stderr."""
        last = OWN.sub("", self.shown("run", str(self.program()))).rstrip("\n").split("\n")[-1]

        self.assertRegex(last, "^zygo: E")


if __name__ == "__main__":
    unittest.main()
