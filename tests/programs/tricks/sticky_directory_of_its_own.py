# zygo: {"job": {}, "label": "OK", "stdout": "left\n"}
# In a sticky directory only owners remove names, and the cell's first process is not the owner: the program must not wait for that.
import os

os.makedirs("sticky/deeper")
for name in ("sticky/a", "sticky/deeper/b"):
    open(name, "w").close()
os.chmod("sticky/deeper", 0o1777)
os.chmod("sticky", 0o1777)
print("left")
