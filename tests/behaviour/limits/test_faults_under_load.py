"""A service under load to which something happens: what it took gets one verdict, what it refuses is told when to come
back, and it recovers by itself.

Only processes below the service that a test started are killed, by pid.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno
import itertools
import os
import resource
import select
import shutil
import signal
import time
import unittest
from collections.abc import Iterator
from pathlib import Path

import small_disk
import host
import load
import serve
import zygo
from load import Load
from serve import Service
from ws_client import WebSocket
from zygo import ZygoTestCase

WORKERS = 4
PIDS = Path("/sys/fs/cgroup/pids")


@unittest.skipIf(os.geteuid() != 0, "processes of another uid are to be killed, and limits set")
class UnderLoad(ZygoTestCase):
    service: Service

    def setUp(self) -> None:
        host.adopt_orphans()
        self.before = host.Snapshot.take()
        self.addCleanup(lambda: self.assertEqual(self.before.leftovers(), []))

    def serve(self, *options: str, before: tuple[str, ...] = ()) -> None:
        self.service = Service("--workers", str(WORKERS), "--log", "off", "--grace", "5s", *options, before=before)
        self.addCleanup(self.service.stop)

    @property
    def pid(self) -> int:
        """Of the service itself, which may have been started by way of another program."""
        return int(self.service.ready["pid"])

    @contextlib.contextmanager
    def load(self, later: str = "/v1/jobs?async=1") -> Iterator[Load]:
        """Every job that was taken has one verdict, in the end and in the service's own books; and nothing leaks."""
        with Load(self.service, later=later) as warm:
            warm.await_more(4 * WORKERS)
        self.quiet(warm)
        counted = self.service.metric("zygo_jobs_total")
        descriptors = host.open_descriptors(self.pid)
        with Load(self.service, later=later) as clients:
            clients.await_more(WORKERS)
            yield clients
            clients.await_more(4 * WORKERS)
            self.assertTrue(load.is_ready(self.service))
        self.quiet(warm, clients)
        self.assertEqual(clients.faults, [])
        self.assertLessEqual(set(clients.taken), set(clients.results))
        self.assertEqual(self.service.metric("zygo_jobs_total") - counted, len(clients.results))
        self.assertLabel(self.service.run("print(1)"), "OK")
        self.assertNoMoreThan(descriptors)

    def quiet(self, *loads: Load) -> None:
        """Nothing is under way, and nothing is held but the results that are kept."""
        for name in ("zygo_engine_jobs ", "zygo_queue_jobs "):
            self.service.await_metric(name, 0)
        self.service.await_metric_between("zygo_held_bytes ", 0, sum(each.kept for each in loads))

    def assertNoMoreThan(self, descriptors: int) -> None:
        """A cell more than before, of the few that may be kept, is no leak; neither is a connection that is closing."""
        spare = 24 * WORKERS
        deadline = time.monotonic() + 10 * zygo.PATIENCE
        while (now := host.open_descriptors(self.pid)) > descriptors + spare:
            self.assertLess(time.monotonic(), deadline, f"{now} descriptors are open, {descriptors} were")
            time.sleep(0.05)  # There is no event for a descriptor that was closed.

    def kill(self, pid: int) -> bool:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def test_cells_that_are_killed(self) -> None:
        self.serve()
        with self.load() as clients:
            for _ in range(6):
                _, cell, _ = host.chain_of(self.pid)
                self.kill(cell)
                clients.await_more(2)
        self.assertGreaterEqual(clients.labels()["SandboxError"], 1)

    def test_templates_that_are_killed(self) -> None:
        self.serve()
        with self.load() as clients:
            for _ in range(4):
                template, _, _ = host.chain_of(self.pid)
                self.kill(template)
                clients.await_more(2)
        self.assertGreaterEqual(clients.labels()["SandboxError"], 1)

    def test_no_process_can_be_made_for_a_while(self) -> None:
        group = self.pids_group()
        self.serve(before=("/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh"))
        with self.load() as clients:
            with self.starved(group):
                # This one has need of threads, and of processes that cannot be had: what it hears is not kept.
                self.assertEqual(self.service.ask("GET", "/v1/runtimes").status, 200)
                self.await_narrow(b"EAGAIN")
            clients.await_more(2)
            self.assertEqual(clients.labels()["SandboxError"], 0)  # They wait.
            with self.starved(group):
                # The template, too: a new one cannot be started.
                for template in host.templates_of(self.pid):
                    self.kill(template)
                time.sleep(0.5)  # It is to last for a while.
            clients.await_more(2)
        python = self.service.ask("GET", "/v1/runtimes").json[0]
        self.assertEqual((python["name"], python["available"]), ("python", True))

    def test_a_limit_of_processes_around_it_is_not_blamed_on_the_program(self) -> None:
        group = self.pids_group()
        self.serve(before=("/bin/sh", "-c", f'echo 0 > {group}/cgroup.procs && exec "$@"', "sh"))
        if not list(group.glob("zygo-*/pids.peak")):
            self.skipTest("this kernel has no pids.peak: it does not tell which limit was hit")
        begin = "import os, sys, threading\nprint('here', flush=True)\nsys.stdin.readline()\n"
        fork = "try:\n    os.fork() or os._exit(0)\nexcept OSError:\n    print('no')"
        for job in ({"source": begin + fork, "policy": {"profile": "subprocess"}},
                    {"source": begin + "threading.Thread(target=print).start()"}):
            sock = self.service.connect()
            self.addCleanup(sock.close)
            ws = WebSocket(sock, "/v1/attach")
            ws.send(**job)
            ws.read_until("here")
            (group / "pids.max").write_text("1")
            try:
                ws.send(type="stdin", text="go\n")
                while (result := ws.message())["type"] != "result":
                    pass
            finally:
                (group / "pids.max").write_text("max")
            self.assertLabel(result, "SandboxError")
            self.assertEqual(result["detail"]["step"], "processes")
        forks = "import os\nfor _ in range(9):\n    os.fork() or __import__('time').sleep(5)"
        hog = self.service.run(forks, limits={"pids": 4, "wall_ms": 2000}, policy={"profile": "subprocess"})
        self.assertLabel(hog, "ProcessLimitExceeded")

    @contextlib.contextmanager
    def starved(self, group: Path) -> Iterator[None]:
        (group / "pids.max").write_text("1")
        try:
            yield
        finally:
            (group / "pids.max").write_text("max")

    def await_narrow(self, cause: bytes) -> None:
        """Until the service says that its pool has become smaller."""
        stream = self.service.process.stderr
        assert stream
        said = b""
        while b" cells, " + cause not in said:
            readable, _, _ = select.select([stream], [], [], 30 * zygo.PATIENCE)
            self.assertTrue(readable, said)
            said += os.read(stream.fileno(), 4096)

    def pids_group(self) -> Path:
        group = PIDS / f"zygo-behaviour-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"needs a pids controller of cgroup v1 in which groups can be made: {error}")
        self.addCleanup(self.remove, group)
        return group

    def remove(self, group: Path) -> None:
        deadline = time.monotonic() + 10 * zygo.PATIENCE
        while True:
            try:
                return group.rmdir()
            except OSError as error:
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)  # There is no event for a group that has become empty.

    def test_descriptors_run_out_for_a_while(self) -> None:
        self.serve()
        with self.load() as clients:
            for spare in (0, 3, 9):
                before = resource.prlimit(self.pid, resource.RLIMIT_NOFILE)
                resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (self.first_free() + spare, before[1]))
                try:
                    for _ in range(3):  # what they had is gone, too
                        for template in host.templates_of(self.pid)[:1]:
                            self.kill(template)
                        time.sleep(0.2)  # It is to last for a while.
                finally:
                    resource.prlimit(self.pid, resource.RLIMIT_NOFILE, before)
                clients.await_more(2)

    def test_a_job_that_cannot_be_looked_at_is_not_called_good(self) -> None:
        """To say whether a file may be written takes a descriptor of the service's own."""
        self.serve()
        job = {"source": "try:\n    open('/usr/zygo-must-not-exist', 'w')\nexcept OSError:\n    print('no')"}
        client = self.service.client()
        self.addCleanup(client.close)
        self.assertLabel(serve.ask_on(client, "POST", "/v1/jobs", job).json, "UnsafeCode")
        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while self.cells() != self.service.metric("zygo_cells_alive"):  # The worn one is to be gone, ...
            self.assertLess(time.monotonic(), deadline)
        # ... and so are its descriptors: the shard looks at what it has before it takes a job.
        self.assertLabel(serve.ask_on(client, "POST", "/v1/jobs", {"source": "1"}).json, "OK")
        before = resource.prlimit(self.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(self.pid, resource.RLIMIT_NOFILE, (self.first_free(), before[1]))
        with concurrent.futures.ThreadPoolExecutor(1) as aside:
            try:
                answer = aside.submit(serve.ask_on, client, "POST", "/v1/jobs", job)
                self.await_narrow(b"EMFILE")
                self.assertFalse(answer.done())
            finally:
                resource.prlimit(self.pid, resource.RLIMIT_NOFILE, before)
            self.assertLabel(answer.result().json, "UnsafeCode")  # It was run again.
        self.assertLabel(self.service.run("print(1)"), "OK")

    def cells(self) -> int:
        return sum(len(host.children(template)) for template in host.templates_of(self.pid))

    def first_free(self) -> int:
        taken = {int(name) for name in os.listdir(f"/proc/{self.pid}/fd")}
        return next(number for number in itertools.count() if number not in taken)

    @unittest.skipUnless(shutil.which("mount"), "needs mount(8)")
    def test_a_disk_that_is_full_for_a_while(self) -> None:
        disk = small_disk.mount(self)
        self.serve("--durable", str(disk / "jobs.db"))
        with self.load("/v1/jobs?async=1&durable=1") as clients:
            small_disk.fill(self, disk / "ballast")
            deadline = time.monotonic() + 30 * zygo.PATIENCE
            while not clients.refused[507]:
                self.assertLess(time.monotonic(), deadline, clients.labels())
                time.sleep(0.02)  # The clients tell nobody.
            (disk / "ballast").unlink()
        self.assertEqual(clients.labels()["SandboxError"], 0)

    def test_clients_that_vanish_stall_and_send_garbage(self) -> None:
        self.serve("--head-time", "500ms", "--body-time", "500ms")
        with self.load() as clients:
            stalled = []
            for _ in range(5):
                for data in load.garbage():
                    sock = self.service.connect()
                    sock.sendall(data)
                    if len(stalled) < 16:
                        stalled.append(sock)
                    else:
                        sock.close()
            ends = [serve.status_of(serve.read_to_end(sock)) for sock in stalled]
            for sock in stalled:
                sock.close()
            self.assertLessEqual(set(ends), {0, 200, 400, 408, 413, 417, 431, 505})
            clients.await_more(4)
        self.assertEqual(clients.labels()["SandboxError"], 0)


if __name__ == "__main__":
    unittest.main()
