# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": ["42"], "determinism": {"runs": 2, "same": true}}
def f(x):
    with open("note.txt", "w") as file:
        file.write("42")
    with open("note.txt") as file:
        return file.read()
