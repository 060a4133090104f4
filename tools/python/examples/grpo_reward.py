"""A reward function in the shape that GRPO trainers call: completions in, a float each out."""

import re

import zygo

pool = zygo.Pool(limits={"cpu_ms": 300, "wall_ms": 2000, "memory_mb": 128})


def code_of(completion):
    text = completion if isinstance(completion, str) else completion[-1]["content"]
    blocks = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)
    return blocks[-1] if blocks else text


def execution_reward(completions, tests, **kwargs):
    """`tests`: for each completion its stdin tests, `[{"stdin": .., "expect": ..}]`. The share that passes."""
    jobs = [{"source": code_of(completion), "tests": of_it} for completion, of_it in zip(completions, tests)]
    return [sum(test["label"] == "OK" for test in result.tests or []) / len(of_it)
            for result, of_it in zip(pool.map(jobs), tests)]


double = [{"stdin": "2\n", "expect": "4\n"}, {"stdin": "0\n", "expect": "0\n"}]
print(execution_reward(["```python\nprint(int(input()) * 2)\n```", "```python\nprint(4)\n```", "no code at all"], [double] * 3))
