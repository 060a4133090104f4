"""Be root, or another user

Promised: full, contained
By: uid, userns, caps
"""
TRIAL.check("ids", 0 not in (*os.getresuid(), *os.getresgid()), f"{os.getresuid()} {os.getresgid()}")
TRIAL.check("groups", 0 not in os.getgroups(), os.getgroups())
bound = [number for number in range(41) if LIBC.prctl(23, number, 0, 0, 0) == 1]
TRIAL.check("bounding set", not bound, bound or "empty")
NO = (*REFUSED, errno.EINVAL)  # an id that is not mapped is invalid
for other in {0, 1, 1000, 65534} - {os.getuid()}:
    TRIAL.attempt(f"setuid {other}", lambda: raw("setuid", other), *NO)
    TRIAL.attempt(f"setresuid {other}", lambda: os.setresuid(other, other, other), *NO)
    TRIAL.attempt(f"setgid {other}", lambda: os.setgid(other), *NO)
TRIAL.attempt("setgroups", lambda: os.setgroups([0]), *NO)
TRIAL.report()
