"""Memory and disk where no cgroup counts: what a program does to be overlooked by the watch."""

from __future__ import annotations

import unittest

import zygo
from isolation.test_unprivileged import OrdinaryUser
from zygo import Job, Result, ZygoTestCase

# The rest of the program runs in a second thread, and the first one ends.
WITHOUT_FIRST_THREAD = """
import ctypes, threading
threading.Thread(target=hog).start()
ctypes.CDLL(None).syscall(60, 0)
"""
# Or in a thread with descriptors of its own: CLONE_VM, SIGHAND, THREAD, and VFORK, so that the first one waits.
WITH_OWN_DESCRIPTORS = """
import ctypes
if ctypes.CDLL(None).syscall(ctypes.c_long(56), ctypes.c_long(0x100 | 0x800 | 0x10000 | 0x4000), *[ctypes.c_long(0)] * 4) == 0: hog()
"""
SHARED = """
import mmap, os, time
def hog():
    held = []
    for _ in range(40):
        held.append(mmap.mmap(-1, 10 << 20))
        for at in range(0, 10 << 20, 4096): held[-1][at] = 1
    time.sleep(1)
    os._exit(0)
"""
FILES = """
import os, time
def hog():
    held = []
    for n in range(20):
        held.append(os.open("f", os.O_CREAT | os.O_RDWR)); os.unlink("f")
        for _ in range(8): os.write(held[-1], b"x" * (1 << 20))
    time.sleep(1)
    os._exit(0)
"""
TABLES = """
import ctypes, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
at = libc.mmap(None, ctypes.c_size_t(100 << 30), 1, 0x4022, -1, ctypes.c_long(0))
libc.madvise(ctypes.c_void_p(at), ctypes.c_size_t(100 << 30), 15)
for n in range(100 * 512): ctypes.string_at(at + n * (2 << 20) + 4096, 1)
time.sleep(1)
"""
LIMITS = {"memory_mb": 64, "disk_mb": 16, "wall_ms": 60_000, "cpu_ms": 20_000}
OF_MEMORY = {"shared memory without the first thread": SHARED + WITHOUT_FIRST_THREAD, "page tables": TABLES}
OF_DISK = {"files without the first thread": FILES + WITHOUT_FIRST_THREAD, "files of a thread": FILES + WITH_OWN_DESCRIPTORS}


def jobs(sources: dict[str, str]) -> list[Job]:
    return [{"id": name, "source": source, "limits": LIMITS} for name, source in sources.items()]


class Watched(ZygoTestCase):
    def assert_seen(self, results: dict[str, Result], label: str) -> None:
        for name, result in results.items():
            with self.subTest(name):
                self.assertLabel(result, label)


class ByRoot(Watched):
    def test_files_without_a_name_are_counted_whoever_has_them(self) -> None:
        for level in ("contained", "minimal"):
            with self.subTest(level):
                self.assert_seen(zygo.run_batch(jobs(OF_DISK), "--level", level), "DiskLimitExceeded")


class ByAnOrdinaryUser(OrdinaryUser, Watched):
    def test_memory_is_counted_whoever_has_it(self) -> None:
        for level in ("full", "minimal"):
            with self.subTest(level):
                ended = self.zygo("batch", "-", "--level", level, stdin=zygo.lines_of(jobs(OF_MEMORY)))
                results = zygo.by_id(zygo.results_of(ended.out))
                if "cgroup.memory" in next(iter(results.values()))["enforced"]:
                    self.skipTest("a control group counts here")
                self.assert_seen(results, "MemoryLimitExceeded")


if __name__ == "__main__":
    unittest.main()
