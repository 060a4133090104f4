"""`zygo image pack`: a Python environment as one file, unpacked once and seen at the path it was made at."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any

import zygo
from zygo import Finished

WHERE = "import ours, sys; print(ours.NAME, sys.prefix, ours.__file__)"


class Packed(unittest.TestCase):
    """The environment itself is gone after it was packed, so that nothing can come from there."""

    home: Path
    venv: Path
    archive: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.home = Path(tempfile.mkdtemp(prefix="behaviour-pack-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.home)
        cls.home.chmod(0o755)
        cls.venv, cls.archive = cls.home / "envs/ml", cls.home / "ml.tar.zst"
        cls.make_venv(cls.venv)
        cls.answer = cls.zygo("image", "pack", "--json", "--venv", str(cls.venv), "-o", str(cls.archive))
        assert cls.answer.code == 0, cls.answer.stderr
        again = cls.zygo("image", "pack", "--venv", str(cls.venv), "-o", str(cls.home / "again.tar.zst"))
        assert again.code == 0, again.stderr
        shutil.rmtree(cls.home / "envs")

    @classmethod
    def make_venv(cls, path: Path) -> None:
        subprocess.run(["/usr/bin/python3", "-m", "venv", "--without-pip", str(path)], check=True, timeout=120)
        (site,) = path.glob("lib/python3*/site-packages")
        (site / "ours").mkdir()
        (site / "ours/__init__.py").write_text("NAME = 'packed'\n")

    @classmethod
    def zygo(cls, *arguments: str, store: str = "store", **how: Any) -> Finished:
        return zygo.run_cli(*arguments, env=zygo.environment(ZYGO_HOME=str(cls.home / store)), **how)

    def run_packed(self, source: str, *options: str, store: str = "store", archive: Path | None = None) -> Finished:
        return self.zygo("run", "--python", str(archive or self.archive), *options, "-", stdin=source.encode(), store=store)

    def test_programs_see_it_at_its_own_path(self) -> None:
        ended = self.run_packed(WHERE)

        self.assertEqual(ended.code, 0, ended.stderr)
        name, prefix, file = ended.stdout.split()
        self.assertEqual((name, prefix), ("packed", str(self.venv)))
        self.assertTrue(file.startswith(f"{self.venv}/lib/python3"), file)

    def test_it_can_be_preloaded_and_cannot_be_written(self) -> None:
        ended = self.run_packed("import ours\nopen(ours.__file__, 'a')", "--preload", "ours")

        self.assertEqual(ended.code, 126, ended.stderr)
        self.assertIn("UnsafeCode", ended.stderr)

    def test_what_packing_says(self) -> None:
        answer = json.loads(self.answer.out)

        self.assertEqual(answer["python"]["interpreter"], f"{self.venv}/bin/python3")
        self.assertEqual(answer["python"]["directories"], {str(self.venv): str(self.venv)})
        self.assertIn("/usr/bin/python3", answer["python"]["needs"])
        self.assertEqual(answer["archive_bytes"], self.archive.stat().st_size)

    def test_the_same_environment_is_the_same_file(self) -> None:
        self.assertEqual(self.archive.read_bytes(), (self.home / "again.tar.zst").read_bytes())

    def test_what_a_crash_of_a_process_with_our_pid_left_is_not_in_the_way(self) -> None:
        """In containers all calls have the same pid."""
        venv, archive = self.home / "again/ml", self.home / "pid.tar.zst"
        self.make_venv(venv)
        script = 'touch "$3.unfinished-$$"; exec "$1" image pack --venv "$2" -o "$3"'

        ended = zygo.run_command(["sh", "-c", script, "sh", str(zygo.BINARY), str(venv), str(archive)],
                                 env=zygo.environment(ZYGO_HOME=str(self.home / "store")))

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertTrue(archive.is_file())

    def test_many_at_once_unpack_it_once_and_leave_nothing_else(self) -> None:
        command = [str(zygo.BINARY), "run", "--python", str(self.archive), "-"]
        env = zygo.environment(ZYGO_HOME=str(self.home / "many"))
        many = [subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for _ in range(8)]
        for process in many:
            out, err = process.communicate(WHERE.encode(), timeout=120 * zygo.PATIENCE)
            self.assertEqual((process.returncode, out.split()[:1]), (0, [b"packed"]), err)

        self.assertEqual(len(list((self.home / "many/images").iterdir())), 1)
        self.assertEqual(list((self.home / "many").glob("unpacking-*")), [])
        listed = json.loads(self.zygo("image", "list", "--json", store="many").out)
        self.assertEqual([each["config"]["python"]["interpreter"] for each in listed], [f"{self.venv}/bin/python3"])

    def test_an_archive_that_is_damaged_or_something_else_is_named(self) -> None:
        whole, wrong = self.archive.read_bytes(), self.home / "wrong.tar.zst"
        for content in (whole[:-100], whole[: len(whole) // 2] + b"\0" * 64 + whole[len(whole) // 2 + 64:], whole[:4] + b"x" * 100):
            wrong.write_bytes(content)
            ended = self.run_packed(WHERE, archive=wrong, store="wrong")
            self.assertEqual(ended.code, 2, ended.stderr)
            self.assertIn(str(wrong), ended.stderr)
        self.assertEqual([*(self.home / "wrong").glob("images/*"), *(self.home / "wrong").glob("names/*")], [])

    def test_what_cannot_be_packed_is_said_and_nothing_written(self) -> None:
        short_lived = Path(tempfile.mkdtemp(prefix="behaviour-pack-"))
        self.addCleanup(shutil.rmtree, short_lived)
        self.make_venv(short_lived / "venv")
        cases = {("--venv", "/usr"): "/usr: is no venv: it has no pyvenv.cfg",
                 ("--conda", str(self.home)): "is no conda environment: it has no conda-meta",
                 ("--venv", str(short_lived / "venv")): "lies in /tmp, which each job has to itself"}
        for words, sentence in cases.items():
            with self.subTest(words):
                ended = self.zygo("image", "pack", *words, "-o", str(self.home / "none.tar.zst"))
                self.assertEqual(ended.code, 2)
                self.assertIn(sentence, ended.stderr)
        self.assertEqual(list(self.home.glob("none.tar.zst*")), [])

    def test_a_level_without_mounts_says_so(self) -> None:
        levels = json.loads(zygo.run_cli("doctor", "--json").out)["levels"]
        if not levels["contained"]["available"]:
            self.skipTest("this host does not give level contained (see `zygo doctor`)")

        ended = self.run_packed(WHERE, "--level", "contained")

        self.assertEqual(ended.code, 125)
        self.assertIn("needs mounts, which level contained does not have", ended.stderr)


if __name__ == "__main__":
    unittest.main()
