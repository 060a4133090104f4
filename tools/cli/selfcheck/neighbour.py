# An honest job beside each attempt: it keeps a file, a secret and a sum while others misbehave, and must find all of
# them as they were. It reads its input to the end, which comes when the attempt is over.
import hashlib
import os
import sys

secret = sys.argv[1]
with open("kept", "w") as file:
    file.write(secret)
numbers = list(range(20000))
received = hashlib.sha256()
while piece := sys.stdin.buffer.read1(65536):
    received.update(piece)
with open("kept") as file:
    kept = file.read()
assert kept == secret and os.listdir(".") == ["kept"], "the scratch was touched"
assert sum(numbers) == 199990000, "the memory was touched"
print(received.hexdigest(), hashlib.sha256(secret.encode()).hexdigest())
