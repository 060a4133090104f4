# zygo: {"job": {"stdin": "never read\n"}, "label": "OK", "stdout": "done\n"}
print("done")
