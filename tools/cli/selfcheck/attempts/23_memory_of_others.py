"""Read or change others' memory

By: pidns, uid, seccomp, landlock
"""
NO = (*REFUSED, *ABSENT)


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


buffer = ctypes.create_string_buffer(128)
local, remote = Vector(ctypes.addressof(buffer), 64), Vector(FACTS["address"], 64)


def copy(name, pid):
    raw(name, pid, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
    return buffer.value


def read_file(pid):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(FACTS["address"])
        return memory.read(64)


PTRACE_TRACEME, PTRACE_ATTACH, PTRACE_SEIZE = 0, 16, 0x4206
for what, pid in (("victim", FACTS["victim"]), ("zygo", FACTS["daemon"]), ("parent", os.getppid() or 1), ("pid 1", 1)):
    TRIAL.attempt(f"process_vm_readv {what}", lambda pid=pid: copy("process_vm_readv", pid), *NO)
    TRIAL.attempt(f"process_vm_writev {what}", lambda pid=pid: copy("process_vm_writev", pid), *NO)
    TRIAL.attempt(f"/proc/PID/mem {what}", lambda pid=pid: read_file(pid), *NO)
    TRIAL.attempt(f"attach {what}", lambda pid=pid: raw("ptrace", PTRACE_SEIZE, pid, 0, 0), *NO)
    TRIAL.attempt(f"pidfd_getfd {what}", lambda pid=pid: raw("pidfd_getfd", raw("pidfd_open", pid, 0), 0, 0), *NO)
    TRIAL.attempt(f"kcmp {what}", lambda pid=pid: raw("kcmp", os.getpid(), pid, 0, 0, 0), *NO)
TRIAL.attempt("be traced", lambda: raw("ptrace", PTRACE_TRACEME, 0, 0, 0), *NO)
TRIAL.report()
