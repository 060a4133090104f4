"""The examples of tools by the loops of the trainers' own sources: for tools/try-trainers. Needs neither torch nor a model: the calls of a
model are written here."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import logging
import sys
import types
from pathlib import Path
from typing import Any, Callable

from trainer_sources import Source, made, module

import zygo

EXAMPLES = Path(__file__).resolve().parents[2] / "tools/python/examples"
CALLS = ("x = 20\nx", "while True: x += 1", "x * 2 + 2")
Check = Callable[[str, bool, Any], None]


def example(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def as_expected(answers: list[str]) -> bool:
    return (answers[0], answers[2]) == ("20", "42") and answers[1].startswith("TimeoutException")


def verl(source: Source, check: Check) -> None:
    """The real BaseTool and the agent loop's real call of a tool, which creates and releases an instance each time."""
    loop = "verl/experimental/agent_loop/tool_agent_loop.py"
    module("verl")
    module("verl.utils")
    module("verl.utils.rollout_trace", rollout_trace_op=lambda function: function)
    module("verl.tools")
    schemas = _schemas(source)
    module("verl.tools.base_tool", source.text("verl/tools/base_tool.py").replace("from .schemas", "from verl.tools.schemas").replace(
        "print(json.dumps", "(json.dumps"))
    call = made(source.function(loop, "_call_tool"), "_call_tool", json=json, ToolResponse=schemas.ToolResponse,
                logger=logging.getLogger("verl"))
    data_of = made(source.function(loop, "AgentData"), "AgentData")
    tool = example("verl_tool").PythonTool({"type": "native", "limits": {"cpu_ms": 300}}, schemas.OpenAIFunctionToolSchema.model_validate(
        {"type": "function", "function": {"name": "python", "description": "Runs Python code.", "parameters": {
            "type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}}}))
    agent_loop = types.SimpleNamespace(tools={tool.name: tool}, max_tool_response_length=400, tool_response_truncate_side="middle")

    async def trajectory() -> list[str]:
        data = data_of([], None, None, {}, "r-1", {})
        answers = []
        for code in CALLS:
            tool_call = types.SimpleNamespace(name="python", arguments=json.dumps({"code": code}))
            response, _, _ = await call(agent_loop, tool_call, {}, data)
            answers.append(response.text)
        return answers

    async def main() -> list[list[str]]:
        return list(await asyncio.gather(*[trajectory() for _ in range(3)]))

    found = asyncio.run(main())
    check("verl's agent loop: each trajectory keeps its variables", all(map(as_expected, found)), found[0])
    check("verl's agent loop: no session is left behind its trajectory", len(tool.sessions) == 0, len(tool.sessions))


def _schemas(source: Source) -> types.ModuleType:
    try:
        from pydantic import model_validator  # noqa: F401  (of version 2)
    except ImportError:
        print("  verl: pydantic 2 is missing, so its schemas are a stand-in")
        kind = types.SimpleNamespace(model_validate=lambda told: types.SimpleNamespace(
            function=types.SimpleNamespace(**told["function"]), model_dump=lambda **_: told))
        return module("verl.tools.schemas", ToolResponse=_Response, OpenAIFunctionToolSchema=kind)
    return module("verl.tools.schemas", source.text("verl/tools/schemas.py"))


class _Response:
    def __init__(self, text: Any = None) -> None:
        self.text = text


def verifiers(source: Source, check: Check) -> None:
    """The real StatefulToolEnv, over an environment without data sets and models."""
    folder = "verifiers/legacy"
    errors = module("verifiers.legacy.errors", source.text(f"{folder}/errors.py"))
    decorators = module("verifiers.legacy.decorators", source.text(f"{folder}/decorators.py"))
    base = type("MultiTurnEnv", (), {"__init__": lambda self, **_: None, "add_rubric": lambda *_: None})
    rubric = type("Rubric", (), {"__init__": lambda self, **_: None, "add_metric": lambda *_: None})
    vf = module("verifiers.legacy", MultiTurnEnv=base, Rubric=rubric, stop=decorators.stop, Messages=list, State=dict, AssistantMessage=dict, **{
        name: kind for name, kind in vars(errors).items() if isinstance(kind, type)})
    module("verifiers", legacy=vf, cleanup=decorators.cleanup)
    module("verifiers.legacy.types", **{name: types.SimpleNamespace for name in (
        "AssistantMessage", "Messages", "Tool", "ToolCall", "ToolMessage")})
    module("verifiers.legacy.utils")
    maybe_await = made(source.function(f"{folder}/utils/async_utils.py", "maybe_await"), "maybe_await", inspect=inspect)
    module("verifiers.legacy.utils.async_utils", maybe_await=maybe_await)
    module("verifiers.legacy.utils.tool_utils", convert_func_to_tool_def=_definition_of, is_valid_tool_content_parts=lambda _: False)
    vf.ToolEnv = module("verifiers.legacy.envs.tool_env", source.text(f"{folder}/envs/tool_env.py")).ToolEnv  # type: ignore[attr-defined]
    stateful = module("verifiers.legacy.envs.stateful_tool_env", source.text(f"{folder}/envs/stateful_tool_env.py"))
    sys.modules["verifiers"].StatefulToolEnv = stateful.StatefulToolEnv  # type: ignore[attr-defined]
    loaded = example("verifiers_env")

    async def rollout(env: Any, name: str) -> list[str]:
        state = await env.setup_state({"trajectory_id": name})
        answers = []
        for code in CALLS:
            tool_call = types.SimpleNamespace(id="c-1", name="python", arguments=json.dumps({"code": code}))
            answers += await env.env_response([types.SimpleNamespace(role="assistant", tool_calls=[tool_call])], state)
        for handler in decorators.discover_decorated(env, "cleanup"):
            await handler(state)
        return [answer.content for answer in answers]

    async def main() -> None:
        async with zygo.AsyncPool("python") as pool:
            env = loaded.PythonEnv(pool, max_turns=8)
            found = await asyncio.gather(*[rollout(env, name) for name in "abc"])
            check("verifiers' StatefulToolEnv: each rollout keeps its variables", all(map(as_expected, found)), found[0])
            check("verifiers' StatefulToolEnv: the session is hidden from the model", list(
                env.tool_defs[0].parameters["properties"]) == ["code"], env.tool_defs[0].parameters)
            check("verifiers' clean-up: no session is left", env.sessions == {}, env.sessions)

    asyncio.run(main())


def _definition_of(function: Any) -> Any:
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return types.SimpleNamespace(name=function.__name__, description=function.__doc__, parameters={
        "type": "object", "properties": {name: {"type": "string"} for name in names}, "required": names})


def trl(source: Source, check: Check) -> None:
    """The real lines that find an environment's tools, call them, and ask for its reward."""
    path = "trl/trainer/grpo_trainer.py"
    env = example("trl_tools").PythonEnv()
    scope: dict[str, Any] = {"inspect": inspect, "instance": env, "methods": [], "has_reset": False, "has_reward": False}
    exec(source.between(path, "for member_name, member in inspect.getmembers(instance", "methods.append(member)"), scope)
    tools = {method.__name__: method for method in scope["methods"]}
    check("trl: the tools of the environment", (list(tools), scope["has_reset"], scope["has_reward"]) == (["python"], True, True),
          list(tools))
    calling = source.between(path, "for tool_call in tool_call_list:", 'tool_call_results.append((name, {"error": f"Unsupported')
    rewards = source.between(path, "def get_reward(environments", "return [e.get_reward()")
    found = []
    for last in ("answer = x * 2 + 2", "answer = 41"):
        env.reset(prompt=[{"role": "user", "content": "?"}], answer=42)
        scope = {"tool_call_count": 0, "tool_failure_count": 0, "tool_call_results": [], "async_coros": [],
                 "sync_tool_dict": tools, "async_tool_dict": {}, "env_type": type(env), "tool_call_list": [
                     {"type": "function", "function": {"name": "python", "arguments": {"code": code}}} for code in (*CALLS, last)]}
        exec(calling, scope)
        exec(rewards, scope)
        answers = [str(result) for _, result in scope["tool_call_results"]]
        found.append((as_expected(answers), scope["tool_failure_count"], scope["get_reward"]([env])))
    check("trl: each rollout keeps its variables, and is scored by them", found == [(True, 0, [1.0]), (True, 0, [0.0])], found)


LOOPS: dict[str, Callable[[Source, Check], None]] = {"verl": verl, "verifiers": verifiers, "trl": trl}
