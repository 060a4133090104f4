"""The two ways to an embedded runtime: as the process that started it, and as a child of fork, by a socket of its own. A
runtime is started with one end of a socket, the door, whose other end children inherit. Such a child sends a socket
through the door and has a stream of its own there, which nobody else reads; a child that changes its uid has no entry.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import time
from typing import Callable, List, Optional, Sequence, TypeVar

from ..errors import NoRuntime
from .base import log

_CHUNK = 1 << 20
_END_SECONDS = 5.0  # for the coprocess to end once its input has
_STOP_SECONDS = 2.0  # where jobs are given up; zygo itself needs less than one
_LAST_WORDS = 4000
_ROOM_SECONDS = 60.0  # for a process or a thread, as zygo itself waits
_GREETING_SECONDS = 10.0  # a runtime that has stopped does not greet

T = TypeVar("T")


def when_there_is_room(start: Callable[[], T]) -> T:
    """A process or a thread, which a crowded machine may refuse for a while."""
    deadline = time.monotonic() + _ROOM_SECONDS
    while True:
        try:
            return start()
        except (OSError, RuntimeError) as error:  # the latter is a thread's
            crowded = isinstance(error, RuntimeError) or error.errno in (errno.EAGAIN, errno.ENOMEM)
            if not crowded or time.monotonic() >= deadline:
                raise
        time.sleep(0.05)


class Channel:
    """Descriptors to a runtime and from it, and the one that wakes who waits for them. Not thread-safe."""

    pid: int  # of the runtime
    greeted = False  # it has shown that it works

    def __init__(self, stdin: int, stdout: int, stderr: int, door: socket.socket) -> None:
        """`stderr` may be -1."""
        self.stdin, self.stdout, self.stderr, self.door = stdin, stdout, stderr, door
        self.wake, self._waker = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        for fd in (stdin, stdout, stderr):
            if fd >= 0:
                os.set_blocking(fd, False)
        self.said = b""
        self.stray: Optional[bytes] = None  # what it wrote and nobody asked for

    def write(self, data: memoryview) -> int:
        try:
            return os.write(self.stdin, data)
        except BlockingIOError:
            return 0
        except OSError:  # it has ended, and the reader will see that
            return len(data)

    def nudge(self) -> None:
        try:
            os.write(self._waker, b"x")
        except OSError:  # full, and so it is awake
            pass

    def hear(self) -> None:
        """What it says on stderr: logged by lines, the last of it kept for an error's message."""
        if self.stderr < 0:
            return
        try:
            data = os.read(self.stderr, 1 << 16)
        except OSError:
            return
        self.said = (self.said + data)[-_LAST_WORDS:]
        for line in data.decode(errors="replace").splitlines():
            if line.strip():
                log.info("%s", line)

    def last_words(self) -> str:
        self.hear()
        words = self.said.decode(errors="replace").strip()
        return f": {words[-600:]}" if words else ""

    def end_input(self) -> None:
        """There are no more jobs."""
        raise NotImplementedError

    def end(self) -> str:
        """Waits for the end of a runtime whose input has ended, and then insists. Says what has ended, and how."""
        raise NotImplementedError

    def stop(self) -> None:
        """Gives up the jobs under way."""
        raise NotImplementedError

    def leave(self, give_up: bool) -> bool:
        """Ends our part of a runtime that others may use, with the jobs that it has of ours. False: it goes on."""
        raise NotImplementedError

    def close(self) -> None:
        """Every descriptor; the process itself is not waited for."""
        for fd in (self.wake, self._waker):
            os.close(fd)

    def disown(self) -> None:
        """In a child of fork: it is not ours to end or to wait for. The door stays open."""
        self.close()


_left: List[subprocess.Popen[bytes]] = []  # runtimes of ours that go on for others; to be waited for some time


class Process(Channel):
    """A runtime of this process's own."""

    def __init__(self, command: Sequence[str]) -> None:
        _left[:] = [popen for popen in _left if popen.poll() is None]
        door, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                # A session of its own: Ctrl-C at the terminal is for the caller, who may go on.
                self.popen = when_there_is_room(lambda: subprocess.Popen(
                    [*command, "--share", str(theirs.fileno())], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE, bufsize=0, start_new_session=True, pass_fds=(theirs.fileno(),)))
        except OSError as error:
            door.close()
            raise NoRuntime(f"{command[0]}: {error.strerror}") from error
        assert self.popen.stdin and self.popen.stdout and self.popen.stderr
        super().__init__(self.popen.stdin.fileno(), self.popen.stdout.fileno(), self.popen.stderr.fileno(), door)
        self.pid = self.popen.pid
        for fd in (self.stdin, self.stdout):
            try:
                fcntl.fcntl(fd, 1031, _CHUNK)  # F_SETPIPE_SZ; an unprivileged user may be out of pipe memory
            except OSError:
                pass

    def end_input(self) -> None:
        if self.popen.stdin:
            self.popen.stdin.close()

    def close(self) -> None:
        self.door.close()
        self._close_all_but_the_door()

    def _close_all_but_the_door(self) -> None:
        for stream in (self.popen.stdin, self.popen.stdout, self.popen.stderr):
            if stream:
                try:
                    stream.close()
                except OSError:
                    pass
        super().close()

    def end(self) -> str:
        return f"zygo ended with status {self._wait(_END_SECONDS, signal.SIGTERM, signal.SIGKILL)}"

    def stop(self) -> None:
        self.popen.terminate()
        self._wait(_STOP_SECONDS, signal.SIGKILL)

    def leave(self, give_up: bool) -> bool:
        if give_up and self.popen.stdout:
            self.popen.stdout.close()  # nobody reads, so it takes our jobs back, and those of nobody else
        self.end_input()
        if self._has_other_users():
            _left.append(self.popen)
            return False
        self.end()
        return True

    def _has_other_users(self) -> bool:
        """By its last line for us. We have heard all when its stderr ends, which it closes even where it goes on."""
        deadline, last = time.monotonic() + _END_SECONDS, b""
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.stderr], [], [], left)[0]:
                return False
            try:
                data = os.read(self.stderr, 1 << 16)
            except OSError:
                return False
            if not data:
                return last.rpartition(b"\n")[2].startswith(b'{"users":')
            last = (last + data).rstrip(b"\n")[-200:]

    def disown(self) -> None:
        self._close_all_but_the_door()
        self.popen.returncode = 0

    def _wait(self, patience: float, *numbers: int) -> int:
        try:
            for number in numbers:
                try:
                    return self.popen.wait(patience)
                except subprocess.TimeoutExpired:
                    self.popen.send_signal(number)
            return self.popen.wait()
        except KeyboardInterrupt:  # who waits has no patience left
            self.popen.kill()
            self.popen.wait()
            raise


class Guest(Channel):
    """A stream of its own to the runtime of another process, whose door this one inherited. OSError: there is none any
    more, or not for us."""

    greeted = True

    def __init__(self, door: socket.socket) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs:
                socket.send_fds(door, [b"in"], [theirs.fileno()], socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            self.pid = self._greeting()
            super().__init__(self._socket.fileno(), self._socket.fileno(), -1, door)
        except (OSError, ValueError, KeyError) as error:
            self._socket.close()
            raise ConnectionError(f"the runtime lets nobody in: {error}") from error

    def _greeting(self) -> int:
        """The runtime's pid. Byte by byte: nothing else may be read yet."""
        self._socket.settimeout(_GREETING_SECONDS)
        line = b""
        while not line.endswith(b"\n"):
            byte = self._socket.recv(1)
            if not byte or len(line) > 100:
                raise ConnectionError("no greeting")
            line += byte
        return int(json.loads(line)["pid"])

    def end_input(self) -> None:
        try:
            self._socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def end(self) -> str:
        return "the runtime, which another process had started, has ended"

    def stop(self) -> None:
        """What closes its socket takes its jobs back."""

    def leave(self, give_up: bool) -> bool:
        return True  # its end is the business of whoever started it

    def close(self) -> None:
        super().close()
        self._socket.close()
