# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "program.SandboxError"}
class SandboxError(Exception):
    pass


def f(x):
    raise SandboxError
