"""The rows of the bench: what each measures, in the order in which they run."""
from collections.abc import Callable
from dataclasses import dataclass

from ..report import Section
from ..setting import Setting
from .arc import arc
from .cells import cells
from .cold import cold
from .counts import counts
from .data import data
from .deadline import deadline
from .determinism import determinism
from .drift import drift
from .languages import languages
from .latency import latency
from .memory import memory
from .mix import mix
from .packed import packed
from .peers import peers
from .reward import reward
from .router import router
from .serve import serve
from .sessions import sessions
from .tiny import tiny


@dataclass(frozen=True)
class Row:
    measure: Callable[[Setting], list[Section]]
    line: str  # what it says, for the help
    needs_limit: bool = False


ROWS = {
    "tiny": Row(tiny, "jobs a second against the limit: three small jobs, each template, one core and all", True),
    "cells": Row(cells, "1, 2 and 4 x cores of cells: tiny jobs and jobs of 5 ms, rate and latency", True),
    "latency": Row(latency, "one job at a time, back to back and after 30 ms idle gaps", True),
    "arc": Row(arc, "the ARC batch against an unsafe reused pool (rate, CPU) and `python3 -I` per program"),
    "reward": Row(reward, "32 ARC programs at once to a standing pool, over their own time; and cold"),
    "cold": Row(cold, "start of `zygo batch` to its first result against `python3 -c \"import X\"`"),
    "packed": Row(packed, "cold start on a slow disk: a Python environment file by file, and packed into one file"),
    "serve": Row(serve, "a tiny job by HTTP, on 1 and on 4 kept-alive connections, over the embedded pool"),
    "router": Row(router, "`zygo route`: jobs per second of its CPU time, what it adds to one job, join to first result"),
    "determinism": Row(determinism, "jobs that run twice to see whether they differ, against once"),
    "data": Row(data, "1 MB in and 1 MB out: stdin, stdout, text and numbers by value"),
    "memory": Row(memory, "PSS of the process tree for 1, 4, 16, 64 busy cells, and per extra cell"),
    "sessions": Row(sessions, "steps at nodes against jobs, after a time-out, 64 at once; what nodes take; other ways to keep a state"),
    "languages": Row(languages, "a small program in each installed language, in a cell and started bare; one compile each"),
    "drift": Row(drift, "100,000 jobs through one process, per tenth; memory and descriptors before and after", True),
    "mix": Row(mix, "2 % endless loops among short jobs: what becomes of the short ones"),
    "deadline": Row(deadline, "endless loops with a wall limit of 1 s: how long after their deadline they are stopped"),
    "counts": Row(counts, "system calls and page faults per job, by kind of process (perf)"),
    "peers": Row(peers, "subprocess, process pools, joblib/loky, bubblewrap: rate, CPU, what they isolate", True),
}
