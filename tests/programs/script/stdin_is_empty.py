# zygo: {"label": "EOFError"}
input()
