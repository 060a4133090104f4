# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [1], "determinism": {"runs": 2, "same": true}}
def f(x):
    # import random; random.random(); open('/etc/passwd', 'w'); time.time()
    noise = "os.system, socket and uuid4 are only words here"
    return len(noise) * 0 + x
