# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "InvalidResult", "mentions": ["memoryview"]}
def f(x):
    view = memoryview(b"abc")
    view.release()
    return view
