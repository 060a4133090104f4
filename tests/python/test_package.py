"""The package as people get it: installed by pip from the source tree, without a network, and as a wheel with zygo in it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import support

LIBRARY = support.BINARY.resolve().parent.parent / "lib/zygo"
CODE = "import zygo; print(zygo.Pool('python').run('print(1)').label, zygo.__file__)"


@support.needs_checkout
class Installed(unittest.TestCase):
    def setUp(self) -> None:
        holder = tempfile.TemporaryDirectory(prefix="zygo-package-")
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)

    def run_in(self, folder: Path, binary: str = "") -> str:
        environment = {name: value for name, value in os.environ.items() if name not in ("ZYGO_BIN", "PYTHONPATH")}
        environment.update({"ZYGO_BIN": binary} if binary else {}, PYTHONPATH=str(folder), PATH="/usr/bin:/bin")
        ended = subprocess.run([sys.executable, "-B", "-c", CODE], env=environment, capture_output=True, text=True,
                               cwd="/", check=False)
        self.assertEqual(ended.stderr, "")
        return ended.stdout

    def test_pip_installs_it_from_the_source_tree_without_a_network(self) -> None:
        ended = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-cache-dir",
                                "--disable-pip-version-check", "--root-user-action=ignore",
                                "--target", str(self.folder / "site"), str(support.SOURCE)],
                               capture_output=True, text=True, check=False)
        if "No module named pip" in ended.stderr:
            self.skipTest("pip is not installed")
        self.assertEqual(ended.returncode, 0, ended.stderr)

        self.assertEqual(self.run_in(self.folder / "site", str(support.BINARY)),
                         f"OK {self.folder}/site/zygo/__init__.py\n")
        self.assertTrue((self.folder / "site/zygo/py.typed").exists())

    @unittest.skipUnless(LIBRARY.is_dir(), "not a build's zygo")
    def test_a_wheel_brings_its_own_zygo(self) -> None:
        build = [sys.executable, "-B", str(support.SOURCE / "backend/zygo_build.py"), str(self.folder)]
        name = subprocess.run([*build, "--runtime", str(support.BINARY), str(LIBRARY)], capture_output=True, text=True,
                              check=True).stdout.strip()
        site = self.folder / "site"
        with zipfile.ZipFile(self.folder / name) as wheel:
            for info in wheel.infolist():
                path = Path(wheel.extract(info, site))
                path.chmod(info.external_attr >> 16)

        self.assertNotIn("none-any", name)
        self.assertEqual(self.run_in(site), f"OK {site}/zygo/__init__.py\n")


if __name__ == "__main__":
    support.main()
