"""`zygo session`: steps typed or piped, undone, branched and tried."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import tempfile
import unittest
from pathlib import Path

import zygo
from zygo import ZygoTestCase


def session(lines: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(zygo.BINARY), "session", *options], input=lines, capture_output=True, text=True,
                          env=zygo.environment(), timeout=60 * zygo.PATIENCE, check=False)


class SessionCommand(ZygoTestCase):
    def test_variables_stay_and_values_are_shown(self) -> None:
        done = session("x = 6\nx * 7\ndef f(n):\n    return n + x\n\nf(1)\nprint('said')\n'a\\tb'\n")
        self.assertEqual((done.stdout, done.stderr, done.returncode), ("42\n7\nsaid\n'a\\tb'\n", "", 0))

    def test_undo_branch_and_tree(self) -> None:
        done = session("x = [1]\n%branch b\nx.append(2)\n%go main\nx\n%undo\n%go b\nx\n%tree\n")
        self.assertEqual(done.stdout, "[1]\n[1, 2]\n"
                                      "  0  the beginning\n  1  x = [1]  (main)\n    2  x.append(2)\n  * 4  x  (b)\n    3  x\n")

    def test_try_leaves_the_place(self) -> None:
        done = session("x = 1\n%try\nx + 1\n1 / 0\nwhile True: pass\n\nx\n%go 2\n_\n", "--cpu", "300ms")
        self.assertEqual(done.stdout, "   2  OK  x + 1  ->  2\n   3  ZeroDivisionError  1 / 0\n"
                                      "   -  TimeoutException  while True: pass\n1\n2\n")

    def test_what_is_not_kept_is_said(self) -> None:
        done = session("x = 1\nx = bytearray(1 << 30)\nimport os; ends = os.pipe()\nx\n", "--memory", "64M")
        self.assertEqual(done.stdout, "1\n")
        self.assertIn("zygo: MemoryLimitExceeded", done.stderr)
        self.assertIn("zygo: not kept: a step that ends so leaves the session as it was; still at step 1\n", done.stderr)
        self.assertIn("zygo: not kept: an open pipe; still at step 1\n", done.stderr)

    def test_exit_codes_and_mistakes(self) -> None:
        self.assertEqual(session("1 / 0\n").returncode, 1)
        self.assertEqual(session("1 / 0\n1\n").returncode, 0)
        for line, said in {"%nonsense": '"%nonsense" is no command; %help shows them',
                           "%undo x": '%undo: "x" is not a number of steps', "%undo": "there are 0 steps to undo, not 1",
                           "%go nowhere": '"nowhere" is no step and no branch here; %tree shows them'}.items():
            with self.subTest(line):
                done = session(line + "\n")
                self.assertEqual((done.stderr, done.returncode), (f"zygo: {said}\n", 1))

    def test_commands_of_the_shell(self) -> None:
        done = session("open('n', 'w').write('7')\n!cat n; echo; exit 3\n!echo 8 > n\nint(open('n').read())\n%try\n!cat n\n\n",
                       "--profile", "subprocess")
        self.assertEqual((done.stdout, done.stderr), ("1\n7\n8\n   5  OK  !cat n\n", "zygo: exit status 3\n"))
        for lines in ("!ls\n", "%try\n!ls\n\n"):
            done = session(lines)
            self.assertEqual((done.stdout, done.stderr, done.returncode),
                             ("", "zygo: commands of the shell need --profile subprocess\n", 1))

    def test_files_are_steps(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a.py").write_text("x = 4\nprint('one')\n")
            Path(folder, "b.py").write_text("x * 2\n")
            done = session("", f"{folder}/a.py", f"{folder}/b.py")
            self.assertEqual((done.stdout, done.returncode), ("one\n8\n", 0))
            done = session("", f"{folder}/none.py")
            self.assertEqual(done.returncode, 2)
            self.assertIn("none.py", done.stderr)

    def test_json(self) -> None:
        done = session("x = 2\nx * 21\n%tree\n", "--json")
        first, second, tree = (json.loads(line) for line in done.stdout.splitlines())
        self.assertEqual((first["value"], second["value"], second["session"]["parent"]), (None, 42, first["session"]["node"]))
        self.assertEqual([each["step"] for each in tree["tree"]], [0, 1, 2])

    def test_a_terminal_has_prompts(self) -> None:
        ours, theirs = pty.openpty()
        with subprocess.Popen([str(zygo.BINARY), "session", "--no-color"], stdin=theirs, stdout=theirs, stderr=theirs,
                              env=zygo.environment(), start_new_session=True) as process:
            os.close(theirs)
            os.write(ours, b"x = 1\nif x:\n  print('yes')\n\n\x04")
            heard = b""
            while piece := read_terminal(ours):
                heard += piece
            self.assertEqual(process.wait(), 0)
        os.close(ours)
        for part in (b"[0] >>> ", b"[1] >>> ", b"[1] ... ", b"yes\r\n", b"[2] >>> "):
            self.assertIn(part, heard)


def read_terminal(fd: int) -> bytes:
    try:
        return os.read(fd, 4096)
    except OSError:  # its other side is closed
        return b""


if __name__ == "__main__":
    unittest.main()
