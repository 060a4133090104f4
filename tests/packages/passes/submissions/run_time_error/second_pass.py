word, what = input().split()
print("x" * int(what))
