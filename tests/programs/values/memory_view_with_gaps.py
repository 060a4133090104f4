# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "bytes", "data": "ZWNh"}]}
def f(x):
    return memoryview(b"abcdef")[::-1][1::2]
