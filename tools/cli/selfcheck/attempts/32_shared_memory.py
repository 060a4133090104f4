"""Use System V objects of the host

By: ipcns, seccomp
"""
NO = (*REFUSED, errno.ENOENT)
key = FACTS["key"]
TRIAL.attempt("shmget, by key", lambda: raw("shmget", key, 0, 0), *NO)
TRIAL.attempt("shmat, by id", lambda: raw("shmat", FACTS["segment"], 0, 0o10000), *REFUSED, errno.EINVAL)
TRIAL.attempt("semget, by key", lambda: raw("semget", key, 0, 0), *NO)
TRIAL.attempt("msgget, by key", lambda: raw("msgget", key, 0, 0), *NO)
TRIAL.report()
