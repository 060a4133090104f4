# zygo: {"job": {"policy": {"on_violation": "kill"}}, "label": "UnsafeCode", "mentions": ["socket"], "stdout": "before\n"}
import socket

print("before", flush=True)
try:
    socket.socket()
except BaseException:
    pass
print("after", flush=True)
