# zygo: {"job": {"mode": "call", "func": "f", "inputs": ["nan", "inf", "-inf"]}, "label": "OK", "value": [{"$type": "float", "value": "nan"}, {"$type": "float", "value": "inf"}, {"$type": "float", "value": "-inf"}]}
def f(x):
    return float(x)
