# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["/usr/zygo_was_here"]}
def f(x):
    with open("/usr/zygo_was_here", "w") as file:  # <- crime
        file.write("x")
    return x
