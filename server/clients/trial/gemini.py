"""The generateContent of Google, as Gemini CLI speaks it; whether it is streamed is said by the address."""

import json
from typing import Any

from m3bench.server.clients.trial.conversation import Gathered, Reply, Request, Saying, streamed, whole

USAGE = {"promptTokenCount": 100, "candidatesTokenCount": 50, "totalTokenCount": 150}


def read(body: dict[str, Any]) -> Request:
    """What is asked."""
    found = Gathered()
    for group in body.get("tools") or ():
        for tool in group.get("functionDeclarations") or ():
            found.tools[tool["name"]] = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
    for content in (body.get("systemInstruction") or {}, *(body.get("contents") or ())):
        for part in content.get("parts") or ():
            _read_part(found, part)
    return found.request()


def _read_part(found: Gathered, part: dict[str, Any]) -> None:
    found.text(part.get("text"))
    if data := part.get("inlineData"):
        found.picture(data.get("data"))
    if call := part.get("functionCall"):
        found.call(call.get("name"), call.get("args"))
    if answer := part.get("functionResponse"):
        for value in (answer.get("response") or {}).values():
            found.text(value if isinstance(value, str) else json.dumps(value))
        for inner in answer.get("parts") or ():
            _read_part(found, inner)


def write(body: dict[str, Any], saying: Saying, turn: str) -> Reply:
    """The answer in one piece."""
    return whole(_answer(saying, turn))


def write_streamed(body: dict[str, Any], saying: Saying, turn: str) -> Reply:
    """The answer as a stream."""
    return streamed([(None, _answer(saying, turn))])


def _answer(saying: Saying, turn: str) -> dict[str, Any]:
    said: list[dict[str, Any]] = [
        {
            "functionCall": {"id": f"{turn}_{index}", "name": call.name, "args": dict(call.arguments)},
            "thoughtSignature": "c2lnbmVk",
        }
        for index, call in enumerate(saying.calls)
    ] or [{"text": saying.text}]
    candidate = {"content": {"role": "model", "parts": said}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "scripted", "responseId": turn}
