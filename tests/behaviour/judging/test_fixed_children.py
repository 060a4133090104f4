"""Fixed mode: a program that a job executes, and that does not load the C library, is named in `not_fixed`."""

from __future__ import annotations

import base64
import struct
import unittest

import zygo
from judging.test_fixed import fixed
from zygo import Job, Result, ZygoTestCase

SUBPROCESS = {"profile": "subprocess"}


def static_program() -> bytes:
    """One that exits at once: it names no interpreter, so no library is loaded into it."""
    code = bytes.fromhex("31ffb83c0000000f05")  # exit(0)
    address = 0x400000
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\x02\x01\x01", 2, 62, 1, address + 120, 64, 0, 0, 64, 56, 1, 64, 0, 0)
    part = struct.pack("<IIQQQQQQ", 1, 5, 0, address, address, 120 + len(code), 120 + len(code), 4096)
    return head + part + code


MAKE = f"""import os, subprocess, sys
for name, text in (('static', {static_program()!r}), ('script', b'#!./static\\n'), ('second', b'#! ./script x\\n'),
                   ('shell', b'#!/bin/sh\\nexit 0\\n'), ('starter', b'#!/bin/sh\\n./static\\n')):
    with open(name, 'wb') as file: file.write(text)
    os.chmod(name, 0o755)
os.mkdir('folder')
os.link('static', 'folder/only-here')
os.mkfifo('fifo', 0o755)
"""
STATIC = {
    "run": "subprocess.run(['./static'], check=True)",
    "env": "subprocess.run(['./static'], check=True, env={})",
    "elsewhere": "subprocess.run(['./only-here'], check=True, cwd='folder')",
    "path": "os.environ['PATH'] = '/bin:folder'; subprocess.run(['only-here'], check=True)",
    "shell": "assert os.system('./static') == 0",
    "popen": "assert os.popen('./static').close() is None",
    "grandchild": "subprocess.run(['./starter'], check=True)",
    "spawn": "assert os.waitpid(os.posix_spawn('./static', ['x'], {}), 0)[1] == 0",
    "spawnp": "assert os.waitpid(os.posix_spawnp('./static', ['x'], {}), 0)[1] == 0",
    "descriptor": "os.fork() or os.execve(os.open('static', os.O_RDONLY), ['x'], {}); assert os.wait()[1] == 0",
    "in its place": "os.execv('./static', ['x'])",
    "script": "subprocess.run(['./script'], check=True)",
    "script of a script": "subprocess.run(['./second'], check=True)",
    "cannot be read": "os.chmod('static', 0o111); subprocess.run(['./static'], check=True)",
    "many variables": "subprocess.run(['/bin/true'], check=True, env={f'N{n}': '' for n in range(8200)})",
}
DYNAMIC = {
    "run": "subprocess.run(['/bin/true'], check=True)",
    "shell": "assert os.system('true') == 0",
    "script": "subprocess.run(['./shell'], check=True)",
    "path": "subprocess.run(['true'], check=True)",
    "absent": "try: subprocess.run(['./absent'])\nexcept FileNotFoundError: pass",
    "not allowed": "os.chmod('static', 0o600)\ntry: subprocess.run(['./static'])\nexcept PermissionError: pass",
    "fifo": "try: subprocess.run(['./fifo'])\nexcept PermissionError: pass",
    "folder": "try: subprocess.run(['./folder'])\nexcept PermissionError: pass",
}

STARTS = """#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(void) {
  char kind[16] = "";
  if (scanf("%15s", kind) != 1) return 2;
  char *words[] = {(char *)"x", 0};
  const pid_t child = kind[0] == 'v' ? vfork() : fork();
  if (child == 0) {
    if (kind[0] == 'v') execve("./static", words, environ);
    if (kind[0] == 'f') fexecve(open("static", O_RDONLY | O_CLOEXEC), words, environ);
    if (kind[0] == 'a') execveat(open(".", O_PATH), "static", words, environ, 0);
    if (kind[0] == 'l') execlp("./static", "x", (char *)0);
    if (kind[0] == 't') execlp("true", "x", (char *)0);
    if (kind[0] == 'r') syscall(SYS_execve, "./static", words, environ);
    _exit(3);
  }
  int status = 1;
  return waitpid(child, &status, 0) != child || status;
}
"""
TELLS = "import ctypes; print(ctypes.CDLL(None).prctl(0x7a79676e, 0, 0, 0, 0))"


def words_of(result: Result) -> list[str]:
    if result["label"] != "OK":
        raise AssertionError(zygo.brief(result))
    return list(result["determinism"]["not_fixed"])


class StaticChild(ZygoTestCase):
    def run_python(self, programs: dict[str, str]) -> dict[str, Result]:
        return zygo.run_batch([fixed(name, MAKE + program, policy=SUBPROCESS) for name, program in programs.items()])

    def test_of_python_is_named_however_it_is_started(self) -> None:
        for name, result in self.run_python(STATIC).items():
            with self.subTest(name):
                self.assertIn("static program", words_of(result))

    def test_is_not_named_where_none_was_executed(self) -> None:
        for name, result in self.run_python(DYNAMIC).items():
            with self.subTest(name):
                self.assertNotIn("static program", words_of(result))

    def test_is_named_at_every_level(self) -> None:
        jobs = [fixed(name, MAKE + programs["run"], policy=SUBPROCESS)
                for name, programs in (("static", STATIC), ("dynamic", DYNAMIC))]
        for level in ("contained", "minimal"):
            with self.subTest(level):
                results = zygo.run_batch(jobs, "--level", level)

                self.assertIn("static program", words_of(results["static"]))
                self.assertNotIn("static program", words_of(results["dynamic"]))

    def test_of_c_and_cpp_is_named(self) -> None:
        """One that is started by a system call of the program's own is not: it deceives itself."""
        for template in ("c", "cpp"):
            tests = [{"name": kind, "stdin": kind} for kind in ("vfork", "fexecve", "at", "list", "true", "raw")]
            files = {"static": {"b64": base64.b64encode(static_program()).decode(), "executable": True}}
            for test in tests:
                with self.subTest(template, kind=test["name"]):
                    job = fixed("job", STARTS, template=template, policy=SUBPROCESS, stdin=test["stdin"], files=files)
                    words = words_of(zygo.run_batch([job])["job"])
                    (self.assertNotIn if test["name"] in ("true", "raw") else self.assertIn)("static program", words)

    def test_of_one_job_is_not_the_next_ones(self) -> None:
        jobs: list[Job] = [fixed("first", MAKE + STATIC["run"], policy=SUBPROCESS),
                           fixed("second", "print(1)", policy=SUBPROCESS)]

        results = zygo.run_batch(jobs, "--workers", "1")

        self.assertEqual(words_of(results["second"]), ["file metadata"])

    def test_can_be_told_by_a_program_that_has_none_and_only_in_fixed_mode(self) -> None:
        """A forged word adds to the forger's own result; elsewhere it is a violation as before."""
        results = zygo.run_batch([fixed("fixed", TELLS), {"id": "real", "source": TELLS}])

        self.assertEqual(words_of(results["fixed"]), ["file metadata", "static program"])
        self.assertEqual(results["fixed"]["stdout"]["text"], "-1\n")
        self.assertLabel(results["real"], "UnsafeCode")


if __name__ == "__main__":
    unittest.main()
