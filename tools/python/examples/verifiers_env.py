"""An environment for verifiers, an interpreter for each rollout: `PythonEnv(pool, dataset=..., rubric=...)`."""

import asyncio

import zygo

try:
    from verifiers import StatefulToolEnv, cleanup
except ImportError:  # so much of them is used here
    StatefulToolEnv = type("StatefulToolEnv", (), {"__init__": lambda self, **_: None, "add_tool": lambda self, *_, **__: None})

    def cleanup(function):
        return function


class PythonEnv(StatefulToolEnv):
    def __init__(self, pool, **options):
        super().__init__(**{"stop_errors": [zygo.SandboxError, zygo.RuntimeLost], **options})  # such a rollout is not scored
        self.pool, self.sessions = pool, {}
        self.add_tool(self.python, args_to_skip=["session"])

    async def setup_state(self, state, **kwargs):
        self.sessions[state["trajectory_id"]] = self.pool.session(limits={"cpu_ms": 300})
        return state

    def update_tool_args(self, tool_name, tool_args, messages, state, **kwargs):
        return {**tool_args, "session": self.sessions[state["trajectory_id"]]}

    async def python(self, code: str, session) -> str:
        """Runs Python code in an interpreter that keeps its variables, and returns what it prints and its last value."""
        result = await session.run(code)
        return (result.check() if result.by == "sandbox" else result).shown

    @cleanup
    async def end_session(self, state):
        await self.sessions.pop(state["trajectory_id"]).close()


async def rollout(env, *codes):
    state = await env.setup_state({"trajectory_id": "one"})
    for code in codes:
        print(await env.python(**env.update_tool_args("python", {"code": code}, [], state)))
    await env.end_session(state)


if __name__ == "__main__":
    asyncio.run(rollout(PythonEnv(zygo.AsyncPool("python")), "x = 20; x", "while True: x += 1", "x * 2 + 2"))
