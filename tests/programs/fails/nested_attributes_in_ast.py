# zygo: {"job": {}, "label": "RecursionError"}
import ast

ast.parse("a" + ".b" * 100_000)
