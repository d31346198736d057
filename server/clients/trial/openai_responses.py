"""The Responses API of OpenAI, as Codex speaks it: tools may stand in namespaces, here joined to names with a dot."""

import json
from collections.abc import Iterator
from typing import Any

from m3bench.server.clients.trial.conversation import Gathered, Reply, Request, Saying, parts, streamed, whole

USAGE = {
    "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 150,
}  # fmt: skip


def read(body: dict[str, Any]) -> Request:
    """What is asked."""
    found = Gathered()
    found.text(body.get("instructions"))
    for tool in body.get("tools") or ():
        if tool.get("type") == "namespace":
            for inner in tool.get("tools") or ():
                found.tools[f"{tool.get('name')}.{inner.get('name')}"] = inner.get("parameters") or {}
        else:
            found.tools[tool.get("name") or tool.get("type") or ""] = tool.get("parameters") or {}
    asked = body.get("input")
    for item in asked if isinstance(asked, list) else [{"content": asked}]:
        match item.get("type", "message"):
            case "message":
                _read_parts(found, item.get("content"))
            case "function_call":
                space = item.get("namespace")
                found.call(f"{space}.{item.get('name')}" if space else item.get("name"), item.get("arguments"))
            case "function_call_output":
                _read_parts(found, item.get("output"))
    return found.request()


def _read_parts(found: Gathered, content: object) -> None:
    for part in parts(content):
        if part.get("type") == "input_image":
            found.picture(part.get("image_url"))
        else:
            found.text(part.get("text"))


def write(body: dict[str, Any], saying: Saying, turn: str) -> Reply:
    """The answer, in one piece or as a stream, as the request wants it."""
    items = list(_items(saying, turn))
    about = {
        "id": f"resp_{turn}", "object": "response", "created_at": 0, "model": body.get("model", ""), "tools": [],
        "parallel_tool_calls": True, "tool_choice": "auto", "metadata": {}, "error": None, "incomplete_details": None,
        "instructions": None,
    }  # fmt: skip
    done = {**about, "status": "completed", "output": items, "usage": USAGE}
    if not body.get("stream"):
        return whole(done)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**about, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(items):
        place: dict[str, Any] = {"output_index": index, "item_id": item["id"]}
        empty: dict[str, Any] = {"arguments": ""} if item["type"] == "function_call" else {"content": []}
        events.append(
            {"type": "response.output_item.added", **place, "item": {**item, **empty, "status": "in_progress"}}
        )
        if item["type"] == "function_call":
            arguments = item["arguments"]
            events.append({"type": "response.function_call_arguments.delta", **place, "delta": arguments})
            events.append({"type": "response.function_call_arguments.done", **place, "arguments": arguments})
        else:
            place["content_index"] = 0
            part = item["content"][0]
            events.append({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
            events.append({"type": "response.output_text.delta", **place, "delta": part["text"]})
            events.append({"type": "response.output_text.done", **place, "text": part["text"]})
            events.append({"type": "response.content_part.done", **place, "part": part})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": done})
    return streamed([(event["type"], {**event, "sequence_number": number}) for number, event in enumerate(events)])


def _items(saying: Saying, turn: str) -> Iterator[dict[str, Any]]:
    if not saying.calls:
        said = {"type": "output_text", "text": saying.text, "annotations": []}
        yield {
            "type": "message", "id": f"msg_{turn}", "role": "assistant", "status": "completed", "content": [said],
        }  # fmt: skip
    for index, call in enumerate(saying.calls):
        space, dot, name = call.name.partition(".")
        named = {"name": name, "namespace": space} if dot else {"name": call.name}
        yield {
            "type": "function_call", "id": f"fc_{turn}_{index}", "call_id": f"call_{turn}_{index}",
            "status": "completed", "arguments": json.dumps(dict(call.arguments)), **named,
        }  # fmt: skip
