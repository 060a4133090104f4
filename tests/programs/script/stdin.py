# zygo: {"job": {"stdin": "3\n4\n"}, "label": "OK", "stdout": "7\n"}
print(int(input()) + int(input()))
