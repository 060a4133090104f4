# zygo: {"job": {}, "label": "OK", "stdout": "refused\n"}
# A file that one wrote oneself is no library: the scratch is mounted so that nothing of it is executed.
import mmap
import os

with open("code", "wb") as file:
    file.write(b"\xc3" * mmap.PAGESIZE)
fd = os.open("code", os.O_RDONLY)
try:
    mmap.mmap(fd, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    print("executable")
except OSError:
    print("refused")
