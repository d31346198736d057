from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StdioServerParams, StreamableHttpServerParams


async def play(url, prompt, server):
    about = {
        "vision": True,
        "function_calling": True,
        "json_output": True,
        "structured_output": True,
        "family": "unknown",
    }
    model = OpenAIChatCompletionClient(
        model="scripted", base_url=f"{url}/v1", api_key="no-secret", model_info=about, parallel_tool_calls=True
    )
    where = (
        StreamableHttpServerParams(**server, timeout=300)
        if "url" in server
        else StdioServerParams(**server, read_timeout_seconds=300)
    )
    async with McpWorkbench(where) as m3bench:
        agent = AssistantAgent("player", model, workbench=m3bench, max_tool_iterations=40)
        return (await agent.run(task=prompt)).messages[-1].content
