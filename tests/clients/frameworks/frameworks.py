"""Programs that play a task with a framework for agents: as few lines as its own documentation would use.

Each runs in an environment of its own and gets three arguments: the model's address, the prompt, and as JSON either the
command that starts the server or its address. They are kept as text because their packages are not ours.
"""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Program:
    """A framework at a version, and what to run with it."""

    packages: tuple[str, ...]
    code: str


_BEGIN = """
import asyncio, json, sys
url, prompt, server = sys.argv[1] + "/v1", sys.argv[2], json.loads(sys.argv[3])
"""

PROGRAMS = {
    "openai-agents": Program(
        packages=("openai-agents==0.24.0",),
        code=_BEGIN
        + """
from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from openai import AsyncOpenAI

async def main():
    set_tracing_disabled(True)
    kind = MCPServerStreamableHttp if "url" in server else MCPServerStdio
    async with kind(params=server, client_session_timeout_seconds=300) as m3bench:
        openai = AsyncOpenAI(base_url=url, api_key="no-secret")
        model = OpenAIChatCompletionsModel(model="scripted", openai_client=openai)
        agent = Agent(name="player", model=model, mcp_servers=[m3bench])
        print((await Runner.run(agent, prompt, max_turns=40)).final_output)

asyncio.run(main())
""",
    ),
    "pydantic-ai": Program(
        packages=("pydantic-ai-slim[openai,mcp]==2.66.0",),
        code=_BEGIN
        + """
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

async def main():
    where = server["url"] if "url" in server else StdioTransport(server["command"], server["args"])
    m3bench = MCPToolset(where, init_timeout=300, read_timeout=300)
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="no-secret"))
    agent = Agent(model, toolsets=[m3bench])
    async with agent:
        print((await agent.run(prompt)).output)

asyncio.run(main())
""",
    ),
    "langgraph": Program(
        packages=("langchain-mcp-adapters==0.3.2", "langchain==1.4.7", "langchain-openai==1.7.3"),
        code=_BEGIN
        + """
from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI

async def main():
    kind = {"transport": "streamable_http"} if "url" in server else {"transport": "stdio"}
    async with MultiServerMCPClient({"m3bench": {**kind, **server}}).session("m3bench") as session:
        model = ChatOpenAI(model="scripted", base_url=url, api_key="no-secret", timeout=300)
        agent = create_agent(model, await load_mcp_tools(session))
        done = await agent.ainvoke({"messages": [("user", prompt)]}, {"recursion_limit": 80})
        print(done["messages"][-1].content)

asyncio.run(main())
""",
    ),
}
"""By the framework's name."""
