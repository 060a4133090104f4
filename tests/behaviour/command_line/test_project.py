"""zygo.toml and [tool.zygo]: found from where the command is called, kept to what a folder may decide, told by file and field."""

from __future__ import annotations

import os
import unittest
from pathlib import Path

import zygo
from zygo import ZygoTestCase

LIMITS = "[limits]\ncpu_ms = 200\n"
TEMPLATE = 'template = "mine"\n[templates.mine]\npreload = ["fractions"]\nsetup = "warm.py"\n'
USES_SETUP = "import sys, zygo_setup\nprint(zygo_setup.answer, 'fractions' in sys.modules)\n"


class ProjectTestCase(ZygoTestCase):
    def setUp(self) -> None:
        self.home = self.folder()
        (self.home / "deep/er").mkdir(parents=True)

    def write(self, text: str, name: str = "zygo.toml") -> Path:
        (self.home / name).write_text(text)
        return self.home / name

    def run_in(self, *arguments: str, source: str = "print(1)", folder: str = ".", **extra: str) -> zygo.Finished:
        return zygo.run_command([str(zygo.BINARY), *arguments], stdin=source.encode(), cwd=str(self.home / folder),
                                env=zygo.environment(**extra))


class Limits(ProjectTestCase):
    def test_hold_below_the_folder_that_has_the_file(self) -> None:
        self.write(LIMITS)
        for folder in (".", "deep/er"):
            ended = self.run_in("run", "-", source="while True: pass", folder=folder)

            self.assertIn("cpu limit 200 ms", ended.stderr)

    def test_are_those_of_a_batch_too_below_its_defaults(self) -> None:
        self.write(LIMITS)
        (self.home / "defaults.json").write_text('{"limits": {"cpu_ms": 300}}')
        job = '{"id": "a", "source": "while True: pass"}'

        plain = zygo.results_of(self.run_in("batch", "--quiet", source=job).out)[0]
        under = zygo.results_of(self.run_in("batch", "--quiet", "--defaults", "defaults.json", source=job).out)[0]

        self.assertEqual((plain["detail"]["limit_ms"], under["detail"]["limit_ms"]), (200, 300))

    def test_yield_to_the_command_line(self) -> None:
        self.write(LIMITS)

        self.assertIn("cpu limit 300 ms", self.run_in("run", "--cpu", "300ms", "-", source="while True: pass").stderr)

    def test_stand_in_pyproject_toml_as_well_and_the_nearest_file_counts(self) -> None:
        self.write("[tool.zygo.limits]\ncpu_ms = 250\n", "pyproject.toml")
        self.assertIn("cpu limit 250 ms", self.run_in("run", "-", source="while True: pass", folder="deep").stderr)

        self.write("[tool.other\n", "deep/pyproject.toml")  # nothing of ours, and broken
        self.assertIn("cpu limit 250 ms", self.run_in("run", "-", source="while True: pass", folder="deep").stderr)
        self.write(LIMITS, "deep/zygo.toml")
        self.assertIn("cpu limit 200 ms", self.run_in("run", "-", source="while True: pass", folder="deep/er").stderr)

    def test_are_not_those_of_a_coprocess_or_of_one_who_wants_none(self) -> None:
        self.write("[limits]\nstdout_kb = 1\n")
        job = """{"id": "a", "source": "print('x' * 4000)"}"""

        self.assertIn("OutputLimitExceeded", self.run_in("batch", "--quiet", source=job).stdout)
        for option in ("--any-id", "--no-project"):
            self.assertEqual(zygo.results_of(self.run_in("batch", "--quiet", option, source=job).out)[0]["label"], "OK")


class Code(ProjectTestCase):
    """Preloads and setup run outside of the sandbox, so a folder alone never has them run."""

    def setUp(self) -> None:
        super().setUp()
        self.write(TEMPLATE)
        self.write("answer = 42\n", "warm.py")

    def test_is_run_with_consent(self) -> None:
        for folder, extra in ((".", {"ZYGO_TRUST_PROJECT": "yes"}), ("deep/er", {"ZYGO_TRUST_PROJECT": "yes"})):
            ended = self.run_in("run", "--quiet", "-", source=USES_SETUP, folder=folder, **extra)
            self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "42 True\n", ""))
        listed = self.run_in("template", "list", "--trust-project").stdout
        self.assertIn("mine", listed)

    def test_is_not_run_without_and_the_message_says_what_to_type(self) -> None:
        self.write("open('ran', 'w')\n", "warm.py")
        for command in (("run", "-"), ("batch",)):
            ended = self.run_in(*command)

            self.assertEqual((ended.code, ended.stdout), (2, ""))
            self.assertIn(f"{self.home}/zygo.toml: templates.mine: ", ended.stderr)
            self.assertIn("--trust-project", ended.stderr)
            self.assertFalse((self.home / "ran").exists())
        self.assertEqual(self.run_in("run", "--no-project", "-").stdout, "1\n")

    @unittest.skipUnless(os.geteuid() == 0, "needs another user's file")
    def test_of_somebody_else_is_not_run_with_consent_either(self) -> None:
        for name, uid, mode in (("zygo.toml", 12345, 0o644), ("warm.py", 0, 0o666), ("warm.py", 12345, 0o644), (".", 0, 0o777)):
            with self.subTest(name, uid=uid, mode=mode):
                path = self.home / name
                before = path.stat()
                os.chown(path, uid, -1)
                path.chmod(mode)

                ended = self.run_in("run", "--trust-project", "-", source=USES_SETUP)

                self.assertEqual((ended.code, ended.stdout), (2, ""))
                self.assertIn(f"{path}: ", ended.stderr)
                os.chown(path, before.st_uid, -1)
                path.chmod(before.st_mode)

    def test_of_a_file_in_another_language_keeps_that_language(self) -> None:
        (self.home / "a.sh").write_text("echo shell\n")

        self.assertEqual(self.run_in("run", "--trust-project", "a.sh").stdout, "shell\n")


class Mistakes(ProjectTestCase):
    def test_name_the_file_and_the_line_or_field(self) -> None:
        for text, words in (("template = \n", "line 1"), ("[limits]\nmemory = 1\n", "limits.memory; did you mean memory_mb"),
                            ("limts = {}\n", "limts: is unknown; did you mean limits?"),
                            ('template = "nobody"\n', 'template "nobody" is unknown')):
            with self.subTest(text):
                path = self.write(text)

                ended = self.run_in("run", "-", folder="deep")

                self.assertEqual((ended.code, ended.stdout), (2, ""))
                self.assertIn(f"{path}: ", ended.stderr)
                self.assertIn(words, ended.stderr)

    def test_isolation_is_not_for_a_file_that_lies_there(self) -> None:
        for text in ('level = "minimal"\n', 'require = "minimal"\n', 'python = "/tmp/evil"\n'):
            with self.subTest(text):
                self.write(text)

                ended = self.run_in("run", "-")

                self.assertEqual((ended.code, ended.stdout), (2, ""))
                self.assertIn("is not for a project", ended.stderr)

    def test_a_service_does_not_read_it(self) -> None:
        self.write("nonsense\n")

        self.assertNotIn("zygo.toml", self.run_in("serve", "--listen", "nowhere").stderr)
        self.assertEqual(self.run_in("doctor", "--json").code, 0)


if __name__ == "__main__":
    unittest.main()
