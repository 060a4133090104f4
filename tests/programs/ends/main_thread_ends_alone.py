# zygo: {"job": {"limits": {"wall_ms": 300}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
# exit(2) without exit_group: the process lives on in its other thread.
import ctypes
import threading
import time

threading.Thread(target=time.sleep, args=(30,)).start()
ctypes.CDLL(None).syscall(60, 0)
