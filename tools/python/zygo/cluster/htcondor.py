"""HTCondor: the pilots are the processes of a cluster, in its sense."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional

from . import commands
from .base import Cluster, directives_of
from .commands import ClusterError

_OURS = ("arguments", "queue", "batch-name", "output", "error", "log", "transfer-input-files", "request-cpus", "request-memory",
         "should-transfer-files")
_HELD = "5"  # a JobStatus


class HTCondor(Cluster):
    """`Cluster`, by condor_submit, condor_q and condor_rm.

    directives  other commands of a submit file, which come last: {"requirements": "...", "executable": "/opt/zygo/bin/zygo"}
    disk        of each pilot (`request_disk`); 1G
    pool, schedd  the collector and the schedd to submit to (`-pool`, `-name`); this machine's
    """

    engine, program = "htcondor", "condor_submit"

    def __init__(self, n: int = 1, *, directives: Optional[Mapping[str, Any]] = None, disk: Optional[str] = None,
                 pool: Optional[str] = None, schedd: Optional[str] = None, **options: Any) -> None:
        self._directives = directives_of(directives, _OURS)
        if disk is not None:
            self._directives = {"request_disk": str(disk), **self._directives}
        self._at: List[str] = []
        for name, flag, value in (("pool", "-pool", pool), ("schedd", "-name", schedd)):
            if value is not None and (not value.isprintable() or not value or value.startswith("-") or " " in value):
                raise ValueError(f"{name}={value!r}: expected the name of a host")
            self._at += [flag, value] if value else []
        super().__init__(n, **options)
        self._id = ""
        self._check_printed()

    def _submit(self, printed: str) -> None:
        self._id = ""
        path = self._folder / "pilots.sub"
        path.write_text(printed, encoding="utf-8")
        command = ["condor_submit", "-terse", *self._at, "-batch-name", self._name]
        for name, value in self._directives.items():
            command += ["-append", f"{name} = {value}"]
        told = commands.run([*command, str(path)], folder=self._folder)
        self._id = told.strip().partition(".")[0]
        if not self._id.isdigit():
            raise ClusterError(f"condor_submit has told no number of a cluster: {commands.words(told)}")

    def _mine(self) -> str:
        return f'JobBatchName == "{self._name}"'

    def _cancel(self) -> None:
        """Where nothing matches, condor_rm fails."""
        if self._queue():
            commands.run(["condor_rm", *self._at, "-constraint", self._mine()])

    def _queue(self) -> str:
        return commands.run(["condor_q", *self._at, "-constraint", self._mine(), "-af:j", "JobStatus", "HoldReason"]).strip()

    def _can_come(self, queue: str) -> bool:
        """Held jobs wait for somebody."""
        return any((line.split() + ["", ""])[1] != _HELD for line in queue.splitlines())

    def _why(self) -> str:
        return f"{self._queue()}\n{self._logs('zygo-pilot.*.err')}"

    def _owns(self, name: str) -> bool:
        return name.startswith(f"condor-{self._id}.")
