# zygo: {"job": {"limits": {"wall_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "wall"}}
import threading

threading.Thread(target=threading.Event().wait).start()
