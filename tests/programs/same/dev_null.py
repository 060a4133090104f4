# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [1], "determinism": {"runs": 2, "same": true}}
def f(x):
    with open("/dev/null", "w") as sink:
        sink.write("gone")
    return x
