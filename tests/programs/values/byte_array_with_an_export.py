# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "bytes", "data": "YWJj"}]}
held = []


def f(x):
    array = bytearray(b"abc")
    held.append(memoryview(array))
    return array
