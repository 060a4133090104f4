# zygo: {"label": "OK", "stdout": ""}
# Only this comment.
