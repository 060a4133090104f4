# zygo: {"job": {"policy": {"profile": "subprocess"}}, "label": "Signalled", "exit": {"signal": "SIGFPE"}}
import ctypes
import mmap

page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(b"\x31\xc9\x31\xd2\xf7\xf1\xc3")  # xor ecx, ecx; xor edx, edx; div ecx; ret
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
