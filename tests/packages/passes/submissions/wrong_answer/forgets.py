word, what = input().split()
print("x" * int(what) if word == "encode" else 0)
