import sys

times = int(input())
words = open(sys.argv[2]).read().strip() if sys.argv[1] == "--file" else sys.argv[1]
print(*[words] * times)
