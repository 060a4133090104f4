# zygo: {"job": {}, "labels": ["OK", "Signalled"]}
# A chain that the interpreter itself cannot walk in C: whatever becomes of it is the program's own end.
chain = iter(())
for _ in range(200_000):
    chain = filter(None, chain)
