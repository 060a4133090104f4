"""Commands of the shell as steps of a session, beside Python's and in the same files."""

from __future__ import annotations

import unittest

from sessions.client import SessionTestCase

import zygo


class ShellTestCase(SessionTestCase):
    def shell(self, node: str, command: str, **fields: object) -> zygo.Result:
        return self.step(node, command, mode="shell", policy={"profile": "subprocess"}, **fields)

    def python(self, node: str, source: str) -> zygo.Result:
        result = self.step(node, source, policy={"profile": "subprocess"})
        self.assertLabel(result, "OK")
        self.assertTrue(result["session"]["kept"], result["session"])
        return result

    def kept(self, result: zygo.Result) -> str:
        self.assertLabel(result, "OK")
        self.assertTrue(result["session"]["kept"], result["session"])
        return str(result["session"]["node"])


class Shell(ShellTestCase):
    def test_a_command_and_python_share_files_and_environment(self) -> None:
        node = self.kept(self.python("", "import os\nx = 5\nopen('a.txt', 'w').write('from python')\n"
                                         "os.mkdir('d'); os.chdir('d'); os.environ['WORD'] = 'said'"))
        done = self.shell(node, "cat ../a.txt; echo; echo $WORD; pwd | sed 's:.*/::'; echo from the shell > b.txt")
        self.assertEqual((done["stdout"]["text"], done["value"]), ("from python\nsaid\nd\n", 0))
        after = self.python(self.kept(done), "[open('b.txt').read(), x]")
        self.assertEqual(after["value"], ["from the shell\n", 5])

    def test_the_value_is_the_exit_status(self) -> None:
        node = self.kept(self.python("", "x = 1"))
        for command, status in {"exit 3": 3, "kill -9 $$": 137, "nonsense-that-is-no-program": 127, "true": 0}.items():
            with self.subTest(command):
                done = self.shell(node, command)
                self.assertEqual(done["value"], status)
                self.kept(done)

    def test_input_and_errors(self) -> None:
        node = self.kept(self.python("", "x = 1"))
        done = self.shell(node, "sort >&2", stdin="b\na\n")
        self.assertEqual((done["stderr"]["text"], done["value"]), ("a\nb\n", 0))

    def test_limits_end_a_command(self) -> None:
        node = self.kept(self.python("", "x = 1"))
        for command in ("while :; do :; done", "sleep 600"):
            with self.subTest(command):
                done = self.shell(node, command, limits={"cpu_ms": 300, "wall_ms": 600})
                self.assertNotKept(done, "a step that ends so leaves the session as it was", "TimeoutException")
        self.assertEqual(self.python(node, "x")["value"], 1)

    def test_it_can_be_the_first_step(self) -> None:
        node = self.kept(self.shell("", "echo 7 > n"))
        self.assertEqual(self.python(node, "int(open('n').read())")["value"], 7)

    def test_mistakes_name_their_field(self) -> None:
        for fields, said in (({"session": "new"}, "mode: shell needs policy.profile subprocess"),
                             ({"policy": {"profile": "subprocess"}}, "mode: shell is for steps of sessions"),
                             ({"session": "new", "policy": {"profile": "subprocess"}, "argv": ["a"]},
                              "argv: not beside a command of the shell"),
                             ({"session": "new", "policy": {"profile": "subprocess"}, "source": "echo a\0; echo b"},
                              "source: a command of the shell has no NUL, and less than 128 KiB")):
            with self.subTest(said):
                answer = self.service.ask("POST", "/v1/jobs", {"source": "ls", "mode": "shell", **fields})
                self.assertEqual((answer.status, answer.json["error"]["message"]), (400, said))

    def test_what_the_program_does_with_its_children_does_not_matter(self) -> None:
        for handler in ("signal.SIG_IGN", "lambda *_: [0 for _ in iter(lambda: os.waitpid(-1, os.WNOHANG)[0], 0)]"):
            with self.subTest(handler):
                node = self.kept(self.python("", f"import os, signal\nsignal.signal(signal.SIGCHLD, {handler})"))
                done = self.shell(node, "(exit 3); exit 4")
                self.assertEqual(done["value"], 4, zygo.brief(done))
                self.kept(done)


class Background(ShellTestCase):
    def test_what_runs_in_the_background_ends_with_the_step(self) -> None:
        node = self.kept(self.python("", "x = 1"))
        done = self.shell(node, "(sleep 600; echo late) & nohup sleep 600 > /dev/null 2>&1 & echo done")
        self.assertEqual(done["stdout"]["text"], "done\n")
        self.kept(done)  # which it is not where a process is left

    def test_what_leaves_the_group_is_not_kept(self) -> None:
        node = self.kept(self.python("", "x = 1"))
        done = self.shell(node, "setsid sh -c 'echo > gone; exec sleep 600' & while [ ! -e gone ]; do :; done")
        self.assertNotKept(done, "a child process")


class ShellContained(Shell):
    options = ("--level", "contained")


class BackgroundContained(Background):
    options = ("--level", "contained")


class ShellMinimal(Shell):
    options = ("--level", "minimal")

    def test_what_runs_in_the_background_is_found(self) -> None:
        """There groups are how zygo tells its cells' processes apart, so a command cannot have one of its own."""
        node = self.kept(self.python("", "x = 1"))
        self.assertNotKept(self.shell(node, "sleep 600 & echo done"), "a child process")


if __name__ == "__main__":
    unittest.main()
