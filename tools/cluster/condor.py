"""A personal pool of HTCondor on this machine, on the loopback. Debian 12 has no package, so it runs in a root of Debian 13."""
from __future__ import annotations

import os
import pwd
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .host import Command, HostLacks, Processes, TrialError, free_ports, require_packages, say, wait_until

INSIDE = ("minicondor", "python3", "python3-numpy", "procps", "libarchive13t64", "libseccomp2", "libuv1t64", "libwslay1", "libsqlite3-0", "libzstd1",
          "libssl3t64", "zlib1g", "libstdc++6")
QUANTUM = 128  # megabytes: what is asked for is rounded up to these (MODIFY_REQUEST_EXPR_REQUESTMEMORY)
SUITE = "deb http://deb.debian.org/debian trixie main"

CONFIGURATION = """\
CONDOR_HOST = 127.0.0.1
NETWORK_INTERFACE = 127.0.0.1
BIND_ALL_INTERFACES = False
ENABLE_IPV6 = False
COLLECTOR_PORT = {port}
SHARED_PORT_PORT = {port}
USE_SHARED_PORT = True
NUM_CPUS = {cpus}
MEMORY = {memory}
DAEMON_LIST = MASTER, COLLECTOR, NEGOTIATOR, SCHEDD, STARTD
NEGOTIATOR_INTERVAL = 5
SCHEDD_INTERVAL = 5
UPDATE_INTERVAL = 5
START = TRUE
BASE_CGROUP =
CGROUP_MEMORY_LIMIT_POLICY = none
ASSIGN_CPU_AFFINITY = False
"""

# In a mount namespace of its own: the cached root below a layer that goes with the trial. It becomes the root by pivot_root,
# because in a chroot the kernel refuses user namespaces, and zygo would find the level `contained` only.
ENTER = """\
set -e
mount -t overlay -o lowerdir="$1",upperdir="$2/upper",workdir="$2/below" overlay "$2/root"
cd "$2/root"
for each in proc sys dev; do mount --rbind "/$each" "$each"; done
mount -t tmpfs tmpfs run
mkdir -p "./$2" run/condor run/lock/condor var/log/condor var/lib/condor/execute var/lib/condor/spool old
mount --bind "$2" "./$2"
chown condor: run/condor run/lock/condor var/log/condor var/lib/condor/execute var/lib/condor/spool 2>/dev/null ||
  chroot . chown condor: /run/condor /run/lock/condor /var/log/condor /var/lib/condor/execute /var/lib/condor/spool
pivot_root . old
umount -l /old
exec condor_master -f
"""


@dataclass(frozen=True)
class Slots:
    count: int
    cpus: int
    memory_mb: int

    def configuration(self, port: int) -> str:
        memory = -(-self.memory_mb // QUANTUM) * QUANTUM
        return CONFIGURATION.format(port=port, cpus=self.count * self.cpus, memory=self.count * memory)


class Condor:
    """Started by start(); jobs are submitted as `user`; its processes end with `processes`."""

    name = "htcondor"
    jobs_end_within = 120  # of condor_rm: job_max_vacate_time (60 s), and what the daemons take

    def __init__(self, folder: Path, cache: Path, slots: Slots, user: pwd.struct_passwd, processes: Processes) -> None:
        self._folder, self._cache, self._slots, self._user, self._processes = folder, cache / "trixie", slots, user, processes
        self._master = 0

    def start(self) -> None:
        self._make_root()
        for name in ("upper", "below", "root"):
            (self._folder / name).mkdir()
        self._fill_layer()
        self._master = self._processes.start(
            "condor_master", ["unshare", "-m", "--propagation", "private", "sh", "-c", ENTER, "enter", self._cache, self._folder],
            {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"}).pid
        wait_until("HTCondor has a slot", self._has_slot, 90)

    def submit(self, script: Path, environment: Mapping[str, str], folder: Path) -> str:
        """The number of the cluster. HTCondor gives a job no variables of who submits."""
        told = self._inside(["condor_submit", "-terse", str(script)], folder)
        return told.split()[0].partition(".")[0]

    def is_queued(self, job: str) -> bool:
        return bool(self._inside(["condor_q", job, "-af", "ProcId"]).strip())

    def cancel(self, job: str) -> None:
        self._inside(["condor_rm", job])

    def describe(self) -> str:
        return "HTCondor " + self._inside(["condor_version"]).split()[1]

    def why_not(self) -> str:
        return self._inside(["condor_q", "-nobatch"]) + self._processes.log("condor_master")

    def clear(self) -> None:
        """The layer has files of many users; nothing outside of the trial's folder was changed."""

    def _has_slot(self) -> bool:
        self._processes.check()
        try:
            return bool(self._inside(["condor_status", "-af", "State"]).strip())
        except TrialError:
            return False

    def _make_root(self) -> None:
        require_packages(["mmdebstrap"])
        done = self._cache / "etc/zygo-packages"
        if done.is_file() and done.read_text().split() == list(INSIDE):
            return
        say("making a root of Debian 13 with HTCondor; it is kept for the next time")
        shutil.rmtree(self._cache, ignore_errors=True)
        self._cache.parent.mkdir(parents=True, exist_ok=True)
        ended = subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(INSIDE)}", "trixie",
                                str(self._cache), SUITE], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise HostLacks(f"mmdebstrap could not make a root of Debian 13: {ended.stderr[-500:]}")
        done.write_text("\n".join(INSIDE))

    def _fill_layer(self) -> None:
        upper = self._folder / "upper"
        settings = upper / "etc/condor/config.d"
        settings.mkdir(parents=True)
        port, *_ = free_ports(2)
        (settings / "99-trial").write_text(self._slots.configuration(port))
        users = (self._cache / "etc/passwd").read_text()
        if f"\n{self._user.pw_name}:" not in users:
            line = f"{self._user.pw_name}:x:{self._user.pw_uid}:{self._user.pw_gid}::/nonexistent:/bin/sh\n"
            (upper / "etc/passwd").write_text(users + line)
        self._copy_libraries(upper)

    def _copy_libraries(self, upper: Path) -> None:
        """Those of this Debian that zygo is linked with and that the next one has no more."""
        place = Path("usr/lib/x86_64-linux-gnu")
        told = subprocess.run(["ldd", self._folder / "zygo/bin/zygo"], capture_output=True, text=True, check=False).stdout
        for line in told.splitlines():
            name, _, rest = line.strip().partition(" => ")
            if rest and not (self._cache / place / name).exists():
                (upper / place).mkdir(parents=True, exist_ok=True)
                shutil.copy2(Path(rest.split()[0]).resolve(), upper / place / name)

    def for_user(self, command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Command:
        user = self._user
        return Command(["nsenter", "-t", str(self._master), "-m", "setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}",
                        "--clear-groups", "sh", "-c", 'cd "$0" && exec "$@"', str(folder), *command],
                       {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", **environment})

    def _inside(self, command: list[str], folder: Path | None = None) -> str:
        """As the user, in the root of the daemons."""
        entered = self.for_user(command, {}, folder or Path("/"))
        ended = subprocess.run(entered.argv, env=entered.environment, stdin=subprocess.DEVNULL, check=False,
                               capture_output=True, text=True, timeout=60)
        if ended.returncode:
            raise TrialError(f"{command[0]} as {self._user.pw_name}: {ended.stderr.strip() or ended.stdout.strip()}")
        return ended.stdout
