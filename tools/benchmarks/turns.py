"""One turn of a measurement in which sides alternate."""
import time

from .coprocess import LineServer, Run
from .setting import SETTLE_SECONDS
from .system import cpu_seconds


def turn(server: LineServer, payload: bytes, count: int) -> Run:
    """All lines at once, all answers; what the side before still had to do is over by then."""
    time.sleep(SETTLE_SECONDS)
    return server.run(payload, count)


def turn_with_cpu(server: LineServer, payload: bytes, count: int) -> tuple[Run, float]:
    """The same, and the CPU seconds of the server's process tree, with what it does after the last answer."""
    time.sleep(SETTLE_SECONDS)
    before = cpu_seconds(server.pid)
    run = server.run(payload, count)
    time.sleep(SETTLE_SECONDS)
    return run, cpu_seconds(server.pid) - before
