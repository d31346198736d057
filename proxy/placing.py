"""Puts an order of a task into what a tool answers, on the way to the client: for bundled and third-party tools alike.

It stands where an agent must read: behind the longest text of the result, which may lie inside JSON, and nothing else
of the result changes. Which results have it follows from the task and the tool alone, so it is the same in any order
of calls. What was placed is on record, because the record has what the client was sent.
"""

import json
from dataclasses import replace

from m3bench.proxy.protocol.messages import dump
from m3bench.proxy.protocol.tool_calls import ToolAnswer
from m3bench.tasks.trap import StrayOrder


def placed(order: StrayOrder | None, tool: str, answer: ToolAnswer) -> ToolAnswer:
    """An answer as the client gets it.

    Args:
        order: The order of the task; None when it has none.
        tool: The canonical name of the tool.
        answer: What the tool answered.
    """
    if order is None or order.place != "result" or tool != order.result_of or answer.outcome != "success":
        return answer
    try:
        result = json.loads(answer.result)
    except (ValueError, RecursionError):
        return answer
    texts = [part for part in result.get("content", ()) if isinstance(part, dict) and isinstance(part.get("text"), str)]
    if not texts:
        return answer
    longest = max(texts, key=lambda part: len(part["text"]))
    longest["text"] = with_order(longest["text"], order.text)
    if isinstance(structured := result.get("structuredContent"), dict | list):
        result["structuredContent"] = json.loads(with_order(json.dumps(structured, ensure_ascii=False), order.text))
    return replace(answer, result=dump(result))


def with_order(text: str, order: str) -> str:
    """A text, or JSON in a text, with an order behind the longest text in it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    found = max(_texts(data), key=len, default="")
    for ascii_only in (False, True):
        written = json.dumps(found, ensure_ascii=ascii_only)
        if found and written in text:
            return text.replace(written, f'{written[:-1]} {order}"', 1)
    return text if data is not None and not isinstance(data, int | float | str) else f"{text}\n\n{order}"


def _texts(data: object) -> list[str]:
    """Every text in JSON that is a value."""
    if isinstance(data, str):
        return [data]
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return [text for value in inner for text in _texts(value)]
