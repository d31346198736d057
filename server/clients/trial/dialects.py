"""The four APIs that clients speak to models: each reads a request, and writes what the model says in its form.

`anthropic` is the Messages API, as Claude Code speaks it. `gemini` is Google's generateContent, as Gemini CLI does;
whether it is streamed is said by the address. `chat` are the chat completions of OpenAI, which most clients speak to
models of others. `responses` is the Responses API of OpenAI, as Codex speaks it: tools may stand in namespaces, here
joined to names with a dot.
"""

import json
from collections.abc import Iterator

from m3bench.server.clients.trial.conversation import (
    Gathered,
    ModelReply,
    Request,
    Saying,
    inner_object,
    objects,
    parts,
    streamed,
    whole,
)

_ANTHROPIC_USAGE = {
    "input_tokens": 100, "output_tokens": 50, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
}  # fmt: skip


def read_anthropic(body: dict[str, object]) -> Request:
    """What is asked."""
    found = Gathered()
    for tool in _callable(body):
        found.tools[str(tool["name"])] = inner_object(tool.get("input_schema"))
    for block in parts(body.get("system")):
        found.text(block.get("text"))
    for message in objects(body.get("messages")):
        for block in parts(message.get("content")):
            _read_anthropic_block(found, block)
    return found.request()


def _callable(body: dict[str, object]) -> list[dict[str, object]]:
    """The tools of a request; none where it forbids calls, as Copilot CLI does while it asks for a summary."""
    choice = body.get("tool_choice")
    forbidden = choice == "none" or inner_object(choice).get("type") == "none"
    return [] if forbidden else objects(body.get("tools"))


def _read_anthropic_block(found: Gathered, block: dict[str, object]) -> None:
    match block.get("type"):
        case "text":
            found.text(block.get("text"))
        case "image":
            found.picture(inner_object(block.get("source")).get("data"))
        case "tool_use":
            found.call(block.get("name"), block.get("input"))
        case "tool_result":
            for inner in parts(block.get("content")):
                _read_anthropic_block(found, inner)


def write_anthropic(body: dict[str, object], saying: Saying, turn: str) -> ModelReply:
    """The answer, in one piece or as a stream, as the request wants it."""
    blocks: list[dict[str, object]] = [
        {"type": "tool_use", "id": f"toolu_{turn}_{index}", "name": call.name, "input": dict(call.arguments)}
        for index, call in enumerate(saying.calls)
    ] or [{"type": "text", "text": saying.text}]
    stop = "tool_use" if saying.calls else "end_turn"
    message = {
        "id": f"msg_{turn}", "type": "message", "role": "assistant", "model": body.get("model", ""),
        "stop_sequence": None, "usage": _ANTHROPIC_USAGE,
    }  # fmt: skip
    if not body.get("stream"):
        return whole({**message, "content": blocks, "stop_reason": stop})
    events: list[dict[str, object]] = [
        {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    ]
    for index, block in enumerate(blocks):
        begun, delta = _begun_block(block)
        events += [
            {"type": "content_block_start", "index": index, "content_block": begun},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    end = {"stop_reason": stop, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": end, "usage": {"output_tokens": 50}}, {"type": "message_stop"}]
    return streamed([(str(event["type"]), event) for event in events])


def _begun_block(block: dict[str, object]) -> tuple[dict[str, object], dict[str, object]]:
    """A block as it begins, and what then comes."""
    if block["type"] == "text":
        return {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
    return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}


_GEMINI_USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 50, "totalTokenCount": 150}


def read_gemini(body: dict[str, object]) -> Request:
    """What is asked."""
    found = Gathered()
    calling = inner_object(inner_object(body.get("toolConfig")).get("functionCallingConfig"))
    for group in objects(body.get("tools")) if calling.get("mode") != "NONE" else ():
        for tool in objects(group.get("functionDeclarations")):
            schema = tool.get("parametersJsonSchema") or tool.get("parameters")
            found.tools[str(tool["name"])] = inner_object(schema)
    for content in (inner_object(body.get("systemInstruction")), *objects(body.get("contents"))):
        for part in objects(content.get("parts")):
            _read_gemini_part(found, part)
    return found.request()


def _read_gemini_part(found: Gathered, part: dict[str, object]) -> None:
    found.text(part.get("text"))
    if data := inner_object(part.get("inlineData")):
        found.picture(data.get("data"))
    if call := inner_object(part.get("functionCall")):
        found.call(call.get("name"), call.get("args"))
    if answer := inner_object(part.get("functionResponse")):
        for value in inner_object(answer.get("response")).values():
            found.text(value if isinstance(value, str) else json.dumps(value))
        for inner in objects(answer.get("parts")):
            _read_gemini_part(found, inner)


def write_gemini(body: dict[str, object], saying: Saying, turn: str) -> ModelReply:
    """The answer in one piece."""
    return whole(_gemini_answer(saying, turn))


def write_gemini_streamed(body: dict[str, object], saying: Saying, turn: str) -> ModelReply:
    """The answer as a stream."""
    said = [Saying(calls=(call,)) for call in saying.calls] or [saying]
    return streamed(
        [(None, _gemini_answer(each, turn, number, number == len(said) - 1)) for number, each in enumerate(said)]
    )


def _gemini_answer(saying: Saying, turn: str, first: int = 0, last: bool = True) -> dict[str, object]:
    said: list[dict[str, object]] = [
        {
            "functionCall": {"id": f"{turn}_{index}", "name": call.name, "args": dict(call.arguments)},
            "thoughtSignature": "c2lnbmVk",
        }
        for index, call in enumerate(saying.calls, first)
    ] or [{"text": saying.text}]
    candidate: dict[str, object] = {"content": {"role": "model", "parts": said}, "index": 0}
    candidate |= {"finishReason": "STOP"} if last else {}
    return {"candidates": [candidate], "usageMetadata": _GEMINI_USAGE, "modelVersion": "scripted", "responseId": turn}


_CHAT_USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}


def read_chat(body: dict[str, object]) -> Request:
    """What is asked."""
    found = Gathered()
    for tool in _callable(body):
        function = inner_object(tool.get("function"))
        found.tools[str(function.get("name"))] = inner_object(function.get("parameters"))
    for message in objects(body.get("messages")):
        for part in parts(message.get("content")):
            image = part.get("image_url")
            if image is not None:
                found.picture(image.get("url") if isinstance(image, dict) else image)
            else:
                found.text(part.get("text"))
        for call in objects(message.get("tool_calls")):
            function = inner_object(call["function"])
            found.call(function["name"], function.get("arguments"))
    return found.request()


def write_chat(body: dict[str, object], saying: Saying, turn: str) -> ModelReply:
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
        message: dict[str, object] = {"role": "assistant", "content": saying.text or None}
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": stop}
        return whole({**about, "object": "chat.completion", "choices": [choice], "usage": _CHAT_USAGE})
    deltas: list[dict[str, object]] = [{"role": "assistant", "content": saying.text}]
    deltas += [{"tool_calls": [{"index": index, **call}]} for index, call in enumerate(calls)]
    choices: list[list[dict[str, object]]] = [[{"index": 0, "delta": delta, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "finish_reason": stop}])
    chunk = {**about, "object": "chat.completion.chunk"}
    events: list[tuple[str | None, object]] = [(None, {**chunk, "choices": choice}) for choice in choices]
    return streamed([*events, (None, {**chunk, "choices": [], "usage": _CHAT_USAGE}), (None, "[DONE]")])


_RESPONSES_USAGE = {
    "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 150,
}  # fmt: skip


def read_responses(body: dict[str, object]) -> Request:
    """What is asked."""
    found = Gathered()
    found.text(body.get("instructions"))
    for tool in _callable(body):
        if tool.get("type") == "namespace":
            for inner in objects(tool.get("tools")):
                found.tools[f"{tool.get('name')}.{inner.get('name')}"] = inner_object(inner.get("parameters"))
        else:
            found.tools[str(tool.get("name") or tool.get("type") or "")] = inner_object(tool.get("parameters"))
    asked = body.get("input")
    items: list[dict[str, object]] = objects(asked) if isinstance(asked, list) else [{"content": asked}]
    for item in items:
        match item.get("type", "message"):
            case "message":
                _read_response_parts(found, item.get("content"))
            case "function_call":
                space = item.get("namespace")
                found.call(f"{space}.{item.get('name')}" if space else item.get("name"), item.get("arguments"))
            case "function_call_output":
                _read_response_parts(found, item.get("output"))
    return found.request()


def _read_response_parts(found: Gathered, content: object) -> None:
    for part in parts(content):
        if part.get("type") == "input_image":
            found.picture(part.get("image_url"))
        else:
            found.text(part.get("text"))


def write_responses(body: dict[str, object], saying: Saying, turn: str) -> ModelReply:
    """The answer, in one piece or as a stream, as the request wants it."""
    items = list(_response_items(saying, turn))
    about = {
        "id": f"resp_{turn}", "object": "response", "created_at": 0, "model": body.get("model", ""), "tools": [],
        "parallel_tool_calls": True, "tool_choice": "auto", "metadata": {}, "error": None, "incomplete_details": None,
        "instructions": None,
    }  # fmt: skip
    done = {**about, "status": "completed", "output": items, "usage": _RESPONSES_USAGE}
    if not body.get("stream"):
        return whole(done)
    events: list[dict[str, object]] = [
        {"type": "response.created", "response": {**about, "status": "in_progress", "output": []}}
    ]
    for index, item in enumerate(items):
        place: dict[str, object] = {"output_index": index, "item_id": item["id"]}
        empty: dict[str, object] = {"arguments": ""} if item["type"] == "function_call" else {"content": []}
        events.append(
            {"type": "response.output_item.added", **place, "item": {**item, **empty, "status": "in_progress"}}
        )
        if item["type"] == "function_call":
            arguments = item["arguments"]
            events.append({"type": "response.function_call_arguments.delta", **place, "delta": arguments})
            events.append({"type": "response.function_call_arguments.done", **place, "arguments": arguments})
        else:
            place["content_index"] = 0
            part = _said(saying)
            events.append({"type": "response.content_part.added", **place, "part": {**part, "text": ""}})
            events.append({"type": "response.output_text.delta", **place, "delta": part["text"]})
            events.append({"type": "response.output_text.done", **place, "text": part["text"]})
            events.append({"type": "response.content_part.done", **place, "part": part})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": done})
    return streamed([(str(event["type"]), {**event, "sequence_number": number}) for number, event in enumerate(events)])


def _response_items(saying: Saying, turn: str) -> Iterator[dict[str, object]]:
    if not saying.calls:
        yield {
            "type": "message", "id": f"msg_{turn}", "role": "assistant", "status": "completed",
            "content": [_said(saying)],
        }  # fmt: skip
    for index, call in enumerate(saying.calls):
        space, dot, name = call.name.partition(".")
        named = {"name": name, "namespace": space} if dot else {"name": call.name}
        yield {
            "type": "function_call", "id": f"fc_{turn}_{index}", "call_id": f"call_{turn}_{index}",
            "status": "completed", "arguments": json.dumps(dict(call.arguments)), **named,
        }  # fmt: skip


def _said(saying: Saying) -> dict[str, object]:
    """The words of an answer as a part of a message."""
    return {"type": "output_text", "text": saying.text, "annotations": []}
