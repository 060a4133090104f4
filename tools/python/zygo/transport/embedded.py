"""The embedded runtime: one `zygo batch` as a coprocess, jobs down its stdin and results up its stdout. No daemon, no
port; it ends when its input does, so also when this process is killed, unless children of fork still use it.

A caller writes its line itself when the pipe has room. Everything else is done by one thread, which reads results,
sends what waits, and notices the end. At most `_ahead` jobs are with the coprocess; the rest waits here.
"""

from __future__ import annotations

import collections
import functools
import itertools
import os
import select
import socket
import threading
from typing import Deque, Dict, List, Optional, Sequence, Tuple

from ..errors import NoRuntime, RuntimeLost
from .base import (JobFuture, Ticket, Transport, body_of, fail, forks, id_of, is_too_long, log, settle_line,
                   with_id)
from .coprocess import Channel, Guest, Process, when_there_is_room
from .stream import Answers, HELLO, Part

_CHUNK = 1 << 20
_AHEAD_PER_WORKER = 16  # jobs with the coprocess: enough to keep its cells busy
_MOST_AHEAD_BYTES = 128 << 20  # a few of the longest
_END_SECONDS = 5.0  # for the thread, once the coprocess has ended


class Embedded(Transport):
    """Starts its process with the first job, and again with the next one if it has died."""

    def __init__(self, workers: int) -> None:
        super().__init__()
        self._workers = workers
        self._ahead = _AHEAD_PER_WORKER * workers
        self._door: Optional[socket.socket] = None  # of a runtime that this process has by fork
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._numbers = itertools.count()
        self._process: Optional[Channel] = None
        self._thread: Optional[threading.Thread] = None
        self._waiting: Deque[Ticket] = collections.deque()
        self._sent: Dict[bytes, Ticket] = {}
        self._sent_bytes = 0
        self._outgoing: Deque[memoryview] = collections.deque()
        self._heard = False  # whether this process has answered anything
        self._forks_before = forks()
        self._left = False  # to children that go on with it

    def command(self) -> Sequence[str]:
        """What to start; asked for each time."""
        raise NotImplementedError

    @property
    def workers(self) -> int:
        return self._workers

    @property
    def pid(self) -> Optional[int]:
        """Of the coprocess; None while there is none."""
        return self._process.pid if self._process else None

    def takes_parts(self) -> bool:
        return True

    def submit(self, line: bytes, id: Optional[str] = None, parts: Sequence[Part] = ()) -> JobFuture:
        ticket = Ticket(body_of(line), JobFuture(), id, parts)
        if is_too_long(ticket):
            return ticket.future
        with self._lock:
            if self._process is None:
                self._start()
            self._waiting.append(ticket)
            self._send()
        return ticket.future

    def _start(self) -> None:
        process = self._connect()
        self._process, self._heard, self._left, self._forks_before = process, process.greeted, False, forks()
        process.write(memoryview(HELLO))

        def begin() -> threading.Thread:
            thread = threading.Thread(target=self._serve, args=(process,), name="zygo", daemon=True)
            thread.start()
            return thread

        try:
            self._thread = when_there_is_room(begin)
        except RuntimeError as error:
            self._process = None
            process.end_input()
            process.stop()
            process.close()
            raise NoRuntime(str(error)) from error

    def _connect(self) -> Channel:
        """To the runtime of the process that this one was forked from, or to one of its own."""
        if self._door is not None:
            try:
                return Guest(self._door)
            except OSError:  # it has ended, or has no room
                self._door.close()
                self._door = None
        return Process(self.command())

    # Under the lock

    def _send(self) -> None:
        """Hands over as much as there is room for. What the pipe does not take is left to the thread."""
        assert self._process
        while self._waiting and len(self._sent) < self._ahead and (
                not self._sent or self._sent_bytes + self._waiting[0].size() <= _MOST_AHEAD_BYTES):
            ticket = self._waiting.popleft()
            name = b"%d" % next(self._numbers)
            if not ticket.future.sent(functools.partial(self._take_back, self._process, name)):
                continue
            self._sent[name] = ticket
            self._sent_bytes += ticket.size()
            for piece in with_id(name, ticket):
                self._put(memoryview(piece))

    def _take_back(self, process: Channel, name: bytes) -> None:
        """Without the lock. Its result still comes, and is nobody's."""
        with self._lock:
            if self._process is process and name in self._sent:
                self._put(memoryview(b'{"cancel":"%b"}\n' % name))

    def _put(self, data: memoryview) -> None:
        assert self._process
        if not self._outgoing:
            data = data[self._process.write(data):]
        if data:
            self._outgoing.append(data)
            self._process.nudge()

    def _flush(self) -> None:
        assert self._process
        while self._outgoing:
            rest = self._outgoing[0][self._process.write(self._outgoing[0]):]
            if rest:
                self._outgoing[0] = rest
                return
            self._outgoing.popleft()

    # The thread

    def _serve(self, process: Channel) -> None:
        answers = Answers()
        poll = select.poll()
        for fd in (process.stdout, process.stderr, process.wake):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        while True:
            with self._lock:
                if self._process is not process:  # closed, or of a parent
                    return
                self._flush()
                wanted = select.POLLOUT if self._outgoing else 0
                poll.register(process.stdin, wanted | (select.POLLIN if process.stdin == process.stdout else 0))
            events = dict(poll.poll())
            if process.wake in events:
                _drain(process.wake)
            if process.stderr in events:
                process.hear()
                if events[process.stderr] & select.POLLHUP:
                    poll.unregister(process.stderr)
            if process.stdout in events and not self._read(process, answers):
                return self._ended(process)

    def _read(self, process: Channel, answers: Answers) -> bool:
        """Takes in results; False at the end of them."""
        try:
            data = os.read(process.stdout, _CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if not data:
            return False
        try:
            complete = list(answers.feed(data))
        except ValueError:
            process.stray = data
            return False
        if not complete:
            return True
        answered: List[Tuple[Ticket, bytes, Sequence[Part]]] = []
        with self._lock:
            if self._process is not process:
                return True
            for line, parts in complete:
                ticket = self._sent.pop(id_of(line), None)
                if ticket is None:
                    process.stray = line
                    break
                self._sent_bytes -= ticket.size()
                answered.append((ticket, line, parts))
            self._heard = self._heard or bool(answered)
            if process.stray is None:
                self._send()
            if not self._sent and not self._waiting:
                self._idle.notify_all()
        for ticket, line, parts in answered:
            settle_line(ticket, line, parts)
        return process.stray is None

    def _ended(self, process: Channel) -> None:
        """It is gone without having been asked. What it had fails; what still waits is for the next one, unless this
        one could not even begin."""
        process.end_input()
        if process.stray is None:
            reason = f"{process.end()}{process.last_words()}"
        else:
            process.stop()
            reason = f"zygo wrote what is no result of a job it has: {process.stray[:200]!r}"
        with self._lock:
            if self._process is not process:
                return
            lost = list(self._sent.values())
            self._sent.clear()
            self._outgoing.clear()
            self._sent_bytes = 0
            self._process = self._thread = None
            works = self._heard and process.stray is None
            error: Exception = RuntimeLost(reason) if works else NoRuntime(reason)
            process.close()
            if works and self._waiting:
                log.warning("%s; starting another one for the %d jobs that wait", reason, len(self._waiting))
                try:
                    self._start()
                    self._send()
                except Exception as why:  # nobody but us could tell those who wait
                    works, error = False, NoRuntime(f"{reason}; then {why}")
            if not works:
                lost += self._waiting
                self._waiting.clear()
            self._idle.notify_all()
        for ticket in lost:
            fail(ticket, error)

    # The end

    def close(self, wait: bool = True) -> None:
        with self._lock:
            while wait and self._process and (self._sent or self._waiting):
                self._idle.wait()
            process, self._process = self._process, None
            lost = list(self._sent.values())
            waiting = list(self._waiting)
            self._sent.clear()
            self._waiting.clear()
            self._outgoing.clear()
            self._sent_bytes = 0
        for ticket in waiting:
            ticket.future.cancel()
        for ticket in lost:
            fail(ticket, RuntimeLost("the pool was closed"))
        if process is None:
            return
        process.nudge()
        if self._thread and self._thread is not threading.current_thread():
            self._thread.join(_END_SECONDS)
        if self._forks_before != forks():  # and so there may be others who use it
            self._left = not process.leave(bool(lost))
        elif lost:
            process.end_input()
            process.stop()
        else:
            process.end_input()
            process.end()
        process.close()

    def forget(self) -> None:
        process = self._process
        if process:
            self._door = process.door
            process.disown()
        self._begin_anew()


def _drain(fd: int) -> None:
    try:
        os.read(fd, 4096)
    except OSError:
        pass
