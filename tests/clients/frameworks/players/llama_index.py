from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai_like import OpenAILike
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec


async def play(url, prompt, server):
    llm = OpenAILike(
        model="scripted", api_base=f"{url}/v1", api_key="no-secret", is_chat_model=True, is_function_calling_model=True
    )
    where = server.get("url") or server["command"]
    client = BasicMCPClient(where, args=server.get("args"), timeout=300)
    tools = await McpToolSpec(client=client).to_tool_list_async()
    agent = FunctionAgent(tools=tools, llm=llm, timeout=None)
    return str(await agent.run(prompt, max_iterations=40))
