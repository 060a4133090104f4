# zygo: {"label": "BrokenPipeError"}
import os

reader, writer = os.pipe()
os.close(reader)
os.write(writer, b"x")
