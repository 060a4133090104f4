"""Pid 1 of a container: runs a command as its child, then writes down what that left behind in the container.

    caretaker.py COMMAND...     writes /opt/report/left.json; ends as the command did
"""

import json
import os
import subprocess
import sys
import time

REPORT = "/opt/report/left.json"
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run")
PATIENCE = 3.0


def processes():
    """Everybody but us: living ones, by name. Dead orphans are buried first."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if int(pid) != os.getpid():
            try:
                with open(f"/proc/{pid}/stat") as stat:
                    found.append(stat.read().rpartition(")")[0] + ")")
            except (FileNotFoundError, ProcessLookupError):
                pass
    return found


def read(path):
    """The lines of a file, none where a kernel or a container lacks it."""
    try:
        with open(path) as file:
            return file.read().splitlines()
    except OSError:
        return []


def files():
    """Everything below the folders that a program could leave something in."""
    return [os.path.join(place, name) for folder in FOLDERS for place, folders, names in os.walk(folder)
            for name in folders + names]


def groups():
    """Control groups below the container's own."""
    return [os.path.join(place, name) for place, folders, _ in os.walk("/sys/fs/cgroup", followlinks=False)
            for name in folders if "zygo" in name]


def state():
    return {"processes": processes(), "files": files(), "mounts": read("/proc/self/mountinfo"), "cgroups": groups(),
            "ipc": [line for kind in ("shm", "sem", "msg") for line in read(f"/proc/sysvipc/{kind}")[1:]]}


def left_since(before):
    now = state()
    return {kind: [item for item in now[kind] if item not in before[kind]] for kind in now}


def main():
    before = state()
    code = subprocess.run(sys.argv[1:], check=False).returncode
    deadline = time.monotonic() + PATIENCE
    while any((left := left_since(before)).values()) and time.monotonic() < deadline:
        time.sleep(0.02)  # Nothing tells when the last orphan is gone.
    with open(REPORT, "w") as report:
        json.dump(left, report)
    sys.exit(code if code >= 0 else 128 - code)


main()
