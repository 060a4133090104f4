low, high, answer = 1, 1000, ""
while answer != "correct":
    middle = (low + high) // 2
    if middle > 900:
        input()
    print(middle, flush=True)
    answer = input()
    if answer == "lower":
        high = middle - 1
    else:
        low = middle + 1
