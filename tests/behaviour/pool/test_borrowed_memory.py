"""Jobs that borrow their cell's memory, one after the other: the labels are those of forked jobs, and nothing of a job is
left for the next. Every run compares the whole address space with its first state after each job (--verify-rollback)."""

from __future__ import annotations

import errno
import os
import platform
import signal
import statistics
import sys
import tempfile
import time
import unittest
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import host
import levels
import reach
import zoo
import zygo
from address_space import NATIVE, RANDOM_CALLS
from zygo import Coprocess, Job, Result, ZygoTestCase

BORROWED = ("--memory-of-jobs", "borrowed", "--verify-rollback")
ONE_CELL = (*BORROWED, "--workers", "1", "--heap", "huge")

UNMAPS_ALL = "tricks/all_its_memory_is_unmapped"
PROBES = Path(zygo.__file__).parent / "probes"
UNVERIFIED = tuple(word for word in ONE_CELL if word != "--verify-rollback")

# A job changes what it can reach of the interpreter or of its address space.
CHANGES = {
    "small integers": "ctypes.memset(id(7) + 24, 9, 4)\n",
    "types": "d = [d for d in gc.get_referents(int.__dict__) if type(d) is dict][0]\nd['bit_count'] = lambda s: 'odd'\n"
             "ctypes.pythonapi.PyType_Modified.argtypes = [ctypes.py_object]\nctypes.pythonapi.PyType_Modified(int)\n",
    "modules": "import builtins\nbuiltins.print_was = print\nsys.modules['json'] = None\nos.environ['LEFT'] = '1'\n",
    "new memory": "left = [mmap.mmap(-1, 1 << 20) for _ in range(50)]\nfor m in left: m[:] = b'x' * (1 << 20)\n",
    "a large heap": "left = [[i] * 10 for i in range(300000)]\n",
    "the break": "call(12, call(12, 0) + (1 << 20))\nctypes.memset(call(12, 0) - 4096, 7, 4096)\n",
    "a smaller break": "call(12, call(12, 0) - 65536)\n",
    "threads": "for _ in range(8): threading.Thread(target=threading.Event().wait, daemon=True).start()\n",
    "writing threads": "def write():\n    while True: ctypes.memset(id(7) + 24, 9, 4)\n"
                       "for _ in range(4): threading.Thread(target=write, daemon=True).start()\n",
    "a deep stack": "sys.setrecursionlimit(100000)\ndef f(n): return n and 1 + f(n - 1)\nf(20000)\n",
    "all of the stack": "import faulthandler\nfaulthandler._stack_overflow()\n",
    "unmapping": "for a in AREAS: call(11, a, 4096)\ncall(11, 65536, (1 << 47) - 65536 - 4096)\n",
    "protections": "for a in AREAS:\n    for p in (0, 1, 3): call(10, a, 4096, p)\n",
    "areas put over": "for a in AREAS: call(9, a, 4096, 3, 0x32, -1, 0)\n",
    "moves": "for a in AREAS:\n    call(25, a, 4096, 8192, 1)\n    call(25, a, 4096, 0, 0)\n    call(25, a, 0, 4096, 1)\n",
    "hints": "for a in AREAS:\n    for advice in (*range(4), *range(8, 22), 25, 102, 103): call(28, a, 4096, advice)\n",
    "dropped pages": "for a in AREAS: call(28, a, 4096, 4)\n",
    # Constants that were relocated and closed lie behind the library's code; a seal lets it be dropped.
    "dropped constants": "jumps = page(ctypes.addressof(ctypes.c_char.in_dll(libc, '_IO_file_jumps')))\n"
                         "for n in range(-1, 3): call(28, jumps + 4096 * n, 4096, 4)\n",
    "the lowest pages": "for n in range(16):\n    a = call(9, 4096 * n, 4096, 3, 0x32, -1, 0)\n    a == 4096 * n and ctypes.memset(a, 9, 4096)\n",
    "the highest pages": "for a in (1 << 47, 1 << 48, (1 << 56) - 8192): call(9, a, 4096, 3, 0x22, -1, 0)\n"
                         "for n in range(2, 40): call(9, (1 << 47) - 4096 * n, 4096, 3, 0x100022, -1, 0)\n",
    "freed pages": "for a in AREAS: call(28, a, 4096, 8)\n",
    # Equal to what they were, so they are not copied back.
    "pages freed lazily": "for n in range(1, 40):\n    a = AREAS[3] - 4096 * n\n    ctypes.memmove(a, ctypes.string_at(a, 8), 8)\n"
                          "    call(28, a, 4096, 8)\n",
    "locked memory": "for a in AREAS:\n    call(149, a, 4096)\n    call(325, a, 4096, 1)\ncall(151, 3)\ncall(152)\n",
    "protection keys": "call(331, 0)\ncall(330, 0, 0)\nfor a in AREAS: call(329, a, 4096, 0, 0)\n",
    "many areas": "for i in range(30000): call(9, 0, 4096, 1 + i % 2 * 2, 0x22, -1, 0)\n",
    # The kernel writes when a thread ends: where set_tid_address says, and along the robust list.
    "the thread's address": "call(218, id(7) + 24)\n",
    "a robust list": "head = (ctypes.c_long * 3)(id(7) + 16, 8, 0)\ncall(273, ctypes.addressof(head), 24)\n",
    "kernel's writes": "r, w = os.pipe()\nos.write(w, bytes(4) * 4)\nlibc.read(r, ctypes.c_void_p(id(7) + 24), ctypes.c_size_t(4))\n",
    # A waking thread goes on where its rseq area says; the holder must have none.
    "restartable sequences": "try: offset = ctypes.c_ssize_t.in_dll(libc, '__rseq_offset').value\nexcept ValueError: offset = 0\n"
                             "ctypes.memset(fs.value + offset + 8, 0x41, 8) if offset else None\n",
    "a process": "for _ in range(9): call(435, 0x6f0000000020, 80)\n",
    "signals": "for pid in {*range(1, 33000), *range(max(1, os.getppid() - 9), os.getpid() + 9)}:\n    for number in (signal.SIGSTOP, signal.SIGKILL):\n"
               "        try: pid == os.getpid() or os.kill(pid, number)\n        except OSError: pass\n",
}
ENDINGS = {"by itself": "", "at once": "os._exit(0)\n", "by a crash": "ctypes.string_at(1)\n", "stopped": "os.kill(os.getpid(), signal.SIGSTOP)\n"}
LOOK = ("import ctypes, json, os, sys, re, threading\nlibc = ctypes.CDLL(None)\nlibc.syscall.restype = libc.valloc.restype = ctypes.c_void_p\n"
        "print(ctypes.cast(libc.printf, ctypes.c_void_p).value)\n"  # of its template
        "print([libc.mincore(ctypes.c_void_p(4096 * n), ctypes.c_size_t(4096), ctypes.create_string_buffer(1)) for n in range(16)])\n"
        "print(libc.syscall(12, 0), libc.valloc(1 << 20), id(re), id(object()))\n"
        "print([7, 7 + 0, (7).bit_count(), 'LEFT' in os.environ, hasattr(__builtins__, 'print_was'), threading.active_count(),\n"
        "       json.dumps([1]), re.sub('a', 'b', 'aa'), [i * i for i in range(9)], str(12345), 3.5 * 2])\n")
# Where pid 1 writes the argument of the call that starts a job, if the memory there is the job's own.
STARTS_A_PROCESS = ("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.mmap.restype = ctypes.c_void_p\n"
                    "there = ctypes.c_void_p(0x6f0000000000)\n"
                    "print(hex(libc.mmap(there, ctypes.c_size_t(4096), 3, 0x100022, -1, ctypes.c_long(0))))\n"
                    "(ctypes.c_uint64 * 10).from_address(0x6f0000000020)[4] = 17\n"
                    "print(libc.syscall(435, ctypes.c_long(0x6f0000000020), 80), ctypes.get_errno())\n")
STARTS_NONE = f"0x6f0000000000\n-1 {errno.ENOSYS}\n"


def sleeps_under_the_name(word: str, first: str = "") -> str:
    """So that it is known to run, and is confined by then."""
    return NATIVE + (f"import time\n{first}name = ctypes.create_string_buffer(b'{word}')\n"
                     "call(157, 15, ctypes.addressof(name), 0, 0)\ntime.sleep(60)\n")  # PR_SET_NAME


def await_job(batch: Coprocess, word: str) -> tuple[int, int]:
    """The job of that name, and the first process of its cell."""
    while not (found := reach.job_that_says(batch.process.pid, "", word)):
        time.sleep(0.01)  # /proc gives no event for a new name.
    return found


def looks_and_changes() -> list[Job]:
    """A look before, between and after all changes and endings."""
    jobs: list[Job] = [{"id": "first look", "source": LOOK}]
    for change, source in CHANGES.items():
        for ending, end in ENDINGS.items():
            jobs.append({"id": f"{change}, {ending}", "source": NATIVE + source + end,
                         "limits": {"cpu_ms": 2000, "wall_ms": 2000 if ending != "stopped" else 300}})
            jobs.append({"id": f"look after {change}, {ending}", "source": LOOK})
    return jobs


RANDOM_JOBS = int(os.environ.get("ZYGO_RANDOM_JOBS", "150"))
RANDOM_SEED = int(os.environ.get("ZYGO_RANDOM_SEED", "1"))
CELLS_OF_A_TEMPLATE = 200  # runtime/scheduler/pools/template_pool.cc


SOURCES_OF_PEAKS = [
    "print(1)",
    "x = [list(range(100)) for _ in range(1000)]\nprint(len(x))",
    "s = ''.join(str(i) for i in range(20000))\nprint(len(s))",
    "class A:\n    def __init__(self, n): self.n = n\nprint(sum(A(i).n for i in range(5000)))",
    "import json\nprint(len(json.dumps([{'a': i, 'b': str(i)} for i in range(3000)])))",
    "import re\nprint(len(re.findall(r'[a-z]+\\d', 'abc1 de2 ' * 3000)))",
    "b = bytearray(10 << 20)\nprint(len(b))",
]


def first_looks(looks: Iterable[Job], results: dict[str, Result]) -> dict[str, str]:
    """What the first look of each template printed. Looks begin with a line that no two templates have in common, and a template
    that has made two hundred cells is renewed."""
    first: dict[str, str] = {}
    for look in looks:
        result = results[str(look["id"])]
        if result["label"] == "OK":
            text = result["stdout"]["text"]
            first.setdefault(layout_of(text), text)
    if len(first) > 1 + len(results) // CELLS_OF_A_TEMPLATE:
        raise AssertionError(f"{len(first)} templates for {len(results)} jobs: a job has changed what looks begin with")
    return first


def layout_of(text: str) -> str:
    return text.partition("\n")[0]


def median_peak(results: Iterable[Result]) -> int:
    return int(statistics.median(result["usage"]["memory_peak_kb"] for result in results))


def was_borrowed(result: Result) -> bool:
    return "rollback" in result["timing_us"]


class BorrowedMemory(ZygoTestCase):
    level: ClassVar[str] = "full"
    refused: ClassVar[str] = ""  # System calls that a filter around zygo refuses, by their numbers.

    def assert_were_borrowed(self, results: Mapping[str, Result]) -> None:
        """All but a few: a job has none of it in its result whose cell was ended, because the machine stood still for seconds.
        After more than a few failures in a minute all jobs are forks."""
        others = [zygo.brief(result) for result in results.values() if not was_borrowed(result)]
        self.assertLessEqual(len(others), len(results) // 50, others)

    @classmethod
    def batch(cls, jobs: Sequence[Job], *options: str, **how: Any) -> dict[str, Result]:
        around = (sys.executable, str(PROBES / "without_calls.py"), cls.refused) if cls.refused else ()
        return zygo.run_batch(jobs, "--level", cls.level, *options, around=around, **how)

    @classmethod
    def lends(cls) -> bool:
        return any(was_borrowed(result) for result in
                   cls.batch([{"id": str(n), "source": "pass"} for n in range(2)], *ONE_CELL).values())

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        if not BorrowedMemory.lends():
            raise unittest.SkipTest("this host lends no memory: it wants level full, cgroup.memory and Linux 6.10, and has "
                                    + platform.release())
        if cls.level == "contained" and os.geteuid() != 0:
            raise unittest.SkipTest("level contained needs root")
        if not cls.lends():
            raise AssertionError(f"level full lends memory here, and {cls.level} without calls {cls.refused or 'none'} does not")


class EveryProgram(BorrowedMemory):
    share = (0, 1)

    def test_ends_as_its_header_says(self) -> None:
        everything = zoo.programs()
        programs = zygo.share_of(everything, *self.share)
        programs += [each for each in everything if each.id == UNMAPS_ALL and each not in programs]

        results = self.batch([program.job() for program in programs], *BORROWED, timeout=600)

        self.assertEqual(results[UNMAPS_ALL]["label"], "OK", "the areas of borrowed memory are sealed")
        for program, fault in levels.zoo_faults(programs, results).items():
            with self.subTest(program):
                self.fail(fault)


class TheNextJob(BorrowedMemory):
    share = (0, 1)

    def test_sees_nothing_of_what_the_last_one_changed(self) -> None:
        jobs = looks_and_changes()

        results = self.batch(jobs, *ONE_CELL, timeout=300)

        first = first_looks((job for job in jobs if "look" in job["id"]), results)
        self.assertIn("False", results["first look"]["stdout"]["text"])
        self.assert_were_borrowed(results)
        for job in jobs:
            with self.subTest(job["id"]):
                result = results[job["id"]]
                self.assertNotEqual(result["label"], "SandboxError", zygo.brief(result))
                if "look" in job["id"]:
                    text = result["stdout"]["text"]
                    self.assertEqual((result["label"], text), ("OK", first.get(layout_of(text))))

    def test_sees_nothing_of_calls_in_any_order(self) -> None:
        jobs: list[Job] = [{"id": "first look", "source": LOOK}]
        for seed in zygo.share_of(range(RANDOM_SEED, RANDOM_SEED + RANDOM_JOBS), *self.share):
            jobs.append({"id": f"seed {seed}", "source": RANDOM_CALLS.replace("@SEED@", str(seed * 7919)),
                         "limits": {"memory_mb": 64, "wall_ms": 3000}})
            if seed % 3 == 0:
                jobs.append({"id": f"look after seed {seed}", "source": LOOK})

        results = self.batch(jobs, *ONE_CELL, timeout=60 + RANDOM_JOBS)

        first = first_looks((job for job in jobs if "look" in job["id"]), results)
        for job in jobs:
            with self.subTest(job["id"]):
                result = results[job["id"]]
                self.assertNotEqual(result["label"], "SandboxError", zygo.brief(result))
                if "look" in job["id"]:
                    text = result["stdout"]["text"]
                    self.assertEqual((result["label"], text), ("OK", first.get(layout_of(text))))

    def test_has_the_peak_that_it_has_in_a_new_cell_after_a_thousand_others(self) -> None:
        """Pages that others made warm are its memory where it writes to them, and only there. The kernel counts in steps of
        256 KiB on each CPU."""
        mixed: list[Job] = [{"id": f"other {n}", "source": SOURCES_OF_PEAKS[n % len(SOURCES_OF_PEAKS)]} for n in range(1000)]
        again: list[Job] = [{"id": f"late {n} {turn}", "source": source} for turn in range(9)
                            for n, source in enumerate(SOURCES_OF_PEAKS)]
        first = [median_peak(self.batch([{"id": str(n), "source": source} for n in range(9)], *UNVERIFIED).values())
                 for source in SOURCES_OF_PEAKS]

        results = self.batch(mixed + again, *UNVERIFIED)

        for n, source in enumerate(SOURCES_OF_PEAKS):
            late = [results[f"late {n} {turn}"] for turn in range(9)]
            self.assertTrue(all(was_borrowed(result) for result in late))
            self.assertAlmostEqual(median_peak(late), first[n], delta=max(512, first[n] // 20), msg=source)

    def test_is_not_charged_for_what_the_last_one_left(self) -> None:
        big, small = "left = [bytearray(1 << 20) for _ in range(40)]\nprint(len(left))\n", "print(1)"
        jobs: list[Job] = [{"id": str(n), "source": small if n % 2 else big} for n in range(10)]

        results = self.batch(jobs, *UNVERIFIED)

        for n in range(10):
            peak = results[str(n)]["usage"]["memory_peak_kb"]
            self.assertTrue(peak < 12 << 10 if n % 2 else peak > 39 << 10, peak)

    def test_is_not_charged_for_what_the_last_one_read(self) -> None:
        """The vault is a file in memory. Of such a file the kernel makes a page for whoever reads one that is not there."""
        read = (PROBES / "memory.py").read_text() + "print(sum(1 for _ in pages()))\n"
        jobs: list[Job] = [{"id": str(n), "source": "print(1)" if n != 6 else read, "limits": {"wall_ms": 60000}} for n in range(12)]

        results = self.batch(jobs, *UNVERIFIED)

        before, after = (results[name]["usage"]["memory_peak_kb"] for name in ("5", "11"))
        self.assertTrue(was_borrowed(results["11"]))
        self.assertLess(after - before, 1536)

    def test_has_all_of_its_limit_whatever_earlier_ones_made_warm(self) -> None:
        deep = NATIVE + ("libc.read.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_size_t]\ntop = AREAS[3]\nr, w = os.pipe()\n"
                         "for n in range(700, 1900):\n    os.write(w, b'x')\n    libc.read(r, top - 4096 * n, 1)\n")
        large = "b = bytearray(7400 << 10)\nfor n in range(0, len(b), 4096): b[n] = 1\nprint(len(b))"
        sources = ["print(1)"] * 8 + [large] + [deep] * 4 + [large]
        jobs: list[Job] = [{"id": str(n), "source": source, "limits": {"memory_mb": 8 if source == large else 64}}
                           for n, source in enumerate(sources)]

        results = self.batch(jobs, *UNVERIFIED)

        for name in ("8", "13"):
            self.assertEqual((results[name]["label"], was_borrowed(results[name])), ("OK", True), zygo.brief(results[name]))

    def test_finds_warm_pages_beside_a_template_with_many_of_its_own(self) -> None:
        """The vault has room for a thousand pages. A block that stays where it is, is copied back after each job."""
        held = 850
        setup = ("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\nsize = %d * 4096\n"
                 "at = libc.mmap(None, ctypes.c_size_t(size), 3, 0x22, -1, ctypes.c_long(0))\nctypes.memset(at, 7, size)\n"
                 "ctypes.c_size_t.from_address(at).value, ctypes.c_size_t.from_address(at + 8).value = 0, size | 2\n" % held)
        touch = "b = [bytearray(5000) for _ in range(400)]\nprint(7)"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(setup)
            file.flush()
            os.chmod(file.name, 0o644)
            results = self.batch([{"id": str(n), "source": touch} for n in range(20)], *ONE_CELL, "--setup", file.name)

        self.assertEqual({(result["label"], was_borrowed(result)) for result in results.values()}, {("OK", True)})

    def test_borrows_of_a_template_with_many_areas(self) -> None:
        """As one with hundreds of libraries has them: every second can be written to."""
        setup = ("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\n"
                 "at = libc.mmap(None, ctypes.c_size_t(2200 * 4096), 1, 0x22, -1, ctypes.c_long(0))\n"
                 "for page in range(at, at + 2200 * 4096, 2 * 4096):\n"
                 "    assert libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(4096), 3) == 0\n    ctypes.memset(page, 7, 9)\n")

        self.assert_borrowed_and_said(setup, "print(1)", "1\n")

    def test_finds_nothing_where_a_template_has_memory_in_the_place_of_the_view(self) -> None:
        """Areas that job after job writes to, one of them where the image is mapped once more."""
        areas = {0x20000: 16 * 4096, 0x6e0000000000: 24 * 4096, 0x6e0000100000: 63 << 20}
        setup = ("import ctypes\nlibc = ctypes.CDLL(None)\nlibc.mmap.restype = ctypes.c_void_p\nfor at, size in %r.items():\n"
                 "    assert libc.mmap(ctypes.c_void_p(at), ctypes.c_size_t(size), 3, 0x100022, -1, ctypes.c_long(0)) == at\n"
                 "    ctypes.memset(at, 1, 65536)\n    ctypes.memset(at, 0, 65536)\n" % areas)
        source = ("import ctypes\nfor at in (0x20000, 0x6e0000000000):\n    print(ctypes.string_at(at, 65536).count(b'S'))\n"
                  "    ctypes.memset(at, 83, 65536)\n")

        self.assert_borrowed_and_said(setup, source, "0\n0\n")

    def assert_borrowed_and_said(self, setup: str, source: str, said: str) -> None:
        """By each of many jobs of a template with this setup, whose image has writable and other areas in one file."""
        for heap in ("huge", "merged"):
            with self.subTest(heap=heap), tempfile.NamedTemporaryFile("w", suffix=".py") as file:
                file.write(setup)
                file.flush()
                os.chmod(file.name, 0o644)
                jobs: list[Job] = [{"id": str(n), "source": source} for n in range(20)]
                results = self.batch(jobs, *BORROWED, "--workers", "1", "--heap", heap, "--setup", file.name)
                told = {(result["label"], was_borrowed(result), result["stdout"]["text"]) for result in results.values()}
                self.assertEqual(told, {("OK", True, said)})

    def test_finds_no_lock_of_a_mapped_file(self) -> None:
        lock = ("import fcntl, mmap, os\nf = os.open('/usr/bin/env', os.O_RDONLY)\nfcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
                "held = mmap.mmap(f, 4096, mmap.MAP_SHARED, mmap.PROT_READ)\nos._exit(0)\n")
        jobs: list[Job] = [{"id": str(n), "source": lock, "policy": {"profile": ("pure", "default")[n % 2]}} for n in range(12)]

        results = self.batch(jobs, *UNVERIFIED)

        self.assertEqual({result["label"] for result in results.values()}, {"OK"})

    def test_finds_nothing_on_the_page_that_has_its_order(self) -> None:
        """The only memory that pid 1 shares with jobs, beside that of their answers."""
        find = (PROBES / "memory.py").read_text() + (
            "for at, content in pages():\n    if content[16:28] == bytes([6, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]):\n"
            "        print('found')\n        DO\n        break\n")
        leave = "ctypes.memset(at + 2048, 7, 9)\n        ctypes.memset(at + 8, 7, 8)"
        look = "print(ctypes.string_at(at + 2048, 9) + ctypes.string_at(at + 8, 8))"
        jobs: list[Job] = [{"id": do, "source": find.replace("DO", do)} for do in (leave, look)]

        results = self.batch(jobs, *UNVERIFIED)

        self.assertEqual([results[do]["stdout"]["text"] for do in (leave, look)], ["found\n", f"found\n{bytes(17)}\n"])

    def test_has_no_page_that_the_kernel_may_take_away(self) -> None:
        """MADV_FREE: a page becomes zeros when the kernel wants it back, which may be in a later job."""
        free = NATIVE + ("at = ctypes.addressof(ctypes.c_char.from_buffer(mmap.mmap(-1, 4096)))\n"
                         "print(call(28, at, 4096, 8), ctypes.get_errno())\n")

        result = self.batch([{"id": str(n), "source": free} for n in range(3)], *UNVERIFIED)["2"]

        self.assertTrue(was_borrowed(result))
        self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", f"-1 {errno.EINVAL}\n"))

    def test_finds_nothing_of_what_the_holder_did_for_the_last_one(self) -> None:
        """Its list says where the last job has written."""
        look = "import ctypes\nprint(any(ctypes.string_at(0x6f0000000000 + 128, (128 << 10) - 128)))\n"
        jobs: list[Job] = [{"id": str(n), "source": look if n % 4 == 3 else f"x = bytearray({n} << 20)"} for n in range(20)]

        results = self.batch(jobs, *UNVERIFIED)

        self.assertTrue(was_borrowed(results["19"]))
        self.assertEqual({results[str(n)]["stdout"]["text"] for n in range(3, 20, 4)}, {"False\n"})

    def test_starts_no_process_in_the_memory(self) -> None:
        """The filter lets the holder's own call pass, with the arguments that pid 1 wrote; it takes a capability. Where pids are
        shared nobody may make it."""
        call = ("import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
                "print(libc.syscall(435, ctypes.c_long(0x6f0000000020), SIZE), ctypes.get_errno())\n")
        jobs: list[Job] = [{"id": str(size), "source": call.replace("SIZE", str(size))} for size in (80, 64, 88)]

        results = self.batch(jobs, *UNVERIFIED)

        self.assertTrue(was_borrowed(results["80"]))
        if self.level != "full":
            return self.assertEqual({result["stdout"]["text"] for result in results.values()}, {f"-1 {errno.ENOSYS}\n"})
        self.assertEqual(results["80"]["stdout"]["text"], f"-1 {errno.EPERM}\n")
        for size in ("64", "88"):
            self.assertEqual((results[size]["label"], results[size]["detail"]["syscall"]), ("UnsafeCode", "clone3"))

    def test_starts_no_process_as_a_holder_does_that_must_ask(self) -> None:
        """Where pids are shared the daemon lets clone() of the holder go on, by the number of who calls."""
        flags = 0x100 | 0x8000 | 0x200000 | 0x1000000 | signal.SIGCHLD  # CLONE_VM, PARENT, CHILD_CLEARTID, CHILD_SETTID
        call = NATIVE + f"word = ctypes.c_long()\nprint(call(56, {flags}, 0, 0, ctypes.addressof(word), 0), ctypes.get_errno(), flush=True)\n"
        jobs: list[Job] = [{"id": profile, "source": call, "policy": {"profile": profile, "on_violation": "deny"}}
                           for profile in ("pure", "default")]

        results = self.batch(jobs, *UNVERIFIED)

        for result in results.values():
            self.assertEqual((result["label"], result["detail"]["syscall"]), ("UnsafeCode", "clone"), zygo.brief(result))
            self.assertEqual(result["stdout"]["text"], f"-1 {errno.EPERM}\n")

    def test_may_signal_neither_its_holder_nor_anybody_else(self) -> None:
        """Between the first process of the cell and the job come the pids of the sweeper and the holder."""
        knock = ("import os\nreached = []\nfor pid in {1, 30000, 30001, *range(max(1, os.getppid() - 3), os.getpid() + 9)} - {os.getpid()}:\n"
                 "    try: os.kill(pid, 0)\n    except OSError: continue\n    reached.append(pid)\nprint(reached)\n")
        jobs: list[Job] = [{"id": str(n), "source": knock, "policy": {"profile": ("pure", "default")[n % 2]}} for n in range(4)]

        results = self.batch(jobs, *UNVERIFIED)

        self.assertTrue(was_borrowed(results["3"]))
        self.assertEqual({result["stdout"]["text"] for result in results.values()}, {"[]\n"})

    def test_begins_in_another_cell_when_the_kernel_has_ended_the_holder(self) -> None:
        hog = "left = []\nwhile True: left.append(bytearray(1 << 20))\n"
        jobs: list[Job] = []
        for turn in range(10):
            jobs.append({"id": f"hog {turn}", "source": hog, "limits": {"memory_mb": 32}})
            jobs.append({"id": f"next {turn}", "source": "print(7)"})

        results = self.batch(jobs, *ONE_CELL)

        for turn in range(10):
            self.assertEqual(results[f"hog {turn}"]["label"], "MemoryLimitExceeded")
            self.assertEqual((results[f"next {turn}"]["label"], was_borrowed(results[f"next {turn}"])), ("OK", True))

    @unittest.skipUnless(os.geteuid() == 0, "holders are killed by root")
    def test_runs_again_when_it_ended_with_its_holder(self) -> None:
        """No fault of its own, as where the kernel ends both and the counts of their cell say nothing of it."""
        with Coprocess(*ONE_CELL, "--level", self.level) as batch:
            batch.send(zygo.lines_of([{"id": "only", "source": "import time\ntime.sleep(1)\nprint(7)"}]))
            _, cell, _ = host.chain_of(batch.process.pid)
            os.kill(host.holder_of(cell), signal.SIGKILL)
            result = batch.result(30)

        self.assertEqual((result["label"], result["stdout"]["text"]), ("OK", "7\n"), zygo.brief(result))

    @unittest.skipUnless(os.geteuid() == 0, "first processes of cells are killed by root")
    def test_and_its_holder_end_with_the_first_process_of_their_cell(self) -> None:
        """Also where no pid namespace ends them."""
        stay = sleeps_under_the_name("stays", "call(157, 1, 0, 0, 0)\n")  # PR_SET_PDEATHSIG
        with Coprocess(*ONE_CELL, "--level", self.level) as batch:
            batch.send(zygo.lines_of([{"id": "stays", "source": stay}]))
            job, cell = await_job(batch, "stays")
            watched = [os.pidfd_open(pid) for pid in (host.holder_of(cell), job)]
            os.kill(cell, signal.SIGKILL)
            ended = [host.ends(pidfd) for pidfd in watched]
            result = batch.result(30)

        self.assertEqual((ended, result["label"]), ([True, True], "SandboxError"), zygo.brief(result))

    @unittest.skipUnless(os.geteuid() == 0, "only root sees the ids of other processes' holders")
    def test_begins_with_no_right_beyond_its_cell(self) -> None:
        """It has the holder's until it has confined itself; below level full a capability would be one of the host's."""
        with Coprocess(*ONE_CELL, "--level", self.level) as batch:
            batch.send(zygo.lines_of([{"id": "sleeps", "source": sleeps_under_the_name("sleeps")}]))
            job, cell = await_job(batch, "sleeps")
            first, holder, own = (host.status_of(pid) for pid in (cell, host.holder_of(cell), job))

        for rights in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb"):
            allowed = 1 << 6 | 1 << 7 | 1 << 40 if self.level == "full" and rights in ("CapEff", "CapPrm") else 0
            self.assertEqual(int(holder[rights][0], 16) & ~allowed, 0, rights)
        for ids in ("Uid", "Gid"):
            effective = own[ids][1] if self.level == "contained" else first[ids][1]
            self.assertEqual(holder[ids], [first[ids][0], effective, first[ids][2], effective])
            self.assertEqual(len(set(own[ids])), 1)
            if self.level != "minimal" and ids == "Uid":
                self.assertNotIn(own[ids][0], (holder[ids][0], holder[ids][2]))
        self.assertEqual(holder["Groups"], [])

    def test_is_to_blame_when_it_ends_itself_after_it_has_broken_its_memory(self) -> None:
        """The break moved and its area gone: that cannot be rolled back, and the cell ends."""
        move = NATIVE + ("import os\nend = call(12, 0)\ncall(12, end + (1 << 20))\nprint(call(11, (end + 4095) & ~4095, 1 << 20), flush=True)\n"
                         "os.kill(os.getpid(), 9)\n")
        look = NATIVE + "print(call(12, 0))\n"
        jobs: list[Job] = [{"id": "first", "source": look}, {"id": "breaks", "source": move}, {"id": "next", "source": look}]

        results = self.batch(jobs, *UNVERIFIED)

        self.assertEqual((results["breaks"]["label"], results["breaks"]["stdout"]["text"]), ("Signalled", "0\n"))
        self.assertLabel(results["next"], "OK")
        self.assertEqual(results["next"]["stdout"]["text"], results["first"]["stdout"]["text"])


class TheDefault(BorrowedMemory):
    def test_is_to_borrow(self) -> None:
        self.assertTrue(was_borrowed(self.batch([{"id": "plain", "source": "pass"}], "--heap", "huge")["plain"]))

    def test_gives_way_to_a_fork(self) -> None:
        self.assertFalse(was_borrowed(self.batch([{"id": "plain", "source": "pass"}], "--memory-of-jobs", "fork")["plain"]))

    @unittest.skipUnless(os.geteuid() == 0, "only root filters calls without giving up privileges")
    def test_is_a_fork_where_the_kernel_cannot_take_changes_back(self) -> None:
        """Linux before 6.10 has no mseal, nor has Docker's filter before 2025. Level full starts its jobs by clone3."""
        for level, refused in (("full", "462"), ("contained", "462"), ("minimal", "462"), ("full", "435")):
            with self.subTest(f"level {level} without {refused}"):
                command = [sys.executable, str(PROBES / "without_calls.py"), refused, str(zygo.BINARY), "batch", "-", "--level", level]
                ended = zygo.run_command(command, stdin=zygo.lines_of([{"id": "plain", "source": STARTS_A_PROCESS}]))

                (result,) = zygo.results_of(ended.out)
                self.assertEqual((result["label"], result["level"], was_borrowed(result)), ("OK", level, False), ended.stderr)
                self.assertEqual(result["stdout"]["text"], STARTS_NONE)

    def test_is_a_fork_in_a_cell_that_cannot_lend_its_memory(self) -> None:
        """Its jobs have the filter of forks, and nothing that was made for a holder."""
        jobs: list[Job] = [{"id": str(n), "source": STARTS_A_PROCESS, "policy": {"profile": ("pure", "default")[n % 2]}}
                           for n in range(4)]

        results = self.batch(jobs, "--workers", "1", "--heap", "plain")

        for result in results.values():
            self.assertEqual((result["label"], was_borrowed(result), result["stdout"]["text"]), ("OK", False, STARTS_NONE))


if __name__ == "__main__":
    unittest.main()
