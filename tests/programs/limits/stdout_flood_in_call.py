# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stdout"}, "stdout_truncated_at": 65536}
def f(x):
    while True:
        print(x)
