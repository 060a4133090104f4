n = int(input())
while n % 2:
    pass
print(2)
