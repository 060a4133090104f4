# zygo: {"job": {"mode": "call", "func": "f", "inputs": ["first", "needle-in-a-later-input"]}, "label": "OK", "stdout": "0\n0\n"}
# Inputs of later calls are no objects yet.
import gc


def f(x):
    others = [o for o in gc.get_objects() if isinstance(o, (list, tuple, dict)) and o is not globals()]
    later = "-".join(("needle", "in", "a", "later", "input"))
    print(sum(1 for o in others for item in (o.values() if isinstance(o, dict) else o)
              if type(item) is str and item == later and item is not x and item is not later))
    return 0
