# zygo: {"job": {}, "label": "Signalled", "exit": {"signal": "SIGBUS"}}
import mmap

with open("shrinks", "w+b") as file:
    file.write(b"x" * 8192)
    file.flush()
    page = mmap.mmap(file.fileno(), 8192)
    file.truncate(0)
    page[5000]
