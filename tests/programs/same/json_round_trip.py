# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [{"a": [1, 2.5, null, true, "\u00e9"]}], "determinism": {"runs": 2, "same": true}}
import json


def f(x):
    return json.loads(json.dumps({"a": [1, 2.5, None, True, "\u00e9"]}))
