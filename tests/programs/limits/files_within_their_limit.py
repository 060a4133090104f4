# zygo: {"job": {"limits": {"file_mb": 1, "stdout_kb": 4096}}, "label": "OK", "stdout_bytes": 3145729}
for name in "abc":  # together they may have more, and output is no file
    with open(name, "wb") as file:
        file.write(bytes(1 << 20))
print("x" * (3 << 20))
