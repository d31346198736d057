from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


async def play(url, prompt, server):
    where = server["url"] if "url" in server else StdioTransport(server["command"], server["args"])
    m3bench = MCPToolset(where, init_timeout=300, read_timeout=300)
    model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=f"{url}/v1", api_key="no-secret"))
    agent = Agent(model, toolsets=[m3bench])
    async with agent:
        return (await agent.run(prompt)).output
