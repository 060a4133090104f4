# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "NonDeterministicCode", "determinism": {"same": false, "axis": "value"}}
import ctypes


def f(x):
    return ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value
