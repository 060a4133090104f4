# zygo: {"job": {"mode": "call", "func": "f", "inputs": [5]}, "label": "OK", "value": [5]}
def f(x):
    try:
        bytearray(1 << 60)
    except MemoryError:
        return x
