#: kind stdin
#: locals lines line
#: prompt
Print the lines of the input in the opposite order.
#: io
{"stdin": "a\nb\nc\n", "expect": "c\nb\na\n"}
{"stdin": "one line\n", "expect": "one line\n"}
{"stdin": "1\n2\n", "expect": "2\n1\n"}
#: honest plain
import sys

lines = sys.stdin.read().splitlines()
for line in reversed(lines):
    print(line)
#: honest recursive
def walk():
    try:
        line = input()
    except EOFError:
        return
    walk()
    print(line)


walk()
#: honest library
import sys

print(*sys.stdin.read().split("\n")[:-1][::-1], sep="\n")
#: wrong same_order
import sys

for line in sys.stdin:
    print(line.upper() + "!")
#: wrong nothing
pass
