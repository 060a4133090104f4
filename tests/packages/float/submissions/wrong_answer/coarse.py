x = float(input())
print("root", round(x ** 0.5, 2))
