left, numbers = int(input()), []
while left > 2 * len(numbers) + 2:
    numbers.append(len(numbers) + 1)
    left -= numbers[-1]
print(*numbers, left)
