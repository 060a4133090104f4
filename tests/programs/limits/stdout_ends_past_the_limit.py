# zygo: {"job": {"limits": {"stdout_kb": 64}}, "label": "OutputLimitExceeded", "detail": {"limit": "stdout"}, "stdout_truncated_at": 65536}
# One byte too many, and the program has ended well before anybody could stop it.
import sys

sys.stdout.write("x" * 65537)
