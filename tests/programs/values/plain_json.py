# zygo: {"job": {"mode": "call", "func": "f", "inputs": [null, true, 0, -1, 2.5, "\u00e9\u4e2d\ud83d\ude00", [], {}, {"a": [1, {"b": null}]}]}, "label": "OK", "value": [null, true, 0, -1, 2.5, "\u00e9\u4e2d\ud83d\ude00", [], {}, {"a": [1, {"b": null}]}]}
def f(x):
    return x
