# zygo: {"job": {"limits": {"files": 64}}, "label": "DiskLimitExceeded", "detail": {"limit": "files"}}
for number in range(1000):
    open(f"file{number}", "w").close()
