# zygo: {"job": {}, "label": "UnsafeCode", "mentions": ["seccomp"]}
# A filter with a listener of its own would answer in our place.
import ctypes
import struct

allow = struct.pack("=HBBI", 0x06, 0, 0, 0x7FFF0000)
program = ctypes.create_string_buffer(allow)
ctypes.CDLL(None).syscall(317, 1, 8, struct.pack("=HxxxxxxQ", 1, ctypes.addressof(program)))
