# zygo: {"job": {"determinism": {"runs": 2}, "policy": {"profile": "subprocess"}}, "label": "OK", "stdout": "[1, 2, 3]\n"}
# A callback is code that ctypes makes, which the profile has to let it.
import ctypes

numbers = (ctypes.c_int * 3)(3, 1, 2)
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
ctypes.CDLL(None).qsort(numbers, 3, 4, compare(lambda a, b: a[0] - b[0]))
print(list(numbers))
