"""A small third-party server, as far as m3bench is concerned: the SDK's own."""

import os
import sys
import threading

import anyio
import mcp_types as types
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

TOOLS = ("echo", "count", "crash", "fail", "hang", "large", "leave", "picture", "refuse")


async def list_tools(context: object, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema={"type": "object"}) for name in TOOLS]
    )


asked = 0


async def call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
    global asked
    arguments = params.arguments or {}
    match params.name:
        case "echo":
            return types.CallToolResult(
                content=[types.TextContent(text=str(arguments.get("text")))], structured_content={"echo": arguments}
            )
        case "count":
            asked += 1
            return types.CallToolResult(content=[types.TextContent(text=str(asked))])
        case "large":
            return types.CallToolResult(content=[types.TextContent(text="x" * int(arguments["size"]))])
        case "picture":
            return types.CallToolResult(content=[types.ImageContent(data="iVBORw0KGgo=", mime_type="image/png")])
        case "fail":
            return types.CallToolResult(content=[types.TextContent(text="no such thing")], is_error=True)
        case "refuse":
            raise MCPError(code=-5, message="not today", data={"when": "tomorrow"})
        case "hang":
            await anyio.sleep_forever()
        case "leave":
            threading.Timer(0.2, os._exit, [0]).start()
            return types.CallToolResult(content=[types.TextContent(text="goodbye")])
        case "crash":
            os._exit(3)
    raise ValueError(params.name)


def serve() -> None:
    """Over stdio, or with `--http PORT` over Streamable HTTP."""
    server: Server[object] = Server("echo", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    if sys.argv[1:2] == ["--http"]:
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]), access_log=False)
    else:
        anyio.run(over_stdio, server)


async def over_stdio(server: Server[object]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    serve()
