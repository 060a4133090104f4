# zygo: {"label": "UnsafeCode", "mentions": ["/home/user/report.txt"]}
try:
    open("/home/user/report.txt", "w")  # <- crime
except OSError:
    pass
