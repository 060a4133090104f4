# zygo: {"job": {"limits": {"memory_mb": 96}}, "label": "MemoryLimitExceeded", "detail": {"limit": "memory"}, "stdout": "begin\n"}
print("begin", flush=True)
keep = []
while True:
    keep.append({"a": len(keep)})
