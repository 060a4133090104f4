"""A reward function: 32 programs that a model wrote, each in a sandbox of its own, milliseconds for all of them."""

import time

import zygo

programs = [f"def solve(grid):\n    return [[cell + {i % 4} for cell in row] for row in grid]" for i in range(28)]
programs += ["def solve(grid):\n    while True: pass", "def solve(grid):\n    return grid[9]",
             "import os\ndef solve(grid):\n    os.system('rm -rf /')", "def solve(grid)"]
grid, wanted = [[1, 2], [3, 4]], [[3, 4], [5, 6]]


def rewards(pool):
    jobs = [{"source": source, "func": "solve", "inputs": [grid]} for source in programs]
    for result in pool.map(jobs):  # what is wanted is compared here: it never enters a sandbox
        if result.by == "sandbox":
            yield None, result.label  # zygo has failed it: no reward, not one of 0
        else:
            yield 1.0 if result.ok and result.value == [wanted] else 0.0, result.label


with zygo.Pool(limits={"cpu_ms": 100, "wall_ms": 1000, "memory_mb": 64}) as pool:
    pool.warm()
    start = time.perf_counter()
    scored = list(rewards(pool))
    print(f"{len(scored)} rewards in {(time.perf_counter() - start) * 1000:.0f} ms")
    print(sum(reward for reward, _ in scored if reward is not None), sorted({label for _, label in scored}))
