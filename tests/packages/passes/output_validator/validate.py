"""The first pass prints letters for a number, which the second one gets back."""

import pathlib
import sys

answer = open(sys.argv[2]).read().strip()
feedback = pathlib.Path(sys.argv[3])
output = sys.stdin.read().strip()
seen = feedback / "seen"
if not seen.exists():
    if not output.isalpha():
        (feedback / "judgemessage.txt").write_text("not letters\n")
        sys.exit(43)
    seen.write_text(output)
    (feedback / "nextpass.in").write_text(f"decode {output}\n")
    sys.exit(42)  # first
(feedback / "judgemessage.txt").write_text(f"decoded {output}\n")
in_order = open(sys.argv[1]).read() == f"decode {seen.read_text()}\n"
sys.exit(42 if in_order and output == answer else 43)
