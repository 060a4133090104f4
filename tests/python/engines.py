"""Batch engines for the tests of `zygo.cluster`: sbatch, condor_submit, kubectl, ssh and their companions, as one program under
all these names. They take what real ones take and start real pilots, as processes of this machine.

$ZYGO_ENGINE is their folder: `asked` has all that they were told, `pilots` what they have started. `mode` is what they do:
`refuse` a submission, leave it `pending`, start pilots that `die`, or only the `first`; `hold` them; `keep` what is cancelled; else run.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Dict, List, Optional, Sequence

NAMES = ("sbatch", "squeue", "scancel", "condor_submit", "condor_q", "condor_rm", "kubectl", "ssh")
WORDS = {"refuse": "Invalid account or account/partition combination", "pending": "Resources", "die": "no libraries here",
         "keep": "Unable to contact slurm controller", "hold": "Transfer input files failure"}


class Engines:
    """Of a test: a folder for PATH, and one for what they know."""

    def __init__(self, folder: Path, mode: str = "run") -> None:
        self.path, self.folder = folder / "bin", folder / "engine"
        for made in (self.path, self.folder / "pilots", self.folder / "secrets"):
            made.mkdir(parents=True)
        for name in NAMES:
            (self.path / name).write_text(f'#!/bin/sh\nexec {sys.executable} -B {__file__} {name} "$@"\n')
            (self.path / name).chmod(0o755)
        self.set_mode(mode)

    def set_mode(self, mode: str) -> None:
        (self.folder / "mode").write_text(mode)

    def environment(self) -> Dict[str, str]:
        return {"PATH": f"{self.path}:{os.environ['PATH']}", "ZYGO_ENGINE": str(self.folder)}

    def asked(self) -> str:
        told = self.folder / "asked"
        return told.read_text() if told.exists() else ""

    def pids(self) -> List[int]:
        """Of all that were ever started."""
        found = [json.loads(path.read_text())["pid"] for path in (self.folder / "pilots").iterdir()]
        return [pid for pid in found if pid]

    def queued(self) -> List[str]:
        return [known["id"] for known in Known(self.folder).waiting_or_running()]

    def secrets(self) -> List[str]:
        return os.listdir(self.folder / "secrets")


def is_alive(pid: int) -> bool:
    """A zombie is none, whoever has to reap it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Known:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mode = (folder / "mode").read_text()

    def start(self, name: str, id: str, command: List[str], log: Path, extra: Dict[str, str], cwd: Optional[Path] = None) -> None:
        pid = None
        if self.mode == "die":
            command = ["sh", "-c", f"echo '{WORDS['die']}' >&2; exit 1"]
        if self.mode not in ("pending", "hold") and not (self.mode == "first" and self.waiting_or_running(name)):
            with open(log, "wb") as file:
                pid = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=file, stderr=file, cwd=cwd,
                                       env={**os.environ, **extra}, start_new_session=True).pid
        (self.folder / "pilots" / id).write_text(json.dumps({"name": name, "id": id, "pid": pid}))

    def waiting_or_running(self, name: str = "") -> List[Dict[str, Any]]:
        known = [json.loads(path.read_text()) for path in sorted((self.folder / "pilots").iterdir())]
        return [one for one in known if name in one["name"] and (one["pid"] is None or is_alive(one["pid"]))]

    def cancel(self, name: str, ids: Sequence[str] = ()) -> None:
        """Those of this name; without one, those with these ids."""
        for one in self.waiting_or_running(name):
            if not name and one["id"] not in ids:
                continue
            if one["pid"]:
                os.kill(one["pid"], signal.SIGTERM)
            else:
                (self.folder / "pilots" / one["id"]).unlink()

    def next_number(self) -> int:
        return 4000 + len(list((self.folder / "pilots").iterdir()))


def option(arguments: List[str], name: str) -> str:
    return next(each.partition("=")[2] for each in arguments if each.startswith(name + "="))


def after(arguments: List[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def slurm(known: Known, program: str, arguments: List[str], given: str) -> None:
    name = next((option([each], "--job-name" if program == "sbatch" else "--name") for each in arguments
                 if each.startswith(("--job-name=", "--name="))), "")
    if program == "squeue":
        mark = next(each for each in arguments if each.startswith("--format="))[len("--format=%i")]
        for one in known.waiting_or_running(name):
            print(one["id"], *(("RUNNING", "None") if one["pid"] else ("PENDING", WORDS["pending"])), sep=mark)
    elif program == "scancel" and known.mode == "keep":
        sys.exit(f"scancel: {WORDS['keep']}")
    elif program == "scancel":
        known.cancel(name, arguments)
    else:
        job = known.next_number()
        script = known.folder / "script"
        script.write_text(given)
        first, last = re.search(r"^#SBATCH --array=(\d+)-(\d+)$", given, re.MULTILINE).groups()  # type: ignore[union-attr]
        for element in range(int(first), int(last) + 1):
            known.start(name, f"{job}_{element}", ["sh", str(script)], Path(f"zygo-pilot-{job}_{element}.log"),
                        {"SLURM_JOB_ID": str(job + element), "SLURM_ARRAY_JOB_ID": str(job), "SLURM_ARRAY_TASK_ID": str(element),
                         "SLURM_CPUS_PER_TASK": "1", "SLURM_MEM_PER_NODE": "4096",
                         "SLURM_JOB_END_TIME": str(int(time.time()) + 3600)})
        print(job)


def condor(known: Known, program: str, arguments: List[str], given: str) -> None:
    if program == "condor_submit":
        submit(known, arguments, given)
        return
    if program == "condor_rm" and "-constraint" not in arguments:
        known.cancel("", arguments)
        return
    name = re.search(r'JobBatchName == "(.*)"', after(arguments, "-constraint")).group(1)  # type: ignore[union-attr]
    if program == "condor_rm":
        known.cancel(name)
    for one in known.waiting_or_running(name) if program == "condor_q" else []:
        print(one["id"], f"5 {WORDS['hold']}" if known.mode == "hold" else "2 undefined" if one["pid"] else f"1 {WORDS['pending']}")


def submit(known: Known, arguments: List[str], text: str) -> None:
    said = dict(re.findall(r"^(\w+) = (.*)$", text, re.MULTILINE))
    cluster, count = known.next_number(), int(re.search(r"^queue (\d+)$", text, re.MULTILINE).group(1))  # type: ignore[union-attr]
    for process in range(count):
        scratch = known.folder / f"scratch-{cluster}.{process}"
        scratch.mkdir()
        for path in said["transfer_input_files"].split(","):
            shutil.copy(path.strip(), scratch)
        (scratch / ".job.ad").write_text(f"ClusterId = {cluster}\nProcId = {process}\nRequestCpus = 1\nRequestMemory = 4096\n")
        command = [said["executable"], *shlex.split(said["arguments"].strip('"'))]
        known.start(after(arguments, "-batch-name"), f"{cluster}.{process}", command,
                    Path(f"zygo-pilot.{cluster}.{process}.err").absolute(),
                    {"_CONDOR_JOB_AD": str(scratch / ".job.ad"), "_CONDOR_SCRATCH_DIR": str(scratch)}, scratch)
    print(f"{cluster}.0 - {cluster}.{count - 1}")


def kubectl(known: Known, arguments: List[str], given: str) -> None:
    verb = next(each for each in arguments if each in ("create", "delete", "get", "describe", "logs"))
    secrets = known.folder / "secrets"
    if verb == "create" and "secret" in arguments:
        (secrets / after(arguments, "generic")).mkdir()
        shutil.copy(option(arguments, "--from-file"), secrets / after(arguments, "generic"))
    elif verb == "create":
        deploy(known, given)
    elif verb == "delete":
        name = arguments[arguments.index("delete") + 2]
        known.cancel(name)
        if "secret" in after(arguments, "delete"):
            shutil.rmtree(secrets / name, ignore_errors=True)
    elif verb == "logs" and known.mode == "pending":
        sys.exit("container is waiting to start: ContainerCreating")
    else:
        for one in known.waiting_or_running(after(arguments, "-l").partition("=")[2]):
            print(one["id"], "Running" if one["pid"] else f"Pending Insufficient {WORDS['pending']}")


def deploy(known: Known, manifest: str) -> None:
    if known.mode == "refuse":
        sys.exit(f"kubectl: {WORDS['refuse']}")
    name = re.search(r"^  name: (\S+)$", manifest, re.MULTILINE).group(1)  # type: ignore[union-attr]
    listed = re.search(r"^          args:\n((?:            - .*\n)+)", manifest, re.MULTILINE).group(1)  # type: ignore[union-attr]
    folder = known.folder / "secrets" / re.search(r"secretName: (\S+)", manifest).group(1)  # type: ignore[union-attr]
    arguments = [json.loads(each).replace("/etc/zygo", str(folder)) for each in re.findall(r"- (.*)", listed)]
    for number in range(int(re.search(r"replicas: (\d+)", manifest).group(1))):  # type: ignore[union-attr]
        pod = f"{name}-6d4cf56db6-{number}"
        known.start(name, pod, [os.environ["ZYGO_BIN"], *arguments], known.folder / f"{pod}.log",
                    {"POD_NAME": pod, "KUBERNETES_SERVICE_HOST": "127.0.0.1", "ZYGO_REQUIRE": "minimal"})


def ssh(known: Known, arguments: List[str]) -> None:
    """The pilot is a process of a shell of the remote side: its id is known to the router alone."""
    if known.mode == "pending" and " pilot " in arguments[-1]:
        print(WORDS["pending"], file=sys.stderr, flush=True)
        os.execvp("cat", ["cat"])  # until the connection's input ends
    if known.mode == "die" and " pilot " in arguments[-1]:
        sys.exit(WORDS["die"])
    os.execvp("sh", ["sh", "-c", arguments[-1]])


def main(program: str, arguments: List[str]) -> None:
    known = Known(Path(os.environ["ZYGO_ENGINE"]))
    given = sys.stdin.read() if program == "sbatch" or "-" in arguments else ""
    text = Path(arguments[-1]).read_text() if program == "condor_submit" and not given else given
    with open(known.folder / "asked", "a", encoding="utf-8") as asked:
        asked.write(f"{shlex.join([program, *arguments])}\n{text}")
    if known.mode == "refuse" and (program in ("sbatch", "condor_submit", "ssh")):
        sys.exit(f"{program}: {WORDS['refuse']}")
    if program.startswith("s") and program != "ssh":
        slurm(known, program, arguments, given)
    elif program == "kubectl":
        kubectl(known, arguments, given)
    elif program == "ssh":
        ssh(known, arguments)
    else:
        condor(known, program, arguments, text)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
