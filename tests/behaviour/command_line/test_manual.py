"""`zygo manual` and `zygo completion`: every option that --help knows is there, and real shells and readers take them."""

from __future__ import annotations

import functools
import re
import shutil
import unittest
from pathlib import Path

import zygo
from zygo import ZygoTestCase

OPTION = re.compile(r"^  ((?:-\w(?:,|\s))?--[\w-]+|-\w)", re.MULTILINE)
# A reader of manual pages has no date to show, and long commands in examples are long on purpose.
NO_FAULT = ("missing date", "input text line longer than 80 bytes")


@functools.cache
def help_of(command: tuple[str, ...]) -> str:
    ended = zygo.run_cli(*command, "--help")
    assert ended.code == 0, ended.stderr
    return ended.stdout


def subcommands(command: tuple[str, ...]) -> list[str]:
    _, _, listed = help_of(command).partition("\nSubcommands:\n")
    names = re.findall(r"^  (\S+) +(.*)$", listed.partition("\n\n")[0].rstrip(), re.MULTILINE)
    return [name for name, about in names if about != "Not built yet" and not name.startswith("`")]


# Its command line is another program's: its --help is all there is, and its page and completions offer that.
FOREIGN = {("isolate",)}


@functools.cache
def commands() -> tuple[tuple[str, ...], ...]:
    """All that --help leads to, from () on, but for FOREIGN."""
    found: list[tuple[str, ...]] = []
    rest: list[tuple[str, ...]] = [()]
    while rest:
        command = rest.pop()
        found.append(command)
        rest += [(*command, name) for name in subcommands(command) if (*command, name) not in FOREIGN]
    return tuple(found)


def options_of(command: tuple[str, ...]) -> set[str]:
    text = help_of(command).partition("\nSubcommands:\n")[0]
    return {name for names in OPTION.findall(text) for name in names.split(",")}


def page_of(command: tuple[str, ...]) -> str:
    ended = zygo.run_cli("manual", "-".join(("zygo", *command)))
    assert ended.code == 0, ended.stderr
    return ended.stdout


class TheTest(ZygoTestCase):
    def test_reads_help_rightly(self) -> None:
        """Otherwise the others would compare nothing with nothing."""
        self.assertLessEqual({(), ("run",), ("serve",), ("image",), ("image", "import")}, set(commands()))
        self.assertLessEqual({"--wall", "--json", "--help", "-h"}, options_of(("run",)))


class ManualPages(ZygoTestCase):
    def test_each_option_and_each_command_is_in_its_page(self) -> None:
        for command in commands():
            with self.subTest(command):
                page = page_of(command).replace("\\-", "-")

                for name in options_of(command):
                    self.assertIn(f"\\fB{name}\\fR", page)
                for name in subcommands(command):
                    self.assertIn(f"\\fB{' '.join(('zygo', *command, name))}\\fR", page)

    def test_each_example_of_help_is_in_its_page(self) -> None:
        for command in commands():
            with self.subTest(command):
                _, _, examples = help_of(command).partition("\nExamples:\n")
                rendered = page_of(command).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")
                rendered = rendered.replace("\\(ga", "`").replace("\\(ti", "~").replace("\\(ha", "^")

                for line in filter(None, examples.partition("\n\n")[0].splitlines()):
                    self.assertIn(line, rendered)

    def test_a_reader_of_manual_pages_finds_no_fault(self) -> None:
        if not shutil.which("mandoc"):
            self.skipTest("mandoc is not installed: run tools/setup")
        for command in commands():
            with self.subTest(command):
                ended = zygo.run_command(["mandoc", "-T", "lint", "-W", "style"], stdin=page_of(command).encode())

                faults = [line for line in ended.stdout.splitlines() if not any(known in line for known in NO_FAULT)]
                self.assertEqual(faults, [])

    def test_all_are_written_into_a_folder(self) -> None:
        folder = self.folder()

        ended = zygo.run_cli("manual", "-o", str(folder))

        self.assertEqual(ended.code, 0, ended.stderr)
        pages = {path.name for path in (folder / "man/man1").iterdir()}
        self.assertEqual(pages, {"-".join(("zygo", *command)) + ".1" for command in (*commands(), *FOREIGN)})

    def test_a_page_that_is_not_there_is_a_mistake(self) -> None:
        ended = zygo.run_cli("manual", "zygo-bogus")

        self.assertEqual((ended.code, ended.stdout), (2, ""))
        self.assertIn("zygo-run", ended.stderr)

    def test_a_folder_that_cannot_be_written_is_said(self) -> None:
        ended = zygo.run_cli("manual", "-o", "/proc/none")

        self.assertEqual(ended.code, 125)
        self.assertIn("/proc/none", ended.stderr)


class InBash(ZygoTestCase):
    """A real bash with the script loaded, and what it would offer."""

    SCRIPT = """
source "$1"
COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2))
_zygo
printf '%s\\n' "${COMPREPLY[@]}"
"""

    def setUp(self) -> None:
        bash = shutil.which("bash")
        if not bash:
            self.skipTest("bash is not installed")
        self.home = self.folder()
        (self.home / "script").write_bytes(zygo.run_cli("completion", "bash").out)

    def offered(self, *words: str) -> list[str]:
        """What is offered for the last of the words, as bash splits them."""
        ended = zygo.run_command(["bash", "--norc", "-c", self.SCRIPT, "bash", str(self.home / "script"), *words],
                                 cwd=str(self.home))
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        return sorted(ended.stdout.split())

    def test_every_option_and_command_is_offered(self) -> None:
        for command in commands():
            with self.subTest(command):
                self.assertEqual(set(self.offered("zygo", *command, "-")), options_of(command))
                if below := subcommands(command):
                    self.assertEqual(self.offered("zygo", *command, ""), sorted(below))

    def test_what_was_begun_is_completed(self) -> None:
        for words, expected in ((("ser",), ["serve"]), (("image", "im"), ["import"]), (("run", "--wa"), ["--wall"]),
                                (("run", "--level", "f"), ["full"]), (("run", "--level", "=", "mi"), ["minimal"]),
                                (("run", "--level", "="), ["contained", "full", "minimal"]),
                                (("run", "--profile", ""), ["build", "default", "pure", "subprocess"]),
                                (("serve", "--log", ""), ["json", "off", "text"]),
                                (("serve", "--api", "p"), ["piston"]), (("run", "--wall", ""), []),
                                (("run", "prog.py", "--", "--wa"), [])):
            with self.subTest(words):
                self.assertEqual(self.offered("zygo", *words), expected)

    def test_files_are_offered_where_files_are_meant(self) -> None:
        (self.home / "prog.py").touch()

        for words in (("run", "pro"), ("run", "--stdin", "pro"), ("serve", "--tokens", "pro"), ("run", "--wall", "1s", "pro")):
            with self.subTest(words):
                self.assertEqual(self.offered("zygo", *words), ["prog.py"])
        self.assertEqual(self.offered("zygo", "run", "--wall", "pro"), [])

    def test_bash_is_told_of_it(self) -> None:
        ended = zygo.run_command(["bash", "--norc", "-c", f"source '{self.home}/script'; complete -p zygo"])

        self.assertEqual(ended.stdout, "complete -F _zygo zygo\n")


class InOtherShells(ZygoTestCase):
    def script(self, shell: str) -> Path:
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed, and nothing but this needs it")
        path = self.folder() / "_zygo"
        path.write_bytes(zygo.run_cli("completion", shell).out)
        return path

    def test_every_option_is_in_their_scripts(self) -> None:
        for shell, form in (("zsh", "{}[=[]"), ("fish", "-[ls] {}")):
            text = zygo.run_cli("completion", shell).stdout
            for command in commands():
                for name in options_of(command):
                    with self.subTest(shell, command=command, option=name):
                        self.assertRegex(text, form.format(name if shell == "zsh" else name.lstrip("-")))

    def test_zsh_takes_its_script(self) -> None:
        path = self.script("zsh")

        read = zygo.run_command(["zsh", "-f", "-c", "autoload -U compinit && compinit -u -D && source $1 && "
                                 "print $_comps[zygo] && functions _zygo_image_import", "zsh", str(path)])

        self.assertEqual((read.code, read.stderr), (0, ""))
        self.assertTrue(read.stdout.startswith("_zygo\n"), read.stdout)

    def test_fish_completes_by_its_script(self) -> None:
        path = self.script("fish")

        for line, expected in (("zygo ser", ["serve"]), ("zygo image im", ["import"]), ("zygo run --wa", ["--wall"]),
                               ("zygo run --level f", ["full"]), ("zygo image --wa", [])):
            with self.subTest(line):
                ended = zygo.run_command(["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"])
                self.assertEqual([entry.split("\t")[0] for entry in ended.stdout.splitlines()], expected, ended.stderr)

    def test_another_shell_is_a_mistake(self) -> None:
        ended = zygo.run_cli("completion", "tcsh")

        self.assertEqual((ended.code, ended.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
