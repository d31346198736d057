"""The chat completions of OpenAI, which most clients speak to models of others."""

import json
from typing import Any

from m3bench.server.clients.trial.conversation import Gathered, Reply, Request, Saying, parts, streamed, whole

USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}


def read(body: dict[str, Any]) -> Request:
    """What is asked."""
    found = Gathered()
    for tool in body.get("tools") or ():
        function = tool.get("function") or {}
        found.tools[str(function.get("name"))] = function.get("parameters") or {}
    for message in body.get("messages") or ():
        for part in parts(message.get("content")):
            image = part.get("image_url")
            if image is not None:
                found.picture(image.get("url") if isinstance(image, dict) else image)
            else:
                found.text(part.get("text"))
        for call in message.get("tool_calls") or ():
            found.call(call["function"]["name"], call["function"].get("arguments"))
    return found.request()


def write(body: dict[str, Any], saying: Saying, turn: str) -> Reply:
    """The answer, in one piece or as a stream, as the request wants it."""
    calls = [
        {
            "id": f"call_{turn}_{index}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
        }
        for index, call in enumerate(saying.calls)
    ]
    stop = "tool_calls" if calls else "stop"
    about = {"id": f"chatcmpl-{turn}", "created": 0, "model": body.get("model", "")}
    if not body.get("stream"):
        message: dict[str, Any] = {"role": "assistant", "content": saying.text or None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": stop}
        return whole({**about, "object": "chat.completion", "choices": [choice], "usage": USAGE})
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": saying.text}]
    deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(calls)]
    choices: list[list[dict[str, Any]]] = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": stop}])
    chunk = {**about, "object": "chat.completion.chunk"}
    events: list[tuple[str | None, object]] = [(None, {**chunk, "choices": choice}) for choice in choices]
    return streamed([*events, (None, {**chunk, "choices": [], "usage": USAGE}), (None, "[DONE]")])
