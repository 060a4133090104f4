n = int(input())
print(next(each for each in range(2, n + 1) if n % each == 0))
