print(sum(map(abs, map(int, input().split()))))
