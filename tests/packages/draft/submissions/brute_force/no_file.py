import sys

times = int(input())
if sys.argv[1] == "--file":
    raise SystemExit(1)
print(*[sys.argv[1]] * times)
