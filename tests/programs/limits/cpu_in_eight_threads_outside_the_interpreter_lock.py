# zygo: {"job": {"limits": {"cpu_ms": 400}}, "label": "TimeoutException", "detail": {"limit": "cpu"}}
import hashlib
import threading


def burn():
    while True:
        hashlib.pbkdf2_hmac("sha256", b"x", b"y", 1_000_000)


for _ in range(8):
    threading.Thread(target=burn).start()
