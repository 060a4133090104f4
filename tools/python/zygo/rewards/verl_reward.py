"""For verl's configuration, by the path of this file:

    custom_reward_function.path=.../zygo/rewards/verl_reward.py
    custom_reward_function.name=compute_score
    +custom_reward_function.reward_kwargs.url=http://127.0.0.1:8000
    +custom_reward_function.reward_kwargs.timeout=10

The keyword arguments are those of `Scorer`, and `url`, `token` and `patience`; the pool is made with the first call, in
each of verl's processes.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Optional

import zygo
from zygo import rewards

_made: Dict[str, Callable[..., float]] = {}


def compute_score(data_source: Any = None, solution_str: str = "", ground_truth: Any = None, extra_info: Any = None, *,
                  url: Optional[str] = None, token: Optional[str] = None, patience: float = 600.0,
                  reward_router_address: Any = None, reward_model_tokenizer: Any = None, **options: Any) -> float:
    """See `zygo.rewards.verl`. What verl's managers hand over of their reward models has no meaning here."""
    key = json.dumps([url, token, patience, options], sort_keys=True)
    if key not in _made:
        pool = zygo.Pool(options.get("template", "python"), url=url, token=token)
        _made[key] = rewards.verl(rewards.Scorer(pool, **options), patience=patience)
    return _made[key](data_source, solution_str, ground_truth, extra_info)
