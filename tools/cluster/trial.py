"""A trial: a router, pilots that an engine started from what `zygo pilot --print` printed, and the ARC set over them."""
from __future__ import annotations

import contextlib
import json
import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from .host import Command, Processes, TrialError, copy_zygo, descendants, kill_all, say, wait_until

GRADER = Path(__file__).resolve().parents[1] / "graders/arc"
FOLDERS = Path("/srv")  # not /tmp: jobs of HTCondor have one of their own
WORKERS_OF_A_CORE = 2
ENDING_SECONDS = 60
SCOPES = {"pilot": "pilot", "caller": "jobs,blobs,metrics,admin"}


class Engine(Protocol):
    name: str
    jobs_end_within: float

    def start(self) -> None: ...
    def for_user(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Command: ...
    def submit(self, script: Path, environment: Mapping[str, str], folder: Path) -> str: ...
    def is_queued(self, job: str) -> bool: ...
    def cancel(self, job: str) -> None: ...
    def describe(self) -> str: ...
    def why_not(self) -> str: ...
    def clear(self) -> None: ...


@dataclass(frozen=True)
class Plan:
    zygo: Path
    user: pwd.struct_passwd
    pilots: int
    cpus: int
    memory_mb: int
    minutes: int  # until a slot ends
    limit: int | None  # of the ARC set's programs
    keep: bool
    patience: float = 60
    scale: bool = False  # pilots are started and ended by `zygo scale`


@dataclass
class Report:
    engine: str = ""
    user: str = ""
    pilots: int = 0
    seconds_to_pilots: float = 0
    grades: dict[str, Any] = field(default_factory=dict)
    differences: int = 0
    seconds_to_end: float = 0
    left: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Router:
    """`zygo route` on the loopback, with a token for pilots and one for callers in files."""

    def __init__(self, program: Path, folder: Path, pilots_of: pwd.struct_passwd, processes: Processes) -> None:
        self._token = secrets.token_hex(16)
        pilot = secrets.token_hex(16)
        self.pilot_file = self._write(folder / "pilot-token", pilot, pilots_of)
        self.caller_file = self._write(folder / "caller-token", self._token)
        tokens = {"pilot": pilot, "caller": self._token}
        lines = "".join(f"{name} {token} {SCOPES[name]}\n" for name, token in tokens.items())
        file = self._write(folder / "tokens", lines)
        process = processes.start("route", [program, "route", "--json", "--listen", "127.0.0.1:0", "--tokens", file],
                                  {**os.environ, "ZYGO_HOME": str(folder / "router-home")}, stdout=subprocess.PIPE)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise TrialError(f"zygo route did not start: {processes.log('route')}")
        (self.url,) = json.loads(line)["listening"]

    def pilots(self) -> list[Any]:
        request = urllib.request.Request(f"{self.url}/v1/pilots", headers={"Authorization": f"Bearer {self._token}"})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                told = json.load(answer)
        except (urllib.error.URLError, OSError) as error:
            raise TrialError(f"GET /v1/pilots: {error}") from None
        pilots: list[Any] = told["pilots"] if isinstance(told, dict) else told
        return pilots

    @staticmethod
    def _write(path: Path, text: str, owner: pwd.struct_passwd | None = None) -> Path:
        path.touch(mode=0o600)
        path.write_text(text)
        if owner:
            os.chown(path, owner.pw_uid, owner.pw_gid)
        return path


class Submitted:
    """Pilots that were submitted."""

    def __init__(self, engine: Engine, job: str) -> None:
        self._engine, self._job = engine, job

    def may_come(self) -> bool:
        return self._engine.is_queued(self._job)

    def end(self) -> None:
        if self.may_come():
            self._engine.cancel(self._job)
        wait_until("the engine forgets the pilots' job", lambda: not self.may_come(), self._engine.jobs_end_within)


class Scaled:
    """Pilots that a `zygo scale` has asked for."""

    def __init__(self, command: Command) -> None:
        self._process = subprocess.Popen(command.argv, env=command.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                         text=True)

    def may_come(self) -> bool:
        return self._process.poll() is None

    def end(self) -> None:
        self._process.terminate()
        _, said = self._process.communicate(timeout=ENDING_SECONDS + 60)
        if self._process.returncode:
            raise TrialError(f"zygo scale ended with {self._process.returncode}: {said.strip()[-800:]}")


class Trial:
    def __init__(self, plan: Plan, folder: Path, processes: Processes, engine: Engine) -> None:
        self._plan, self._folder, self._processes, self._engine = plan, folder, processes, engine
        self._report = Report(user=plan.user.pw_name)
        self._work = folder / "work"
        self._work.mkdir()
        os.chown(self._work, plan.user.pw_uid, plan.user.pw_gid)

    def run(self) -> Report:
        plan, report, engine = self._plan, self._report, self._engine
        program = copy_zygo(plan.zygo, self._folder / "zygo")
        router = Router(program, self._folder, plan.user, self._processes)
        engine.start()
        report.engine = engine.describe()
        say(f"{report.engine} is up; {plan.pilots} pilots go to it as {plan.user.pw_name}")
        others = set(descendants())
        pilots = self._scaled(program, router) if plan.scale else self._submitted(program, router)
        try:
            report.seconds_to_pilots = self._wait_for_pilots(router, pilots)
            report.pilots = len(router.pilots())
            say(f"{report.pilots} pilots have joined after {report.seconds_to_pilots:.1f} s")
            self._check_slots(router)
            self._grade(router)
        finally:
            self._end(pilots, others)
        if router.pilots():
            report.problems.append("the router still shows pilots that have ended")
        return report

    def _submitted(self, program: Path, router: Router) -> Submitted:
        printed = self._printed(program, router)
        return Submitted(self._engine, self._engine.submit(printed, self._environment(program), self._work))

    def _scaled(self, program: Path, router: Router) -> Scaled:
        plan = self._plan
        shutil.chown(router.caller_file, plan.user.pw_name)
        command = [program, "scale", "--engine", self._engine.name, "--url", router.url, "--token-file", router.caller_file,
                   "--pilot-token-file", router.pilot_file, "--min", plan.pilots, "--max", plan.pilots, "--every", "500ms",
                   "--ending", f"{ENDING_SECONDS}s", *self._slots()]
        return Scaled(self._engine.for_user([str(word) for word in command], self._environment(program), self._work))

    def _slots(self) -> list[str]:
        plan = self._plan
        return ["--cpus", str(plan.cpus), "--memory", f"{plan.memory_mb}M", "--slot-time", f"{plan.minutes}m"]

    def _printed(self, program: Path, router: Router) -> Path:
        command = [program, "pilot", "--print", self._engine.name, "--join", router.url, "--token-file", router.pilot_file,
                   "--pilots", self._plan.pilots, *self._slots()]
        ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
        if ended.returncode:
            raise TrialError(f"zygo pilot --print {self._engine.name}: {ended.stderr.strip()}")
        path = self._folder / "printed"
        path.write_text(ended.stdout)
        path.chmod(0o755)
        return path

    def _environment(self, program: Path) -> dict[str, str]:
        return {"PATH": f"{program.parent}:/usr/bin:/bin", "HOME": str(self._work), "ZYGO_HOME": str(self._work / "home")}

    def _wait_for_pilots(self, router: Router, started: Submitted | Scaled) -> float:
        def are_there() -> bool:
            self._processes.check()
            if not started.may_come():
                raise TrialError("the pilots ended")
            return len(router.pilots()) >= self._plan.pilots

        try:
            return wait_until(f"{self._plan.pilots} pilots join", are_there, self._plan.patience)
        except TrialError as error:
            raise TrialError(f"{error}\n{self._output()}{self._engine.why_not()}") from None

    def _output(self) -> str:
        logs = sorted(path for path in self._work.glob("zygo-pilot*") if path.is_file())
        return "".join(f"{path.name}: {path.read_text(errors='replace')[-400:]}\n" for path in logs)

    def _check_slots(self, router: Router) -> None:
        """A pilot knows who started it, offers no more than its slot has, and knows when that ends."""
        latest = time.time() + 60 * self._plan.minutes
        for pilot in router.pilots():
            told = []
            if pilot["engine"] != self._engine.name:
                told.append(f"was started by {pilot['engine']}")
            if pilot["workers"] > WORKERS_OF_A_CORE * self._plan.cpus:
                told.append(f"runs {pilot['workers']} jobs at once in a slot of {self._plan.cpus} cores")
            if pilot["until"] is None or pilot["until"] > latest:
                told.append(f"believes that its slot ends at {pilot['until']}, and it does by {latest:.0f}")
            self._report.problems += [f"pilot {pilot['name']} {each}" for each in told]

    def _grade(self, router: Router) -> None:
        limit = ["--limit", str(self._plan.limit)] if self._plan.limit else []
        whole = [] if limit else ["--expected-metrics"]
        command = [sys.executable, str(GRADER), "--url", router.url, "--token-file", str(router.caller_file), "--expected", *whole,
                   *limit, "--json", "--quiet"]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode not in (0, 1):
            raise TrialError(f"the ARC set was not graded: {ended.stderr.strip()[-800:]}")
        told = json.loads(ended.stdout)
        self._report.differences = len(told.pop("differences"))
        self._report.grades = told
        if ended.returncode:
            self._report.problems.append(f"{self._report.differences} labels differ from the expected, or the metrics do")

    def _end(self, pilots: Submitted | Scaled, others: set[int]) -> None:
        """Pilots drain, and nothing of them is left."""
        began = time.monotonic()
        pilots.end()
        self._report.seconds_to_end = time.monotonic() - began
        try:
            wait_until("the pilots' processes end", lambda: not set(descendants()) - others, 15)
        except TrialError:
            self._report.left = [f"{pid} {line}" for pid, line in descendants().items() if pid not in others]
            self._report.problems.append(f"{len(self._report.left)} processes of the pilots are left")


class Place:
    """The trial's folder and its processes: at the end there are neither."""

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self.afterwards: list[Callable[[], None]] = []  # when no process is left

    def __enter__(self) -> Place:
        self.folder = Path(tempfile.mkdtemp(prefix="zygo-cluster-", dir=FOLDERS))
        self.folder.chmod(0o755)  # The engine's users go through it.
        (self.folder / "logs").mkdir()
        self.processes = Processes(self.folder / "logs")
        return self

    def __exit__(self, *_: object) -> None:
        self.processes.end()
        if left := descendants():
            say(f"killing what is left of the engine: {', '.join(left.values())}")
            kill_all(left)
        with contextlib.suppress(ChildProcessError):  # orphans that became ours
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        for each in self.afterwards:
            each()
        if self._keep:
            say(f"kept {self.folder}")
        else:
            shutil.rmtree(self.folder, ignore_errors=True)


def text(report: Report) -> str:
    lines = [f"{report.engine}, pilots as {report.user}",
             f"  joined      {report.pilots} pilots in {report.seconds_to_pilots:.1f} s",
             f"  ARC set     {report.grades.get('jobs', '?')} jobs, {report.grades.get('rate', 0):.0f} a second, "
             f"{report.differences} labels other than expected",
             f"  ended       {report.seconds_to_end:.1f} s after they were cancelled, {len(report.left)} processes left"]
    return "\n".join([*lines, *(f"! {problem}" for problem in report.problems), *(f"!   {each}" for each in report.left)])
