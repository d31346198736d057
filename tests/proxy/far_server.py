"""A third-party server that uses all there is in the protocol, made with the SDK: it counts, grows, asks and tells."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import uvicorn
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

Context = ServerRequestContext[Any, Any]

TOOLS = [
    "ask_model",
    "ask_person",
    "ask_roots",
    "count",
    "grow",
    "hold",
    "log",
    "progress",
    "refuse",
    "shrink",
    "touch",
]

asked = 0
level = "none"
grown: list[str] = []
watched: list[str] = []


def text(value: object) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=str(value))])


async def list_tools(context: Context, params: object) -> types.ListToolsResult:
    known = context.session.client_params
    samples = known is not None and known.capabilities.sampling is not None
    names = [*TOOLS, *grown, *(["sampled"] if samples else [])]
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema={"type": "object"}) for name in names]
    )


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    global asked
    arguments = params.arguments or {}
    outbound = context.session._request_outbound
    match params.name:
        case "count":
            asked += 1
            return text(asked)
        case "grow" | "shrink":
            name = arguments.get("name", "new")
            grown.append(name) if params.name == "grow" else grown.remove(name)
            await context.session._connection.outbound.notify("notifications/tools/list_changed", None)
            return text("done")
        case "hold":
            mark = Path(arguments["mark"])
            mark.write_text("begun")
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                mark.write_text("cancelled")
                raise
        case "log":
            for _ in range(2):
                data = {"level": "info", "data": level}
                await context.session._connection.outbound.notify("notifications/message", data)
            return text("logged")
        case "progress":
            for done in (1, 2):
                await context.session.report_progress(done, 2)
            return text("reported")
        case "refuse":
            raise MCPError(code=-5, message="not today", data={"when": "tomorrow"})
        case "touch":
            for uri in watched:
                await context.session._connection.outbound.notify("notifications/resources/updated", {"uri": uri})
            return text(watched)
        case "ask_model":
            said = {"role": "user", "content": {"type": "text", "text": "how much?"}}
            return text(await ask(outbound, "sampling/createMessage", {"messages": [said], "maxTokens": 9}))
        case "ask_person":
            form = {"type": "object", "properties": {"name": {"type": "string"}}}
            return text(await ask(outbound, "elicitation/create", {"message": "who?", "requestedSchema": form}))
        case "ask_roots":
            return text(await ask(outbound, "roots/list", None))
    if params.name in [*grown, "sampled"]:
        return text(f"this is {params.name}")
    raise MCPError(code=types.INVALID_PARAMS, message=f"no tool {params.name}")


async def ask(outbound: Any, method: str, params: dict[str, Any] | None) -> str:
    try:
        return json.dumps(await outbound.send_raw_request(method, params), sort_keys=True)
    except MCPError as error:
        return f"{error.code}: {error.message}"


async def list_prompts(context: Context, params: object) -> types.ListPromptsResult:
    who = types.PromptArgument(name="who", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="greet", arguments=[who]), types.Prompt(name="finish")])


async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    who = (params.arguments or {}).get("who")
    if params.name == "greet" and who is None:
        raise MCPError(code=-32602, message="greet whom?", data={"missing": ["who"]})
    said = types.TextContent(text=f"{params.name} {who} of {os.getpid()}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said)])


async def list_resources(context: Context, params: object) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=[types.Resource(uri="far://one", name="one")])


async def list_templates(context: Context, params: object) -> types.ListResourceTemplatesResult:
    template = types.ResourceTemplate(uri_template="far://{name}/size", name="size")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    if uri == "far://none/size":
        raise MCPError(code=-7, message="it has no size", data=uri)
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=f"{uri} of {os.getpid()}")])


async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    ref: Any = params.ref
    values = [f"{getattr(ref, 'name', None) or ref.uri}:{params.argument.value}"]
    return types.CompleteResult(completion=types.Completion(values=values))


async def subscribe(context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
    watched.append(str(params.uri))
    return types.EmptyResult()


async def unsubscribe(context: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
    watched.remove(str(params.uri))
    return types.EmptyResult()


async def set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    global level
    level = params.level
    return types.EmptyResult()


def serve() -> None:
    """Over stdio, or with `--http PORT` over Streamable HTTP."""
    server: Server[Any] = Server(
        "far",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_subscribe_resource=subscribe,
        on_unsubscribe_resource=unsubscribe,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    if sys.argv[1:2] == ["--http"]:
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]), access_log=False)
    else:
        anyio.run(over_stdio, server)


async def over_stdio(server: Server[Any]) -> None:
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (read, write):
        await server.run(read, write, options)


if __name__ == "__main__":
    serve()
