# zygo: {"job": {"policy": {"profile": "pure"}, "mode": "call", "func": "f", "inputs": [1]}, "label": "UnsafeCode", "mentions": ["note.txt"]}
def f(x):
    try:
        open("note.txt", "w")  # <- crime
    except OSError:
        pass
    return x
