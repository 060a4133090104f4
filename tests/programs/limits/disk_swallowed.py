# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"disk_mb": 4, "memory_mb": 256}}, "labels": ["DiskLimitExceeded", "OK"]}
# Whether a refusal that the program lived with labels it is left open; the bytes are not there either way.
def f(x):
    try:
        with open("big", "wb", buffering=0) as file:
            while file.write(bytes(1 << 20)):
                pass
    except OSError:
        return x
