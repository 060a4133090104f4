# zygo: {"label": "OK", "stdout": "[]\nx\n"}
import os

print(os.listdir("."))
with open("a", "w") as file:
    file.write("x")
print(open(os.path.join(os.getcwd(), "a")).read())
