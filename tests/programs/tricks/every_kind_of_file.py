# zygo: {"job": {}, "label": "OK", "stdout": "made\n"}
import os

os.mkfifo("pipe")
os.mkfifo("pipe without permission", 0)
os.symlink("loop", "loop")
os.symlink("/etc/passwd", "out")
os.symlink("x" * 4000, "nowhere")
open("f", "w").close()
os.link("f", "hard link")
os.chmod("f", 0o7777)
os.mkdir("closed", 0)
os.mkdir(b"\xff\xfe\n\r\x1b[2J")
open("hole", "wb").truncate(1 << 20)
for name in ("...", " ", "~", "-", "*", "%s", "\u202e"):
    open(name, "w").close()
print("made")
