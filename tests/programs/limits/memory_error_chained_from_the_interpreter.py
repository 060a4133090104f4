# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "ValueError", "exception": {"type": "ValueError"}}
# What left the function is a ValueError; the MemoryError was dealt with.
def f(x):
    try:
        return bytearray(1 << 60)
    except MemoryError as error:
        raise ValueError("too big for me") from error
