from crewai import LLM, Agent, Crew, Task
from crewai_tools import MCPServerAdapter
from mcp import StdioServerParameters


def play(url, prompt, server):
    where = {**server, "transport": "streamable-http"} if "url" in server else StdioServerParameters(**server)
    with MCPServerAdapter(where, connect_timeout=300) as tools:
        llm = LLM(model="openai/gpt-4.1", base_url=f"{url}/v1", api_key="no-secret")
        agent = Agent(role="player", goal="Solve tasks.", backstory="None.", tools=tools, llm=llm, max_iter=40)
        task = Task(description=prompt, expected_output="The score card.", agent=agent)
        return Crew(agents=[agent], tasks=[task]).kickoff().raw
