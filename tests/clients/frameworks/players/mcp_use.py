from langchain_openai import ChatOpenAI
from mcp_use import MCPAgent, MCPClient


async def play(url, prompt, server):
    client = MCPClient.from_dict({"mcpServers": {"m3bench": server}})
    model = ChatOpenAI(model="scripted", base_url=f"{url}/v1", api_key="no-secret", timeout=300)
    try:
        return await MCPAgent(llm=model, client=client, max_steps=80).run(prompt)
    finally:
        await client.close_all_sessions()
