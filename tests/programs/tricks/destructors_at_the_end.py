# zygo: {"label": "OK", "stdout": "body\nlast words\n"}
class Late:
    def __del__(self):
        print("last words", flush=True)


late = Late()
print("body", flush=True)
del late
