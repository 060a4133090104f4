# zygo: {"job": {}, "label": "RuntimeError"}
exec("raise RuntimeError(\"can't start new thread\")")
