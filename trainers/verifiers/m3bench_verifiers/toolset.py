"""The tools, as a server that all rollouts share: each call goes to the episode of the rollout that makes it."""

from typing import Any, cast

import httpx
import verifiers.v1 as vf
from mcp.server.mcpserver import Context, MCPServer
from mcp.types import CallToolResult, TextContent, Tool

CALL_SECONDS = 600.0


class M3benchState(vf.State):
    """Where a rollout's episode is played."""

    url: str = ""
    session: str = ""
    """The trainer's id of it, which knows the reward."""
    agent: str = ""
    """The agent's, which knows the tools alone."""

    async def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """What the episode answers to a request of its agent."""
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        async with httpx.AsyncClient(timeout=CALL_SECONDS) as client:
            answer = await client.post(f"{self.url}/mcp", params={"session_id": self.agent}, json=message)
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found


class M3benchToolset(vf.Toolset[vf.SharedToolsetConfig, M3benchState]):
    """Lists the tools of the episode, and passes calls on."""

    TOOL_PREFIX = "m3bench"

    def register(self, mcp: MCPServer) -> None:
        """Answer by name, instead of by functions of Python that a schema is read from."""
        server = cast(Any, mcp)
        server.list_tools = self._with_state(self.list_tools)
        server.call_tool = self._with_state(self.call_tool)

    async def list_tools(self) -> list[Tool]:
        """The tools, as the episode lists them."""
        found = await self.state.ask("tools/list", {})
        return [Tool.model_validate(tool) for tool in found["result"]["tools"]]

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context | None = None) -> CallToolResult:
        """What the episode answers to a call."""
        found = await self.state.ask("tools/call", {"name": name, "arguments": arguments})
        if "error" in found:
            text = TextContent(type="text", text=str(found["error"].get("message", "")))
            return CallToolResult(content=[text], is_error=True)
        return CallToolResult.model_validate(found["result"])


if __name__ == "__main__":
    M3benchToolset.run()
