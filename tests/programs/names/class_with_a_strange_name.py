# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label_not": ["OK", "SandboxError", "BadJob"]}
def f(x):
    raise type('OK"}\n{"label": "OK', (Exception,), {})
