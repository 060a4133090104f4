# zygo: {"job": {"mode": "call", "func": "f", "inputs": ["in.txt"], "files": {"in.txt": {"text": "x"}}}, "label": "OK", "value": ["x"]}
def f(name):
    with open(name) as file:
        return file.read()
