"""The user that an image names: what a job sees of itself, and nothing else changes."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import docker_archive
import host
import zygo
from containers import image as containers_image
from zygo import Finished, ZygoTestCase

PASSWD = b"root:x:0:0:root:/root:/bin/sh\napp:x:1500:1501:An app:/home/app:/bin/sh\n"
GROUP = b"root:x:0:\napp:x:1501:\nstaff:x:50:\n"
SHOW = r"""
#include <stdio.h>
#include <unistd.h>
int main(void) { printf("%d %d %d %d %d\n", getuid(), geteuid(), getgid(), getegid(), getgroups(0, NULL)); return 0; }
"""
SEEN = """
import grp, json, os, pwd
open('made', 'w').close()
os.mkdir('folder')
print(json.dumps({'ids': [os.getuid(), os.geteuid(), os.getgid(), os.getegid()], 'groups': os.getgroups(),
                  'names': [pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(os.getgid()).gr_name],
                  'own': [[os.stat(x).st_uid, os.stat(x).st_gid] for x in ('made', 'folder', 'given')],
                  'home': os.path.expanduser('~')}))
"""


class Images(ZygoTestCase):
    home: Path

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        cls.home = Path(tempfile.mkdtemp(prefix="behaviour-images-", dir="/var/tmp"))
        cls.addClassCleanup(shutil.rmtree, cls.home)

    @classmethod
    def environment(cls) -> dict[str, str]:
        return zygo.environment(ZYGO_HOME=str(cls.home / "store"), ZYGO_TESTING="1")  # for --without

    @classmethod
    def zygo(cls, *arguments: str, **how: Any) -> Finished:
        return zygo.run_cli(*arguments, env=cls.environment(), **how)

    @classmethod
    def make(cls, name: str, layer: bytes, user: str) -> None:
        docker_archive.write(cls.home / "image.tar", layer, {
            "Env": ["PATH=/usr/bin"], "User": user, "Entrypoint": ["/usr/bin/show"]})
        imported = cls.zygo("image", "import", name, str(cls.home / "image.tar"))
        assert imported.code == 0, imported.stderr


class AUserByName(Images):
    """An image with its own Python, whose user is app:staff."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        containers_image.write_root(cls.home / "root.tar")
        layer = docker_archive.layer_with((cls.home / "root.tar").read_bytes(),
                           {"etc/passwd": (PASSWD, 0o644), "etc/group": (GROUP, 0o644)})
        cls.make("app", layer, "app:staff")

    def batch(self, *jobs: zygo.Job) -> dict[str, zygo.Result]:
        return zygo.run_batch(jobs, "--image", "app", env=self.environment())

    def test_a_job_is_that_user_and_owns_what_it_makes(self) -> None:
        result = self.batch({"id": "a", "source": SEEN, "files": {"given": {"text": "x"}}})["a"]

        self.assertLabel(result, "OK")
        seen = json.loads(result["stdout"]["text"])
        self.assertEqual(seen, {"ids": [1500, 1500, 50, 50], "groups": [], "names": ["app", "staff"],
                                "own": [[1500, 50]] * 3, "home": "/tmp"})

    def test_so_is_a_command(self) -> None:
        ended = self.zygo("run", "--image", "app", "--command", "python3", "--", "-c", "import os; print(os.getuid(), os.getgid())")

        self.assertEqual((ended.code, ended.stdout), (0, "1500 50\n"), ended.stderr)

    def test_what_it_leaves_is_collected_and_wiped(self) -> None:
        """Also where it took its own rights away: pid 1 and the daemon are others, and reach it all the same."""
        source = ("import os\nprint(sorted(os.listdir('.')))\nopen('out.txt', 'w').write('kept')\n"
                  "os.makedirs('shut/inner')\nos.chmod('out.txt', 0o400)\nos.chmod('shut', 0)\n")
        jobs = [{"id": str(i), "source": source, "outputs": ["out.txt"]} for i in range(3)]
        results = zygo.run_batch(jobs, "--image", "app", "--workers", "1", env=self.environment())

        for result in results.values():
            self.assertLabel(result, "OK")
            self.assertEqual(result["stdout"]["text"], "[]\n")
            self.assertEqual([file["text"] for file in result["outputs"].values()], ["kept"])

    def test_it_can_neither_become_another_nor_reach_pid_1(self) -> None:
        deeds = ("os.setuid(0)", "os.setgid(0)", "os.setgroups([0])", "os.chown('given', 0, 0)", "os.kill(1, 9)")
        source = "import os\ntry:\n    {}\nexcept PermissionError:\n    print('refused')\n"
        results = self.batch(*({"id": deed, "source": source.format(deed), "files": {"given": {"text": "x"}}}
                               for deed in deeds))

        for result in results.values():
            refused = result["label"] == "UnsafeCode" or result["stdout"]["text"] == "refused\n"
            self.assertTrue(refused, zygo.brief(result))

    def test_outside_it_is_the_cells_own_unprivileged_id(self) -> None:
        program = "import sys; sys.stdin.read()"
        run = zygo.start_cli("run", "--image", "app", "--wall", "60s", "--command", "python3", "--", "-c", program,
                             env=self.environment())
        try:
            job = host.job_of(run.pid)
            deadline = time.monotonic() + 20 * zygo.PATIENCE
            while host.name_of(job) != "python3":  # until then it is on its way there
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)  # /proc gives no event for an execve.
            status = dict(line.split(":\t", 1) for line in Path(f"/proc/{job}/status").read_text().splitlines()
                          if ":\t" in line)
        finally:
            run.communicate(timeout=20 * zygo.PATIENCE)

        self.assertEqual(run.returncode, 0)
        self.assertEqual([int(status[name], 16) for name in ("CapEff", "CapPrm", "CapInh", "CapBnd")], [0] * 4)
        self.assertEqual((status["NoNewPrivs"], status["Seccomp"]), ("1", "2"))
        for ids in (status["Uid"].split(), status["Gid"].split()):
            self.assertEqual(len(set(ids)), 1)
            if os.geteuid() == 0:  # else it is the caller's own
                self.assertGreater(int(ids[0]), 1 << 16)


@unittest.skipUnless(shutil.which("gcc"), "gcc is not installed (Debian package gcc)")
class AUserByNumber(Images):
    """Images of one static program, which says who it is: uid, effective uid, gid, effective gid, further groups."""

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        made = zygo.run_command(["gcc", "-static", "-o", str(cls.home / "show"), "-x", "c", "-"], stdin=SHOW.encode())
        if made.code != 0:
            raise unittest.SkipTest(f"no static program can be made here: {made.stderr[:200]}")

    def program(self) -> dict[str, tuple[bytes, int]]:
        return {"usr/bin/show": ((self.home / "show").read_bytes(), 0o755)}

    def run_as(self, user: str, **tables: bytes) -> Finished:
        files = self.program() | {f"etc/{name}": (text, 0o644) for name, text in tables.items()}
        self.make("number", docker_archive.layer_with(b"", files), user)
        return self.zygo("run", "--image", "number")

    def test_it_needs_no_tables(self) -> None:
        for user, seen in {"1234:5678": "1234 1234 5678 5678 0\n", "1234": "1234 1234 0 0 0\n",
                           "65534:65534": "65534 65534 65534 65534 0\n", "2147483647:1": "2147483647 2147483647 1 1 0\n"}.items():
            with self.subTest(user):
                ended = self.run_as(user)
                self.assertEqual((ended.code, ended.stdout), (0, seen), ended.stderr)

    def test_its_group_is_that_of_its_line(self) -> None:
        self.assertEqual(self.run_as("1500", passwd=PASSWD).stdout, "1500 1500 1501 1501 0\n")
        self.assertEqual(self.run_as("1500:0", passwd=PASSWD).stdout, "1500 1500 0 0 0\n")

    def test_root_is_nobody_in_particular(self) -> None:
        for user in ("", "0", "root", "0:0"):
            with self.subTest(user):
                self.assertEqual(self.run_as(user, passwd=PASSWD).stdout, "1000 1000 1000 1000 0\n")

    def test_who_cannot_be_found_is_refused_by_name(self) -> None:
        for user, why in {"nobody": 'image number: its user "nobody" is not in its /etc/passwd',
                          "app:wheel": 'image number: its user\'s group "wheel" is not in its /etc/group',
                          "9999999999": 'image number: its user "9999999999" is more than the largest id'}.items():
            with self.subTest(user):
                ended = self.run_as(user, passwd=PASSWD, group=GROUP)
                self.assertEqual((ended.code, ended.stdout), (125, ""))
                self.assertIn(why, ended.stderr)

    def test_without_a_user_namespace_the_id_is_the_cells(self) -> None:
        self.make("number", docker_archive.layer_with(b"", self.program()), "1234:5678")
        ended = self.zygo("run", "--image", "number", "--without", "userns")

        uid, effective, gid, effective_gid, groups = map(int, ended.stdout.split())
        self.assertEqual((uid, gid, groups), (effective, effective_gid, 0))
        self.assertNotIn(uid, {0, 1234})


if __name__ == "__main__":
    unittest.main()
