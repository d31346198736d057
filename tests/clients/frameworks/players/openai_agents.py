from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp
from openai import AsyncOpenAI


async def play(url, prompt, server):
    set_tracing_disabled(True)
    kind = MCPServerStreamableHttp if "url" in server else MCPServerStdio
    async with kind(params=server, client_session_timeout_seconds=300) as m3bench:
        openai = AsyncOpenAI(base_url=f"{url}/v1", api_key="no-secret")
        model = OpenAIChatCompletionsModel(model="scripted", openai_client=openai)
        agent = Agent(name="player", model=model, mcp_servers=[m3bench])
        return (await Runner.run(agent, prompt, max_turns=40)).final_output
