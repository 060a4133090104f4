"""A job that met its wall limit while the machine was slow is judged anew, once, and its caller sees one verdict.

The machine is told to be slow: zygo runs where /proc/stat and /proc/pressure/io are files of the test, in which more time
is stolen from each CPU, and lost to disks, than goes by.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import re
import subprocess
import threading
import time
import unittest
from pathlib import Path

import zygo
from zygo import Coprocess, Job, Result, ZygoTestCase, brief

WALL_MS = 400
ASLEEP_MS = 4000  # of which beginning a program is hardly any, however slow the machine is
LOOPS = "while True: pass\n"
SLEEPS = "import time\ntime.sleep(60)\n"
WHERE_SLOW = 'mount --bind "$1/stat" /proc/stat && mount --bind "$1/io" /proc/pressure/io && shift && exec "$@"'


def job(name: str, source: str, wall_ms: int = WALL_MS) -> Job:
    return {"id": name, "source": source, "limits": {"wall_ms": wall_ms, "cpu_ms": 60_000}}


def read_from_disk(path: Path) -> bool:
    """Whether reading it has taken a disk, as the kernel counts it for this process."""
    def bytes_read() -> int:
        return int(Path("/proc/self/io").read_text().partition("\nread_bytes: ")[2].split()[0])
    before = bytes_read()
    path.read_bytes()
    return bytes_read() > before


def forget(path: Path) -> None:
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def cold_file() -> Path:
    """A file of the image that is on a disk and not in memory."""
    found = (Path(folder, name) for folder, _, names in os.walk("/usr/share") for name in sorted(names))
    for path in found:
        if path.is_file() and not path.is_symlink() and path.stat().st_size > 1 << 18:
            forget(path)
            if read_from_disk(path):
                forget(path)
                return path
    raise unittest.SkipTest("no file under /usr/share can be read from a disk")


class KeptInMemory:
    """From when somebody has read the file: there are kernels that take away within seconds what nobody uses (mincore(2), mlock(2))."""

    def __init__(self, path: Path) -> None:
        self.size = path.stat().st_size
        self.library = ctypes.CDLL(None, use_errno=True)
        self.library.mmap.restype = ctypes.c_void_p
        with open(path, "rb") as file:
            self.at = ctypes.c_void_p(self.library.mmap(None, ctypes.c_size_t(self.size), mmap.PROT_READ, mmap.MAP_SHARED, file.fileno(),
                                                        ctypes.c_long(0)))
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.work)

    def is_there(self) -> bool:
        pages = (ctypes.c_ubyte * -(-self.size // mmap.PAGESIZE))()
        if self.library.mincore(self.at, ctypes.c_size_t(self.size), pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        return all(page & 1 for page in pages)

    def work(self) -> None:
        while not self.ended.wait(0.005):
            if self.is_there():
                self.library.mlock(self.at, ctypes.c_size_t(self.size))
                return

    def __enter__(self) -> KeptInMemory:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()
        self.library.munmap(self.at, ctypes.c_size_t(self.size))


class SlowMachine:
    """Keeps the files, in which ten times as much time is lost as goes by."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.real = Path("/proc/stat").read_text()
        self.ended = threading.Event()
        self.write()
        self.thread = threading.Thread(target=self.work)

    def __enter__(self) -> SlowMachine:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self.thread.join()

    def work(self) -> None:
        while not self.ended.wait(0.005):
            self.write()

    def write(self) -> None:
        """In place, and always as long: a bind mount is of the file, and who reads it meanwhile finds a whole one."""
        lost = int(time.monotonic() * 10_000)  # milliseconds
        stat = re.sub(r"^(cpu\d+(?: \d+){7}) \d+", lambda line: f"{line[1]} {lost // 10:020}", self.real, flags=re.MULTILINE)
        for name, text in (("stat", stat), ("io", f"some avg10=0.00 avg60=0.00 avg300=0.00 total={lost * 1000:020}\n")):
            with open(os.open(self.folder / name, os.O_WRONLY | os.O_CREAT, 0o644), "w") as file:
                file.write(text)


@unittest.skipIf(os.geteuid() != 0 or not os.path.exists("/proc/pressure/io"), "files are to be mounted over those of /proc")
class ASlowMachine(ZygoTestCase):
    def results(self, *jobs: Job, workers: int = 1) -> dict[str, Result]:
        with SlowMachine(self.folder()) as machine:
            process = subprocess.Popen(["unshare", "--mount", "sh", "-ec", WHERE_SLOW, "sh", str(machine.folder), str(zygo.BINARY), "batch", "-",
                                        "--quiet", "--workers", str(workers)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, bufsize=0, env=zygo.environment())
            with Coprocess(process=process) as batch:
                batch.send(zygo.lines_of(jobs))
                batch.stdin.close()
                results = zygo.by_id(batch.result() for _ in jobs)
                self.assertEqual(batch.line(), b"")
                return results

    def test_has_a_job_judged_anew_that_was_late_and_tells_one_verdict(self) -> None:
        result = self.results(job("loops", LOOPS))["loops"]

        self.assertEqual((result["label"], result["usage"].get("reruns")), ("TimeoutException", 1), brief(result))
        self.assertEqual((result["detail"]["slowed_by"], result["detail"]["contended"]), ("stolen time", True))
        self.assertGreater(result["usage"]["rerun_cpu_us"], 0)
        self.assertGreaterEqual(result["detail"]["measured_ms"], WALL_MS)

    def test_has_a_job_judged_anew_that_read_a_disk_and_was_late(self) -> None:
        """The second run finds the file in memory."""
        path = cold_file()
        source = f"import time\nopen({str(path)!r}, 'rb').read()\ntime.sleep(60)\n"

        with KeptInMemory(path):
            result = self.results(job("reads", source, ASLEEP_MS))["reads"]

        self.assertEqual((result["label"], result["usage"].get("reruns")), ("TimeoutException", 1), brief(result))
        self.assertNotIn("slowed_by", result["detail"])

    def test_has_no_more_than_one_job_in_a_hundred_judged_anew(self) -> None:
        results = self.results(*(job(f"loops {n}", LOOPS) for n in range(3)))

        self.assertEqual(sum(result["usage"].get("reruns", 0) for result in results.values()), 1)
        for result in results.values():
            self.assertEqual((result["label"], result["detail"]["contended"]), ("TimeoutException", True), brief(result))

    def test_did_not_slow_a_job_that_slept(self) -> None:
        result = self.results(job("sleeps", SLEEPS, ASLEEP_MS))["sleeps"]

        detail = {name: value for name, value in result["detail"].items() if name not in ("measured_ms", "waited_ms")}
        self.assertEqual(detail, {"limit": "wall", "limit_ms": ASLEEP_MS, "contended": False})
        self.assertNotIn("reruns", result["usage"])


if __name__ == "__main__":
    unittest.main()
