"""A tool for verl, an interpreter for each trajectory: `class_name: verl_tool.PythonTool` in the file of its tools."""

import asyncio
import types
import uuid
import weakref

import zygo

try:
    from verl.tools.base_tool import BaseTool
    from verl.tools.schemas import ToolResponse
except ImportError:  # so much of them is used here
    BaseTool, ToolResponse = type("BaseTool", (), {"__init__": lambda *_: None}), types.SimpleNamespace


class PythonTool(BaseTool):
    def __init__(self, config, tool_schema):
        super().__init__(config, tool_schema)
        self.pool = zygo.AsyncPool("python", url=config.get("url"), limits=config.get("limits"))
        self.sessions = weakref.WeakKeyDictionary()  # by trajectory: verl creates and releases an instance for each call

    async def create(self, instance_id=None, **kwargs):
        return instance_id or uuid.uuid4().hex, ToolResponse()

    async def execute(self, instance_id, parameters, agent_data, **kwargs):
        session = self.sessions.get(agent_data) or self.sessions.setdefault(agent_data, self.pool.session())
        result = await session.run(str(parameters.get("code", "")))
        return ToolResponse(text=result.shown), 0.0, {"label": result.label}

    async def release(self, instance_id, **kwargs):
        pass  # the session ends when verl drops the trajectory


async def trajectory(tool, *codes):
    class AgentData:
        """verl's has the messages of one trajectory."""

    agent_data = AgentData()
    for code in codes:
        instance_id, _ = await tool.create()
        response, _, metrics = await tool.execute(instance_id, {"code": code}, agent_data=agent_data)
        print(metrics["label"], response.text, sep=": ")
        await tool.release(instance_id)


if __name__ == "__main__":
    tool = PythonTool({"type": "native", "limits": {"cpu_ms": 300}}, None)
    asyncio.run(trajectory(tool, "x = 20; x", "while True: x += 1", "x * 2 + 2"))
