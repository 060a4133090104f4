# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "Signalled", "exit": {"signal": "SIGTRAP"}}
import ctypes
import mmap

page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\xcc\xc3")  # int3; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
