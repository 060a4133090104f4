# zygo: {"job": {}, "labels": ["UnsafeCode", "OSError"], "label_not": ["OK"]}
open("/usr/" + "./" * 2043 + "xxx", "w")  # <- crime
