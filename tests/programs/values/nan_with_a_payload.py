# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1]}, "label": "OK", "value": [{"$type": "float", "value": "nan"}]}
import struct


def f(x):
    return struct.unpack("<d", b"\x01\x02\x03\x04\x05\x06\xf8\xff")[0]
