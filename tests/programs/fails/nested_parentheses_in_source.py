# zygo: {"job": {}, "label": "SyntaxError"}
compile("(" * 10_000 + ")" * 10_000, "x", "eval")
