"""Use risky kernel interfaces

By: seccomp
"""
NO = (*REFUSED, errno.ENOSYS)
zeros = ctypes.create_string_buffer(256)
CALLS = {"keyctl": (0, -3, 1), "add_key": (b"user", b"zygo", b"1", 1, -3), "bpf": (0, zeros, 64),
         "io_uring_setup": (4, zeros), "userfaultfd": (1,), "perf_event_open": (zeros, 0, -1, -1, 0),
         "init_module": (zeros, 0, b""), "kexec_load": (0, 0, None, 0), "quotactl": (0, None, 0, None),
         "swapon": (b"none", 0), "syslog": (3, zeros, 255), "vmsplice": (1, None, 0, 0), "memfd_secret": (0,),
         "name_to_handle_at": (AT_FDCWD, b"/", zeros, zeros, 0), "open_by_handle_at": (AT_FDCWD, zeros, 0),
         "fanotify_init": (0, 0), "seccomp": (1, 8, None), "acct": (None,), "sethostname": (b"escaped", 7),
         "settimeofday": (None, zeros)}
for name, arguments in CALLS.items():
    TRIAL.attempt(name, lambda: raw(name, *arguments), *NO)
TRIAL.attempt("terminal input", lambda: raw("ioctl", 0, 0x5412, zeros), *REFUSED)
TRIAL.report()
