# zygo: {"job": {}, "label_not": ["OK", "SandboxError"]}
import os

os.link("/usr/bin/env", "mine")
