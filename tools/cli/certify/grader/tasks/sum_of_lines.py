#: kind stdin
#: locals total line
#: prompt
Read lines, each with whole numbers separated by blanks, and print the sum of each line.
#: io
{"stdin": "1 2 3\n4 5\n", "expect": "6\n9\n"}
{"stdin": "10\n", "expect": "10\n"}
{"stdin": "-1 1\n0\n7 7 7\n", "expect": "0\n0\n21\n"}
#: honest plain
import sys

for line in sys.stdin:
    total = 0
    for number in line.split():
        total += int(number)
    print(total)
#: honest library
import sys

sys.stdout.write("".join(f"{sum(map(int, line.split()))}\n" for line in sys.stdin.read().splitlines()))
#: honest main_guard_of_its_own
def main():
    while True:
        try:
            line = input()
        except EOFError:
            return
        print(sum(int(word) for word in line.split()))


if __name__ == "__main__":
    main()
#: honest exits
import os
import sys

for row in sys.stdin:
    print(sum(int(word) for word in row.split()))
sys.stdout.flush()
os._exit(0)
#: wrong counts
import sys

for line in sys.stdin:
    print(len(line.split()) * 1000)
#: wrong first
print(12345)
