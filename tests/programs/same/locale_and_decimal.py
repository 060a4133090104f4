# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": ["0.1428"], "determinism": {"runs": 2, "same": true}}
import decimal
import locale


def f(x):
    locale.getlocale()
    return str(decimal.Decimal(1) / 7)[:6]
