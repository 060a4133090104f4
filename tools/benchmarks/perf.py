"""`perf record` on running processes, while it is told to: who made which system call, who took a page fault."""
import os
import re
import select
import signal
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from .system import BenchError

CALLS, FAULTS = "raw_syscalls:sys_enter", "page-faults"
HEADERS = ("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm/unistd_64.h")
LOOK_SECONDS = 0.05  # whether perf is still there, while it has not answered


class Perf:
    """On these processes and what they fork from now on. Give it an empty folder."""

    def __init__(self, pids: Sequence[int], events: Sequence[str], folder: Path):
        self._data, pipes = folder / "data", [folder / "control", folder / "ack"]
        for pipe in pipes:
            os.mkfifo(pipe)
        # Open at both ends: a perf that fails at once must not leave us waiting for the other end.
        self._control, self._ack = (os.open(pipe, os.O_RDWR | os.O_CLOEXEC) for pipe in pipes)
        command = ["perf", "record", "--quiet", "--count", "1", "--delay", "-1", "--output", str(self._data)]
        command += ["--control", "fifo:" + ",".join(map(str, pipes))]
        command += ["--event", ",".join(events), "--pid", ",".join(map(str, pids))]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def __enter__(self) -> "Perf":
        return self

    def __exit__(self, *_) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        self._process.stderr.close()
        os.close(self._control)
        os.close(self._ack)

    def tell(self, word: str) -> None:
        """`enable` or `disable`; returns when it is done."""
        os.write(self._control, word.encode() + b"\n")
        while self._process.poll() is None:
            if select.select([self._ack], [], [], LOOK_SECONDS)[0] and b"ack" in os.read(self._ack, 64):
                return
        complaint = " ".join(self._process.stderr.read().split())
        raise BenchError(f"perf record ended with status {self._process.returncode}: {complaint[:200]}")

    def seen(self) -> Counter[tuple[int, str]]:
        """How often (pid, `faults` or name of the system call). Ends the recording."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()
        command = ["perf", "script", "--input", str(self._data), "-F", "pid,event,trace"]
        script = subprocess.run(command, capture_output=True, text=True, check=False)
        if script.returncode or " lost " in script.stderr:
            raise BenchError(f"perf script: {script.stderr.strip()[-200:]}")
        names, found = _names(), Counter()
        for line in script.stdout.splitlines():
            pid, event, *rest = line.split(maxsplit=4)
            number = int(rest[1]) if event.startswith(CALLS) else None
            found[int(pid), "faults" if number is None else names.get(number, f"call {number}")] += 1
        return found


def _names() -> dict[int, str]:
    """Of the system calls; empty where the kernel's header is not installed."""
    header = next((path for path in map(Path, HEADERS) if path.is_file()), None)
    found = re.findall(r"#define __NR_(\w+) (\d+)", header.read_text()) if header else []
    return {int(number): name for name, number in found}
