"""Knows a number from 1 to 1000 and answers guesses: lower, higher or correct, ten of them at most."""
import os
import sys

RIGHT, WRONG = 42, 43


def end(code, words):
    with open(os.path.join(sys.argv[3], "judgemessage.txt"), "w") as file:
        file.write(words + "\n")
    sys.exit(code)


secret = int(open(sys.argv[1]).read())
for asked in range(1, 11):
    line = sys.stdin.readline()
    if not line:
        end(WRONG, f"no guess after {asked - 1}")
    try:
        guess = int(line)
    except ValueError:
        end(WRONG, f"guess {asked} is no number")
    try:
        print("correct" if guess == secret else "lower" if secret < guess else "higher", flush=True)
    except BrokenPipeError:
        end(WRONG, f"left after guess {asked}")
    if guess == secret:
        end(RIGHT, f"found with {asked}")
end(WRONG, "more than ten guesses")
