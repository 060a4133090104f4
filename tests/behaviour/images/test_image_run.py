"""Jobs on an imported image: its own Python, its programs, its configuration; read-only, and nothing of the host."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import unittest
from pathlib import Path
from typing import Any

import docker_archive
import zygo
from containers import image as containers_image
from zygo import Finished, ZygoTestCase

MARK = b"only in the image\n"
CONFIG = {
    "Env": ["PATH=/usr/bin", "GREETING=hello"], "WorkingDir": "/work",
    "Entrypoint": ["python3", "-c", "import os, sys; print(os.environ['GREETING'], os.getcwd(), sys.argv[1:])"],
    "Cmd": ["by", "default"]}


class OnAnImage(ZygoTestCase):
    home: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.home = Path(tempfile.mkdtemp(prefix="behaviour-images-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.home)
        containers_image.write_root(cls.home / "root.tar")
        layer = docker_archive.layer_with((cls.home / "root.tar").read_bytes(),
                                          {"srv/mark": (MARK, 0o644), "work/here": (b"", 0o644)})
        docker_archive.write(cls.home / "image.tar", layer, CONFIG)
        imported = cls.zygo("image", "import", "mine", str(cls.home / "image.tar"))
        assert imported.code == 0, imported.stderr

    @classmethod
    def zygo(cls, *arguments: str, **how: Any) -> Finished:
        return zygo.run_cli(*arguments, env=zygo.environment(ZYGO_HOME=str(cls.home / "store")), **how)

    def run_on_image(self, source: str, *options: str) -> Finished:
        return self.zygo("run", "--image", "mine", *options, "-", stdin=source.encode())

    def test_python_is_the_images_and_so_is_every_file(self) -> None:
        ended = self.run_on_image("import os; print(sorted(os.listdir('/')), open('/srv/mark').read())")

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertIn("only in the image", ended.stdout)
        self.assertIn("'srv'", ended.stdout)
        self.assertNotIn("'home'", ended.stdout)

    def test_nothing_of_it_can_be_written(self) -> None:
        ended = self.run_on_image("open('/srv/mark', 'w')")

        self.assertEqual(ended.code, 126)
        self.assertIn("UnsafeCode (openat, at /srv/mark", ended.stderr)

    def test_each_job_has_a_scratch_of_its_own(self) -> None:
        ended = self.run_on_image("import os; open('x', 'w').write('y'); print(os.getcwd(), os.listdir('/tmp'))")

        self.assertEqual(ended.stdout, "/tmp ['x']\n", ended.stderr)

    def test_its_own_command_runs_in_its_directory_with_its_environment(self) -> None:
        self.assertEqual(self.zygo("run", "--image", "mine").stdout, "hello /work ['by', 'default']\n")

        ended = self.zygo("batch", "--image", "mine", "-", stdin=zygo.lines_of(
            [{"template": "command", "source": "", "argv": ["else"], "env": {"GREETING": "hi"}}]))
        self.assertEqual(json.loads(ended.out)["stdout"]["text"], "hi /work ['else']\n")

    def test_a_program_of_it_by_name_or_path(self) -> None:
        for name in ("python3", "/usr/bin/python3"):
            with self.subTest(name):
                ended = self.zygo("run", "--image", "mine", "--command", name, "--", "-c", "print(6 * 7)")
                self.assertEqual((ended.code, ended.stdout), (0, "42\n"), ended.stderr)

    def test_what_it_does_not_have_is_said(self) -> None:
        ended = self.zygo("run", "--image", "mine", "--command", "no-such-program")
        self.assertEqual(ended.code, 125)
        self.assertIn("the image has no program no-such-program", ended.stderr)

        ended = self.zygo("run", "--image", "mine", "--template", "cpp", "-", stdin=b"int main() {}")
        self.assertIn("cpp needs g++", ended.stderr)

    def test_an_unknown_image_is_a_usage_error(self) -> None:
        ended = self.zygo("run", "--image", "yours", "-", stdin=b"1")

        self.assertEqual(ended.code, 2)
        self.assertIn("yours", ended.stderr)

    def test_below_full_an_image_is_refused_by_name(self) -> None:
        given = json.loads(zygo.run_cli("doctor", "--json").out)["levels"]
        for level in ("contained", "minimal"):
            if not given[level]["available"]:
                continue
            with self.subTest(level):
                ended = self.run_on_image("1", "--level", level)
                self.assertEqual(ended.code, 125)
                self.assertIn(f"image mine: an image needs mounts, which level {level} does not have", ended.stderr)


if __name__ == "__main__":
    unittest.main()
