# zygo: {"job": {"mode": "call", "func": "f", "inputs": ["seven"]}, "label": "ValueError", "exception": {"type": "ValueError", "message": "seven", "traceback": "return int\\(text\\)"}}
def f(text):
    return int(text)  # <- crime
