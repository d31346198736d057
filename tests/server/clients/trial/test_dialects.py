"""The scripted model speaks four APIs: a client of each can read what it says, and it understands what it is told."""

import base64
import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from m3bench.server.clients.trial import dialects
from m3bench.server.clients.trial.conversation import Called, Request, Saying
from m3bench.server.clients.trial.model import Model

PICTURE = b"\x89PNG not really"
CODED = base64.b64encode(PICTURE).decode()
SCHEMA = {"type": "object", "properties": {}}
TWO = (Called(name="mcp__m3bench__a", arguments={"n": 1}), Called(name="mcp__m3bench__b", arguments={"s": "ä\n"}))

Body = dict[str, Any]


def anthropic(stream: bool) -> tuple[str, Body]:
    calls = [{"type": "tool_use", "id": str(i), "name": c.name, "input": c.arguments} for i, c in enumerate(TWO)]
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": CODED}}
    result = {"type": "tool_result", "tool_use_id": "0", "content": [{"type": "text", "text": "found"}, image]}
    messages = [
        {"role": "user", "content": "begin"},
        {"role": "assistant", "content": calls},
        {"role": "user", "content": [result, {"type": "tool_result", "tool_use_id": "1", "content": "plain"}]},
    ]
    tools = [{"name": call.name, "input_schema": SCHEMA} for call in TWO]
    return "/v1/messages", {"model": "m", "stream": stream, "tools": tools, "messages": messages}


def chat(stream: bool) -> tuple[str, Body]:
    calls = [{"id": str(i), "type": "function", "function": _function(call)} for i, call in enumerate(TWO)]
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{CODED}"}}
    messages = [
        {"role": "user", "content": "begin"},
        {"role": "assistant", "content": None, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "0", "content": [{"type": "text", "text": "found"}]},
        {"role": "tool", "tool_call_id": "1", "content": "plain"},
        {"role": "user", "content": [image]},
    ]
    tools = [{"type": "function", "function": {"name": call.name, "parameters": SCHEMA}} for call in TWO]
    return "/v1/chat/completions", {"model": "m", "stream": stream, "tools": tools, "messages": messages}


def _function(call: Called) -> Body:
    return {"name": call.name, "arguments": json.dumps(dict(call.arguments))}


def responses(stream: bool) -> tuple[str, Body]:
    image = {"type": "input_image", "image_url": f"data:image/png;base64,{CODED}"}
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "begin"}]},
        *({"type": "function_call", "call_id": str(i), **_function(call)} for i, call in enumerate(TWO)),
        {"type": "function_call_output", "call_id": "0", "output": [{"type": "input_text", "text": "found"}, image]},
        {"type": "function_call_output", "call_id": "1", "output": "plain"},
    ]
    tools = [{"type": "function", "name": call.name, "parameters": SCHEMA} for call in TWO]
    return "/v1/responses", {"model": "m", "stream": stream, "tools": tools, "input": items}


def gemini(stream: bool) -> tuple[str, Body]:
    answers = [
        {"functionResponse": {"name": "a", "response": {"output": "found"}}},
        {"functionResponse": {"name": "b", "response": {"output": "plain"}}},
        {"inlineData": {"mimeType": "image/png", "data": CODED}},
    ]
    contents = [
        {"role": "user", "parts": [{"text": "begin"}]},
        {"role": "model", "parts": [{"functionCall": {"name": c.name, "args": c.arguments}} for c in TWO]},
        {"role": "user", "parts": answers},
    ]
    tools = [{"functionDeclarations": [{"name": call.name, "parameters": SCHEMA} for call in TWO]}]
    method = "streamGenerateContent" if stream else "generateContent"
    return f"/v1beta/models/m:{method}", {"contents": contents, "tools": tools}


@pytest.mark.sample(4)
@pytest.mark.parametrize("asks", [anthropic, chat, responses, gemini])
@pytest.mark.parametrize("stream", [True, False])
def test_a_request_is_understood_and_the_answer_says_both_calls(
    asks: Callable[[bool], tuple[str, Body]], stream: bool
) -> None:
    heard: list[Request] = []

    def answer(request: Request) -> Saying:
        heard.append(request)
        return Saying(calls=TWO)

    path, body = asks(stream)
    with Model(answer, think=0) as model:
        reply = httpx2.post(model.url + path, json=body, timeout=60)
        nothing = httpx2.post(f"{model.url}/v1/embeddings", json={}, timeout=60)
        broken = httpx2.post(model.url + path, content=b"{", timeout=60)
    (request,) = heard
    assert list(request.tools) == [call.name for call in TWO]
    assert request.calls == TWO
    assert {"begin", "found", "plain"} <= set(request.texts)
    assert request.pictures == (PICTURE,)
    assert reply.status_code == 200
    assert ("event-stream" in reply.headers["content-type"]) is stream
    for call in TWO:
        assert call.name in reply.text
    assert calls_in(reply.text, stream) == [dict(call.arguments) for call in TWO]
    assert (nothing.status_code, broken.status_code) == (404, 400)


@pytest.mark.parametrize("asks", [anthropic, chat, responses, gemini])
def test_a_model_that_writes_slowly_says_one_call_after_the_other(asks: Callable[[bool], tuple[str, Body]]) -> None:
    path, body = asks(True)
    with (
        Model(lambda request: Saying(calls=TWO), think=0, write=0.01) as model,
        httpx2.stream("POST", model.url + path, json=body, timeout=60) as reply,
    ):
        pieces = list(reply.iter_raw())
    text = b"".join(pieces).decode()
    assert calls_in(text, True) == [dict(call.arguments) for call in TWO]
    assert len(pieces) > 1
    assert TWO[0].name in pieces[0].decode()
    assert TWO[1].name not in pieces[0].decode()


@pytest.mark.parametrize(
    ("read", "asks", "forbids"),
    [
        (dialects.read_anthropic, anthropic, {"tool_choice": {"type": "none"}}),
        (dialects.read_chat, chat, {"tool_choice": "none"}),
        (dialects.read_responses, responses, {"tool_choice": "none"}),
        (dialects.read_gemini, gemini, {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
    ],
)
def test_a_request_that_forbids_calls_has_no_tools(
    read: Callable[[Body], Request], asks: Callable[[bool], tuple[str, Body]], forbids: Body
) -> None:
    _, body = asks(False)
    assert len(read(body).tools) == len(TWO)
    forbidden = read(body | forbids)
    assert (forbidden.tools, forbidden.calls) == ({}, TWO)


def calls_in(text: str, stream: bool) -> list[object]:
    """The arguments of the calls in an answer, in whatever form they are; each once."""
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    found: list[object] = []
    for part in [line for line in lines if line != "[DONE]"] if stream else [text]:
        for arguments in _arguments(json.loads(part)):
            if arguments and arguments not in found:
                found.append(arguments)
    return found


def _arguments(value: object) -> list[object]:
    if isinstance(value, list):
        return [found for item in value for found in _arguments(item)]
    if not isinstance(value, dict):
        return []
    found: list[object] = []
    for key, item in value.items():
        if key in ("arguments", "partial_json") and item:
            found.append(json.loads(item))
        elif key in ("args", "input"):
            found.append(item)
        else:
            found += _arguments(item)
    return found
