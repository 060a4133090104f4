"""See that host files exist, and sizes

Promised: full
By: mntns
"""
for what, look in (("stat", lambda: os.stat(FACTS["canary"]).st_size),
                   ("access", lambda: os.stat(os.path.dirname(FACTS["canary"])).st_mode),
                   ("statx, raw", lambda: raw("statx", AT_FDCWD, FACTS["canary"].encode(), 0, 0x7ff,
                                              ctypes.create_string_buffer(256)))):
    TRIAL.attempt(what, look, *REFUSED, *ABSENT)
TRIAL.report()
