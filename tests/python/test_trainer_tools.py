"""The examples of tools for trainers' loops. Each trainer is a few lines here, a stand-in that does what its own loop does, which is
cited; `tools/try-trainers` runs the same examples by that code itself."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
import json
import sys
import time
import types
import unittest
from typing import Any
from unittest import mock

import support

import zygo

EXAMPLES = support.SOURCE / "examples"
CALLS = ("x = 20\nx", "while True: x += 1", "x * 2 + 2", "1 / 0")


def module(name: str, **names: Any) -> types.ModuleType:
    found = types.ModuleType(name)
    found.__dict__.update(names)
    return found


def example(name: str, **stand_ins: types.ModuleType) -> Any:
    """A fresh module of it, which finds these modules of its trainer."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    with mock.patch.dict(sys.modules, {each.__name__: each for each in stand_ins.values()}):
        spec.loader.exec_module(loaded)
    return loaded


class ATrajectory:
    """verl/experimental/agent_loop/tool_agent_loop.py: AgentData, one for each trajectory."""

    def __init__(self) -> None:
        self.extra_fields: dict[str, Any] = {}


class Base:
    """verl/tools/base_tool.py: BaseTool."""

    def __init__(self, config: dict[str, Any], tool_schema: Any) -> None:
        self.config, self.tool_schema = config, tool_schema


class Response:
    """verl/tools/schemas.py: ToolResponse."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text


class StatefulToolEnv:
    """verifiers/legacy/envs/stateful_tool_env.py, its names and env_response()."""

    def __init__(self, max_turns: int = 10, stop_errors: list[type[Exception]] | None = None, dataset: Any = None) -> None:
        self.stop_errors, self.tool_map, self.skipped = stop_errors or [], {}, {}

    def add_tool(self, tool: Any, args_to_skip: list[str] = []) -> None:
        self.tool_map[tool.__name__] = tool
        self.skipped[tool.__name__] = args_to_skip

    async def env_response(self, messages: Any, state: Any) -> list[dict[str, str]]:
        answers = []
        for call in messages[-1]["tool_calls"]:
            arguments = self.update_tool_args(call["name"], json.loads(call["arguments"]), messages, state)  # type: ignore[attr-defined]
            try:
                answers.append({"role": "tool", "content": str(await self.tool_map[call["name"]](**arguments))})
            except Exception as error:
                if isinstance(error, tuple(self.stop_errors)):
                    raise
                answers.append({"role": "tool", "content": str(error)})
        return answers


def cleanup(function: Any) -> Any:
    function.cleanup = True
    return function


class Tools(support.Place):
    def check_answers(self, answers: list[str]) -> None:
        self.assertEqual((answers[0], answers[2]), ("20", "42"))
        self.assertRegex(answers[1], "^TimeoutException: ")
        self.assertRegex(answers[3], "ZeroDivisionError: division by zero$")

    def test_verl(self) -> None:
        """_call_tool(): an instance is created, executed with the trajectory's data and released for each call."""
        loaded = example("verl_tool", base=module("verl.tools.base_tool", BaseTool=Base),
                         schemas=module("verl.tools.schemas", ToolResponse=Response), verl=module("verl"),
                         tools=module("verl.tools"))
        tool = loaded.PythonTool({"limits": {"cpu_ms": 300}, **self.options()}, {"type": "function"})
        self.assertIsInstance(tool, Base)

        async def call(data: ATrajectory, code: str) -> str:
            instance, _ = await tool.create(create_kwargs={})
            try:
                response, reward, metrics = await tool.execute(instance, {"code": code}, agent_data=data)
            finally:
                await tool.release(instance)
            self.assertEqual((type(response), reward, list(metrics)), (Response, 0.0, ["label"]))
            return response.text

        async def trajectory() -> list[str]:
            data = ATrajectory()
            return [await call(data, code) for code in CALLS]

        async def main() -> None:
            for answers in await asyncio.gather(*[trajectory() for _ in range(4)]):
                self.check_answers(answers)
            self.assertEqual(len(tool.sessions), 0)
            await tool.pool.close()

        asyncio.run(main())

    def test_verifiers(self) -> None:
        loaded = example("verifiers_env", verifiers=module("verifiers", StatefulToolEnv=StatefulToolEnv, cleanup=cleanup))

        async def rollout(env: Any, number: int) -> list[str]:
            state, answers = await env.setup_state({"trajectory_id": f"t-{number}"}), []
            for code in CALLS:
                call = {"name": "python", "arguments": json.dumps({"code": code})}
                answers += await env.env_response([{"role": "assistant", "tool_calls": [call]}], state)
            for _, handler in inspect.getmembers(env, lambda member: hasattr(member, "cleanup")):
                await handler(state)
            return [answer["content"] for answer in answers]

        async def main() -> None:
            async with zygo.AsyncPool(**{**self.options(), "template": "python"}) as pool:
                env = loaded.PythonEnv(pool, dataset=[], max_turns=5)
                self.assertEqual(env.skipped, {"python": ["session"]})
                for answers in await asyncio.gather(*[rollout(env, number) for number in range(4)]):
                    self.check_answers(answers)
                self.assertEqual(env.sessions, {})

        asyncio.run(main())

    def test_trl(self) -> None:
        """trl/trainer/grpo_trainer.py: an instance is made once and reset for each rollout; its public methods are the tools, with
        hints and a docstring in Google's style; get_reward() is called when the rollout is over."""
        loaded = example("trl_tools")
        loaded.PythonEnv.pool = self.pool(template="python", limits={"cpu_ms": 300})
        env = loaded.PythonEnv()
        tools = {name: method for name, method in inspect.getmembers(env, predicate=inspect.ismethod)
                 if name not in ("reset", "get_reward") and not name.startswith("_")}
        self.assertEqual(list(tools), ["python"])
        self.assertEqual(inspect.signature(tools["python"]).parameters["code"].annotation, str)
        self.assertRegex(tools["python"].__doc__ or "", r"(?s)\n +Args:\n +code: .*\n +Returns:\n")

        rewards = []
        for last in ("answer = x * 2 + 2", "answer = 41", "pass"):
            env.reset(prompt=[{"role": "user", "content": "?"}], answer=42)
            self.check_answers([tools["python"](code=code) for code in CALLS])
            tools["python"](code=last)
            rewards.append(env.get_reward())

        self.assertEqual(rewards, [1.0, 0.0, 0.0])


class Embedded(support.OnEmbedded, Tools, unittest.TestCase):
    pass


class OnAService(support.OnService, Tools, unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.service = support.Service()

    @classmethod
    def options(cls) -> dict[str, Any]:
        assert cls.service
        return {"url": cls.service.url}

    def tearDown(self) -> None:
        """Whatever the trainer has dropped is ended."""
        transport = zygo.Pool("python", url=self.options()["url"]).transport
        deadline = time.monotonic() + support.PATIENCE
        while b"\nzygo_nodes 0\n" not in transport._answer("GET", "/metrics")[1]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)  # There is no event for what a thread of the pool has done.


if __name__ == "__main__":
    support.main()
