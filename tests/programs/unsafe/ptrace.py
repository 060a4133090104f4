# zygo: {"label": "UnsafeCode", "mentions": ["ptrace"]}
import ctypes

ctypes.CDLL(None).ptrace(16, 1, 0, 0)  # PTRACE_ATTACH to pid 1
