from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI


async def play(url, prompt, server):
    kind = {"transport": "streamable_http"} if "url" in server else {"transport": "stdio"}
    async with MultiServerMCPClient({"m3bench": {**kind, **server}}).session("m3bench") as session:
        model = ChatOpenAI(model="scripted", base_url=f"{url}/v1", api_key="no-secret", timeout=300)
        agent = create_agent(model, await load_mcp_tools(session))
        done = await agent.ainvoke({"messages": [("user", prompt)]}, {"recursion_limit": 80})
        return done["messages"][-1].content
