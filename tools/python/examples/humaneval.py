"""A HumanEval harness: completions against the problem's own test code, which they cannot reach."""

from zygo import grade

problem = {"task_id": "Demo/0", "entry_point": "add", "prompt": "def add(a, b):\n",
           "test": "def check(candidate):\n    assert candidate(1, 2) == 3\n    assert candidate(-1, 1) == 0\n"}
completions = ["    return a + b\n", "    return a - b\n", "    import os; os._exit(0)\n", "    while True: pass\n",
               "    class Yes(int):\n        def __eq__(self, other): return True\n    return Yes()\n"]

passed = 0
for completion in completions:
    found = grade.check_correctness(problem, completion, timeout=1)
    passed += found["passed"]
    print(f"{found['result']:40} {completion.strip().splitlines()[0]}")
print(f"pass@1 {grade.pass_at_k(len(completions), passed, 1):.2f}")
