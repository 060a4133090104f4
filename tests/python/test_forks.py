"""Children of fork share the runtime of the process that started it: one runtime, and nobody's jobs are another's."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import support
import zygo

CHILDREN = 8
LONG = {"wall_ms": 600_000}


def batches_below(pid: int) -> set[int]:
    """Every `zygo batch` among the descendants of a process."""
    children: dict[int, list[int]] = {}
    commands = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().split(b"\0")
            except (OSError, ValueError):
                continue
            children.setdefault(parent, []).append(int(entry.name))
    found, rest = set(), [pid]
    while rest:
        one = rest.pop()
        rest += children.get(one, [])
        if commands.get(one, [b""])[0] == os.fsencode(support.BINARY) and b"batch" in commands[one]:
            found.add(one)
    return found


class Child:
    """A fork that does its work, says what came of it, and goes when it may."""

    def __init__(self, work: Callable[[], Any]) -> None:
        said, self._say = os.pipe()
        self._go, go = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.close(go)
                os.write(self._say, f"{work()}\n".encode())
                os.read(self._go, 1)  # or the end of who may let it go
                zygo.shutdown()
            finally:
                os._exit(0)
        os.close(self._say)
        os.close(self._go)
        self._said, self._let = os.fdopen(said), os.fdopen(go, "wb")

    def said(self) -> str:
        return self._said.readline().rstrip("\n")

    def end(self) -> int:
        """Lets it go; its status. Not twice."""
        with contextlib.suppress(BrokenPipeError), self._let:
            self._let.write(b"x")  # its end alone would not do: others that were forked have it, too
        self._said.close()
        return os.waitpid(self.pid, 0)[1]


def gone(pid: int) -> bool:
    """Waits on the process itself."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], support.PATIENCE)[0])
    finally:
        os.close(handle)


class Sharing(support.OnEmbedded, unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()  # a runtime that is left to children leaves its setup file
        self.addCleanup(folder.cleanup)
        there = mock.patch("tempfile.tempdir", folder.name)
        there.start()
        self.addCleanup(there.stop)
        self.mine = zygo.Pool("python", standing=False, workers=2)
        self.mine.run("1")
        self.runtime = self.mine.transport.pid
        self.addCleanup(self.mine.close)

    def child(self, work: Callable[[], Any]) -> Child:
        child = Child(work)
        self.addCleanup(self.bury, child)
        return child

    def bury(self, child: Child) -> None:
        """Where a test has failed before its end."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(child.pid, signal.SIGKILL)
            child.end()

    def test_eight_children_with_jobs_have_one_runtime_and_each_its_own_results(self) -> None:
        def work(number: int) -> Any:
            jobs = [f"print({number} * 1000 + {n})" for n in range(20)]
            return [int(result.stdout.text) - number * 1000 for result in self.mine.map(jobs)]

        children = [self.child(lambda number=number: work(number)) for number in range(CHILDREN)]
        mine = [result.stdout.text for result in self.mine.map(f"print({n})" for n in range(20))]
        said = [child.said() for child in children]
        batches = batches_below(os.getpid())

        self.assertEqual(said, [str(list(range(20)))] * CHILDREN)
        self.assertEqual(mine, [f"{n}\n" for n in range(20)])
        self.assertEqual(batches, {self.runtime})
        self.assertEqual([child.end() for child in children], [0] * CHILDREN)
        self.assertEqual(self.mine.run("print(9)").stdout.text, "9\n")
        self.assertEqual(self.mine.transport.pid, self.runtime)

    def test_a_child_that_is_killed_takes_its_jobs_with_it_and_nobody_elses(self) -> None:
        kept = self.mine.submit("import time; time.sleep(600)", limits=LONG)

        def work() -> str:
            for _ in range(50):
                self.mine.submit("import time; time.sleep(600)", limits=LONG)
            return self.mine.submit("1").cancel() and "submitted"

        child = self.child(work)
        self.assertEqual(child.said(), "submitted")

        os.kill(child.pid, signal.SIGKILL)
        child.end()

        # Both workers had long jobs, and fifty more were to come: this one runs because those are no more.
        self.assertEqual(self.mine.submit("print(3)").result(support.PATIENCE).stdout.text, "3\n")
        self.assertTrue(kept.running())
        kept.cancel()

    def test_children_go_on_when_their_parent_has_closed_the_pool(self) -> None:
        reader, writer = os.pipe()

        def until_closed() -> str:
            self.mine.run("1")
            os.write(began[1], b"x")
            os.close(writer)
            os.read(reader, 1)  # the parent has closed
            return str((self.mine.run("print(4)").stdout.text, self.mine.transport.pid))

        began = os.pipe()
        child = self.child(until_closed)
        os.read(began[0], 1)

        self.mine.close()
        os.close(writer)

        self.assertEqual(child.said(), str(("4\n", self.runtime)))
        self.assertEqual(child.end(), 0)
        self.assertTrue(gone(self.runtime))
        for fd in (reader, *began):
            os.close(fd)

    def test_a_parent_that_gives_up_its_jobs_leaves_those_of_children_alone(self) -> None:
        reader, writer = os.pipe()

        def work() -> str:
            future = self.mine.submit("import time; time.sleep(0.5); print(4)")
            os.write(writer, b"x")  # the parent may close
            return future.result(support.PATIENCE).stdout.text.strip()

        lost = self.mine.submit("import time; time.sleep(600)", limits=LONG)
        child = self.child(work)
        os.read(reader, 1)

        self.mine.close(wait=False)

        self.assertIsInstance(lost.exception(support.PATIENCE), zygo.RuntimeLost)
        self.assertEqual(child.said(), "4")
        self.assertEqual(child.end(), 0)
        self.assertTrue(gone(self.runtime))
        os.close(reader)
        os.close(writer)

    def test_a_grandchild_shares_it_too(self) -> None:
        def work() -> str:
            self.mine.run("1")
            grandchild = Child(lambda: (self.mine.run("print(6)").stdout.text, self.mine.transport.pid))
            said = grandchild.said()
            grandchild.end()
            return said

        child = self.child(work)

        self.assertEqual(child.said(), str(("6\n", self.runtime)))
        child.end()

    def test_a_child_whose_runtime_was_killed_starts_its_own(self) -> None:
        reader, writer = os.pipe()

        def work() -> str:
            self.mine.run("1")
            os.write(writer, b"x")
            gone(self.runtime)
            try:
                self.mine.run("1")
            except zygo.RuntimeLost:  # where its end is seen with the job
                pass
            return str((self.mine.run("print(7)").stdout.text, self.mine.transport.pid != self.runtime))

        child = self.child(work)
        os.read(reader, 1)

        os.kill(self.runtime, signal.SIGKILL)

        self.assertEqual(child.said(), str(("7\n", True)))
        child.end()
        os.close(reader)
        os.close(writer)

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_a_child_that_has_changed_its_uid_has_no_entry(self) -> None:
        def work() -> str:
            os.setresuid(65534, 65534, 65534)
            try:
                self.mine.run("1")
            except (OSError, zygo.ZygoError):  # its own may find no place to begin here
                pass
            return str(self.mine.transport.pid != self.runtime)

        child = self.child(work)

        self.assertEqual(child.said(), "True")
        child.end()


PARENT_THAT_IS_KILLED = """
import os, select, zygo
parent = os.pidfd_open(os.getpid())
pool = zygo.Pool("python", standing=False)
pool.run("1")
if os.fork() == 0:
    pool.run("1")
    print(pool.transport.pid, flush=True)
    select.select([parent], [], [])
    print(pool.run("print(5)").stdout.text.strip(), pool.transport.pid, flush=True)
    os._exit(0)
os.wait()
"""


class Ends(unittest.TestCase):
    def test_a_parent_that_is_killed_leaves_its_children_their_runtime_and_nothing_after_them(self) -> None:
        folder = tempfile.TemporaryDirectory()  # one that is killed leaves its setup file
        self.addCleanup(folder.cleanup)
        environment = {**os.environ, "PYTHONPATH": str(support.PACKAGE), "TMPDIR": folder.name}
        process = subprocess.Popen([sys.executable, "-B", "-c", PARENT_THAT_IS_KILLED], stdout=subprocess.PIPE, text=True,
                                   env=environment)
        assert process.stdout
        runtime = int(process.stdout.readline())

        process.kill()
        process.wait()

        self.assertEqual(process.stdout.readline(), f"5 {runtime}\n")
        process.stdout.close()
        self.assertTrue(gone(runtime))


if __name__ == "__main__":
    support.main()
