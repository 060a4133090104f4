# zygo: {"label": "SyntaxError", "stdout": "", "stderr": "SyntaxError"}
print("never printed")
for
