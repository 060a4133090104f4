# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "NonZeroExit", "mentions": ["ended before returning"]}
import os

os._exit(0)
