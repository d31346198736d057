import json
from urllib.request import Request, urlopen

import anyio
from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def play(url, prompt, server):
    """FastMCP has no agent, so this is one: what the model calls in one turn is sent together."""
    where = server["url"] if "url" in server else StdioTransport(server["command"], server["args"], keep_alive=False)
    said = [{"role": "user", "content": prompt}]
    async with Client(where, timeout=300) as m3bench:
        tools = [
            {"type": "function", "function": {"name": tool.name, "parameters": tool.input_schema}}
            for tool in await m3bench.list_tools()
        ]
        while True:
            said.append(await anyio.to_thread.run_sync(_ask, url, {"messages": said, "tools": tools}))
            calls = said[-1].get("tool_calls", ())
            if not calls:
                return said[-1]["content"]
            async with anyio.create_task_group() as together:
                for call in calls:
                    said.append({"role": "tool", "tool_call_id": call["id"], "content": []})
                    together.start_soon(_call, m3bench, call["function"], said[-1]["content"])


def _ask(url, asked):
    request = Request(f"{url}/v1/chat/completions", json.dumps(asked).encode(), {"content-type": "application/json"})
    with urlopen(request, timeout=300) as answer:
        return json.load(answer)["choices"][0]["message"]


async def _call(m3bench, function, content):
    result = await m3bench.call_tool(function["name"], json.loads(function["arguments"]), raise_on_error=False)
    for block in result.content:
        if block.type == "text":
            content.append({"type": "text", "text": block.text})
        elif block.type == "image":
            url = f"data:{block.mime_type};base64,{block.data}"
            content.append({"type": "image_url", "image_url": {"url": url}})
