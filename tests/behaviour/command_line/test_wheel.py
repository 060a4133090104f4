"""The wheel with zygo in it, and the Debian package: made by tools/package of this build's objects, they need nothing of
this machine's libraries, and run in a clean Debian root and in environments of pip's. tools/package --check tries the other
releases of Debian.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import ClassVar

import zygo
from zygo import CHECKOUT, ZygoTestCase

sys.path.insert(0, str(CHECKOUT / "tools/packaging"))

import roots  # noqa: E402

BUILD = zygo.BINARY.parent.parent
CHECK_SYMBOLS = str(CHECKOUT / "tools/check_symbols")
RELEASE = "13"  # of Debian: the oldest, 11, is what packages are linked against, and 12 is where they are made
NO_ROOT = 77


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in ("ZYGO_BIN", "PYTHONPATH")}


class Symbols(ZygoTestCase):
    def said_of(self, *arguments: str) -> zygo.Finished:
        return zygo.run_command([CHECK_SYMBOLS, *arguments])

    def library(self, source: str, *options: str) -> str:
        path = str(self.folder() / "library.so")
        zygo.run_command(["gcc", "-shared", "-fPIC", "-o", path, "-x", "c", "-", "-x", "none", *options], stdin=source.encode())
        return path

    def test_a_symbol_that_came_later_is_named(self) -> None:
        path = self.library('extern int memfd_create(const char*, unsigned);\nint f() { return memfd_create("", 0); }')

        refused = self.said_of("--most", "2.26", path)
        self.assertEqual((refused.code, refused.stdout),
                         (1, f"{path}: memfd_create came with glibc 2.27, later than 2.26\n"))
        self.assertEqual(self.said_of("--most", "2.27", path).code, 0)

    def test_versions_are_numbers_and_not_text(self) -> None:
        path = self.library("extern char* getenv(const char*);\nchar* f() { return getenv(\"\"); }")

        self.assertEqual(self.said_of("--most", "2.10", path).code, 0, "GLIBC_2.2.5 came before 2.10")

    def test_a_library_of_the_machine_is_named_unless_it_lies_beside(self) -> None:
        path = self.library("int f();", "-Wl,--no-as-needed", "-lz")
        (needed,) = Path("/usr/lib/x86_64-linux-gnu").glob("libz.so.1")

        refused = self.said_of(path)
        self.assertIn(f"{path}: needs libz.so.1", refused.stdout)
        self.assertEqual(refused.code, 1)
        self.assertEqual(self.said_of(path, str(needed)).code, 0)


@unittest.skipUnless(os.geteuid() == 0, "clean roots need root")
@unittest.skipUnless(CHECKOUT / "build/release" == BUILD, "tools/package packs the release build")
class TheWheel(ZygoTestCase):
    holder: ClassVar[tempfile.TemporaryDirectory[str]]
    made: ClassVar[subprocess.CompletedProcess[str]]

    @classmethod
    def setUpClass(cls) -> None:
        cls.holder = tempfile.TemporaryDirectory(prefix="behaviour-wheel-")
        cls.addClassCleanup(cls.holder.cleanup)
        cls.made = subprocess.run([str(CHECKOUT / "tools/package"), "--check", RELEASE, "--out", cls.holder.name],
                                  capture_output=True, text=True, check=False,
                                  env={"ZYGO_TEST_PATIENCE": "60", **environment()})
        if cls.made.returncode == NO_ROOT:
            raise unittest.SkipTest(cls.made.stderr.strip())

    def wheel(self) -> Path:
        (path,) = Path(self.holder.name).glob("*.whl")
        return path

    def installed(self) -> Path:
        """A virtual environment with the wheel in it."""
        folder = self.folder() / "environment"
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, env=environment())
        subprocess.run([folder / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", self.wheel()],
                       check=True, env=environment())
        return folder

    def test_installs_and_runs_in_a_clean_root_as_root_and_as_a_user(self) -> None:
        self.assertEqual(self.made.returncode, 0, self.made.stdout + self.made.stderr)
        self.assertTrue(self.made.stdout.endswith("package: passed\n"), self.made.stdout)

    def test_says_where_it_runs_and_what_is_inside(self) -> None:
        with zipfile.ZipFile(self.wheel()) as packed:
            named = packed.namelist()
            about = packed.read("zygo-0.1.0.dist-info/WHEEL").decode()
            inside = json.loads(packed.read("zygo-0.1.0.dist-info/sboms/zygo.spdx.json"))

        self.assertIn("Tag: py3-none-manylinux_2_31_x86_64\n", about)
        self.assertEqual(inside["spdxVersion"], "SPDX-2.3")
        libraries = {package["name"] for package in inside["packages"]}
        self.assertLessEqual({"zygo", "libuv1-dev", "libarchive-dev", "libwslay1", "libstdc++-12-dev"}, libraries)
        for library in libraries - {"zygo"}:
            self.assertIn(f"zygo-0.1.0.dist-info/licenses/third-party/{library}", named)

    def test_nothing_in_it_tells_the_folder_of_the_build(self) -> None:
        with zipfile.ZipFile(self.wheel()) as packed:
            telling = [name for name in packed.namelist() if str(BUILD).encode() in packed.read(name)]

        self.assertEqual(telling, [])

    def test_the_command_is_the_program_and_the_package_finds_it(self) -> None:
        folder = self.installed()

        direct = zygo.run_command([str(folder / "bin/zygo"), "run", "-"], stdin=b"print(6 * 7)", env=environment(), cwd="/")
        self.assertEqual((direct.code, direct.stdout), (0, "42\n"), direct.stderr)
        program = self.folder() / "program.py"
        program.write_text("raise IndexError")
        ended = zygo.run_command([str(folder / "bin/python"), "-m", "zygo", "run", str(program)],
                                 env={**environment(), "PATH": "/usr/bin:/bin"}, cwd="/")
        self.assertIn("zygo: IndexError", ended.stderr)
        self.assertEqual(ended.code, 1)

    def test_the_tests_of_the_package_pass_outside_of_the_checkout(self) -> None:
        """Two files of them; tools/package --check outside runs all."""
        place = self.folder()
        roots.copy_tests(CHECKOUT, place)
        python = self.installed() / "bin/python"

        for name in ("test_client.py", "test_limits.py"):
            with self.subTest(name):
                ended = zygo.run_command([str(python), "-B", str(place / "tests/python" / name)], env=environment(), cwd="/")
                self.assertEqual(ended.code, 0, ended.stderr)

    def test_the_setup_code_of_services_is_still_printed(self) -> None:
        ended = zygo.run_command([str(self.installed() / "bin/python"), "-m", "zygo", "setup"], env=environment(), cwd="/")

        self.assertEqual(ended.code, 0)
        compile(ended.stdout, "setup.py", "exec")


if __name__ == "__main__":
    unittest.main()
