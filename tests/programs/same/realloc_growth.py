# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [[33554432, 255, 0, 0]], "determinism": {"runs": 2, "same": true}}
# A block that grows by remapping must bring zeros and its own bytes, whatever the heap is backed by.
def f(x):
    buffer = bytearray(b"\xff" * (1 << 20))
    for _ in range(5):
        buffer += bytes(len(buffer))
    return [len(buffer), buffer[0], buffer[-1], sum(buffer[1 << 20 :: 4096])]
