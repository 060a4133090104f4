"""The command line of isolate(1), as its clients use it: a box that stays, runs in it, and how each ended."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import zygo
from zygo import Finished, ZygoTestCase, run_command

BOX = 7
COMPILER = shutil.which("gcc")
SHELL = ("/bin/sh", "-c")


class WithABox(ZygoTestCase):
    """zygo behind a link that is called isolate, and a box."""

    def setUp(self) -> None:
        super().setUp()
        home = tempfile.TemporaryDirectory(prefix="behaviour-isolate-")
        self.addCleanup(home.cleanup)
        self.home = Path(home.name)
        self.link = self.home / "isolate"
        self.link.symlink_to(zygo.BINARY)
        made = self.isolate("--init")
        self.assertEqual((made.code, made.stderr), (0, ""))
        self.box = Path(made.stdout.rstrip("\n")) / "box"

    def isolate(self, *arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> Finished:
        return run_command([str(self.link), f"--box-id={BOX}", *arguments], stdin=stdin,
                           env=zygo.environment(ZYGO_HOME=str(self.home / "zygo"), **(env or {})), cwd=str(self.home))

    def run_in_box(self, *command: str, options: tuple[str, ...] = (), **how: object) -> Finished:
        return self.isolate("--cg", "--meta=meta", "--processes=8", *options, "--run", "--", *command, **how)

    def meta(self) -> dict[str, str]:
        return dict(line.split(":", 1) for line in (self.home / "meta").read_text().splitlines())

    def check(self, ended: Finished, line: str, **meta: str) -> None:
        self.assertEqual((ended.code, ended.stderr.splitlines()[-1]), (1, line))
        found = self.meta()
        self.assertEqual({key: found.get(key.replace("_", "-")) for key in meta}, {key: value for key, value in meta.items()}, found)

    def left(self) -> set[str]:
        return {str(path.relative_to(self.box)) for path in self.box.rglob("*")}


class Boxes(WithABox):
    def test_the_shell_usage_of_the_manual(self) -> None:
        (self.box / "input.txt").write_text("20 22\n")
        (self.box / "sum.sh").write_text("#!/bin/sh\nread a b\necho $((a + b))\n")
        (self.box / "sum.sh").chmod(0o755)

        ended = self.run_in_box("./sum.sh", options=("--stdin=input.txt", "--stdout=out.txt", "--time=2", "--wall-time=20"))

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertRegex(ended.stderr, r"^OK \(\d+\.\d{3} sec real, \d+\.\d{3} sec wall\)\n$")
        self.assertEqual((self.box / "out.txt").read_text(), "42\n")
        self.assertEqual(self.isolate("--cleanup").code, 0)
        self.assertFalse(self.box.exists())
        self.assertEqual(self.isolate("--cleanup").code, 0, "again does no harm")

    def test_what_programs_do_to_the_box_is_there_afterwards(self) -> None:
        for name in ("kept", "changed", "gone", "folder/gone", "empty/"):
            path = self.box / name
            path.parent.mkdir(exist_ok=True)
            path.mkdir() if name.endswith("/") else path.write_text(name)
        before = os.stat(self.box / "kept").st_mtime_ns

        first = self.run_in_box(*SHELL, "rm -r gone folder; echo new > /box/changed; mkdir -p a/b; cp /bin/true a/b/c; touch empty/in")
        second = self.run_in_box("./a/b/c")

        self.assertEqual((first.code, second.code), (0, 0), first.stderr + second.stderr)
        self.assertEqual(self.left(), {"kept", "changed", "a", "a/b", "a/b/c", "empty", "empty/in"})
        self.assertEqual((self.box / "changed").read_text(), "new\n")
        self.assertEqual(os.stat(self.box / "kept").st_mtime_ns, before)

    def test_links_and_pipes_stay_behind(self) -> None:
        self.run_in_box(*SHELL, "ln -s /etc/passwd link; mkfifo pipe; ln -s . again; echo x > file; exit 0", options=("-s",))

        self.assertEqual(self.left(), {"file"})

    def test_a_link_that_a_client_put_there_is_neither_seen_nor_followed(self) -> None:
        secret = self.home / "secret"
        secret.write_text("secret")
        (self.box / "link").symlink_to(secret)

        ended = self.run_in_box(*SHELL, "cat link; echo over > link; ls -A")

        self.assertNotIn("secret", ended.stdout)
        self.assertEqual(secret.read_text(), "secret")
        self.assertIn("does not see it", ended.stderr)

    def test_an_init_empties_the_box(self) -> None:
        (self.box / "old").write_text("x")

        self.isolate("--init")

        self.assertEqual(self.left(), set())

    def test_a_box_that_is_not_there(self) -> None:
        self.isolate("--cleanup")

        ended = self.run_in_box("/bin/true")

        self.assertEqual(ended.code, 2)
        self.assertEqual(self.meta()["status"], "XX")

    def test_one_process_has_a_box_at_a_time(self) -> None:
        command = [str(self.link), f"--box-id={BOX}", "-p4", "--run", "--", *SHELL, "echo begun; read end"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=zygo.environment(ZYGO_HOME=str(self.home / "zygo"))) as first:
            assert first.stdin and first.stdout
            self.assertEqual(first.stdout.readline(), b"begun\n", "output comes when it is written")

            second = self.run_in_box("/bin/true")

            first.stdin.close()
            self.assertEqual(first.wait(60 * zygo.PATIENCE), 1)
        self.assertEqual(second.code, 2)
        self.assertIn("in use", second.stderr)

    def test_a_quota_is_the_boxes(self) -> None:
        self.isolate("--init", "--quota=1024,16")

        ended = self.run_in_box(*SHELL, "head -c 2000000 /dev/zero > big || echo full; for i in 1 2 3 4 5 6 7 8 9 a b c d e f; do : > $i; done",
                                options=("--stdout=out",))

        self.assertIn("full", (self.box / "out").read_text())
        self.assertLessEqual((self.box / "big").stat().st_size, 1 << 20)
        self.assertLess(len(self.left()), 17)


class Ends(WithABox):
    def test_well(self) -> None:
        self.assertEqual(self.run_in_box("/bin/true").code, 0)

        meta = self.meta()
        self.assertEqual(set(meta), {"time", "time-wall", "max-rss", "csw-voluntary", "csw-forced", "cg-mem", "exitcode"})
        self.assertEqual(meta["exitcode"], "0")
        self.assertGreater(int(meta["max-rss"]), 0)

    def test_a_code(self) -> None:
        self.check(self.run_in_box(*SHELL, "exit 3"), "Exited with error status 3", status="RE", exitcode="3",
                   message="Exited with error status 3")

    def test_a_signal(self) -> None:
        self.check(self.run_in_box(*SHELL, "kill -11 $$"), "Caught fatal signal 11", status="SG", exitsig="11")

    def test_cpu_time(self) -> None:
        ended = self.run_in_box(*SHELL, "while :; do :; done", options=("--time=0.3", "--extra-time=0.2"))

        self.check(ended, "Time limit exceeded", status="TO", killed="1", exitcode=None)
        self.assertGreaterEqual(float(self.meta()["time"]), 0.5)

    def test_wall_time(self) -> None:
        self.check(self.run_in_box("/bin/sleep", "60", options=("--wall-time=0.5",)), "Time limit exceeded (wall clock)",
                   status="TO", killed="1")

    def test_memory_of_the_group(self) -> None:
        ended = self.run_in_box("/usr/bin/python3", "-c", "x = b'x' * (200 << 20)", options=("--cg-mem=65536",))

        self.check(ended, "Caught fatal signal 9", status="SG", exitsig="9", cg_oom_killed="1")

    def test_address_space(self) -> None:
        ended = self.run_in_box("/usr/bin/python3", "-c", "x = b'x' * (2 << 30)", options=("--mem=1048576",))

        self.check(ended, "Exited with error status 1", status="RE")
        self.assertIn("MemoryError", ended.stderr)

    def test_what_lies_in_the_box_is_not_the_programs_memory(self) -> None:
        (self.box / "big").write_bytes(b"x" * (64 << 20))

        ended = self.run_in_box("/bin/cat", "big", options=("--cg-mem=32768", "--stdout=/dev/null"))

        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertLess(int(self.meta()["cg-mem"]), 32768)

    def test_file_size(self) -> None:
        (self.box / "larger").write_bytes(b"x" * 200000)
        to_file = self.run_in_box("/bin/sh", "-c", "exec head -c 200000 larger", options=("--fsize=100", "--stdout=out"))
        self.check(to_file, "Caught fatal signal 25", status="SG", exitsig="25")
        self.assertEqual((self.box / "out").stat().st_size, 102400)

        by_itself = self.run_in_box("/bin/cp", "larger", "copy", options=("--fsize=100",))
        self.check(by_itself, "Caught fatal signal 25", status="SG", exitsig="25")

    def test_the_stack_and_open_files(self) -> None:
        ended = self.run_in_box(*SHELL, "ulimit -s; ulimit -n", options=("--stack=16384", "--open-files=77"))

        self.assertEqual(ended.stdout, "16384\n77\n")

    def test_processes(self) -> None:
        ended = self.isolate("--run", "--", "/usr/bin/python3", "-c", "import os\ntry: os.fork()\nexcept OSError as e: print(e.errno)")

        self.assertEqual((ended.code, ended.stdout), (0, "11\n"), ended.stderr)

    def test_what_is_forbidden(self) -> None:
        code = "import ctypes; print(ctypes.CDLL(None, use_errno=True).syscall(101, 0, 0, 0, 0))"  # ptrace
        self.check(self.run_in_box("/usr/bin/python3", "-c", code), "Caught fatal signal 31 (forbidden system call ptrace)",
                   status="SG", exitsig="31")

    def test_a_network_and_files_elsewhere_are_not_to_be_had_and_no_crime(self) -> None:
        code = "import socket\ntry: socket.socket()\nexcept OSError:\n try: open('/usr/x', 'w')\n except OSError: print('none')"

        ended = self.run_in_box("/usr/bin/python3", "-c", code)

        self.assertEqual((ended.code, ended.stdout), (0, "none\n"), ended.stderr)

    def test_a_program_that_is_not_there(self) -> None:
        self.check(self.run_in_box("./none"), "Exited with error status 127", status="RE", exitcode="127")

    def test_a_program_that_cannot_be_executed_is_its_makers_fault(self) -> None:
        """Anybody's source can name an interpreter that is not there, in a section .interp."""
        (self.box / "a.c").write_text('const char there[] __attribute__((section(".interp"))) = "/none";\nint main(void) { return 0; }\n')
        made = self.run_in_box("/usr/bin/gcc", "-shared", "-fPIC", "-Wl,-e,main", "-o", "a.out", "a.c",
                               options=("--processes", "--env=PATH=/usr/bin"))
        self.assertEqual(made.code, 0, made.stderr)

        self.check(self.run_in_box("./a.out"), "Exited with error status 127", status="RE", exitcode="127")

    def test_silence(self) -> None:
        self.assertEqual(self.run_in_box(*SHELL, "exit 3", options=("--silent",)).stderr, "")


class Surroundings(WithABox):
    def test_the_streams_are_the_callers(self) -> None:
        ended = self.run_in_box(*SHELL, "cat; echo e >&2", stdin=b"in\n", options=("--silent",))

        self.assertEqual((ended.stdout, ended.stderr), ("in\n", "e\n"))

    def test_errors_go_where_they_are_sent(self) -> None:
        script = "echo a; echo b >&2; echo c"
        self.run_in_box(*SHELL, script, options=("--stdout=both", "--stderr-to-stdout"))
        self.assertEqual((self.box / "both").read_text(), "a\nb\nc\n")

        self.run_in_box(*SHELL, script, options=("--stdout=out", "--stderr=err"))
        self.assertEqual((self.box / "err").read_text(), "b\n")

        none = self.run_in_box(*SHELL, script, options=("--stdout=/dev/null", "--stderr=/dev/null", "--silent"))
        self.assertEqual((none.stdout, none.stderr), ("", ""))

    def test_the_environment_is_what_was_said(self) -> None:
        said = self.run_in_box("/usr/bin/env", options=("--env=A=1", "--env=B=2", "--env=B=", "--env=FROM", "-ELIBC_FATAL_STDERR_="),
                               env={"FROM": "caller"})
        self.assertEqual(set(said.stdout.splitlines()), {"A=1", "FROM=caller"})

        full = self.run_in_box("/usr/bin/env", options=("--full-env", "--env=FROM="), env={"FROM": "caller"})
        self.assertIn("ZYGO_TEST_CANARY", full.stdout)
        self.assertNotIn("FROM", full.stdout)

    def test_where_it_starts(self) -> None:
        (self.box / "sub").mkdir()
        (self.box / "sub/file").write_text("here")

        ended = self.run_in_box("/bin/cat", "file", options=("--chdir=box/sub",))

        self.assertEqual(ended.stdout, "here")

    def test_a_directory_to_read(self) -> None:
        packages = self.home / "packages"
        packages.mkdir()
        (packages / "run").write_text("#!/bin/sh\necho ran $(cat /package/data); echo x > /package/data || echo refused\n")
        (packages / "run").chmod(0o755)
        (packages / "data").write_text("data")
        self.home.chmod(0o755)

        ended = self.run_in_box("/package/run", options=(f"--dir=/package={packages}", "--dir=/none=/nowhere:maybe"))
        noexec = self.run_in_box("/package/run", options=(f"--dir=package={packages}:noexec",))

        self.assertEqual(ended.stdout, "ran data\nrefused\n", ended.stderr)
        self.check(noexec, "Exited with error status 127", status="RE", exitcode="127")

    def test_a_directory_to_write_is_written_as_far_as_others_may(self) -> None:
        home = self.home / "work"
        home.mkdir()
        (home / "input").write_text("in")
        (home / "output").write_text("")
        (home / "output").chmod(0o722)
        rule = f"--dir=/tmp={home}:rw"

        script = "cat input > output; echo no > input; echo no > new; rm input; mkdir -p a/b; echo no > a/b/c"
        self.assertEqual(self.run_in_box(*SHELL, script, options=(rule, "--chdir=/tmp")).code, 0)
        self.assertEqual({path.name: path.read_text() for path in home.iterdir()}, {"input": "in", "output": "in"})

        home.chmod(0o777)
        self.run_in_box(*SHELL, "echo yes > new; echo box > /box/b", options=(rule, "--chdir=/tmp", "--stdout=/tmp/out"))
        self.assertEqual({path.name for path in home.iterdir()}, {"input", "output", "new", "out"})
        self.assertEqual(self.left(), {"b"})

    def test_nothing_of_the_host_is_there(self) -> None:
        ended = self.run_in_box(*SHELL, f"ls /home /root {self.home} /var/lib; ls -A /tmp; id -u", options=("-s",))

        self.assertEqual(ended.stdout.split(), ["box", "1000"], ended.stderr)

    @unittest.skipUnless(COMPILER, "needs gcc")
    def test_a_compiler_in_one_run_its_program_in_the_next(self) -> None:
        (self.box / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("made here"); return 0; }\n')

        made = self.run_in_box("/usr/bin/gcc", "-O1", "-o", "a.out", "a.c", options=("--processes", "--env=PATH=/usr/bin"))
        ended = self.run_in_box("./a.out", options=("--processes=1",))

        self.assertEqual((made.code, ended.stdout), (0, "made here\n"), made.stderr + ended.stderr)


class Refusals(WithABox):
    def test_what_cannot_be_done_is_refused_by_name(self) -> None:
        for option in ("--share-net", "--inherit-fds", "--tty-hack", "--special-files", "--no-default-dirs", "--as-uid=1",
                       "--core=10", "--syscalls=0", f"--dir=/data={self.home}:rw", f"--dir=/data={self.home}:dev",
                       f"--dir=/usr/x={self.home}", f"--dir=/proc={self.home}", "--dir=/etc/../x=/y", "--dir=/box="):
            with self.subTest(option):
                ended = self.run_in_box("/bin/true", options=(option,))

                self.assertEqual(ended.code, 2)
                self.assertIn(option.split("=")[0], ended.stderr)

    def test_mistakes(self) -> None:
        for arguments in ((), ("--run",), ("--init", "--run", "--", "x"), ("--init", "x"), ("--nonsense",), ("--cg-mem=5", "--run", "--", "x"),
                          ("--time=soon", "--run", "--", "x"), ("--stdin=/etc/hostname", "--run", "--", "/bin/true"),
                          ("--stdout=../out", "--run", "--", "/bin/true")):
            with self.subTest(arguments):
                ended = self.isolate(*arguments)

                self.assertEqual((ended.code, ended.stdout), (2, ""))
                self.assertTrue(ended.stderr.startswith("isolate: "), ended.stderr)

    def test_the_other_name(self) -> None:
        self.assertIn("zygo", zygo.run_cli("isolate", "--version").stdout)
        self.assertIn("--box-id", zygo.run_cli("isolate", "--help").stdout)


if __name__ == "__main__":
    unittest.main()
