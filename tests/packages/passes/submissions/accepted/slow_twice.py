"""Each pass has the whole time limit for itself."""

import time

word, what = input().split()
while time.process_time() < 0.6:
    pass
print("x" * int(what) if word == "encode" else len(what))
