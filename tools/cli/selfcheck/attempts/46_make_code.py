"""Make code of what was written"""
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
READ, WRITE, EXEC, PRIVATE, ANONYMOUS = 1, 2, 4, 2, 32
PAGE = 4096


def mapped(protection):
    page = LIBC.mmap(None, PAGE, protection, PRIVATE | ANONYMOUS, -1, 0)
    if page == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "")
    return page


def turned(page, protection):
    if LIBC.mprotect(page, PAGE, protection) < 0:
        raise OSError(ctypes.get_errno(), "")
    return "executable"


TEXT = ctypes.cast(LIBC.getpid, ctypes.c_void_p).value & -PAGE
TRIAL.attempt("writable and executable", lambda: mapped(READ | WRITE | EXEC), errno.ENOMEM, *REFUSED)
TRIAL.attempt("written, then executable", lambda: turned(mapped(READ | WRITE), READ | EXEC), *REFUSED)
TRIAL.attempt("text made writable", lambda: turned(TEXT, READ | WRITE | EXEC), *REFUSED)
TRIAL.report()
