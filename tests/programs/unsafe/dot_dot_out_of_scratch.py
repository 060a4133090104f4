# zygo: {"label": "UnsafeCode", "mentions": ["zygo_was_here"]}
open("../../../../../../usr/zygo_was_here", "w")  # <- crime
