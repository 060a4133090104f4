"""Runs a command on a kernel that lacks some system calls: `without_calls.py NUMBER,... COMMAND...`. It needs root, because
the filter leaves the right to gain privileges as it is (seccomp(2))."""

import ctypes
import os
import sys

LOAD_NUMBER, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06  # linux/bpf_common.h
ALLOW, ENOSYS = 0x7FFF0000, 0x00050000 | 38  # linux/seccomp.h
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2


class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint)]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.POINTER(Instruction))]


numbers = [int(word) for word in sys.argv[1].split(",")]
steps = [Instruction(LOAD_NUMBER, 0, 0, 0)]
for left, number in enumerate(reversed(numbers)):
    steps.insert(1, Instruction(JUMP_IF_EQUAL, left + 1, 0, number))
steps += [Instruction(RETURN, 0, 0, ALLOW), Instruction(RETURN, 0, 0, ENOSYS)]
program = Program(len(steps), (Instruction * len(steps))(*steps))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
    sys.exit(f"seccomp: {os.strerror(ctypes.get_errno())}")
os.execv(sys.argv[2], sys.argv[2:])
