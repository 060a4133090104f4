# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": ["2024-01-01T00:00:00+00:00"], "determinism": {"runs": 2, "same": true}}
import datetime


def f(x):
    return datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc).isoformat()
