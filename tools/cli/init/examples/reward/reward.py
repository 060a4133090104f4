"""The reward of each answer: the share of tests that its program passes."""

import json
from pathlib import Path

import zygo
from zygo import rewards

here = Path(__file__).parent
answers = json.loads((here / "answers.json").read_text())
tests = json.loads((here / "tests.json").read_text())

with zygo.Pool() as pool:
    scorer = rewards.Scorer(pool, timeout=1, memory_mb=256)
    for answer, reward in zip(answers, scorer.scores(answers, [tests] * len(answers))):
        # None: zygo itself has failed, and says nothing about the program.
        shown = "none" if reward is None else f"{reward:.2f}"
        print(shown, json.dumps(answer)[:60])
