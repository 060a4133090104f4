"""Wants a divisor of the number that is greater than 1, and gives half or a third where it is not the smallest one."""

import pathlib
import sys

number = int(open(sys.argv[1]).read())
feedback = pathlib.Path(sys.argv[3])
gives = sys.argv[4] if len(sys.argv) > 4 else "nothing"
smallest = next(each for each in range(2, number + 1) if number % each == 0)
divisor = int(sys.stdin.read())
if divisor < 2 or number % divisor:
    (feedback / "judgemessage.txt").write_text(f"{divisor} is no divisor of {number}\n")
    sys.exit(43)
if gives == "multiplier":
    (feedback / "score_multiplier.txt").write_text("1\n" if divisor == smallest else "0.5\n")
elif gives == "score":
    (feedback / "score.txt").write_text("30\n" if divisor == smallest else "10\n")
sys.exit(42)
