"""The pool's life: one runtime that stands, forks, threads, Ctrl-C, the end of the interpreter, a runtime that dies."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

import support
import zygo


def is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] != "Z"


def wait_until_gone(pid: int) -> bool:
    """Waits on the process itself."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        import select

        return bool(select.select([handle], [], [], support.PATIENCE)[0])
    finally:
        os.close(handle)


class Standing(support.OnEmbedded, unittest.TestCase):
    def test_pools_with_the_same_options_share_a_runtime_that_outlives_them(self) -> None:
        with zygo.Pool() as first:
            first.run("1")
            pid = first.transport.pid
        with zygo.Pool() as second:
            second.run("1")
            self.assertEqual(second.transport.pid, pid)
        self.assertRaises(zygo.ZygoError, first.run, "1")

    def test_a_pool_of_its_own_ends_its_runtime(self) -> None:
        with zygo.Pool("python", standing=False) as pool:
            pool.run("1")
            pid = pool.transport.pid

        self.assertTrue(wait_until_gone(pid))

    def test_a_close_waits_for_what_was_submitted(self) -> None:
        with zygo.Pool("python", standing=False) as pool:
            futures = [pool.submit("import time; time.sleep(0.05)") for _ in range(8)]

        self.assertEqual({future.result().label for future in futures}, {"OK"})

    def test_a_close_after_an_error_does_not_wait(self) -> None:
        with self.assertRaises(KeyError):
            with zygo.Pool("python", standing=False) as pool:
                futures = [pool.submit("import time; time.sleep(600)", limits={"wall_ms": 600_000}) for _ in range(200)]
                raise KeyError

        self.assertTrue(all(future.done() for future in futures))
        self.assertIsInstance(futures[0].exception(), zygo.RuntimeLost)
        self.assertTrue(futures[-1].cancelled())

    def test_a_runtime_that_dies_fails_what_it_had_and_the_next_job_starts_another(self) -> None:
        pool = self.pool(template="python", standing=False)
        pool.run("1")
        pid = pool.transport.pid
        lost = pool.submit("import time; time.sleep(600)", limits={"wall_ms": 600_000})

        os.kill(pid, signal.SIGKILL)

        self.assertIsInstance(lost.exception(support.PATIENCE), zygo.RuntimeLost)
        self.assertIn("status -9", str(lost.exception()))
        self.assertEqual(pool.run("print(2)").stdout.text, "2\n")
        self.assertNotEqual(pool.transport.pid, pid)

    def test_jobs_that_wait_when_the_runtime_dies_are_run_by_the_next_one(self) -> None:
        pool = self.pool(template="python", standing=False, workers=1)
        pool.run("1")
        endless = pool.submit("import time; time.sleep(600)", limits={"wall_ms": 600_000})
        futures = [endless, *(pool.submit("1") for _ in range(199))]

        os.kill(pool.transport.pid, signal.SIGKILL)

        ends = [future.exception(support.PATIENCE) for future in futures]
        self.assertIsInstance(ends[0], zygo.RuntimeLost)
        self.assertIsNone(ends[-1])

    def test_jobs_that_wait_for_a_runtime_that_cannot_be_started_again_fail(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder, "zygo")
            binary.symlink_to(support.BINARY)
            pool = self.pool(template="python", standing=False, workers=1, binary=str(binary))
            pool.run("1")
            futures = [pool.submit("import time; time.sleep(0.01)") for _ in range(100)]
            binary.unlink()

            os.kill(pool.transport.pid, signal.SIGKILL)

            self.assertIsInstance(futures[-1].exception(support.PATIENCE), zygo.NoRuntime)

    def test_a_runtime_that_writes_what_nobody_asked_for_is_of_no_use(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            binary = Path(folder, "zygo")
            binary.write_text("#!/bin/sh\nread line\necho '{\"id\":\"mine\",\"label\":\"OK\"}'\ncat > /dev/null\n")
            binary.chmod(0o755)
            pool = self.pool(template="python", standing=False, binary=str(binary))
            futures = [pool.submit("1") for _ in range(200)]

            errors = [future.exception(support.PATIENCE) for future in futures]

        self.assertEqual({type(error) for error in errors}, {zygo.NoRuntime})
        self.assertIn('{"id":"mine"', str(errors[0]))

    def test_a_runtime_that_cannot_start_says_why(self) -> None:
        with self.assertRaisesRegex(zygo.NoRuntime, "no.such.layer"):
            self.pool(template="python", standing=False, require="full,no.such.layer")

    def test_a_binary_that_is_not_there_is_named(self) -> None:
        with self.assertRaisesRegex(zygo.NoRuntime, "/no/such/zygo"):
            self.pool(binary="/no/such/zygo").run("1")

    def test_nothing_is_left_behind(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            code = ("import zygo, os\nwith zygo.Pool('python', standing=False) as p: p.run('1')\nzygo.run('2')\n"
                    "print(len(os.listdir(os.environ['TMPDIR'])))\nprint(zygo.default_pool().transport.pid)")
            ended = support.python(code, TMPDIR=folder)
            during, pid = map(int, ended.stdout.split())

            self.assertEqual((during, os.listdir(folder)), (1, []), ended.stderr)
            self.assertTrue(wait_until_gone(pid))

    def test_descriptors_and_threads_return_to_what_they_were(self) -> None:
        def counts() -> Any:
            gc.collect()
            return len(os.listdir("/proc/self/fd")), threading.active_count()

        with zygo.Pool("python", standing=False) as pool:
            pool.run("1")
        before = counts()
        for _ in range(3):
            with zygo.Pool("python", standing=False) as pool:
                pool.run("1")

        self.assertEqual(counts(), before)


class Forks(support.OnEmbedded, unittest.TestCase):
    def in_a_child(self, work: Any) -> str:
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                os.write(writer, str(work()).encode())
                zygo.shutdown()
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as file:
            text = file.read()
        os.waitpid(pid, 0)
        return text

    def test_a_child_uses_the_runtime_of_its_parent(self) -> None:
        zygo.run("1")
        pid = zygo.default_pool().transport.pid

        child = self.in_a_child(lambda: (zygo.run("print(5)").stdout.text, zygo.default_pool().transport.pid == pid))

        self.assertEqual(child, "('5\\n', True)")
        self.assertEqual(zygo.run("print(6)").stdout.text, "6\n")
        self.assertEqual(zygo.default_pool().transport.pid, pid)

    def test_a_child_of_a_process_without_a_runtime_starts_its_own(self) -> None:
        pool = zygo.Pool("python", standing=False)
        transport = pool.transport

        self.assertEqual(self.in_a_child(lambda: pool.run("print(5)").stdout.text), "5\n")

        self.assertIsNone(transport.pid)

    def test_a_child_that_does_not_use_the_pool_disturbs_nothing(self) -> None:
        pool = zygo.Pool("python", standing=False)
        future = pool.submit("import time; time.sleep(0.1); print(1)")

        self.assertEqual(self.in_a_child(lambda: 7), "7")

        self.assertEqual(future.result(support.PATIENCE).stdout.text, "1\n")
        pool.close()

    def test_a_child_that_lives_on_does_not_keep_the_parents_runtime(self) -> None:
        pool = zygo.Pool("python", standing=False)
        pool.run("1")
        pid = pool.transport.pid
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(writer)
            os.read(reader, 1)
            os._exit(0)
        os.close(reader)

        pool.close()

        self.assertTrue(wait_until_gone(pid))
        os.close(writer)
        os.waitpid(child, 0)

    def test_a_fork_while_other_threads_submit_leaves_both_sides_whole(self) -> None:
        pool = self.pool()
        stop = threading.Event()

        def submit() -> None:
            while not stop.is_set():
                pool.run("1")

        threads = [threading.Thread(target=submit) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            self.assertEqual([self.in_a_child(lambda: pool.run("print(8)").stdout.text) for _ in range(3)], ["8\n"] * 3)
        finally:
            stop.set()
            for thread in threads:
                thread.join(support.PATIENCE)

    def test_workers_of_multiprocessing_can_use_it(self) -> None:
        zygo.run("1")
        with multiprocessing.get_context("fork").Pool(2) as workers:
            self.assertEqual(workers.map(_twice, [1, 2, 3]), [2, 4, 6])
            workers.close()  # rather than have them killed, with their setup files left behind
            workers.join()


def _twice(n: int) -> int:
    return int(zygo.run(f"print({n} * 2)").stdout.text)


class Ends(unittest.TestCase):
    def test_the_interpreter_ends_whatever_is_under_way(self) -> None:
        ended = support.python("import zygo\nf = [zygo.default_pool().submit('import time; time.sleep(600)', "
                               "limits={'wall_ms': 600000}) for _ in range(50)]\nprint('end')")

        self.assertEqual((ended.returncode, ended.stdout, ended.stderr), (0, "end\n", ""))

    def test_an_exception_that_nobody_catches_is_the_end_it_should_be(self) -> None:
        ended = support.python("import zygo\nzygo.run('1')\nraise KeyError('mine')")

        self.assertEqual(ended.returncode, 1)
        self.assertTrue(ended.stderr.rstrip().endswith("KeyError: 'mine'"), ended.stderr)

    def start(self, code: str) -> Any:
        folder = tempfile.TemporaryDirectory()  # one that is killed leaves its setup file
        self.addCleanup(folder.cleanup)
        environment = {**os.environ, "PYTHONPATH": str(support.PACKAGE), "TMPDIR": folder.name}
        process = subprocess.Popen([sys.executable, "-B", "-u", "-c", code], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    # The program first collects what importing left: CPython drops an exception in a weak reference's callback, and
    # a KeyboardInterrupt would be lost there.
    SLEEPER = ("import gc, zygo\nzygo.run('1')\ngc.collect()\n"
               "try:\n    print(zygo.default_pool().transport.pid, flush=True)\n"
               "    zygo.default_pool().map([{'source': 'import time; time.sleep(600)', "
               "'limits': {'wall_ms': 600000}}] * 300)\n"
               "except KeyboardInterrupt:\n    %s\n")

    def test_ctrl_c_ends_a_map_at_once(self) -> None:
        process = self.start(self.SLEEPER % "print('interrupted')")
        pid = int(process.stdout.readline())

        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=support.PATIENCE)

        self.assertEqual((process.returncode, out, err), (0, "interrupted\n", ""))
        self.assertTrue(wait_until_gone(pid))

    def test_after_ctrl_c_the_pool_is_still_of_use(self) -> None:
        process = self.start(self.SLEEPER % "print(zygo.run('print(9)').stdout)")
        process.stdout.readline()

        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=support.PATIENCE)

        self.assertEqual(out.strip(), "9")

    def test_a_killed_caller_takes_its_runtime_with_it(self) -> None:
        process = self.start(self.SLEEPER % "pass")
        pid = int(process.stdout.readline())

        process.kill()
        process.communicate(timeout=support.PATIENCE)

        self.assertTrue(wait_until_gone(pid))


class LostServices(unittest.TestCase):
    def test_a_service_that_is_not_there_is_said_at_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            with zygo.Pool(url=f"unix:{folder}/none") as pool:
                self.assertRaises(zygo.RuntimeLost, pool.run, "1")
        self.assertRaises(zygo.NoRuntime, zygo.Pool(url="ftp://x").run, "1")

    def test_a_service_that_ends_fails_what_it_had(self) -> None:
        service = support.Service("--grace", "100ms")
        pool = zygo.Pool("python", url=service.url)
        pool.run("1")
        future = pool.submit("import time; time.sleep(600)", limits={"wall_ms": 600_000})
        pool.run("1")

        service.end()

        ended = future.exception(support.PATIENCE)
        label = future.result().label if ended is None else type(ended).__name__
        self.assertIn(label, ("Cancelled", "RuntimeLost"))
        self.assertRaises(zygo.RuntimeLost, pool.run, "1")

    def test_a_busy_service_is_waited_for(self) -> None:
        service = support.Service("--queue", "1", "--workers", "1")
        self.addCleanup(service.end)
        pool = zygo.Pool("python", url=service.url)

        labels = {result.label for result in pool.map(["import time; time.sleep(0.01)"] * 60)}

        self.assertEqual(labels, {"OK"})

    def test_a_token_is_sent(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tokens = Path(folder, "tokens")
            tokens.write_text("me 0123456789abcdef jobs\n")
            tokens.chmod(0o600)
            process = subprocess.Popen([str(support.BINARY), "serve", "--json", "--log", "off", "--listen", "127.0.0.1:0",
                                        "--tokens", str(tokens)], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
            try:
                import json

                url = json.loads(process.stdout.readline())["listening"][0]
                url = url if url.startswith("http") else f"http://{url}"
                with zygo.Pool("python", url=url, token="0123456789abcdef") as pool:
                    self.assertEqual(pool.run("print(1)").label, "OK")
                with zygo.Pool("python", url=url, token="another-token-000") as pool:
                    with self.assertRaisesRegex(zygo.RuntimeLost, "401"):
                        pool.run("print(1)")
            finally:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=support.PATIENCE)


if __name__ == "__main__":
    support.main()
