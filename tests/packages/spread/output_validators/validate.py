"""Usage: validate.py INPUT ANSWER FEEDBACK/ < OUTPUT. As many points as there are different numbers; their sum is given."""
import sys
from pathlib import Path

RIGHT, WRONG = 42, 43

numbers = [int(word) for word in sys.stdin.read().split()]
if sum(numbers) != int(Path(sys.argv[1]).read_text()) or min(numbers, default=0) < 1:
    Path(sys.argv[3], "judgemessage.txt").write_text("the sum is another\n")
    sys.exit(WRONG)
Path(sys.argv[3], "score.txt").write_text(f"{len(set(numbers))}\n")
sys.exit(RIGHT)
