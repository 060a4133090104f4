"""A Slurm of several nodes on this machine: munged, slurmctld and a slurmd for each node, on the loopback."""
from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .host import Command, HostLacks, Processes, TrialError, free_ports, require_packages, wait_until

PACKAGES = ("slurmd", "slurmctld", "slurm-client", "munge")

CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=slurm
AuthType=auth/munge
AuthInfo=socket={folder}/munge/run/socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmctldPort={port}
SlurmctldPidFile={folder}/state/slurmctld.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmdPidFile={folder}/%n.pid
SlurmdParameters=config_overrides
{tracking}
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
ReturnToService=2
SchedulerParameters=sched_min_interval=1000,batch_sched_delay=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
NodeName=n[1-{nodes}] NodeHostname={host} NodeAddr=127.0.0.1 Port={first}-{last} CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=all Nodes=n[1-{nodes}] Default=YES MaxTime=INFINITE State=UP
"""

# All nodes believe in cores of their own, and this machine has them once: nothing holds a job to its share.
LOOSE = "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none"
STRICT = "ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup"
CGROUPS = "CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nConstrainCores=yes\nConstrainRAMSpace=yes\n"


@dataclass(frozen=True)
class Nodes:
    count: int
    cpus: int
    memory_mb: int
    constrained: bool = False


class Slurm:
    """Started by start(); jobs are submitted as `user`; its processes end with `processes`."""

    name = "slurm"
    jobs_end_within = 90  # of scancel: KillWait (30 s) between SIGTERM and SIGKILL, and what the daemons take

    def __init__(self, folder: Path, nodes: Nodes, user: pwd.struct_passwd, processes: Processes) -> None:
        self._folder, self._nodes, self._user, self._processes = folder, nodes, user, processes
        self._configuration = folder / "slurm.conf"

    def start(self) -> None:
        require_packages(PACKAGES)
        self._start_munge()
        self._write_configuration()
        environment = {**os.environ, "SLURM_CONF": str(self._configuration)}
        self._processes.start("slurmctld", ["slurmctld", "-D", "-i"], environment)
        for node in self._node_names():
            (self._folder / node).mkdir()
            self._processes.start(f"slurmd-{node}", ["slurmd", "-D", "-N", node], environment)
        wait_until("the nodes of Slurm are idle", self._is_idle, 60)

    def submit(self, script: Path, environment: Mapping[str, str], folder: Path) -> str:
        """The number of the job; the script runs with these variables beside Slurm's, in `folder`."""
        told = self._as_user(["sbatch", "--parsable", f"--chdir={folder}", str(script)], environment)
        return told.strip().partition(";")[0]

    def is_queued(self, job: str) -> bool:
        return bool(self._tell(["squeue", "-h", "-j", job]).strip())

    def cancel(self, job: str) -> None:
        self._as_user(["scancel", job], {})

    def clear(self) -> None:
        """What Slurm's daemons leave when they have ended: the control groups of the nodes, empty."""
        for node in self._node_names():
            for group in Path("/sys/fs/cgroup").glob(f"*/slurm_{node}"):
                for folder, _, _ in os.walk(group, topdown=False):
                    with contextlib.suppress(OSError):
                        os.rmdir(folder)

    def describe(self) -> str:
        return self._tell(["scontrol", "--version"]).strip()

    def why_not(self) -> str:
        """For whoever waits for the jobs in vain."""
        return self._tell(["squeue"]) + self._processes.log("slurmctld") + self._processes.log("slurmd-n1")

    def _node_names(self) -> list[str]:
        return [f"n{number}" for number in range(1, self._nodes.count + 1)]

    def _is_idle(self) -> bool:
        self._processes.check()
        asked = self._run(["sinfo", "-h", "-N", "-o", "%t"])
        return asked.stdout.split() == ["idle"] * self._nodes.count

    def _start_munge(self) -> None:
        place = self._folder / "munge"
        for name, mode in (("run", 0o755), ("log", 0o700)):
            (place / name).mkdir(parents=True)
            (place / name).chmod(mode)
            shutil.chown(place / name, "munge", "munge")
        key = place / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        shutil.chown(key, "munge", "munge")
        shutil.chown(place, "munge", "munge")
        self._processes.start("munged", [
            "munged", "--foreground", f"--key-file={key}", f"--socket={place}/run/socket", f"--pid-file={place}/run/pid",
            f"--log-file={place}/log/log", f"--seed-file={place}/log/seed"], user="munge")
        wait_until("munged answers", (place / "run/socket").exists, 10)

    def _write_configuration(self) -> None:
        nodes = self._nodes
        port, *ports = free_ports(nodes.count + 1)
        text = CONFIGURATION.format(host=socket.gethostname().partition(".")[0], folder=self._folder, port=port, nodes=nodes.count,
                                    first=ports[0], last=ports[-1], cpus=nodes.cpus, memory=nodes.memory_mb,
                                    tracking=STRICT if nodes.constrained else LOOSE)
        self._configuration.write_text(text)
        if nodes.constrained:
            if not Path("/sys/fs/cgroup/memory").is_dir():
                raise HostLacks("--constrain needs cgroup v1 below /sys/fs/cgroup")
            (self._folder / "cgroup.conf").write_text(CGROUPS)
        state = self._folder / "state"
        state.mkdir()
        shutil.chown(state, "slurm")

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, env={**os.environ, "SLURM_CONF": str(self._configuration)}, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)

    def _tell(self, command: list[str]) -> str:
        ended = self._run(command)
        return ended.stdout if ended.returncode == 0 else ""

    def for_user(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Command:
        user = self._user
        return Command(["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "sh", "-c",
                        'cd "$0" && exec "$@"', str(folder), *command], self._variables(environment))

    def _variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        return {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "SLURM_CONF": str(self._configuration), **environment}

    def _as_user(self, command: list[str], environment: Mapping[str, str]) -> str:
        user, variables = self._user, self._variables(environment)
        ended = subprocess.run(command, env=variables, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                               user=user.pw_uid, group=user.pw_gid, extra_groups=[], cwd="/", check=False)
        if ended.returncode:
            raise TrialError(f"{command[0]} as {user.pw_name}: {ended.stderr.strip()}")
        return ended.stdout
