"""Jobs see nothing of each other or of the host, and the job after a crime is unharmed."""

from __future__ import annotations

import json
import os
import socket
import unittest
from pathlib import Path
from typing import Any

import zoo
import zygo
from zygo import Job, Result, ZygoTestCase

PROBES = Path(zygo.__file__).parent / "probes"
DEVICES = {"fd", "full", "null", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero"}
HOST_PATHS = ["/root", "/home", "/etc/shadow", "/etc/gshadow", "/etc/ssh", "/var/log", "/var/lib", "/boot", "/sys",
              "/run", "/mnt", "/media", "/srv", "/opt", "/proc/kcore", "/proc/sysrq-trigger", "/dev/mem", "/dev/kmsg",
              "/dev/sda", "/dev/vda", "/var/run/docker.sock"]
SECRETS = ["/etc/shadow", "/etc/gshadow", "/proc/kcore", "/proc/1/environ", "/proc/1/mem", "/dev/mem", "/dev/kmsg",
           "/dev/sda", "/dev/vda"]


def probe(name: str) -> str:
    return (PROBES / f"{name}.py").read_text()


def printed(result: Result) -> Any:
    """The JSON a probe printed, whatever its label: a probe that is refused something goes on."""
    text = result["stdout"]["text"]
    if not text:
        raise AssertionError(f"the probe printed nothing: {zygo.brief(result)}")
    return json.loads(text)


class WhatAJobSees(ZygoTestCase):
    """One look around from inside an ordinary job."""

    marker: Path
    seen: dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        folder = Path(f"/var/tmp/behaviour-{os.getpid()}")
        folder.mkdir()
        cls.addClassCleanup(folder.rmdir)
        cls.marker = folder / "marker"
        cls.marker.write_text("host")
        cls.addClassCleanup(cls.marker.unlink)
        paths = [*HOST_PATHS, *SECRETS, str(cls.marker), f"/proc/1/root{cls.marker}", f"/proc/self/root{cls.marker}",
                 str(zygo.CHECKOUT), str(zygo.BINARY)]
        result = zygo.run_job(probe("look"), env={"PATHS": json.dumps(paths)})
        cls.seen = printed(result)

    def test_it_is_not_root(self) -> None:
        self.assertNotIn(0, self.seen["uids"])
        self.assertNotIn(0, self.seen["gids"])
        self.assertNotIn(0, self.seen["groups"])

    def test_it_has_no_capabilities_and_can_gain_none(self) -> None:
        self.assertEqual(self.seen["capabilities"], {"effective": 0, "permitted": 0, "inheritable": 0})
        self.assertEqual(self.seen["bounding"], [])
        self.assertEqual(self.seen["no_new_privs"], 1)

    def test_it_is_not_dumpable(self) -> None:
        self.assertEqual(self.seen["dumpable"], 0)

    def test_it_inherits_no_descriptor_beyond_the_three_streams(self) -> None:
        self.assertEqual(self.seen["descriptors"], [])

    def test_no_host_path_exists_for_it(self) -> None:
        """Empty directories aside, and names below a masked /proc, which the next test shows to be unreadable."""
        masked = {"/proc/kcore", "/proc/sysrq-trigger", "/proc/1/environ", "/proc/1/mem"}
        self.assertLessEqual(set(self.seen["present"]), masked)

    def test_it_can_read_no_secret(self) -> None:
        self.assertEqual(set(self.seen["readable"]), set())

    def test_it_cannot_read_the_environment_or_memory_of_pid_1(self) -> None:
        self.assertEqual(self.seen["initial_environment"], [])

    def test_it_sees_no_process_but_itself_and_pid_1(self) -> None:
        self.assertLessEqual(set(self.seen["pids"]), {1, self.seen["pid"]})

    def test_its_pid_is_of_its_own_namespace(self) -> None:
        self.assertLess(self.seen["pid"], 1000)
        self.assertNotEqual(self.seen["pid"], 1)

    def test_its_devices_are_the_harmless_ones(self) -> None:
        self.assertLessEqual(set(self.seen["dev"] or []), DEVICES)

    def test_its_environment_holds_nothing_of_the_hosts(self) -> None:
        self.assertNotIn("ZYGO_TEST_CANARY", self.seen["environment"])
        self.assertNotIn("host-environment-canary", json.dumps(self.seen["environment"]))


class WhatAJobCannotTouch(ZygoTestCase):
    def test_the_image_is_read_only_whatever_the_path(self) -> None:
        """No write lands in any directory outside scratch, refused by one layer or another."""
        source = """
            import json, os, sys
            share, shares = map(int, sys.argv[1:])
            tried, landed, seen, home = 0, [], 0, os.getcwd()
            for folder, folders, _ in os.walk("/", followlinks=False):
                if folder.startswith(("/tmp", "/proc", home)):
                    folders.clear()
                    continue
                folders.sort()
                if folder.count("/") > 3:
                    folders.clear()
                seen += 1
                if seen % shares != share:
                    continue
                tried += 1
                try:
                    path = os.path.join(folder, "zygo_was_here")
                    os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
                    landed.append(path)
                except OSError:
                    pass
            print(json.dumps([tried, landed]))
        """
        shares = 8  # A job that is refused a thousand times is killed, so the directories are dealt out.
        jobs = [job(f"share {n}", dedent(source), argv=[str(n), str(shares)],
                    limits={"cpu_ms": 20000, "wall_ms": 40000}) for n in range(shares)]

        results = zygo.run_batch(jobs)

        for result in results.values():
            tried, landed = printed(result)
            self.assertEqual(landed, [])
            self.assertGreater(tried, 10)
            self.assertLabel(result, "UnsafeCode")

    def test_a_program_that_is_refused_without_end_is_killed(self) -> None:
        source = """
            import os
            while True:
                try:
                    os.fork()
                except OSError:
                    pass
        """
        jobs = [job("stubborn", dedent(source)), job("after", "print('fine')")]

        results = zygo.run_batch(jobs, "--workers", "1")

        self.assertLabel(results["stubborn"], "UnsafeCode")
        self.assertGreaterEqual(results["stubborn"]["detail"]["count"], 1000)
        self.assertLess(results["stubborn"]["detail"]["count"], 2000)
        self.assertEqual(results["stubborn"]["exit"]["signal"], "SIGKILL")
        self.assertLabel(results["after"], "OK")

    def test_a_listener_on_the_hosts_loopback_is_never_contacted(self) -> None:
        """Neither through Python, nor as a raw system call, nor from a program of the image."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            results = zygo.run_batch(network_jobs(port))

            listener.setblocking(False)
            with self.assertRaises(BlockingIOError):
                listener.accept()
        for name, result in results.items():
            with self.subTest(name):
                self.assertLabel(result, "UnsafeCode")

    def test_pid_1_survives_every_signal(self) -> None:
        source = """
            import os, signal
            for number in signal.valid_signals():
                try:
                    os.kill(1, number)
                except OSError:
                    pass
            print("still here")
        """
        jobs = [job("kill", dedent(source)), job("after", "print('fine')")]

        results = zygo.run_batch(jobs, "--workers", "1")

        self.assertEqual(results["kill"]["stdout"]["text"], "still here\n")
        self.assertLabel(results["after"], "OK")


def dedent(source: str) -> str:
    lines = source.strip("\n").splitlines()
    indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
    return "\n".join(line[indent:] for line in lines) + "\n"


def job(name: str, source: str, **fields: Any) -> Job:
    return {"id": name, "source": source, **fields}


def network_jobs(port: int) -> list[Job]:
    connect = dedent(f"""
        import socket
        try:
            socket.create_connection(("127.0.0.1", {port}), 1)
        except OSError:
            pass
    """)
    raw = dedent(f"""
        import ctypes, socket, struct
        libc = ctypes.CDLL(None)
        fd = libc.syscall(41, 2, 1, 0)
        address = struct.pack("=HH4s8x", 2, socket.htons({port}), bytes([127, 0, 0, 1]))
        for candidate in {{fd, *range(3, 64)}}:
            libc.syscall(42, candidate, address, 16)
    """)
    shell = dedent(f"""
        import subprocess
        subprocess.run(["bash", "-c", "echo x > /dev/tcp/127.0.0.1/{port}"], stderr=subprocess.DEVNULL)
    """)
    subprocesses = {"policy": {"profile": "subprocess"}}
    return [job("python", connect), job("raw", raw), job("python, subprocess profile", connect, **subprocesses),
            job("bash", shell, **subprocesses)]


class TwoJobsAtOnce(ZygoTestCase):
    def test_neither_sees_a_trace_of_the_other(self) -> None:
        """Files, /proc, abstract sockets, System V IPC, signals: both leave traces and look, at the same time."""
        seconds = str(1.5 * zygo.PATIENCE)
        jobs = [job("ann", probe("neighbour"), argv=["ann", "bob", seconds]),
                job("bob", probe("neighbour"), argv=["bob", "ann", seconds])]

        with zygo.Coprocess("--quiet", "--workers", "2") as batch:
            batch.send(zygo.lines_of([job(name, "import time\ntime.sleep(0.5)") for name in ("one", "two")]))
            for _ in range(2):  # From now on both shards are warm.
                self.assertLabel(batch.result(), "OK")
            batch.send(zygo.lines_of(jobs))
            results = zygo.by_id(batch.result() for _ in jobs)

        ann, bob = printed(results["ann"]), printed(results["bob"])
        self.assertEqual((ann["seen"], bob["seen"]), ([], []))
        overlap = min(ann["end"], bob["end"]) - max(ann["begin"], bob["begin"])
        self.assertGreater(overlap, 0.3, "they were hardly there at the same time, so this proves nothing")


class OneJobAfterAnother(ZygoTestCase):
    """In one cell: `--workers 1`."""

    def after(self, first: Job) -> tuple[Any, Any, Result]:
        """What the canary found before and after a job, and that job's result."""
        results = zygo.run_batch([canary("before"), first, canary("after")], "--workers", "1")
        for name in ("before", "after"):
            self.assertLabel(results[name], "OK")
        return results["before"]["value"], results["after"]["value"], results[first["id"]]

    def test_the_next_job_finds_nothing_of_an_ordinary_polluter(self) -> None:
        before, after, polluter = self.after(job("polluter", probe("polluter")))

        self.assertEqual(polluter["stdout"]["text"], "polluted\n")
        self.assertEqual(after, before)

    def test_nothing_is_kept_in_ipc_or_keyrings(self) -> None:
        jobs = [job("put", probe("keeper"), argv=["put"]), job("get", probe("keeper"), argv=["get"])]

        results = zygo.run_batch(jobs, "--workers", "1")

        self.assertEqual(printed(results["get"]), [], f"put: {printed(results['put'])}")

    def test_a_daemon_does_not_outlive_its_job(self) -> None:
        source = dedent("""
            import os, time
            if os.fork() == 0:
                os.setsid()
                if os.fork() == 0:
                    for number in range(100):
                        try:
                            open("/tmp/daemon-was-here", "w").close()
                        except OSError:
                            pass
                        time.sleep(0.05)
                os._exit(0)
            os.wait()
        """)
        watch = dedent("""
            import json, os, time
            end = time.monotonic() + 0.5
            seen = False
            while time.monotonic() < end:
                seen = seen or os.path.exists("/tmp/daemon-was-here")
                time.sleep(0.01)
            print(json.dumps(seen))
        """)
        jobs = [job("daemon", source, policy={"profile": "subprocess"}),
                job("watch", watch, policy={"profile": "subprocess"})]

        results = zygo.run_batch(jobs, "--workers", "1")

        self.assertLabel(results["daemon"], "OK")
        self.assertIs(printed(results["watch"]), False)


def canary(name: str, template: str = "python") -> Job:
    return {"id": name, "template": template, "mode": "call", "func": "f", "inputs": [12], "source": probe("canary")}


class TheJobAfterACrime(ZygoTestCase):
    def test_is_unharmed(self) -> None:
        """After each hostile program the same cell's next job computes right and finds an untouched place."""
        hostile = zoo.programs("limits", "unsafe", "raw", "tricks", "ends", "names")
        jobs = [canary(f"first of {template}", template) for template in ("python", "python-numpy")]
        for program in hostile:
            jobs += [program.job(), canary(f"after {program.id}", template_of(program))]

        results = zygo.run_batch(jobs, "--workers", "1", timeout=500)

        for program in hostile:
            with self.subTest(program.id):
                after = results[f"after {program.id}"]
                self.assertLabel(after, "OK")
                self.assertEqual(after["value"], results[f"first of {template_of(program)}"]["value"])


def template_of(program: zoo.Program) -> str:
    return program.expect.get("job", {}).get("template", "python")


if __name__ == "__main__":
    unittest.main()
