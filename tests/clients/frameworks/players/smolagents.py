from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIServerModel, ToolCallingAgent


def play(url, prompt, server):
    model = OpenAIServerModel(model_id="scripted", api_base=f"{url}/v1", api_key="no-secret")
    where = server if "url" in server else StdioServerParameters(**server)
    with MCPClient(where, adapter_kwargs={"connect_timeout": 300}, structured_output=False) as tools:
        return ToolCallingAgent(tools=tools, model=model, max_steps=40).run(prompt)
