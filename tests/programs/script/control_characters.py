# zygo: {"label": "OK", "stdout": "\u0000\u0001\u0007\u001b[31mred\u001b[0m\r\n"}
print("\0\x01\a\x1b[31mred\x1b[0m\r")
