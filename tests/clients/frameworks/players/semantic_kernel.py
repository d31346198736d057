from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.connectors.mcp import MCPStdioPlugin, MCPStreamableHttpPlugin


async def play(url, prompt, server):
    openai = AsyncOpenAI(base_url=f"{url}/v1", api_key="no-secret")
    kind = MCPStreamableHttpPlugin if "url" in server else MCPStdioPlugin
    async with kind(name="m3bench", load_prompts=False, request_timeout=300, **server) as m3bench:
        agent = ChatCompletionAgent(
            name="player",
            service=OpenAIChatCompletion(ai_model_id="scripted", async_client=openai),
            plugins=[m3bench],
            function_choice_behavior=FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=40),
        )
        return str(await agent.get_response(prompt))
