# zygo: {"label": "UnsafeCode", "mentions": ["/etc/passwd"]}
open("/etc/passwd", "a")  # <- crime
