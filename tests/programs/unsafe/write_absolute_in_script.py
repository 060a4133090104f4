# zygo: {"label": "UnsafeCode", "mentions": ["/etc/zygo_was_here"], "stdout": "before\n"}
print("before")
open("/etc/zygo_was_here", "w")  # <- crime
