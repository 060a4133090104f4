"""Runs the suites of tools/vm-test inside the machine: as root, then as an ordinary user in a delegated subtree.

Lines that begin with `@vm ` are for whoever watches the console; everything else goes to a log per suite, and the logs,
as a tar, to the third disk. `inside.py --suite NAME` is one suite, in a process that already is who it shall be.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import unittest
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

HERE = Path(__file__).resolve().parent
BIN = HERE / "build/bin"
TOP = Path("/sys/fs/cgroup")
LOGS = Path("/run/vm-logs")
USER = 1000
LEAF = "tests"
WITH_SYSTEMD = "ZYGO_VM_SYSTEMD"
CONTROLLERS = {"cgroup.memory", "cgroup.pids", "cgroup.cpu"}


@dataclass
class Outcome:
    """Of one suite, as one of the two."""

    who: str
    suite: str
    passed: int = 0
    failed: int = 0
    skipped: list[str] = field(default_factory=list)
    seconds: float = 0
    note: str = ""

    @property
    def good(self) -> bool:
        return self.failed == 0 and self.passed > 0


def say(text: str) -> None:
    print(f"@vm {text}", flush=True)


# --- one suite -------------------------------------------------------------------------------------------------------


def run_behaviour(name: str) -> dict[str, object]:
    sys.path.insert(0, str(HERE / "tests/behaviour"))
    tests = unittest.defaultTestLoader.loadTestsFromName(name)
    result = unittest.TextTestRunner(verbosity=2).run(tests)
    failed = len({test.id().split(" ")[0] for test, _ in (*result.failures, *result.errors)})
    skipped = [f"{test.id().rpartition('.')[2]}: {why}" for test, why in result.skipped]
    return {"passed": result.testsRun - failed - len(result.skipped), "failed": failed, "skipped": skipped}


def run_units(tags: str) -> dict[str, object]:
    ended = subprocess.run([BIN / "zygo_unit_tests", tags, "--reporter", "xml"], capture_output=True, text=True,
                           timeout=600, check=False)
    print(ended.stdout, ended.stderr)
    passed, failed, skipped = 0, 0, []
    for case in ElementTree.fromstring(ended.stdout).iter("TestCase"):
        overall = case.find("OverallResult")
        warnings = [str(warning.text).strip() for warning in case.iter("Warning")]
        if overall is None or overall.get("success") != "true":
            failed += 1
        elif any("SKIPPED" in warning for warning in warnings):
            skipped.append(f"{case.get('name')}: {'; '.join(warnings)}")
        else:
            passed += 1
    return {"passed": passed, "failed": failed or int(ended.returncode != 0), "skipped": skipped}


def run_doctor() -> dict[str, object]:
    """The front door names the three controllers, and a job that insists on them gets them."""
    seen = subprocess.run([BIN / "zygo", "doctor", "--json"], capture_output=True, text=True, timeout=600, check=False)
    print(subprocess.run([BIN / "zygo", "doctor"], capture_output=True, text=True, timeout=600, check=False).stdout)
    layers = json.loads(seen.stdout)["layers"]
    absent = sorted(name for name in CONTROLLERS if not layers[name].get("available", layers[name].get("ok")))
    required = ["full", *sorted(CONTROLLERS)]
    job = {"id": "only", "source": "print(1)", "policy": {"require": required}}
    ended = subprocess.run([BIN / "zygo", "batch", "-"], input=json.dumps(job) + "\n", capture_output=True, text=True,
                           timeout=600, check=False)
    print(ended.stdout, ended.stderr)
    label = json.loads(ended.stdout)["label"] if ended.stdout else "none"
    print("absent:", absent, "label:", label)
    return {"passed": (not absent) + (label == "OK"), "failed": bool(absent) + (label != "OK"), "skipped": []}


def run_alone() -> dict[str, object]:
    """zygo as the only process of its group: it must move to a leaf, and back, to hand controllers down."""
    own = own_group()
    alone = own.parent / f"alone-{os.getpid()}"
    alone.mkdir()
    job = {"id": "only", "source": "x = bytearray(64 << 20)",
           "limits": {"memory_mb": 32, "cpu_ms": 60000, "wall_ms": 300000},
           "policy": {"require": sorted(CONTROLLERS)}}
    try:
        ended = subprocess.run([BIN / "zygo", "batch", "-"], input=json.dumps(job) + "\n", capture_output=True,
                               text=True, timeout=600, check=False, preexec_fn=lambda: enter(alone))
        left = sorted(path.name for path in alone.iterdir() if path.is_dir())
        lent = (alone / "cgroup.subtree_control").read_text().strip()
    finally:
        alone.rmdir()
    print(ended.stdout, ended.stderr, "left:", left, "lent:", lent)
    label = json.loads(ended.stdout)["label"] if ended.stdout else "none"
    good = [label == "MemoryLimitExceeded", not left, not lent]
    return {"passed": sum(good), "failed": len(good) - sum(good), "skipped": []}


SUITES = {
    "cgroup_kernel": lambda: run_units("[cgroup]"),
    "notify_kernel": lambda: run_units("[notify]"),
    "doctor": run_doctor,
    "alone_in_its_group": run_alone,
    "test_cell_limits": lambda: run_behaviour("limits.test_cell_limits"),
    "test_programs": lambda: run_behaviour("judging.test_programs"),
    "test_isolation": lambda: run_behaviour("isolation.test_isolation"),
    "test_layers": lambda: run_behaviour("isolation.test_layers"),
    "test_core_scheduling": lambda: run_behaviour("isolation.test_core_scheduling"),
}


# --- who runs it -----------------------------------------------------------------------------------------------------


def enter(group: Path) -> None:
    (group / "cgroup.procs").write_text("0")


def own_group() -> Path:
    return TOP / Path("/proc/self/cgroup").read_text().strip().removeprefix("0::").lstrip("/")


def delegate(group: Path) -> None:
    """As cgroups(7) says: the directory, and the files that the kernel lists for it. The tests live in a leaf, because
    nobody may stay in a group that gives controllers to its children."""
    files = Path("/sys/kernel/cgroup/delegate").read_text().split()
    for folder in (group, group / LEAF):
        folder.mkdir()
        for path in (folder, *(folder / name for name in files if (folder / name).exists())):
            os.chown(path, USER, USER)


def become_user(group: Path) -> None:
    enter(group / LEAF)
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)


def command_of(who: str, suite: str) -> tuple[list[str], object]:
    command = ["/usr/bin/python3", "-B", str(Path(__file__).resolve()), "--suite", suite]
    if WITH_SYSTEMD in os.environ and who == "user":
        bus = f"/run/user/{USER}"
        wrap = ["runuser", "-u", "tester", "--", "env", f"XDG_RUNTIME_DIR={bus}", "HOME=/home/tester",
                f"DBUS_SESSION_BUS_ADDRESS=unix:path={bus}/bus", "systemd-run", "--user", "--scope", "-q", "-p",
                "Delegate=yes", "--"]
        return [*wrap, *command], None
    return command, (lambda: become_user(TOP / "delegated")) if who == "user" else None


def prepare(who: str) -> None:
    if WITH_SYSTEMD in os.environ:
        bus = Path(f"/run/user/{USER}/bus")
        deadline = time.monotonic() + 300
        while who == "user" and not bus.exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"no {bus}: the user's manager did not come up")
            time.sleep(0.5)  # The socket belongs to another process; this is a test's set-up, once.
        return
    (TOP / "cgroup.subtree_control").write_text("+cpu +memory +pids")
    if who == "user":
        delegate(TOP / "delegated")


def run_one(who: str, suite: str, patience: str) -> Outcome:
    log = LOGS / f"{who}-{suite}.log"
    outcome = Outcome(who, suite)
    began = time.monotonic()
    say(f"{who}: {suite} ...")
    command, before = command_of(who, suite)
    home = "/home/tester" if who == "user" else "/root"
    environment = {**os.environ, "HOME": home, "ZYGO_BIN": str(BIN / "zygo"), "ZYGO_TEST_PATIENCE": patience,
                   "OUTCOME": str(LOGS / f"{who}-{suite}.json")}
    with log.open("wb") as output:
        try:
            subprocess.run(command, env=environment, stdout=output, stderr=output, timeout=1800, check=False,
                           preexec_fn=before, cwd="/tmp")
            seen = json.loads(Path(environment["OUTCOME"]).read_text())
            outcome.passed, outcome.failed, outcome.skipped = seen["passed"], seen["failed"], seen["skipped"]
        except (OSError, subprocess.SubprocessError, ValueError) as problem:
            outcome.failed, outcome.note = 1, f"{type(problem).__name__}: {problem}"
    outcome.seconds = time.monotonic() - began
    if not outcome.good:
        # For the console's log, should the machine not live to write its disk.
        print(log.read_text(errors="replace")[-20000:], flush=True)
        log.rename(log.with_suffix(".failed.log"))
    return outcome


def leftovers() -> list[str]:
    """Groups of zygo's that outlived every suite."""
    return sorted(str(path) for path in TOP.rglob("zygo-*") if path.is_dir())


def table(outcomes: list[Outcome]) -> list[str]:
    lines = [f"{'as':5} {'suite':20} {'passed':>6} {'failed':>6} {'skipped':>7} {'seconds':>8}"]
    for each in outcomes:
        lines.append(f"{each.who:5} {each.suite:20} {each.passed:6} {each.failed:6} {len(each.skipped):7} "
                     f"{each.seconds:8.1f}  {'' if each.good else 'FAILED ' + each.note}")
    for each in outcomes:
        lines += [f"skipped, as {each.who}: {each.suite}: {why}" for why in each.skipped]
    return lines


def arguments() -> dict[str, str]:
    found = re.search(r"vm_arguments=(\S*)", Path("/proc/cmdline").read_text())
    return dict(part.split("=", 1) for part in (found[1] if found else "").split(";") if "=" in part)


def run_all() -> bool:
    wanted = arguments()
    only = [name for name in wanted.get("only", "").split(",") if name] or list(SUITES)
    if unknown := sorted(set(only) - set(SUITES)):
        say(f"no such suite: {', '.join(unknown)}; there are: {', '.join(SUITES)}")
        return False
    say(f"up after {Path('/proc/uptime').read_text().split()[0]} s; controllers: "
        f"{(TOP / 'cgroup.controllers').read_text().strip()}")
    outcomes = []
    for who in wanted.get("as", "root,user").split(","):
        prepare(who)
        for suite in only:
            if suite == "alone_in_its_group" and who == "root" and WITH_SYSTEMD not in os.environ:
                continue  # at the root of the hierarchy nobody needs a leaf
            outcomes.append(run_one(who, suite, wanted.get("patience", "20")))
            say(table(outcomes[-1:])[1])
    for line in table(outcomes):
        say(line)
    if left := leftovers():
        say(f"left behind: {', '.join(left)}")
    return not left and all(each.good for each in outcomes)


def main() -> None:
    if sys.argv[1:] == ["--list"]:
        print(*SUITES, sep="\n")
        return
    if sys.argv[1:2] == ["--suite"]:
        outcome = SUITES[sys.argv[2]]()
        Path(os.environ["OUTCOME"]).write_text(json.dumps(outcome))
        return
    LOGS.mkdir(mode=0o1777, exist_ok=True)
    LOGS.chmod(0o1777)
    good = False
    try:
        good = run_all()
    except Exception as problem:  # whatever it was, the console and the disk must hear of it
        say(f"broken: {type(problem).__name__}: {problem}")
    (LOGS / "verdict").write_text("passed" if good else "failed")
    say("passed" if good else "FAILED")
    subprocess.run(["tar", "-cf", "/dev/vdc", "-C", str(LOGS), "."], check=False)
    os.sync()


if __name__ == "__main__":
    main()
