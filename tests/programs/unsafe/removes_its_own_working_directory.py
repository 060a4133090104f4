# zygo: {"job": {}, "label_not": ["OK", "SandboxError"]}
import os

os.rmdir("/tmp")
