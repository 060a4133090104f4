"""The command line, for people: exit codes, labels on stderr, errors that name the thing and the fix."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
import unittest
from pathlib import Path

import zygo
from zygo import Finished, ZygoTestCase

COMMANDS = ("run", "batch", "serve", "route", "pilot", "doctor", "selfcheck", "certify", "replay", "template", "runtime", "image", "blob", "judge", "top", "isolate")


def run(source: str, *options: str, arguments: tuple[str, ...] = ()) -> Finished:
    """`zygo run OPTIONS - [-- ARGUMENTS]` with the program on stdin."""
    rest = ("--", *arguments) if arguments else ()
    return zygo.run_cli("run", *options, "-", *rest, stdin=source.encode())


# Each row has what a program does, its text, its options, the exit code, and what stderr names.
EXITS: tuple[tuple[str, str, tuple[str, ...], int, str], ...] = (
    ("a program that ends well gives 0", "print(1)", (), 0, ""),
    ("a program's own exit code is zygo's", "import sys; sys.exit(3)", (), 3, "NonZeroExit"),
    ("an exception gives 1", "raise ValueError('seven')", (), 1, "ValueError"),
    ("an exception named OK gives 1", "class OK(Exception): pass\nraise OK", (), 1, "program.OK"),
    ("a syntax error gives 1", "def f(", (), 1, "SyntaxError"),
    ("too much CPU gives 124", "while True: pass", ("--cpu", "300ms"), 124, "TimeoutException"),
    ("too long a wait gives 124", "import time; time.sleep(60)", ("--wall", "0.3"), 124, "TimeoutException"),
    ("a forbidden call gives 126", "import socket; socket.socket()", (), 126, "UnsafeCode"),
    ("a swallowed forbidden call gives 126", "import os\ntry: os.fork()\nexcept OSError: pass", (), 126, "UnsafeCode"),
    ("chance gives 126", "import random; print(random.random())", ("--determinism", "2"), 126, "NonDeterministicCode"),
    ("too much memory gives 137", "x = b'x' * (300 << 20)", ("--memory", "64M"), 137, "MemoryLimitExceeded"),
    ("too much output gives 137", "print('x' * 99999)", ("--output", "64K"), 137, "OutputLimitExceeded"),
    ("bare output sizes are bytes", "print('x' * 199)", ("--output", "100"), 137, "OutputLimitExceeded"),
    ("too much disk gives 137", "open('f', 'wb').write(bytes(9 << 20))", ("--disk", "4M"), 137, "DiskLimitExceeded"),
    ("too many threads give 137", "import threading as t\ne = t.Event()\nwhile True: t.Thread(target=e.wait, "
     "daemon=True).start()", ("--pids", "8"), 137, "ProcessLimitExceeded"),
    ("a signal of its own gives 128 + n", "import os; os.kill(os.getpid(), 9)", (), 137, "Signalled"),
    ("SIGTERM of its own gives 143", "import os; os.kill(os.getpid(), 15)", (), 143, "Signalled"),
    ("SIGSEGV gives 139", "import ctypes; ctypes.string_at(0)", (), 139, "Signalled"),
)


class RunExitCodes(ZygoTestCase):
    def test_follow_the_verdict(self) -> None:
        for title, source, options, code, word in EXITS:
            with self.subTest(title):
                ended = run(source, *options)
                self.assertEqual(ended.code, code, ended.stderr)
                self.assertIn(word, ended.stderr)

    def test_with_json_are_0_whatever_the_verdict(self) -> None:
        for title, source, options, _, label in EXITS:
            with self.subTest(title):
                ended = run(source, *options, "--json")
                result = json.loads(ended.out)
                self.assertEqual((ended.code, result["label"]), (0, label or "OK"), ended.stderr)
                self.assertEqual(zygo.shape_faults(result), [])

    def test_the_detail_of_a_limit_goes_to_stderr(self) -> None:
        ended = run("while True: pass", "--cpu", "300ms")

        self.assertIn("cpu", ended.stderr.lower())


class ForPrograms(ZygoTestCase):
    """--json."""

    def refusal(self, *arguments: str) -> dict[str, str]:
        ended = zygo.run_cli(*arguments)
        self.assertEqual((ended.code, ended.out), (2, b""))
        return json.loads(ended.stderr)["error"]

    def test_what_is_refused_is_an_object(self) -> None:
        self.assertEqual(self.refusal("--json", "rnu"),
                         {"command": "", "message": 'unknown command or option "rnu"; did you mean run?'})
        self.assertEqual(self.refusal("run", "/nowhere.py", "--json"),
                         {"command": "run", "message": "/nowhere.py: No such file or directory"})
        self.assertEqual(self.refusal("image", "inspect", "nowhere", "--json")["command"], "image inspect")

    def test_of_a_program_is_not_zygos(self) -> None:
        ended = run("print(1)", "--memory", "1", arguments=("--json",))

        self.assertIn("zygo run: --memory", ended.stderr)

    def test_a_bad_job_says_why_on_stderr_too(self) -> None:
        source, inputs = self.folder() / "a.sh", self.folder() / "inputs.json"
        source.write_text("exit\n")
        inputs.write_text("[1]")

        ended = zygo.run_cli("run", str(source), "--call", "f", "--inputs", str(inputs), "--json")

        self.assertEqual((ended.code, json.loads(ended.out)["label"]), (125, "BadJob"))
        self.assertIn("zygo: BadJob (mode: call mode is for Python templates", ended.stderr)


class RunStreams(ZygoTestCase):
    def test_a_program_without_its_parts_says_how_it_is_copied(self) -> None:
        alone = self.folder() / "bin/zygo"
        alone.parent.mkdir()
        shutil.copy(zygo.BINARY, alone)

        ended = zygo.run_command([str(alone), "run", "-"], stdin=b"print(1)")

        self.assertEqual((ended.code, ended.stdout), (125, ""))
        self.assertIn("cmake --install", ended.stderr)

    def test_what_no_template_is_for_is_refused(self) -> None:
        program = self.folder() / "a.kt"
        program.write_text("print(1)")

        ended = zygo.run_cli("run", str(program))

        self.assertEqual((ended.code, ended.stdout), (2, ""))
        self.assertIn("--template", ended.stderr)
        self.assertEqual(zygo.run_cli("run", "--template", "python", str(program)).stdout, "1\n")

    def test_the_first_line_of_a_program_without_an_ending_chooses(self) -> None:
        program = self.folder() / "tool"
        program.write_text("#!/usr/bin/env bash\necho $((6 * 7))\n")

        self.assertEqual(zygo.run_cli("run", str(program)).stdout, "42\n")

    def test_output_is_the_programs_own_byte_for_byte(self) -> None:
        ended = run(r"import os; os.write(1, b'\x00\xff\r\n'); os.write(2, b'to stderr\n')")

        self.assertEqual((ended.code, ended.out), (0, b"\x00\xff\r\n"))
        self.assertIn("to stderr\n", ended.stderr)

    def test_stdin_of_zygo_is_the_programs(self) -> None:
        program = self.folder() / "double.py"
        program.write_text("print(2 * int(input()))")

        self.assertEqual(zygo.run_cli("run", str(program), stdin=b"21\n").out, b"42\n")

    def test_stdin_from_a_file(self) -> None:
        given = self.folder() / "given"
        given.write_text("21\n")

        self.assertEqual(run("print(2 * int(input()))", "--stdin", str(given)).out, b"42\n")

    def test_arguments_follow_two_dashes(self) -> None:
        ended = run("import sys; print(sys.argv[1:])", arguments=("--cpu", "a b", "-"))

        self.assertEqual(ended.stdout, "['--cpu', 'a b', '-']\n")

    def test_a_closed_stdout_does_not_hang_it(self) -> None:
        process = zygo.start_cli("run", "-")
        assert process.stdin and process.stdout
        process.stdout.close()
        process.stdin.write(b"print('x' * 100000)")

        code = zygo.finish(process)  # Raises when zygo has to be killed.

        self.assertIn(code, (0, 1, 125, -13, 141))


class RunCalls(ZygoTestCase):
    def test_calls_a_function_once_per_input(self) -> None:
        inputs = self.folder() / "inputs.json"
        inputs.write_text("[1, 2, 3]")

        ended = run("def f(x): return x * x", "--call", "f", "--inputs", str(inputs), "--json")

        self.assertEqual(json.loads(ended.out)["value"], [1, 4, 9])

    def test_names_a_missing_or_malformed_inputs_file(self) -> None:
        bad = self.folder() / "bad.json"
        bad.write_text("[1, 2")
        for path in (str(bad), "/nowhere/inputs.json"):
            with self.subTest(path):
                ended = run("def f(x): return x", "--call", "f", "--inputs", path)
                self.assertIn(ended.code, (2, 125))
                self.assertIn(path, ended.stderr)


# Arguments that cannot be right, and what the message must name: the thing, then the fix.
MISTAKES: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (("run", "--memory", "lots", "-"), ("--memory", "lots", "256M")),
    (("run", "--memory=-5M", "-"), ("--memory", "-5M")),
    (("run", "--memory", "99999999999999999999G", "-"), ("--memory",)),
    (("run", "--cpu", "soon", "-"), ("--cpu", "soon", "s")),
    (("run", "--wall", "2 weeks", "-"), ("--wall", "2 weeks")),
    (("run", "--output", "64Q", "-"), ("--output", "64Q")),
    (("run", "--pids", "many", "-"), ("--pids", "many")),
    (("run", "--determinism", "0", "-"), ("--determinism",)),
    (("run", "--profile", "relaxed", "-"), ("relaxed", "default")),
    (("run", "--template", "pyhton", "-"), ("pyhton", "python")),
    (("run", "/nowhere/program.py"), ("/nowhere/program.py",)),
    (("run", "--stdin", "/nowhere/stdin", "-"), ("/nowhere/stdin",)),
    (("run", "--level", "contained", "--require", "full", "-"), ("contained", "full")),
    (("run", "--level", "narrow", "-"), ("narrow", "minimal")),
    (("run", "--level", "paranoid", "-"), ("paranoid", "full")),
    (("run", "--require", "full,moat", "-"), ("moat",)),
    (("run", "--colour", "-"), ("--colour",)),
    (("batch", "/nowhere/jobs.jsonl"), ("/nowhere/jobs.jsonl",)),
    (("batch", "--workers", "none", "-"), ("--workers", "none")),
    (("batch", "--defaults", "/nowhere/defaults.json", "-"), ("/nowhere/defaults.json",)),
    (("batch", "--resume", "-"), ("-o",)),
    (("explode",), ("explode",)),
)


class Mistakes(ZygoTestCase):
    def test_are_refused_before_anything_runs_and_named(self) -> None:
        """2 for a wrong command line, 125 where the contract calls it a bad job; never a program's exit code."""
        for arguments, words in MISTAKES:
            with self.subTest(" ".join(arguments)):
                ended = zygo.run_cli(*arguments, stdin=b"print('ran')")
                self.assertIn(ended.code, (2, 125), ended.stderr)
                self.assertEqual(ended.out, b"")
                for word in words:
                    self.assertIn(word, ended.stderr)


class Help(ZygoTestCase):
    def test_of_each_command_has_examples(self) -> None:
        for command in COMMANDS:
            with self.subTest(command):
                ended = zygo.run_cli(command, "--help")
                self.assertEqual(ended.code, 0)
                self.assertRegex(ended.stdout, r"(?i)example")
                self.assertIn(f"zygo {command}", ended.stdout)

    def test_of_zygo_lists_the_commands(self) -> None:
        ended = zygo.run_cli("--help")

        self.assertEqual(ended.code, 0)
        for command in COMMANDS:
            self.assertIn(command, ended.stdout)

    def test_version_is_one_line(self) -> None:
        ended = zygo.run_cli("--version")

        self.assertEqual(ended.code, 0)
        self.assertRegex(ended.stdout, r"\A[^\n]*\d+\.\d+[^\n]*\n\Z")
        self.assertEqual(zygo.run_cli("version").stdout, ended.stdout)

    def test_version_for_programs_has_that_of_the_formats(self) -> None:
        version = json.loads(zygo.run_cli("version", "--json").out)

        self.assertEqual(version["api"], 1)
        self.assertEqual(f"zygo {version['version']}\n", zygo.run_cli("version").stdout)


class Hosts(ZygoTestCase):
    def test_doctor_reports_each_layer_as_json(self) -> None:
        report = json.loads(zygo.run_cli("doctor", "--json").out)

        self.assertIsInstance(report["layers"], dict)
        self.assertLessEqual({"userns", "pidns", "mntns", "netns", "landlock", "seccomp"}, set(report["layers"]))

    def test_doctor_speaks_of_each_layer_to_people(self) -> None:
        ended = zygo.run_cli("doctor", "--no-color")

        for layer in ("userns", "landlock", "seccomp"):
            self.assertIn(layer, ended.stdout)
        self.assertNotIn("\x1b", ended.stdout)

    def test_require_full_is_met_or_refused_aloud(self) -> None:
        ended = run("print('ran')", "--require", "full")

        if ended.code == 0:
            self.assertEqual(ended.out, b"ran\n")
        else:
            self.assertEqual((ended.code, ended.out), (125, b""))
            self.assertTrue(ended.stderr.strip())

    def test_templates_are_listed(self) -> None:
        ended = zygo.run_cli("template", "list")

        self.assertEqual(ended.code, 0)
        for name in ("python", "python-numpy", "python-pandas"):
            self.assertIn(name, ended.stdout)

    def test_a_program_file_may_have_any_name(self) -> None:
        program = Path(self.folder(), "--odd name.py")
        program.write_text("print('ran')")

        self.assertEqual(zygo.run_cli("run", str(program)).out, b"ran\n")


class Streaming(ZygoTestCase):
    """What a program prints is there when it has printed it."""

    def start(self, source: str, *options: str) -> subprocess.Popen[bytes]:
        program = self.folder() / "program.py"
        program.write_text(source)
        process = zygo.start_cli("run", *options, str(program), stderr=subprocess.PIPE)
        self.addCleanup(zygo.finish, process)
        return process

    def test_a_prompt_is_there_before_its_answer(self) -> None:
        process = self.start("name = input('who? ')\nprint('hello', name)\n")
        assert process.stdin and process.stdout

        self.assertEqual(os.read(process.stdout.fileno(), 100), b"who? ")
        process.stdin.write(b"world\n")
        process.stdin.close()

        self.assertEqual(process.stdout.read(), b"hello world\n")
        self.assertEqual(process.wait(), 0)

    def test_a_run_ends_when_nobody_reads_it(self) -> None:
        """It says nothing more, so that no write of its own would tell."""
        process = self.start("import time\nprint('first', flush=True)\ntime.sleep(3000)\n", "--wall", "1000s")
        assert process.stdout

        self.assertEqual(process.stdout.readline(), b"first\n")
        process.stdout.close()

        self.assertEqual(process.wait(timeout=100 * zygo.PATIENCE), 141)

    def test_what_was_printed_stays_when_it_is_interrupted(self) -> None:
        process = self.start("import time\nprint('so far', flush=True)\ntime.sleep(3000)\n", "--wall", "1000s")
        assert process.stdout and process.stderr

        self.assertEqual(process.stdout.readline(), b"so far\n")
        process.send_signal(signal.SIGINT)

        self.assertEqual(process.stdout.read(), b"")
        self.assertIn(b"Cancelled", process.stderr.read())
        self.assertEqual(process.wait(), 130)

    def test_all_of_a_long_output_comes_once_and_in_order(self) -> None:
        process = self.start("import sys\nfor i in range(20000):\n    print(i)\n    print(-i, file=sys.stderr)\n", "--quiet")
        assert process.stdout and process.stderr
        errors: list[bytes] = []
        reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
        reader.start()

        self.assertEqual(process.stdout.read().split(), [b"%d" % i for i in range(20000)])
        reader.join()
        self.assertEqual(errors[0].split(), [b"%d" % -i for i in range(20000)])


if __name__ == "__main__":
    unittest.main()
