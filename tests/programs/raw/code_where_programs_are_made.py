# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "42\n"}
# A profile that runs programs of its scratch, of whatever language, lets them make code in memory as well.
import ctypes
import mmap

page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\xb8\x2a\x00\x00\x00\xc3")  # mov eax, 42; ret
print(ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
