"""What stands between a job that borrows its memory and its holder, the first process of its cell and the next job, each fence
looked at by itself: where two overlap, no job's failure shows that one is gone."""

from __future__ import annotations

import errno
import os
import signal
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

import host
import reach
import zygo
from address_space import NATIVE
from pool.test_borrowed_levels import InARestrictedPod, InDocker
from pool.test_borrowed_memory import ONE_CELL, UNVERIFIED, BorrowedMemory, was_borrowed
from zygo import Coprocess, Job, Result

DENIED = {"on_violation": "deny"}
UNHURRIED = {"cpu_ms": 20000, "wall_ms": 60000}

# Every way to name a process, tried on all that may be there: what each returned, where it was not an error. After a thousand
# refused calls a job is killed.
REACHES = NATIVE + """
import fcntl, resource, struct
others = {1, 30000, 30001, *range(os.getppid(), os.getppid() + 9), os.getpid() - 1, os.getpid() + 1} - {os.getpid()}
word, done = ctypes.create_string_buffer(256), []
def tries(name, *words):
    if call(*words) >= 0: done.append((name, *words))
at = ctypes.addressof(word)
info = ctypes.create_string_buffer(struct.pack("iiiiii", 0, 0, -1, 0, os.getpid(), os.getuid()).ljust(128, b"\\0"))
vector = ctypes.create_string_buffer(struct.pack("QQ", at, 8))
for pid in sorted(others):
    for number in (0, signal.SIGSTOP, signal.SIGKILL):
        tries("kill", 62, pid, number)
        tries("tkill", 200, pid, number)
        tries("tgkill", 234, pid, pid, number)
        tries("rt_sigqueueinfo", 129, pid, number, ctypes.addressof(info))
        tries("rt_tgsigqueueinfo", 297, pid, pid, number, ctypes.addressof(info))
    fd = call(434, pid, 0)
    if fd >= 0:
        tries("pidfd_send_signal", 424, fd, 0, 0, 0)
        tries("pidfd_getfd", 438, fd, 0, 0)
        tries("process_madvise", 440, fd, ctypes.addressof(vector), 1, 20, 0)
        tries("process_mrelease", 448, fd, 0)
        os.close(fd)
    for limit in (0, 7): tries("prlimit64", 302, pid, limit, at, 0)
    tries("setpriority", 141, 0, pid, 19)
    tries("ioprio_set", 251, 1, pid, 3 << 13)
    tries("sched_setscheduler", 144, pid, 5, at)
    tries("sched_setparam", 142, pid, at)
    tries("sched_setattr", 314, pid, at, 0)
    tries("sched_setaffinity", 203, pid, 8, at)
    tries("its group", 109, pid, pid)
    tries("ptrace", 101, 16, pid, 0, 0)
    tries("ptrace", 101, 0x4206, pid, 0, 0)
    tries("process_vm_readv", 310, pid, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)
    tries("process_vm_writev", 311, pid, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)
    tries("kcmp", 312, pid, pid, 0, 0, 0)
    tries("get_robust_list", 274, pid, at, at + 8)
    tries("move_pages", 279, pid, 1, ctypes.addressof(vector), 0, at, 0)
    tries("migrate_pages", 256, pid, 1, at, at)
    r, w = os.pipe()
    for command in (8, 10, 15): tries("fcntl", 72, r, command, pid if command == 8 else (9 if command == 10 else at))
    os.close(r), os.close(w)
    for file in ("mem", "maps", "fd/0", "cwd", "root", "environ", "oom_score_adj", "clear_refs", "limits"):
        for flags in (os.O_RDONLY, os.O_RDWR):
            try: os.close(os.open(f"/proc/{pid}/{file}", flags))
            except OSError: continue
            file in ("mem", "fd/0", "cwd", "root", "environ") and done.append(("open", pid, file, flags))
print(sorted(set(done)))
"""

# Files by which the kernel lets a process change an address space that others have, too.
WRITES_OF_ITSELF = """import os
done = []
for name in ("mem", "clear_refs", "coredump_filter", "oom_score_adj", "oom_adj", "reclaim", "timerslack_ns", "map_files", "pagemap"):
    for whose in ("self", f"self/task/{os.getpid()}", "thread-self"):
        try: os.close(os.open(f"/proc/{whose}/{name}", os.O_RDWR))
        except OSError: continue
        done.append((whose, name))
print(done)
"""

# What would go on after a job's end: a page in a pipe or a socket, a transfer of the kernel, another's write, a child.
OUTLIVES = NATIVE + """
import socket, struct
page = mmap.mmap(-1, 1 << 16)
at, done, own = ctypes.addressof(ctypes.c_char.from_buffer(page)), [], os.getpid()
vector = ctypes.create_string_buffer(struct.pack("QQ", at, 4096))
def tries(name, *words):
    if call(*words) >= 0: done.append((name, *words))
r, w = os.pipe()
for flags in (0, 1, 2, 8): tries("vmsplice", 278, w, ctypes.addressof(vector), 1, flags)
for family in (1, 2, 10, 16, 17, 38):
    for kind in (1, 2, 3):
        tries("socket", 41, family, kind, 0)
        pair = (ctypes.c_int * 2)()
        if call(53, family, kind, 0, ctypes.addressof(pair)) == 0:
            tries("SO_ZEROCOPY", 54, pair[0], 1, 60, at, 4)
tries("io_setup", 206, 8, at)
tries("io_submit", 209, 0, 1, at)
tries("io_uring_setup", 425, 8, at)
tries("io_uring_enter", 426, 0, 1, 1, 0, 0, 0)
tries("io_uring_register", 427, 0, 0, at, 1)
tries("userfaultfd", 323, 1)
tries("process_vm_writev", 311, own, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)
tries("process_vm_readv", 310, own, ctypes.addressof(vector), 1, ctypes.addressof(vector), 1, 0)
tries("memfd_secret", 447, 0)
tries("remap_file_pages", 216, at, 4096, 0, 1, 0)
tries("perf_event_open", 298, at, 0, -1, -1, 0)
tries("shmat", 30, 0, 0, 0)
tries("mseal", 462, at, 4096, 0)
tries("mbind", 237, at, 4096, 0, 0, 0, 0)
tries("modify_ldt", 154, 1, at, 16)
tries("uselib", 134, at)
for flags in (17, 0x100 | 17, 0x4000 | 0x100 | 17, 0x8000 | 17, 0x80000000 | 17): tries("clone", 56, flags, 0, 0, 0, 0)
tries("fork", 57)
tries("vfork", 58)
tries("clone3", 435, at, 88)
tries("execve", 59, at, 0, 0)
if os.getpid() != own: os._exit(0)
print(done)
"""

# Pages of the vault and of the view of the image can be read, and no call makes them writable, moves or replaces them. A hint may
# drop what the kernel reads again.
WRITES_TO_THE_VAULT = NATIVE + """
vault, done = 0x6f0000000000, []
r, w = os.pipe()
libc.read.argtypes = libc.write.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_size_t]
view = next(page for page in range(0x6e0000000000, 0x6e0020000000, 4096) if libc.write(w, page, 1) == 1)
os.read(r, 1)
for page in (vault, vault + 4096, vault + (128 << 10), view, view + 4096):
    call(28, page, 4096, 4)
    readable = libc.write(w, page, 1) == 1
    if not readable: done.append("unreadable")
    if libc.read(r, page, 1) == 1: done.append("written")
    else: os.read(r, 1)
    if call(10, page, 4096, 3) == 0: done.append("mprotect")
    if call(329, page, 4096, 3, -1) == 0: done.append("pkey_mprotect")
    if call(11, page, 4096) == 0: done.append("munmap")
    if call(25, page, 4096, 8192, 1) not in (-1, page): done.append("mremap")
    if call(9, page, 4096, 3, 0x32, -1, 0) == page: done.append("mmap")
    if call(216, page, 4096, 0, 0, 0) == 0: done.append("remap_file_pages")
print(done)
"""

# A page here and there of a large area, in more places than the holder's list has room for: it drops all of them.
LARGE_AREA = """import ctypes, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
sys.large = libc.mmap(None, ctypes.c_size_t(48 << 20), 3, 0x22, -1, ctypes.c_long(0))
"""
WRITES_EVERYWHERE = """import ctypes, sys
at = range(sys.large, sys.large + (48 << 20), 8192)
print(sum(ctypes.c_ubyte.from_address(page).value for page in at), len(at))
for page in at: ctypes.c_ubyte.from_address(page).value = 7
"""

# What a process has for itself, and would have in common with its holder if that was cloned otherwise.
CHANGES_ITSELF = """import ctypes, os, resource, signal, time
libc = ctypes.CDLL(None)
os.umask(0), os.mkdir("d"), os.chdir("d")
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
signal.setitimer(signal.ITIMER_REAL, 500)
libc.syscall(251, 1, 0, 3 << 13)
libc.prctl(29, 77777, 0, 0, 0)
libc.prctl(15, b"left", 0, 0, 0)
for limit in range(16):
    try: resource.setrlimit(limit, (1 << 20, resource.getrlimit(limit)[1]))
    except (OSError, ValueError): pass
for fd in range(3, 40): os.dup2(0, fd)
"""
LOOKS_AT_ITSELF = """import ctypes, os, resource, signal, time
libc = ctypes.CDLL(None)
name = ctypes.create_string_buffer(16)
libc.prctl(16, name, 0, 0, 0)
print(os.getcwd() == os.environ.get("HOME", os.getcwd()), os.listdir("."))
print(os.umask(0), name.value, libc.prctl(30, 0, 0, 0, 0), libc.syscall(252, 1, 0))
action, actions = ctypes.create_string_buffer(32), []
for number in range(1, 65):
    libc.syscall(13, number, 0, action, ctypes.c_size_t(8))  # the kernel's own word; Python remembers what it found
    actions.append(int.from_bytes(action.raw[:8], "little") == 1)
signal.raise_signal(0)  # to the thread that the C library takes this one for
print(actions, signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.setitimer(signal.ITIMER_REAL, 0)[0])
print([resource.getrlimit(n) for n in range(16)])
def is_open(fd):
    try: os.fstat(fd)
    except OSError: return False
    return True
print([fd for fd in range(64) if is_open(fd)], os.getpid() == libc.syscall(186))
"""

# Landlock lets a process enter sixteen domains, one in the other.
COUNTS_DOMAINS = NATIVE + """
rights = ctypes.c_uint64(1)
ruleset, entered = call(444, ctypes.addressof(rights), 8, 0), 0
while call(446, ruleset, 0) == 0: entered += 1
print(16 - entered, ctypes.get_errno())
"""


def counted_domains(result: Result) -> int:
    number, error = result["stdout"]["text"].split()
    if int(error) != errno.E2BIG:
        raise AssertionError(f"no limit was met: {zygo.brief(result)}")
    return int(number)


STAYS = NATIVE + "import time\nname = ctypes.create_string_buffer(b'stays')\ncall(157, 15, ctypes.addressof(name), 0, 0)\ntime.sleep(60)\n"  # PR_SET_NAME


def holder_that_waits(batch: Coprocess) -> int:
    """Of a cell whose job has ended, and was rolled back."""
    batch.send(zygo.lines_of([{"id": "stays", "source": STAYS}]))
    while not (found := reach.job_that_says(batch.process.pid, "", "stays")):
        time.sleep(0.01)  # /proc gives no event for a new name.
    job, cell = found
    holder = host.holder_of(cell)
    os.kill(job, signal.SIGKILL)
    batch.result(30)
    return holder


def areas_of(pid: int) -> dict[str, list[str]]:
    """The line of each area of an address space, and its flags."""
    areas, head = {}, ""
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if line.startswith("VmFlags:"):
            areas[head] = line.split()[1:]
        elif not line.split()[0].endswith(":"):
            head = line
    return areas


class AJob(BorrowedMemory):
    def printed(self, source: str, **fields: Any) -> set[str]:
        jobs: list[Job] = [{"id": f"{n}", "source": source, "limits": UNHURRIED, **fields,
                            "policy": {"profile": ("pure", "default")[n % 2], **DENIED}} for n in range(4)]

        results = self.batch(jobs, *ONE_CELL)

        for result in results.values():
            self.assertTrue(was_borrowed(result), zygo.brief(result))
            self.assertIn(result["label"], ("OK", "UnsafeCode"), zygo.brief(result))
            self.assertNotEqual(result["stdout"]["text"], "", zygo.brief(result))
        return {result["stdout"]["text"] for result in results.values()}

    def test_reaches_neither_its_holder_nor_anybody_else_by_any_call(self) -> None:
        self.assertEqual(self.printed(REACHES), {"[]\n"})

    def test_begins_nothing_that_outlives_it(self) -> None:
        self.assertEqual(self.printed(OUTLIVES), {"[]\n"})

    def test_writes_to_no_file_that_speaks_of_its_address_space(self) -> None:
        self.assertEqual(self.printed(WRITES_OF_ITSELF), {"[]\n"})

    def test_cannot_write_where_its_holder_reads_what_to_do(self) -> None:
        self.assertEqual(self.printed(WRITES_TO_THE_VAULT), {"[]\n"})

    def test_leaves_nothing_when_it_writes_in_more_places_than_can_be_listed(self) -> None:
        jobs: list[Job] = [{"id": f"{n}", "source": WRITES_EVERYWHERE, "limits": UNHURRIED} for n in range(3)]
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(LARGE_AREA)
            file.flush()
            os.chmod(file.name, 0o644)

            results = self.batch(jobs, *ONE_CELL, "--setup", file.name)

        told = {(result["label"], was_borrowed(result), result["stdout"]["text"]) for result in results.values()}
        self.assertEqual(told, {("OK", True, "0 6144\n")})

    def test_has_nothing_of_a_process_from_the_last_one(self) -> None:
        jobs: list[Job] = [{"id": f"{n}", "source": CHANGES_ITSELF if n % 2 else LOOKS_AT_ITSELF} for n in range(7)]

        results = self.batch(jobs, *ONE_CELL)

        looks = [results[f"{n}"] for n in range(0, 7, 2)]
        self.assertEqual({(look["label"], was_borrowed(look)) for look in looks}, {("OK", True)}, zygo.brief(looks[1]))
        self.assertEqual({look["stdout"]["text"] for look in looks}, {looks[0]["stdout"]["text"]})
        self.assertEqual({results[f"{n}"]["label"] for n in range(1, 7, 2)}, {"OK"}, zygo.brief(results["1"]))

    def test_is_in_the_landlock_domain_of_its_holder_where_namespaces_do_not_confine_that(self) -> None:
        jobs: list[Job] = [{"id": f"{n}", "source": COUNTS_DOMAINS} for n in range(2)]

        borrowed = self.batch(jobs, *UNVERIFIED)["1"]
        forked = self.batch(jobs, "--memory-of-jobs", "fork", "--workers", "1")["1"]

        self.assertEqual((was_borrowed(borrowed), was_borrowed(forked)), (True, False))
        self.assertEqual(counted_domains(borrowed) - counted_domains(forked), 0 if self.level == "full" else 1)

    @unittest.skipUnless(os.geteuid() == 0, "only root sees the areas of holders")
    def test_finds_every_area_sealed(self) -> None:
        with Coprocess(*ONE_CELL, "--level", self.level) as batch:
            holder = holder_that_waits(batch)
            areas = areas_of(holder)

        self.assertGreater(len(areas), 20)
        self.assertEqual([area for area, flags in areas.items() if "sl" not in flags and "[vsyscall]" not in area], [])
        (vault,) = (area for area in areas if area.startswith("6f0000000000-"))
        self.assertEqual(vault.split()[1], "r--s")
        views = [area for area in areas if area.startswith("6e")]
        self.assertGreater(len(views), 0)
        self.assertEqual({area.split()[1] for area in views}, {"r--p"})


class Verification(BorrowedMemory):
    @unittest.skipUnless(os.geteuid() == 0, "only root writes to the memory of others")
    def test_notices_a_page_that_the_rollback_has_missed(self) -> None:
        """A page that another process writes to is no fault of the job's, and so is not looked for. The cell ends with it."""
        for options, label in ((ONE_CELL, "SandboxError"), (UNVERIFIED, "OK")):
            with Coprocess(*options, "--level", self.level) as batch:
                holder = holder_that_waits(batch)
                for n in range(9):  # until a job finds all its pages
                    batch.send(zygo.lines_of([{"id": f"warms {n}", "source": "pass"}]))
                    self.assertEqual(batch.result(30)["label"], "OK")
                (stack,) = (area for area in areas_of(holder) if area.endswith("[stack]"))
                with open(f"/proc/{holder}/mem", "r+b", buffering=0) as memory:
                    memory.seek(int(stack.partition("-")[0], 16) + (1 << 16))
                    memory.write(b"left")
                watched = os.pidfd_open(holder)
                batch.send(zygo.lines_of([{"id": "next", "source": "pass"}]))
                result = batch.result(30)
                ended = host.ends(watched, patience=20 if label == "SandboxError" else 0)

            self.assertEqual((result["label"], ended), (label, label == "SandboxError"), zygo.brief(result))


class WithoutALayer(BorrowedMemory):
    def lends_without(self, layers: str) -> bool:
        jobs: list[Job] = [{"id": "plain", "source": "pass"}]
        result = self.batch(jobs, *ONE_CELL, "--without", layers, env=zygo.environment(ZYGO_TESTING="1"))["plain"]
        self.assertEqual(result["label"], "OK", zygo.brief(result))
        return was_borrowed(result)

    def test_no_memory_is_lent_where_the_layer_keeps_a_job_from_its_holder(self) -> None:
        # Within namespaces a filter and Landlock cannot be had by who may gain privileges and has given up those it had.
        own = {"full": ["uid", "nnp,caps,landlock"], "contained": ["uid", "nnp", "landlock", "caps"],
               "minimal": ["nnp", "landlock", "caps"]}[self.level]
        for layers in ("seccomp", "fds", *own):
            with self.subTest(layers):
                self.assertFalse(self.lends_without(layers))

    def test_memory_is_lent_where_the_layer_is_for_something_else(self) -> None:
        self.assertTrue(self.lends_without("rlimits"))
        if self.level == "full":
            self.assertTrue(self.lends_without("caps,landlock"))


class AJobInDocker(InDocker, AJob):
    pass


class AJobInARestrictedPod(InARestrictedPod, AJob):
    pass


class WithoutALayerInDocker(InDocker, WithoutALayer):
    pass


class WithoutALayerInARestrictedPod(InARestrictedPod, WithoutALayer):
    pass


if __name__ == "__main__":
    unittest.main()
