"""Find processes of the host

Promised: full
By: pidns, mntns
"""
# Where zygo is pid 1 of a container, that number means the cell's own pid 1 in here.
zygo = [("zygo", FACTS["daemon"])] if FACTS["daemon"] != 1 else []
for what, pid in (*zygo, ("another process", FACTS["victim"])):
    TRIAL.attempt(f"signal 0 to {what}", lambda pid=pid: os.kill(pid, 0), errno.ESRCH)
    TRIAL.attempt(f"its group's id ({what})", lambda pid=pid: os.getpgid(pid), errno.ESRCH)
    TRIAL.attempt(f"pidfd_open ({what})", lambda pid=pid: raw("pidfd_open", pid, 0), errno.ESRCH)
others = []
for pid in range(2, 4096):
    try:
        others += [pid] if os.kill(pid, 0) is None and pid != os.getpid() else []
    except ProcessLookupError:
        pass
    except PermissionError:
        others.append(pid)
TRIAL.check("pids 2 to 4095", not others, f"{len(others)} others")
TRIAL.report()
