x = float(input())
print("root", x ** 0.5)
