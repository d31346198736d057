from strands import Agent
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient


def play(url, prompt, server):
    model = OpenAIModel(client_args={"base_url": f"{url}/v1", "api_key": "no-secret"}, model_id="scripted")
    clients = MCPClient.load_servers({"m3bench": server})
    return Agent(model=model, tools=clients, callback_handler=None)(prompt)
