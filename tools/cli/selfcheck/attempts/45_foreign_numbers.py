"""Call the kernel by foreign numbers

By: seccomp
Profile: subprocess
Ends: OK, UnsafeCode, Signalled
"""
import mmap
import signal

SEVEN = b"\xb8\x07\x00\x00\x00\xc3"
# getpid (20) through the 32-bit door; -1 for every refusal.
GETPID = b"\xb8\x14\x00\x00\x00\xcd\x80\x3d\x00\x00\x00\x00\x7d\x06\xb8\xff\xff\xff\xff\xc3\xc3"


def getpid_of_x32():
    result = LIBC.syscall(ctypes.c_long(0x40000000 | 39))
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def run(code):
    """What machine code returns, from a page of our own."""
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


def getpid_by_interrupt():
    """In a child: a machine without this door ends who knocks by SIGSEGV."""
    child = os.fork()
    if child == 0:
        os._exit(0 if run(GETPID) == -1 else 1)
    _, status = os.waitpid(child, 0)
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


if os.uname().machine == "x86_64":
    TRIAL.attempt("x32", getpid_of_x32, *REFUSED, errno.ENOSYS)
    if (answer := run(SEVEN)) != 7:
        TRIAL.unclear.append(f"machine code of our own: {answer}")
    answer = getpid_by_interrupt()
    meanings = {0: "refused", -signal.SIGSYS: "refused", -signal.SIGSEGV: "not there"}
    TRIAL.check("int 0x80", answer in meanings, meanings.get(answer, f"returned {answer}"))
else:
    TRIAL.check("machine", True, "has no second set of numbers")
TRIAL.report()
