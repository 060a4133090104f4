"""`zygo certify --grader`: exploits that fool a grader are found, honest variants too, and nothing of them stays on the host."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import unittest
from pathlib import Path
from typing import Any

import host
import zygo
from zygo import PATIENCE, Finished, ZygoTestCase

GRADERS = Path(__file__).parent / "graders"
PYTHON = "/usr/bin/python3 -B"
FENCED = os.geteuid() == 0

# What an exec() of program and tests in one process cannot withstand.
FOOLS_EXEC = ("exit_zero", "os_exit_zero", "exit_in_call", "os_exit_in_call", "exec_true", "fork_and_exit", "atexit_zero",
              "exit_patched", "always_equal", "type_lies", "trace_exit", "profile_exit", "json_last", "prints_and_ends",
              "alarm_zero", "frames_read", "memory_read")
FOOLS_PYTEST = ("os_exit_zero", "always_equal", "atexit_zero", "skip_raised", "xfail_raised", "pytest_exit", "pytest_patched",
                "pytest_session_patched", "json_last", "trace_exit")


def certify(*arguments: str, timeout: float = 500) -> Finished:
    return zygo.run_cli("certify", *arguments, timeout=timeout)


def report(command: str, *arguments: str) -> tuple[int, dict[str, Any]]:
    ended = certify("--grader", command, "--json", *arguments)
    if not ended.out:
        raise AssertionError(f"certify ended with {ended.code}: {ended.stderr[-2000:]}")
    return ended.code, json.loads(ended.out)


def patience(seconds: float) -> str:
    return f"{int(1000 * seconds * PATIENCE)}ms"


def bad_rows(rows: list[dict[str, Any]]) -> set[str]:
    return {row["name"] for row in rows if row["bad"]}


class GraderTestCase(ZygoTestCase):
    def setUp(self) -> None:
        super().setUp()
        if not FENCED:
            self.skipTest("namespaces for the grader: needs root")

    def script(self, text: str) -> str:
        path = Path(self.folder(), "grader.sh")
        path.write_text(text)
        return f"/bin/sh {path}"


class Graders(GraderTestCase):
    def test_one_that_runs_program_and_tests_in_one_process_is_fooled(self) -> None:
        names = ",".join((*FOOLS_EXEC, "plain", "renamed", "verbose", "recursive", "endless"))
        code, found = report(f"{PYTHON} {GRADERS}/naive.py", "--only", names, "--timeout", patience(20))

        self.assertEqual(code, 1)
        self.assertEqual(set(FOOLS_EXEC) - bad_rows(found["exploits"]), set())
        self.assertEqual(bad_rows(found["honest"]) | bad_rows(found["wrong"]), set())
        self.assertNotIn("endless", bad_rows(found["exploits"]))

    def test_one_that_runs_pytest_beside_the_program_is_fooled(self) -> None:
        if not importlib.util.find_spec("pytest"):
            self.skipTest("needs pytest")
        names = ",".join((*FOOLS_PYTEST, "plain", "generator"))
        code, found = report(f"{PYTHON} {GRADERS}/by_pytest.py", "--only", names, "--timeout", patience(30))

        self.assertEqual(code, 1)
        self.assertEqual(set(FOOLS_PYTEST) - bad_rows(found["exploits"]), set())
        self.assertEqual(bad_rows(found["honest"]), set())

    def test_one_that_uses_zygo_is_not(self) -> None:
        exploits = [each["name"] for each in json.loads(certify("--list", "--json").out)["exploits"]]
        honest = ("plain", "numpy_types", "other_types", "iterator", "property", "exits")
        code, found = report(f"{PYTHON} {GRADERS}/by_zygo.py", "--kinds", "function,class,stdin", "--jobs", "75",
                             "--only", ",".join((*exploits, *honest)), "--timeout", patience(60))

        self.assertEqual(found["findings"], [])
        self.assertEqual((code, found["ok"]), (0, True))
        self.assertEqual({row["name"] for row in found["exploits"]}, set(exploits))
        self.assertEqual({row["name"] for row in found["honest"]}, set(honest))

    def test_one_that_always_passes_shows_the_same_cases_for_a_seed(self) -> None:
        def programs(seed: str) -> list[str]:
            code, found = report("true", "--jobs", "80", "--seed", seed)
            self.assertEqual((code, bad_rows(found["honest"])), (1, set()))
            self.assertEqual(found["total"]["exploit"]["cases"], found["total"]["exploit"]["bad"])
            return sorted(each["program"] for each in found["findings"])

        self.assertEqual(programs("3"), programs("3"))
        self.assertNotEqual(programs("3"), programs("4"))

    def test_one_that_always_fails_fails_all_honest_programs(self) -> None:
        code, found = report("false", "--only", "plain,exit_zero,recursive")

        self.assertEqual(code, 1)
        self.assertEqual(bad_rows(found["honest"]), {"plain", "recursive"})
        self.assertEqual(bad_rows(found["exploits"]), set())


class Protocol(GraderTestCase):
    def test_the_case_is_in_a_file_and_on_stdin(self) -> None:
        code, found = report(self.script('[ -f "$1" ] && cmp -s "$1" - && grep -q entry_point "$1"\n'), "--only", "plain")

        self.assertEqual((code, found["findings"]), (0, []))

    def test_json_of_the_last_line_decides(self) -> None:
        code, found = report(self.script('echo "{\\"passed\\": true}"; echo "{\\"score\\": 0.5}"\n'), "--only", "plain,exit_zero")

        self.assertEqual((code, bad_rows(found["honest"]), bad_rows(found["exploits"])), (1, {"plain"}, set()))

    def test_other_ends_are_no_verdict(self) -> None:
        for text, reason in (("echo oh >&2; exit 3", "exit code 3: oh"), ("kill -9 $$", "signal 9"), ("sleep 600", "time limit"),
                             ("yes", "output limit")):
            with self.subTest(text=text):
                code, found = report(self.script(text + "\n"), "--only", "plain,exit_zero", "--jobs", "3",
                                     "--timeout", patience(0.3 if "sleep" in text else 60))

                self.assertEqual((code, bad_rows(found["exploits"])), (1, set()))
                for each in found["findings"]:
                    self.assertTrue(each["reason"].startswith(reason), each["reason"])


class Enclosure(GraderTestCase):
    def test_nothing_that_a_grader_starts_or_writes_is_left(self) -> None:
        host.adopt_orphans()
        marks = [Path(folder, f"zygo-grader-mark-{os.getpid()}") for folder in ("/tmp", "/var/tmp", "/dev/shm", "/run")]
        before = host.Snapshot.take()

        code, found = report(self.script("".join(f"echo x > {mark} || exit 3\n" for mark in marks)
                                         + "setsid sleep 600 > /dev/null 2>&1 &\nsleep 600 &\nexit 0\n"), "--only", "plain")

        self.assertEqual((code, found["findings"], found["fence"]), (0, [], "namespaces"))
        self.assertEqual([mark for mark in marks if mark.exists()], [])
        self.assertEqual(before.leftovers(), [])

    def test_a_grader_cannot_write_to_the_host_nor_see_its_processes(self) -> None:
        text = f"! touch /usr/x 2> /dev/null && ! kill -0 {os.getpid()} 2> /dev/null && touch here\n"
        code, found = report(self.script(text), "--only", "plain")

        self.assertEqual((code, found["findings"]), (0, []))

    def test_a_grader_has_a_limit_of_processes(self) -> None:
        if "processes" not in report("true", "--only", "plain")[1]["limits"]:
            self.skipTest("this host has no control group for processes")
        path = Path(self.folder(), "many.py")
        path.write_text("import subprocess, sys\nfor _ in range(600):\n    try:\n        subprocess.Popen(['sleep', '600'])\n"
                        "    except BlockingIOError:\n        sys.exit(0)\nsys.exit(3)\n")
        code, found = report(f"{PYTHON} {path}", "--only", "plain", "--jobs", "1", "--timeout", patience(60))

        self.assertEqual((code, found["findings"]), (0, []))

    def test_a_grader_has_a_limit_of_memory(self) -> None:
        if "memory" not in report("true", "--only", "plain")[1]["limits"]:
            self.skipTest("this host has no control group for memory")
        greedy = f"{PYTHON} -c \"x = b'x' * (200 << 20)\""
        code, found = report(greedy, "--only", "plain", "--jobs", "1", "--memory", "64M", "--timeout", patience(60))

        self.assertEqual((code, [each["answer"] for each in found["findings"]]), (1, ["no verdict"]))
        self.assertEqual(report(greedy, "--only", "plain", "--jobs", "1", "--timeout", patience(60))[0], 0)

    def test_without_namespaces_descendants_are_ended_and_some_exploits_left_out(self) -> None:
        host.adopt_orphans()
        before = host.Snapshot.take()
        code, found = report(self.script("setsid sleep 600 > /dev/null 2>&1 &\nsleep 600 &\nexit 1\n"),
                             "--only", "exit_zero,parent_killed", "--unconfined")

        self.assertEqual((code, found["fence"]), (0, "processes"))
        self.assertIn("parent_killed", found["left_out"])
        self.assertEqual([row["name"] for row in found["exploits"]], ["exit_zero"])
        self.assertEqual(before.leftovers(), [])

    def test_an_interruption_ends_the_grader(self) -> None:
        host.adopt_orphans()
        before = host.Snapshot.take()
        process = subprocess.Popen([str(zygo.BINARY), "certify", "--grader", "sleep 600", "--only", "plain", "--timeout", "600s"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=zygo.environment())
        assert process.stderr
        self.assertIn(b"will run inside", process.stderr.readline())

        process.send_signal(signal.SIGTERM)
        _, complaint = process.communicate(timeout=60)

        self.assertEqual(process.returncode, 130)
        self.assertIn(b"interrupted", complaint)
        self.assertEqual(before.leftovers(), [])


class CommandLine(ZygoTestCase):
    def test_a_list_names_and_describes_the_exploits(self) -> None:
        ended = certify("--list", "--json")
        listed = json.loads(ended.out)

        self.assertEqual(ended.code, 0)
        self.assertLessEqual({*FOOLS_EXEC, *FOOLS_PYTEST}, {each["name"] for each in listed["exploits"]})
        self.assertEqual([each for each in listed["exploits"] if not each["description"]], [])

    def test_mistakes_are_named(self) -> None:
        for arguments, words in ((("--grader", "true", "--only", "exit_one"), ("exit_one", "--list")),
                                 (("--grader", "true", "--kinds", "novel"), ("--kinds", "novel")),
                                 (("--grader", "true", "--loads", "1"), ("--grader", "--loads")),
                                 (("--only", "exit_zero"), ("--only", "--grader"))):
            with self.subTest(arguments=arguments):
                ended = certify(*arguments)

                self.assertEqual((ended.code, ended.out), (2, b""))
                for word in words:
                    self.assertIn(word, ended.stderr)


if __name__ == "__main__":
    unittest.main()
