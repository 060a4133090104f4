# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["/usr/zygo_was_here"]}
def f(x):
    try:
        open("/usr/zygo_was_here", "w").close()  # <- crime
    except OSError:
        pass
    return x
