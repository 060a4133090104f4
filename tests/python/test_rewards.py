"""Rewards for trainers. Each trainer is a few lines here that follow the rule of its own code, which is cited; tools/try-trainers
runs the same adapters against that code itself."""

from __future__ import annotations

import asyncio
import json
import math
import unittest
from typing import Any
from unittest import mock

import support
from faults import failing

import zygo
from zygo import rewards

RIGHT, WRONG = "```python\nprint(int(input()) * 2)\n```", "```python\nprint(4)\n```"
LOST, NONE = "```python\nprint('lost')\n```", "I do not know."
ANSWERS = [RIGHT, WRONG, LOST, NONE]
TESTS = [{"input": "2", "output": "4"}, {"input": "3", "output": "6"}]
ALWAYS = 1 << 30
NO_PAUSE = mock.patch("zygo.rewards.scoring._PAUSE_SECONDS", 0)


def conversation(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": "?"}, {"role": "assistant", "content": text}]


class Scores(support.Place):
    def scorer(self, **options: Any) -> rewards.Scorer:
        return rewards.Scorer(self.pool(template="python"), **options)

    def test_are_the_share_of_tests_that_pass(self) -> None:
        completions = [RIGHT, WRONG, NONE, "```python\nwhile True: pass\n```", "```python\nprint(\n```"]

        self.assertEqual(self.scorer(timeout=0.3).scores(completions, [TESTS] * 5), [1.0, 0.5, 0.0, 0.0, 0.0])
        self.assertEqual(self.scorer(partial=False, no_program=None).scores([WRONG, NONE], [TESTS] * 2), [0.0, None])

    def test_take_tests_in_the_shapes_of_data_sets(self) -> None:
        stdin = {"inputs": ["2", "3"], "outputs": ["4", "6"]}
        call = {"inputs": ["[1, 2]\n2", "[]\n1"], "outputs": ["[2, 4]", "[]"], "fn_name": "scale"}
        scale = "```python\ndef scale(items, by): return [one * by for one in items]\n```"
        shapes = [(RIGHT, TESTS), (RIGHT, json.dumps(TESTS)), (RIGHT, stdin), (RIGHT, json.dumps(stdin)), (scale, call),
                  (RIGHT, [{"stdin": "2", "expect": "4", "compare": "exact"}, {"stdin": "3", "expect": "6"}])]

        found = self.scorer().scores([program for program, _ in shapes], [truth for _, truth in shapes])

        self.assertEqual(found, [1.0, 1.0, 1.0, 1.0, 1.0, 0.5])
        for wrong in ([], "[]", {"inputs": ["1"], "outputs": []}, {"tests": 1}, "no JSON", None, [1]):
            with self.subTest(wrong=wrong), self.assertRaises(ValueError):
                rewards.tests_of(wrong)

    def test_of_what_is_no_job_are_those_of_a_wrong_program(self) -> None:
        self.assertEqual(self.scorer().scores(["```python\n#\ud800\n```", RIGHT], [TESTS] * 2), [0.0, 1.0])

    def test_are_not_given_by_a_mistake(self) -> None:
        for options in ({"timeout": 0}, {"memory_mb": -1}, {"template": "pythn"}, {"compare": "nearly"}, {"tries": 0}):
            with self.subTest(options=options), self.assertRaises(ValueError):
                self.scorer(**options)
        for truth in ([{"stdin": "1", "expected": "1"}], [{"stdin": "1", "expect": "1", "compare": "nearly"}]):
            with self.subTest(truth=truth), self.assertRaises(zygo.BadJob):
                self.scorer().scores([RIGHT], [truth])
        self.assertRaises(ValueError, self.scorer().scores, [RIGHT], [])

    def test_find_the_last_program_of_an_answer(self) -> None:
        for text, program in (("```py\na\n```\nor\n```python\nb\n```", "b\n"), ("```\nc\n```", "c\n"), ("```python\nopen", "open"),
                              ("no code", None), ("```python\n\n```", None), ("```cpp\nd\n```", "d\n")):
            with self.subTest(text=text):
                self.assertEqual(rewards.program_of(text), program)


class Embedded(support.OnEmbedded, Scores, unittest.TestCase):
    pass


class OnAService(support.OnService, Scores, unittest.TestCase):
    pass


class Trainers(support.OnEmbedded, unittest.TestCase):
    """zygo fails LOST, always; `again` is an answer that it fails once."""

    def setUp(self) -> None:
        self.pool_of_its_own = self.pool(template="python", standing=False)
        self.faults = failing(self.pool_of_its_own, ALWAYS, b"lost")
        self.enterContext(NO_PAUSE)
        self.enterContext(self.assertLogs("zygo", "WARNING"))

    def enterContext(self, context: Any) -> Any:  # unittest has it from Python 3.11 on
        found = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)
        return found

    def scorer(self) -> rewards.Scorer:
        return rewards.Scorer(self.pool_of_its_own)

    def test_a_fault_that_passes_costs_no_reward(self) -> None:
        self.faults.left = 2

        self.assertEqual(self.scorer().scores(["```python\nprint(int(input()) * 2)  # lost\n```"], [TESTS]), [1.0])
        self.assertEqual(self.faults.failed, 2)

    def test_trl_has_none_for_a_sample_that_it_leaves_out(self) -> None:
        """trl/trainer/grpo_trainer.py, _calculate_rewards: None becomes nan, and where all functions gave nan the advantage is
        0; the baseline is the mean of the others."""
        function = rewards.trl(self.scorer(), tests="checks")

        found = function(prompts=["p"] * 4, completions=list(map(conversation, ANSWERS)), completion_ids=[[1]] * 4,
                         checks=[TESTS] * 4, trainer_state=None, log_extra=None)
        known = [one for one in found if one is not None]
        advantages = [0.0 if one is None else one - sum(known) / len(known) for one in found]

        self.assertEqual(found, [1.0, 0.5, None, 0.0])
        self.assertEqual(advantages, [0.5, 0.0, 0.0, -0.5])
        self.assertEqual(function.__name__, "zygo_reward")
        with self.assertRaisesRegex(ValueError, "no column 'checks'"):
            function(prompts=["p"], completions=[RIGHT], tests=[TESTS])

    def test_open_r1_has_none_too(self) -> None:
        """src/open_r1/rewards.py: code_reward takes completions and the column verification_info; binary_code_reward keeps
        None, and has 1.0 above 0.99."""
        infos = [{"language": "python", "test_cases": TESTS}] * 4
        completions = list(map(conversation, ANSWERS))

        self.assertEqual(rewards.open_r1(self.scorer())(completions, verification_info=infos, num_parallel=2),
                         [1.0, 0.5, None, 0.0])
        self.assertEqual(rewards.open_r1(self.scorer(), binary=True)(completions, verification_info=infos),
                         [1.0, 0.0, None, 0.0])
        with self.assertRaisesRegex(ValueError, "cpp"):
            rewards.open_r1(self.scorer())([RIGHT], verification_info=[{"language": "cpp", "test_cases": TESTS}])

    def test_verifiers_has_an_error_of_its_infrastructure(self) -> None:
        """verifiers/legacy/rubrics/rubric.py: whatever a function raises is 0.0; legacy/utils/async_utils.py, maybe_retry: a
        rollout whose state has an InfraError as its error is run again."""
        class InfraError(Exception):
            pass

        function = rewards.verifiers(InfraError, self.scorer(), tests="answer")

        def rollout(answer: str) -> tuple[float, Any]:
            state: dict[str, Any] = {"completion": conversation(answer), "answer": json.dumps(TESTS), "error": None}
            try:
                reward = asyncio.run(function(state=state, **{name: state[name] for name in ("completion", "answer")}))
            except Exception:
                reward = 0.0
            return reward, state["error"]

        self.assertEqual([rollout(one) for one in (RIGHT, WRONG, NONE)], [(1.0, None), (0.5, None), (0.0, None)])
        self.assertIsInstance(rollout(LOST)[1], InfraError)

        tries = 0
        while isinstance(rollout("```python\nprint(int(input()) * 2)  # lost\n```")[1], InfraError):
            tries += 1
            self.faults.left = 0
        self.assertEqual(tries, 1)

    def test_nemo_masks_it_and_keeps_the_baseline(self) -> None:
        """nemo_rl/experience/rollouts.py, _extract_mask_sample_flags: full_result["instance_config"]["mask_sample"]; such a
        sample has no loss, but its reward counts for the advantages."""
        found = rewards.nemo_gym(self.scorer())([*ANSWERS, LOST], [TESTS] * 4 + [TESTS[:1]])

        masked = [bool((one.get("instance_config") or {}).get("mask_sample", False)) for one in found]
        self.assertEqual(masked, [False, False, True, False, True])
        self.assertEqual([one["reward"] for one in found], [1.0, 0.5, 0.5, 0.0, 0.0])

    def test_verl_tries_again_and_then_has_an_exception(self) -> None:
        """verl/workers/reward_manager/naive.py calls with these names, and lets exceptions pass; a row always has a reward."""
        function = rewards.verl(self.scorer(), patience=0)
        row = {"data_source": "codecontests", "ground_truth": json.dumps({"inputs": ["2", "3"], "outputs": ["4", "6"]}),
               "extra_info": {"num_turns": None}}

        self.assertEqual([function(solution_str=one, **row) for one in (RIGHT, WRONG, NONE)], [1.0, 0.5, 0.0])
        with self.assertRaises(zygo.SandboxError):
            function(solution_str=LOST, **row)
        self.faults.left = 3  # all tries of the first round
        with mock.patch("time.sleep"):
            self.assertEqual(rewards.verl(self.scorer(), patience=60)(
                solution_str="```python\nprint(int(input()) * 2)  # lost\n```", **row), 1.0)

    def test_a_lost_runtime_is_raised_for_all(self) -> None:
        scorer = rewards.Scorer(zygo.Pool(url="http://127.0.0.1:1"), tries=2)

        with self.assertRaises(zygo.RuntimeLost):
            rewards.trl(scorer)(completions=[RIGHT, NONE], tests=[TESTS] * 2)

    def test_a_score_alone_says_which_of_the_two_it_is(self) -> None:
        scorer = rewards.Scorer(self.pool_of_its_own, no_program=None)

        self.assertTrue(math.isnan(scorer.score(NONE, TESTS)))
        with self.assertRaises(zygo.SandboxError):
            scorer.score(LOST, TESTS)


class Verl(support.OnService, unittest.TestCase):
    def test_the_function_that_its_configuration_names(self) -> None:
        """verl/trainer/ppo/reward.py, get_custom_reward_fn: a function of a file, with reward_kwargs beside verl's own."""
        import importlib.util

        path = support.PACKAGE / "zygo/rewards/verl_reward.py"
        spec = importlib.util.spec_from_file_location("custom_module", path)
        assert spec and spec.loader
        loaded = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(loaded)

        found = [loaded.compute_score(data_source="apps", solution_str=one, ground_truth=json.dumps(TESTS), extra_info={},
                                      url=self.options()["url"], timeout=2) for one in (RIGHT, WRONG)]

        self.assertEqual(found, [1.0, 0.5])


if __name__ == "__main__":
    support.main()
