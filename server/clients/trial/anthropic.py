"""The Messages API of Anthropic, as Claude Code speaks it."""

import json
from typing import Any

from m3bench.server.clients.trial.conversation import Gathered, Reply, Request, Saying, parts, streamed, whole

USAGE = {
    "input_tokens": 100, "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
}  # fmt: skip


def read(body: dict[str, Any]) -> Request:
    """What is asked."""
    found = Gathered()
    for tool in body.get("tools") or ():
        found.tools[tool["name"]] = tool.get("input_schema") or {}
    for block in parts(body.get("system")):
        found.text(block.get("text"))
    for message in body.get("messages") or ():
        for block in parts(message.get("content")):
            _read_block(found, block)
    return found.request()


def _read_block(found: Gathered, block: dict[str, Any]) -> None:
    match block.get("type"):
        case "text":
            found.text(block.get("text"))
        case "image":
            found.picture(block.get("source", {}).get("data"))
        case "tool_use":
            found.call(block.get("name"), block.get("input"))
        case "tool_result":
            for inner in parts(block.get("content")):
                _read_block(found, inner)


def write(body: dict[str, Any], saying: Saying, turn: str) -> Reply:
    """The answer, in one piece or as a stream, as the request wants it."""
    blocks: list[dict[str, Any]] = [
        {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": call.name, "input": dict(call.arguments)}
        for index, call in enumerate(saying.calls)
    ] or [{"type": "text", "text": saying.text}]
    stop = "tool_use" if saying.calls else "end_turn"
    message = {
        "id": f"msg_{turn}", "type": "message", "role": "assistant", "model": body.get("model", ""),
        "stop_sequence": None, "usage": USAGE,
    }  # fmt: skip
    if not body.get("stream"):
        return whole({**message, "content": blocks, "stop_reason": stop})
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(blocks):
        begun, delta = _begun(block)
        events += [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"stop_reason": stop, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": end, "usage": {"output_tokens": 50}}, {"type": "message_stop"}]
    return streamed([(event["type"], event) for event in events])


def _begun(block: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A block as it begins, and what then comes."""
    if block["type"] == "text":
        return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
