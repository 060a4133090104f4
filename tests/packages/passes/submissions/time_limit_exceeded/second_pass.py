word, what = input().split()
while word == "decode":
    pass
print("x" * int(what))
