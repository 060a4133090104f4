"""Call the kernel by foreign numbers

By: seccomp
Profile: subprocess
Ends: OK, UnsafeCode, Signalled
"""
import mmap


def getpid_of_x32():
    result = LIBC.syscall(ctypes.c_long(0x40000000 | 39))
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def getpid_by_interrupt():
    """getpid (20) through the 32-bit door, from a page of our own machine code; -1 for every refusal."""
    code = b"\xb8\x14\x00\x00\x00\xcd\x80\x3d\x00\x00\x00\x00\x7d\x06\xb8\xff\xff\xff\xff\xc3\xc3"
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


if os.uname().machine == "x86_64":
    TRIAL.attempt("x32", getpid_of_x32, *REFUSED, errno.ENOSYS)
    TRIAL.check("int 0x80", (answer := getpid_by_interrupt()) == -1, answer)
else:
    TRIAL.check("machine", True, "has no second set of numbers")
TRIAL.report()
