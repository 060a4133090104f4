# zygo: {"label": "SyntaxError"}
text = "no end
