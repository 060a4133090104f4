# zygo: {"job": {"mode": "call", "func": "f", "inputs": [1], "determinism": {"runs": 2}}, "label": "OK", "value": [true], "determinism": {"runs": 2, "same": true}}
import gc
import weakref


class Node:
    pass


def f(x):
    node = Node()
    watch = weakref.ref(node)
    del node
    gc.collect()
    return watch() is None
