# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
def f(x):
    with open("/dev/urandom", "rb") as device:
        return device.read(8).hex()
