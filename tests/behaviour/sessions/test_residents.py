"""Steps that go on in the process of the step before, which has stayed for them: as fast as that is, nothing else differs."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import random
import signal
import time
import unittest
from typing import Any

import host
import zygo
from sessions.client import SessionTestCase

UNTOLD = "this kernel does not tell what is written to (userfaultfd, WP_ASYNC)"


class ResidentsTestCase(SessionTestCase):
    def setUp(self) -> None:
        if "cgroup.memory" not in self.service.run("1")["enforced"]:
            self.skipTest("no cgroup counts the memory of a process that goes on")

    def residents(self) -> set[int]:
        """Processes of our service that have stopped."""
        below = host.descendants(self.service.process.pid)
        return {pid for pid in below if (stat := host.stat_of(pid)) and stat[1] == "T"}

    def gone_on(self) -> int:
        return int(self.service.metric("zygo_steps_gone_on_total "))

    def assertGoesOn(self, node: str, source: str, label: str = "OK", **fields: Any) -> zygo.Result:
        before = self.gone_on()
        result = self.keep(node, source, label, **fields)
        self.assertEqual(self.gone_on(), before + 1, "it had a process of its own")
        return result

    def assertBeginsAnew(self, node: str, source: str, **fields: Any) -> zygo.Result:
        before = self.gone_on()
        result = self.keep(node, source, **fields)
        self.assertEqual(self.gone_on(), before, "it went on")
        return result

    def trackings(self) -> int:
        """How many processes' writes the service is told of."""
        return sum("userfaultfd" in link for link in host.links_of_descriptors(self.service.process.pid).values())

    def assertNoneIsTracked(self) -> None:
        """Soon: a thread that has helped lets go of its descriptors after the answer, and nothing tells of that."""
        deadline = time.monotonic() + 20 * zygo.PATIENCE
        while self.trackings() and time.monotonic() < deadline:
            pass
        self.assertEqual(self.trackings(), 0)


class Residents(ResidentsTestCase):
    options = ("--workers", "1", "--steps-stay", "5m")

    def test_a_chain_of_steps_is_one_process(self) -> None:
        node = self.node("", "import os\nx = []")
        for number in range(5):
            result = self.assertGoesOn(node, f"x.append({number})\nlen(x)")
            self.assertEqual(result["value"], number + 1)
            node = result["session"]["node"]
        self.assertEqual(self.value(node, "x"), [0, 1, 2, 3, 4])

    def test_no_program_can_look_at_or_clear_the_marks_of_its_writes(self) -> None:
        for name in ("self/pagemap", "self/clear_refs", "self/mem", "1/pagemap", "thread-self/pagemap"):
            node = self.node("", "data = bytearray(3 << 20)")
            result = self.step(node, f"open('/proc/{name}', 'rb')")
            self.assertNotEqual(result["label"], "OK", name)

    def test_a_file_that_is_cut_takes_its_pages_along(self) -> None:
        """Who has it mapped privately, and has written there, sees the file from then on."""
        mapped = self.node("", "import mmap\nopen('f', 'w').write('f' * 8192)\nf = open('f', 'r+'); m = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY)\n"
                               "m[0:3] = b'xyz'")
        for cut in ("open('f', 'w').write('g' * 8192)", "open('f', 'w').close(); open('f', 'w').write('g' * 5000)"):
            node = self.assertGoesOn(self.node(mapped, "m[3] = 1", "m[4] = 1"), cut)["session"]["node"]
            for _ in range(3):  # the first goes on itself
                self.assertEqual(self.value(node, "open('f', 'r+').write('h' * 8192); m[0:3].decode()"), "hhh", cut)
        node = self.node(mapped, "m[3] = 1", "m[4] = 1", "open('f', 'w').close()")
        self.assertEqual(self.value(node, "len(open('f').read())"), 0)

    def test_output_and_answers_are_each_steps_own(self) -> None:
        node = self.node("", "import sys")
        for number in range(4):
            result = self.assertGoesOn(node, f"print({number}); print({number}, file=sys.stderr)\n" + ("" if number % 2 else f"{number}"))
            self.assertEqual(result["stdout"]["text"], f"{number}\n")
            self.assertEqual(result["stderr"]["text"], f"{number}\n")
            self.assertEqual(result["value"], None if number % 2 else number)
            node = result["session"]["node"]
        result = self.assertGoesOn(node, "1 / 0", "ZeroDivisionError")
        self.assertIn("1 / 0", result["stderr"]["text"])
        self.assertLabel(self.assertGoesOn(result["session"]["node"], "2"), "OK")

    def test_undo_and_branches(self) -> None:
        first = self.node("", "x = [1]")
        second = self.node(first, "x.append(2)")
        third = self.node(second, "x.append(3)")
        self.assertEqual(self.value(first, "x"), [1])
        self.assertEqual(self.value(second, "x"), [1, 2])
        self.assertEqual(self.value(third, "x"), [1, 2, 3])

    def test_who_changes_its_process_begins_anew(self) -> None:
        changes = {
            "a limit": "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (99, 99))",
            "its niceness": "import os\nos.nice(3)",
            "its group": "import os\nos.setpgid(0, 0)",
            "large pages": "import ctypes\nctypes.CDLL(None).prctl(41, 1, 0, 0, 0)",
            "a stream": "import os\nos.set_inheritable(1, False)",
            "a lock": "import fcntl\nf = open('f', 'w')\nfcntl.lockf(f, fcntl.LOCK_EX)",
            "a handler": "import signal\nsignal.signal(signal.SIGCONT, lambda *_: print('woken'))",
        }
        for what, source in changes.items():
            with self.subTest(what):
                result = self.step(self.node("", "x = 1"), source)
                self.assertLabel(result, "OK")
                self.assertTrue(result["session"]["kept"])
                again = self.assertBeginsAnew(result["session"]["node"], "x")
                self.assertEqual((again["value"], again["stdout"]["text"]), (1, ""))

    def test_streams_are_as_at_first(self) -> None:
        node = self.node("", "import os")
        result = self.assertGoesOn(node, "os.set_blocking(1, False)\nos.set_blocking(0, False)")
        result = self.assertGoesOn(result["session"]["node"], "print('x' * 300000)\n[os.get_blocking(0), os.get_blocking(1)]")
        self.assertEqual((result["value"], result["stdout"]["bytes"]), ([True, True], 300001))

    def test_sources_of_all_lengths(self) -> None:
        for lengths in [(100, 4000, 8100, 20, 5000), (9000, 100, 5000, 8150, 10)]:
            node = ""
            for number, length in enumerate(lengths):
                result = self.keep(node, ("x = 0" if number == 0 else "x += 1\nx").ljust(length, "#"))
                self.assertEqual(result["value"], number or None)
                node = result["session"]["node"]

    def test_time_of_one_step_is_not_anothers(self) -> None:
        limits = {"cpu_ms": 1000, "wall_ms": 20000}
        burn = "import time\nend = time.process_time() + 0.8\nwhile time.process_time() < end: pass"
        node = self.node("", "x = 1", limits=limits)
        for _ in range(6):
            node = self.node(node, burn, limits=limits)

    def test_other_terms_begin_anew(self) -> None:
        for what, fields in {"limits": {"limits": {"cpu_ms": 1234}}, "stdin": {"stdin": "text"}}.items():
            with self.subTest(what):
                self.assertBeginsAnew(self.node("", "x = 1"), "x", **fields)
        with self.subTest("but for the time that it may take"):
            self.assertGoesOn(self.node("", "x = 1"), "x", limits={"wall_ms": 1234})
        with self.subTest("a long source"):
            self.assertBeginsAnew(self.node("", "x = 1"), "x" + "#" * 9000)

    def test_a_deadline_leaves_the_node(self) -> None:
        limits = {"wall_ms": 300}
        node = self.node("", "x = 1", limits=limits)
        result = self.step(node, "x = 2\nwhile True: pass", limits=limits)
        self.assertLabel(result, "TimeoutException")
        self.assertEqual(self.value(node, "x", limits=limits), 1)

    def test_memory_is_what_the_step_has(self) -> None:
        def peak(**fields: Any) -> int:
            node = self.node("", "x = bytearray(1 << 20)", **fields)
            node = self.node(node, "x += bytes(20 << 20)\ndel x", **fields)
            return int(self.keep(node, "y = bytearray(8 << 20)", **fields)["usage"]["memory_peak_kb"])

        lone = self.node("", "x = bytearray(1 << 20)", limits={"wall_ms": 5001})
        lone = self.node(lone, "x += bytes(20 << 20)\ndel x", limits={"wall_ms": 5002})
        anew = int(self.keep(lone, "y = bytearray(8 << 20)", limits={"wall_ms": 5003})["usage"]["memory_peak_kb"])
        self.assertAlmostEqual(peak(), anew, delta=max(anew * 0.05, 1024))

    def test_what_a_process_has_beside_its_node_is_not_the_next_steps(self) -> None:
        limits = {"memory_mb": 64}
        tables = ("import mmap\nsize = 20 << 30\nlow = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000\n"
                  "m = mmap.mmap(-1, size, flags=low, prot=mmap.PROT_READ)\n"
                  "for at in range(0, size, 2 << 20): m[at]")  # 40 MB of page tables, and none of its own
        node = self.node("", "x = 1", limits=limits)
        result = self.keep(node, tables, limits=limits)
        self.assertGreater(result["usage"]["memory_peak_kb"], 30 << 10)
        result = self.assertBeginsAnew(result["session"]["node"], "1", limits=limits)
        self.assertLess(result["usage"]["memory_peak_kb"], 8 << 10)
        self.keep(result["session"]["node"], "y = bytearray(b'1') * (40 << 20)", limits=limits)

    def test_chance(self) -> None:
        node = self.node("", "import random, os")
        drawn = []
        for _ in range(3):
            result = self.assertGoesOn(node, "[random.random(), os.urandom(8).hex()]")
            drawn += result["value"]
            node = result["session"]["node"]
        self.assertEqual(len(set(drawn)), len(drawn))
        node = self.node(node, "random.seed(5)\nrandom.random()")
        expected = random.Random(5)
        expected.random()
        for _ in range(3):
            result = self.assertGoesOn(node, "random.random()")
            self.assertEqual(result["value"], expected.random())
            node = result["session"]["node"]


class AlmostAlone(ResidentsTestCase):
    """The service's processes are counted: others that stand by are to be gone soon."""

    options = ("--workers", "1", "--steps-stay", "2s")

    def test_a_process_that_was_killed_costs_nothing(self) -> None:
        if os.geteuid() != 0:
            self.skipTest("needs root, to find and kill it")
        for number in (signal.SIGKILL, signal.SIGCONT) * 4:
            before = self.residents()
            node = self.node("", "x = 41")
            stays = self.residents() - before
            self.assertEqual(len(stays), 1)
            for process in stays:
                os.kill(process, number)
                self.assertTrue(host.await_end(process, 60 * zygo.PATIENCE), "it has not ended")
            result = self.keep(node, "x + 1")
            self.assertEqual(result["value"], 42, number)

    def test_the_service_is_told_of_writes_and_no_program_can_be(self) -> None:
        if not host.tells_of_writes():
            self.skipTest(UNTOLD)
        node = self.node("", "import ctypes, os\ndata = bytearray(6 << 20)")
        result = self.assertGoesOn(node, "data[5000] = 1\n[os.readlink(f'/proc/self/fd/{n}') for n in range(64) "
                                 "if os.path.lexists(f'/proc/self/fd/{n}')]")
        self.assertEqual([link for link in result["value"] if "userfault" in link], [])
        self.assertEqual(self.trackings(), 1)
        call = "ctypes.CDLL(None).syscall(323, 0o2004001)"
        self.assertLabel(self.step(result["session"]["node"], call), "UnsafeCode")
        self.assertLabel(self.step("", f"import ctypes\n{call}"), "UnsafeCode")
        self.assertNoneIsTracked()


class WithChildren(ResidentsTestCase):
    options = ("--workers", "1", "--steps-stay", "5m")

    def test_time_of_children_of_one_step_is_not_anothers(self) -> None:
        fields = {"limits": {"cpu_ms": 2000, "wall_ms": 30000}, "policy": {"profile": "subprocess"}}
        burn = ("import subprocess\nsubprocess.run(['python3', '-c', 'import time\\nwhile time.process_time() < 1.2: pass'])\n1")
        node = self.node("", "x = 1", **fields)
        for _ in range(3):
            result = self.keep(node, burn, **fields)
            self.assertGreater(result["usage"]["cpu_ms"], 1000)
            node = result["session"]["node"]
        before = self.gone_on()
        result = self.step(node, "import os\nos.kill(os.getpid(), 9)", **fields)
        self.assertEqual(self.gone_on(), before + 1)
        self.assertLabel(result, "Signalled")
        self.assertLess(result["usage"]["cpu_ms"], 600)


class ForAWhile(ResidentsTestCase):
    options = ("--workers", "1", "--steps-stay", "300ms")

    def test_a_process_ends_that_nobody_has_come_for(self) -> None:
        before = self.residents()
        node = self.node("", "x = 1")
        for process in self.residents() - before:
            self.assertTrue(host.await_end(process, 60 * zygo.PATIENCE), "it is still there")
        self.assertEqual(self.assertBeginsAnew(node, "x")["value"], 1)


class NotAtAll(ResidentsTestCase):
    options = ("--steps-stay", "none", "--memory-of-jobs", "fork")  # a holder has its own writes told

    def test_each_step_has_a_process_of_its_own(self) -> None:
        node = self.node("", "x = 1")
        for _ in range(3):
            node = self.assertBeginsAnew(node, "x")["session"]["node"]
        self.assertEqual(self.gone_on(), 0)

    def is_protected(self) -> bool:
        """Whether the kernel tells of writes to memory of one of our processes ("uw", proc_pid_smaps(5))."""
        found = False
        for pid in host.descendants(self.service.process.pid):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps") as areas:
                found = found or any("uw" in line.split() for line in areas if line.startswith("VmFlags:"))
        return found

    def test_writes_to_a_large_node_are_told_from_its_beginning(self) -> None:
        if not host.tells_of_writes():
            self.skipTest(UNTOLD)
        large = self.node("", "data = [[i, str(i)] for i in range(40_000)]")
        small = self.node("", "data = 1")
        for node, is_told in ((small, False), (large, True)):
            with concurrent.futures.ThreadPoolExecutor() as pool:
                step = pool.submit(self.step, node, "while True: data", limits={"wall_ms": 1500, "cpu_ms": 1500})
                found = most = 0
                while not step.done():
                    most = max(most, self.trackings())
                    found = found or self.is_protected()
            self.assertLabel(step.result(), "TimeoutException")
            self.assertEqual((most, found), (1, True) if is_told else (0, False))
        self.assertNoneIsTracked()
        changed = self.node(large, "data[7] = 'x'", "data[8] = 'y'")
        for node, value in ((changed, ["x", "y"]), (large, [[7, "7"], [8, "8"]]), (changed, ["x", "y"])):
            self.assertEqual(self.value(node, "data[7:9]"), value)


if __name__ == "__main__":
    unittest.main()
