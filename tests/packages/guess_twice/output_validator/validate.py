"""Knows a number from 1 to 1000 and answers guesses: lower, higher or correct. The second pass is about 1001 less that
number, and the first one's guesses count."""

import pathlib
import sys

RIGHT, WRONG = 42, 43
feedback = pathlib.Path(sys.argv[3])
seen = feedback / "seen"


def end(code, words):
    (feedback / "judgemessage.txt").write_text(words + "\n")
    sys.exit(code)


secret = int(open(sys.argv[1]).read())
asked = int(seen.read_text()) if seen.exists() else 0
while asked < 20:
    line = sys.stdin.readline()
    if not line.strip().isdigit():
        end(WRONG, f"no guess after {asked}")
    asked += 1
    guess = int(line)
    print("correct" if guess == secret else "lower" if secret < guess else "higher", flush=True)
    if guess != secret:
        continue
    if not seen.exists():
        seen.write_text(f"{asked}\n")
        (feedback / "nextpass.in").write_text(f"{1001 - secret}\n")
        sys.exit(RIGHT)  # first
    end(RIGHT, f"found both with {asked}")
end(WRONG, "more than twenty guesses")
