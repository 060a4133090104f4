"""Read zygo's environment

By: fds, landlock, mntns
"""
name = FACTS["variable"]
NO = (*REFUSED, *ABSENT)
TRIAL.check("os.environ", name not in os.environ, f"{len(os.environ)} variables, not it")
LIBC.getenv.restype = ctypes.c_char_p
TRIAL.check("getenv", LIBC.getenv(name.encode()) is None, "not there")
for pid in (FACTS["daemon"], FACTS["victim"], os.getppid(), 1, "self"):
    TRIAL.attempt(f"environ of {'zygo' if pid == FACTS['daemon'] else pid}",
                  lambda pid=pid: open(f"/proc/{pid}/environ", "rb").read(), *NO)

# The text that exec left at the top of the stack is read through a pipe: EFAULT says that there is nothing.
PAGE = 4096
reader, writer = os.pipe()
LIBC.write.argtypes = (ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t)
address = ctypes.c_void_p.in_dll(LIBC, "__libc_stack_end").value & ~(PAGE - 1)
content = b""
while LIBC.write(writer, address, PAGE) == PAGE:
    content += os.read(reader, PAGE)
    address += PAGE
TRIAL.check("start of the stack", content and name.encode() not in content, f"{len(content)} bytes, not it")
TRIAL.report()
