"""What is fastest and not safe: a reused `multiprocessing.Pool`; all programs share the workers' interpreters.

argv: workers, chunk size. Reads job lines (call mode), a blank line ends a batch; writes a line per job in order of
completion. Nothing is isolated, limited or undone: a program that loops, exits or kills takes a worker with it.
`own_us` is the CPU time of the program itself: compiling, defining, and the calls with their arrays made.
"""
import contextlib
import io
import json
import multiprocessing
import sys
import time

import numpy


def solve(line: bytes) -> bytes:
    job = json.loads(line)
    answer = {"id": job["id"], "label": "OK"}
    output, sys.stdin = io.StringIO(), io.StringIO()
    start = time.process_time_ns()
    try:
        with contextlib.redirect_stdout(output):
            value = call(job)
    except BaseException as error:
        answer["label"], answer["message"], value = type(error).__name__, str(error), None
    answer["own_us"] = (time.process_time_ns() - start) / 1000
    answer["stdout"] = output.getvalue()
    try:
        text = json.dumps({**answer, "value": [v.tolist() if hasattr(v, "tolist") else v for v in value or ()]})
    except (TypeError, ValueError, RecursionError):
        text = json.dumps({**answer, "label": "InvalidResult"})
    return text.encode() + b"\n"


def call(job: dict) -> list:
    names = {"__name__": "__main__"}
    exec(compile(job["source"], "<job>", "exec"), names)
    function = names[job["func"]]
    if job.get("array"):
        return [function(numpy.array(one, dtype=int)) for one in job["inputs"]]
    return [function(one) for one in job["inputs"]]


def batches(requests):
    lines = []
    for line in requests:
        if line != b"\n":
            lines.append(line)
            continue
        yield lines
        lines = []


def main() -> None:
    workers, chunk = map(int, sys.argv[1:])
    # A worker that is forked while we read closes its sys.stdin, and would wait for ever for the lock that we hold.
    requests, sys.stdin = sys.stdin.buffer, io.StringIO()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for lines in batches(requests):
            for answer in pool.imap_unordered(solve, lines, chunksize=chunk):
                sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
