# zygo: {"job": {"limits": {"wall_ms": 2000, "cpu_ms": 8000}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
# Links through six hundred directories each, and behind them names that do not exist: who judges the path must not lose
# the clock, the program's or a neighbour's, on the way.
import os

DEPTH = 600
for _ in range(DEPTH):
    os.mkdir("d")
    os.chdir("d")
os.chdir("/tmp")
down, up = "/tmp/" + "d/" * DEPTH, "../" * DEPTH
os.symlink(down, "link0")
for number in range(1, 38):
    os.symlink(f"{down}{up}link{number - 1}", f"link{number}")
path = "/tmp/link37/" + "/".join(["x"] * 1900)
while True:
    try:
        os.mkdir(path)
    except OSError:
        pass
