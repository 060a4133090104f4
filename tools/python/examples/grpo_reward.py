"""A reward function as GRPO trainers call it: completions and a column of tests in, a float or None for each out."""

import zygo
from zygo import rewards

pool = zygo.Pool("python")
execution_reward = rewards.trl(rewards.Scorer(pool, timeout=0.3, memory_mb=128), tests="tests")  # for GRPOTrainer(reward_funcs=[..])

double = [{"stdin": "2\n", "expect": "4\n"}, {"stdin": "0\n", "expect": "0\n"}]
answers = ["```python\nprint(int(input()) * 2)\n```", "```python\nprint(4)\n```", "no code at all"]
print(execution_reward(completions=answers, tests=[double] * 3))
