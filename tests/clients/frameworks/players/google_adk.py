import os

from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams, StreamableHTTPConnectionParams
from mcp import StdioServerParameters


async def play(url, prompt, server):
    os.environ |= {"GOOGLE_API_KEY": "no-secret", "GOOGLE_GEMINI_BASE_URL": url}
    if "url" in server:
        where = StreamableHTTPConnectionParams(url=server["url"], timeout=300)
    else:
        where = StdioConnectionParams(server_params=StdioServerParameters(**server), timeout=300)
    m3bench = McpToolset(connection_params=where)
    runner = InMemoryRunner(LlmAgent(name="player", model="gemini-2.5-pro", tools=[m3bench]))
    try:
        events = await runner.run_debug(prompt, quiet=True)
        return events[-1].content.parts[-1].text
    finally:
        await m3bench.close()
