# zygo: {"job": {}, "labels": ["UnsafeCode", "OSError"]}
import os

os.symlink("a", "b")
os.symlink("b", "a")
open("a", "w")
