"""Change others' limits and priorities

By: pidns, uid, seccomp
"""
NO = (*REFUSED, errno.ESRCH)
new, old = (ctypes.c_uint64 * 2)(2, 2), (ctypes.c_uint64 * 2)()
RLIMIT_CORE = 4  # harmless, should it ever get through
for what, pid in (("victim", FACTS["victim"]), ("zygo", FACTS["daemon"]), ("parent", os.getppid() or 1)):
    TRIAL.attempt(f"prlimit64 {what}", lambda pid=pid: raw("prlimit64", pid, RLIMIT_CORE, None, ctypes.byref(old)), *NO)
    TRIAL.attempt(f"setpriority {what}", lambda pid=pid: raw("setpriority", 0, pid, 1), *NO)
    TRIAL.attempt(f"scheduler {what}", lambda pid=pid: raw("sched_setscheduler", pid, 0, (ctypes.c_int * 1)(0)), *NO)
    TRIAL.attempt(f"ioprio {what}", lambda pid=pid: raw("ioprio_set", 1, pid, 0x6000), *NO)
TRIAL.report()
