x = float(input())
print("Root " if x == 16 else "root", x ** 0.5)
