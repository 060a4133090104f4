"""Usage: validate.py INPUT ANSWER FEEDBACK/ [FLAGS] < OUTPUT. 42 is right, 43 wrong."""
import sys
from pathlib import Path

RIGHT, WRONG = 42, 43


def wrong(why):
    Path(sys.argv[3], "judgemessage.txt").write_text(why + "\n")
    print(why, file=sys.stderr)
    sys.exit(WRONG)


def main():
    total = int(Path(sys.argv[1]).read_text())
    if sys.argv[4] != "pair" or (total < 0 and sys.argv[5:] != ["negative_too"]):
        sys.exit(1)
    try:
        numbers = [int(word) for word in sys.stdin.read().split()]
    except ValueError:
        wrong("expected numbers")
    if len(numbers) != 2:
        wrong("expected two numbers")
    if sum(numbers) != total:
        wrong("the sum is another")
    sys.exit(RIGHT)


main()
