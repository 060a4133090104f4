# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "dict", "items": [["$type", "bytes"], ["data", "AP8="]]}]}
# A plain dict cannot pass itself off as bytes.
def f(x):
    return {"$type": "bytes", "data": "AP8="}
