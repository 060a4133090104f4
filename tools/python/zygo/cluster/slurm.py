"""Slurm: the pilots are a job array."""

from __future__ import annotations

import os
from typing import Any, Mapping, Optional

from . import commands
from .base import Cluster, directives_of
from .commands import ClusterError

_OURS = ("array", "job-name", "parsable", "wrap", "chdir", "output", "open-mode", "signal", "ntasks", "nodes", "cpus-per-task",
         "mem", "wait", "test-only")


class Slurm(Cluster):
    """`Cluster`, by sbatch, squeue and scancel.

    directives  other options of sbatch: {"partition": "short", "account": "lab"}
    folder      on a disk that nodes share; the working directory
    """

    engine, program = "slurm", "sbatch"

    def __init__(self, n: int = 1, *, directives: Optional[Mapping[str, Any]] = None, folder: Optional[str] = None,
                 **options: Any) -> None:
        self._directives = directives_of(directives, _OURS)
        super().__init__(n, folder=folder or os.getcwd(), **options)
        self._job = ""
        self._check_printed()

    def _submit(self, printed: str) -> None:
        """The name is this object's alone, so that jobs are found even if sbatch was interrupted."""
        self._job = ""
        command = ["sbatch", "--parsable", f"--job-name={self._name}"]
        command += [f"--{name.replace('_', '-')}={value}" for name, value in self._directives.items()]
        told = commands.run(command, folder=self._folder, given=printed.encode())
        job = told.strip().partition(";")[0]
        if not job.isdigit():
            raise ClusterError(f"sbatch has told no number of a job: {commands.words(told)}")
        self._job = job

    def _cancel(self) -> None:
        commands.run(["scancel", f"--name={self._name}"])

    def _queue(self) -> str:
        return commands.run(["squeue", "--noheader", "--array", f"--name={self._name}", "--format=%i %T %r"]).strip()

    def _why(self) -> str:
        return f"{self._queue()}\n{self._logs('*.log')}"

    def _logs(self, pattern: str) -> str:
        return super()._logs(f"zygo-pilot-{pattern}")

    def _owns(self, name: str) -> bool:
        return name.startswith(f"slurm-{self._job}_")
