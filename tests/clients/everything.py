"""A server with one of everything, over stdio: what the official conformance scenarios look up by name.

It stands for the third-party servers behind m3bench, so that the scenarios test the front door. What a proxy
without client capabilities cannot pass on, it refuses as a server should.
"""

import json
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

RICH_SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}

HEADER_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"],
}

TOOLS: dict[str, dict[str, Any]] = {
    "greet": {"type": "object", "properties": {"name": {"type": "string"}}},
    "json_schema_2020_12_tool": RICH_SCHEMA,
    "test_audio_content": {"type": "object"},
    "test_embedded_resource": {"type": "object"},
    "test_elicitation": {"type": "object", "properties": {"message": {"type": "string"}}},
    "test_elicitation_sep1034_defaults": {"type": "object"},
    "test_elicitation_sep1330_enums": {"type": "object"},
    "test_error_handling": {"type": "object"},
    "test_header_parameter": HEADER_SCHEMA,
    "test_image_content": {"type": "object"},
    "test_logging_tool": {"type": "object"},
    "test_missing_capability": {"type": "object"},
    "test_sampling": {"type": "object", "properties": {"prompt": {"type": "string"}}},
    "test_multiple_content_types": {"type": "object"},
    "test_simple_text": {"type": "object"},
    "test_streaming_elicitation": {"type": "object"},
    "test_tool_with_logging": {"type": "object"},
    "test_tool_with_progress": {"type": "object"},
    "test_trigger_prompt_change": {"type": "object"},
    "test_trigger_tool_change": {"type": "object"},
}

ONE, OTHER = {"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}

FORMS: dict[str, dict[str, Any]] = {
    "test_elicitation": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "test_elicitation_sep1034_defaults": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    },
    "test_elicitation_sep1330_enums": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": [ONE, OTHER]},
        "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["Option One", "Option Two"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": [ONE, OTHER]}},
    },
}
"""What the client's person is asked."""

PROMPTS: dict[str, tuple[str, ...]] = {
    "test_prompt_with_arguments": ("arg1", "arg2"),
    "test_prompt_with_embedded_resource": ("resourceUri",),
    "test_prompt_with_image": (),
    "test_simple_prompt": (),
}

Context = ServerRequestContext[Any, Any]


def text(content: str) -> types.TextContent:
    return types.TextContent(text=content)


def embedded(uri: str, mime_type: str, content: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=content))


async def list_tools(context: Context, params: object) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[types.Tool(name=name, description=name, input_schema=schema) for name, schema in TOOLS.items()]
    )


async def call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    image = types.ImageContent(data=PNG, mime_type="image/png")
    match params.name:
        case "greet":
            return result(text(f"Hello, {(params.arguments or {}).get('name', 'you')}!"))
        case "test_simple_text":
            return result(text("This is a simple text response for testing."))
        case "test_image_content":
            return result(image)
        case "test_audio_content":
            return result(types.AudioContent(data=WAV, mime_type="audio/wav"))
        case "test_embedded_resource":
            return result(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))
        case "test_multiple_content_types":
            data = embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
            return result(text("Multiple content types test:"), image, data)
        case "test_error_handling":
            words = text("This tool intentionally returns an error for testing")
            return types.CallToolResult(content=[words], is_error=True)
        case "test_tool_with_logging" | "test_logging_tool":
            for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
                await log(context, message)
                await anyio.sleep(0.05)
            return result(text("Logged three messages."))
        case "test_tool_with_progress":
            for progress in (0, 50, 100):
                await report(context, progress)
                await anyio.sleep(0.05)
            return result(text("Reported three times."))
        case "test_missing_capability":
            wanted: dict[str, object] = {"requiredCapabilities": {"sampling": {}}}
            raise MCPError(code=-32021, message="This tool needs a client that samples.", data=wanted)
        case "test_trigger_prompt_change":
            await context.session._connection.outbound.notify("notifications/prompts/list_changed", None)
            return result(text("The prompts changed."))
        case "test_trigger_tool_change":
            if TOOLS.pop("one_more", None) is None:
                TOOLS["one_more"] = {"type": "object"}
            await context.session._connection.outbound.notify("notifications/tools/list_changed", None)
            return result(text("The tools changed."))
        case "test_sampling":
            said = {"role": "user", "content": {"type": "text", "text": (params.arguments or {}).get("prompt", "")}}
            answer = await ask(context, "sampling/createMessage", {"messages": [said], "maxTokens": 100})
            return result(text(f"LLM response: {answer['content']['text']}"))
        case "test_elicitation" | "test_elicitation_sep1034_defaults" | "test_elicitation_sep1330_enums" as name:
            form = {"type": "object", "properties": FORMS[name], "required": list(FORMS[name])}
            message = (params.arguments or {}).get("message", "Please review and update the form fields")
            answer = await ask(context, "elicitation/create", {"message": message, "requestedSchema": form})
            done = f"action={answer['action']}, content={json.dumps(answer.get('content'))}"
            return result(text(f"Elicitation completed: {done}"))
        case "test_streaming_elicitation":
            return result(text("There is nobody to ask."))
        case "test_header_parameter" | "json_schema_2020_12_tool":
            return result(text(json.dumps(params.arguments)))
    raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool {params.name}")


async def ask(context: Context, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return await context.session._request_outbound.send_raw_request(method, params)


def result(*content: types.ContentBlock) -> types.CallToolResult:
    return types.CallToolResult(content=list(content))


async def log(context: Context, message: str) -> None:
    await context.session.send_notification(
        types.LoggingMessageNotification(params=types.LoggingMessageNotificationParams(level="info", data=message)),
        related_request_id=context.request_id,
    )


async def report(context: Context, progress: int) -> None:
    token = (context.params or {}).get("_meta", {}).get("progressToken")
    if token is not None:
        params = types.ProgressNotificationParams(progress_token=token, progress=progress, total=100)
        await context.session.send_notification(
            types.ProgressNotification(params=params), related_request_id=context.request_id
        )


async def list_prompts(context: Context, params: object) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=name,
                arguments=[types.PromptArgument(name=each, description=each, required=True) for each in arguments],
            )
            for name, arguments in PROMPTS.items()
        ]
    )


async def get_prompt(context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    given = params.arguments or {}
    contents: list[types.ContentBlock]
    match params.name:
        case "test_simple_prompt":
            contents = [text("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            contents = [text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")]
        case "test_prompt_with_embedded_resource":
            resource = embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing.")
            contents = [resource, text("Please process the embedded resource above.")]
        case "test_prompt_with_image":
            picture = types.ImageContent(data=PNG, mime_type="image/png")
            contents = [picture, text("Please analyze the image above.")]
        case _:
            raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt {params.name}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=each) for each in contents])


async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    values = [word for word in ("paris", "park", "party") if word.startswith(params.argument.value)]
    return types.CompleteResult(completion=types.Completion(values=values, total=len(values), has_more=False))


async def list_resources(context: Context, params: object) -> types.ListResourcesResult:
    kinds = {"static-text": "text/plain", "static-binary": "image/png", "watched-resource": "text/plain"}
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=f"test://{name}", name=name, description=name, mime_type=kind)
            for name, kind in kinds.items()
        ]
    )


async def list_templates(context: Context, params: object) -> types.ListResourceTemplatesResult:
    uri = "test://template/{id}/data"
    template = types.ResourceTemplate(uri_template=uri, name="template", mime_type="application/json")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    contents: types.TextResourceContents | types.BlobResourceContents
    match uri.removeprefix("test://").split("/"):
        case ["static-text"]:
            words = "This is the content of the static text resource."
            contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text=words)
        case ["watched-resource"]:
            contents = types.TextResourceContents(uri=uri, mime_type="text/plain", text="Nothing changed.")
        case ["static-binary"]:
            contents = types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
        case ["template", id, "data"]:
            data = json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})
            contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=data)
        case _:
            raise MCPError(code=-32002, message="Resource not found", data={"uri": uri})
    return types.ReadResourceResult(contents=[contents])


async def subscribe(context: Context, params: object) -> types.EmptyResult:
    return types.EmptyResult()


async def set_level(context: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


async def main() -> None:
    server: Server[Any] = Server(
        "everything",
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
        on_unsubscribe_resource=subscribe,
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, set_level)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
