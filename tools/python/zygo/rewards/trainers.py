"""Reward functions in the shapes of trainers, each over a `Scorer`. The rule that each follows is cited by repository and
file; `tools/try-trainers` runs them against a checkout of the trainers' own code.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from typing import Any, Callable, Dict, List, MutableMapping, Optional, Sequence, Type

from ..errors import RuntimeLost, SandboxError
from ..transport.base import log
from .scoring import Completion, Scorer

Rewards = List[Optional[float]]
_LONGEST_PAUSE = 30.0  # seconds, between two tries of verl's


def trl(scorer: Optional[Scorer] = None, *, tests: str = "tests", name: str = "zygo_reward") -> Callable[..., Rewards]:
    """For `GRPOTrainer(reward_funcs=[...])`: `tests` is the column of the data set with the tests of each prompt.

    None where zygo has failed a program: the trainer turns it into nan and gives that completion no advantage
    (huggingface/trl, trl/trainer/grpo_trainer.py: `_calculate_rewards`, `unscorable_mask`). Where there are other reward
    functions, these alone count for it.
    """
    chosen = scorer or Scorer()

    def reward(prompts: Any = None, completions: Sequence[Completion] = (), **columns: Any) -> Rewards:
        return chosen.scores(completions, _column(columns, tests))

    reward.__name__ = reward.__qualname__ = name  # under which the trainer logs it
    return reward


def open_r1(scorer: Optional[Scorer] = None, *, binary: bool = False, name: str = "code_reward") -> Callable[..., Rewards]:
    """In the place of open-r1's `code_reward`, or `binary_code_reward`: the column `verification_info` has
    `{"language", "test_cases": [{"input", "output"}]}` for each completion (huggingface/open-r1, src/open_r1/rewards.py).

    None where zygo has failed a program, which `binary_code_reward` passes on, too. Problems of another language than
    Python raise ValueError. `binary`: 1.0 above a share of 0.99.
    """
    chosen = scorer or Scorer(timeout=5)

    def reward(completions: Sequence[Completion], **columns: Any) -> Rewards:
        infos = _column(columns, "verification_info")
        others = sorted({str(info.get("language", "python")) for info in infos} - {"python"})
        if others:
            raise ValueError(f"verification_info of {', '.join(others)}: give a Scorer with that template a function of its own")
        found = chosen.scores(completions, [info["test_cases"] for info in infos])
        return [None if one is None else float(one > 0.99) for one in found] if binary else found

    reward.__name__ = reward.__qualname__ = name
    return reward


def verifiers(error: Type[BaseException], scorer: Optional[Scorer] = None, *, tests: str = "answer",
              name: str = "zygo_reward") -> Callable[..., Any]:
    """For a rubric of verifiers: `Rubric(funcs=[verifiers(vf.SandboxError)])`. `error` is the class that its environments
    take for an error of their infrastructure, `tests` names the argument or column that has the tests.

    Where zygo has failed, `error` is raised and, since a rubric makes 0.0 of whatever its functions raise
    (verifiers/legacy/rubrics/rubric.py, `_call_individual_reward_func`), put into `state["error"]` first: the rollout is
    then run again (`max_retries`) or comes back with that error (verifiers/legacy/utils/async_utils.py, `maybe_retry`). In
    v1 a reward that raises it fails its rollout (verifiers/v1/rollout.py and errors.py, `boundary`): await the function
    in a method with `@vf.reward`. So do a lost runtime and a caller's mistake: neither is the model's.
    """
    chosen = scorer or Scorer()

    async def reward(completion: Completion, state: Any = None, **others: Any) -> float:
        truth = others.get(tests)
        if truth is None and isinstance(state, MutableMapping):
            truth = state.get(tests) or (state.get("info") or {}).get(tests)
        try:
            return await asyncio.get_running_loop().run_in_executor(None, chosen.score, completion, truth)
        except Exception as trouble:
            failure = error(f"zygo: {trouble}")
            if isinstance(state, MutableMapping) and not state.get("error"):
                state["error"] = failure
            raise failure from trouble

    reward.__name__ = reward.__qualname__ = name
    return reward


def nemo_gym(scorer: Optional[Scorer] = None) -> Callable[..., List[Dict[str, Any]]]:
    """The part of a verify result that NeMo-RL reads, for each completion: `reward`, and `instance_config`, whose
    `mask_sample` is true where zygo has failed a program (NVIDIA-NeMo/RL, nemo_rl/experience/rollouts.py,
    `_extract_mask_sample_flags`; nemo_rl/algorithms/grpo.py, `_apply_mask_sample_filter`).

    A masked sample has no loss, but its reward still counts for the advantages of its group. So it is given the mean of
    the others that have the same tests, which moves nobody's baseline; 0.0 where there is none.
    """
    chosen = scorer or Scorer()

    def verify(completions: Sequence[Completion], tests: Sequence[Any]) -> List[Dict[str, Any]]:
        found = chosen.scores(completions, tests)
        groups: Dict[str, List[float]] = {}
        keys = [_key_of(truth) for truth in tests]
        for key, one in zip(keys, found):
            if one is not None:
                groups.setdefault(key, []).append(one)
        return [{"reward": _mean(groups.get(key, ())) if one is None else one,
                 "instance_config": {"mask_sample": one is None}} for key, one in zip(keys, found)]

    return verify


def verl(scorer: Optional[Scorer] = None, *, patience: float = 600.0) -> Callable[..., float]:
    """A `compute_score` for verl (`custom_reward_function`, zygo/rewards/verl_reward.py has one to be named there).

    verl knows no sample without a reward: its `sandbox_fusion` client counts what it could not run as not passed
    (volcengine/verl, verl/utils/reward_score/sandbox_fusion), and two of its managers make 0.0 of an exception or None
    (verl/workers/reward_manager/prime.py, verl/experimental/reward_loop/reward_manager/limited.py). So this one tries
    again for `patience` seconds (the managers' own limit is 300, so give them more), and raises SandboxError or
    RuntimeLost then, which ends the training under the managers `naive`, `batch` and `dapo`.
    """
    chosen = scorer or Scorer()

    def compute_score(data_source: Any = None, solution_str: Completion = "", ground_truth: Any = None,
                      extra_info: Any = None, **_: Any) -> float:
        give_up, pause = time.monotonic() + patience, 1.0
        while True:
            try:
                found = chosen.score(solution_str, ground_truth)
                if math.isnan(found):
                    raise ValueError("verl has no sample without a reward: give the Scorer a `no_program` that is one")
                return found
            except (RuntimeLost, SandboxError) as trouble:
                if time.monotonic() + pause > give_up:
                    raise
                log.warning("%s; tried again in %g s", trouble, pause)
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)

    return compute_score


def _column(columns: Dict[str, Any], name: str) -> Any:
    if name not in columns:
        raise ValueError(f"the data set has no column {name!r}; there are {', '.join(sorted(columns)) or 'none'}")
    return columns[name]


def _key_of(truth: Any) -> str:
    return truth if isinstance(truth, str) else json.dumps(truth, sort_keys=True, default=repr)


def _mean(rewards: Sequence[float]) -> float:
    return sum(rewards) / len(rewards) if rewards else 0.0
