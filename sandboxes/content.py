"""What a tool may return, and how it becomes an MCP result.

A string is one text block, a dict one block of JSON, a list one block per element, `ImageBlock` an image, `AudioBlock`
sound, and None no block at all; `Partial` is what it holds and the sentence about the world's gap. The layout of JSON
differs between the public servers, so it belongs to the server.
"""

import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias, TypedDict

from m3bench.sandboxes.gaps import Partial
from m3bench.tasks.outcome import GAP_SENTENCE

Layout = Callable[[object], str]


def pretty(value: object) -> str:
    """JSON over several lines, two spaces deep."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def one_line(value: object) -> str:
    """JSON in one line with spaces after separators."""
    return json.dumps(value, ensure_ascii=False)


def compact(value: object) -> str:
    """JSON without any white space."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True)
class ImageBlock:
    """A picture in a result."""

    data: bytes
    mime_type: str = "image/png"


@dataclass(frozen=True)
class AudioBlock:
    """Sound in a result."""

    data: bytes
    mime_type: str = "audio/wav"


Block: TypeAlias = dict[str, str]
"""A content block of MCP: its `type`, and the text, or the data in Base64 with its `mimeType`."""


class CallToolResult(TypedDict):
    """The result of a call as MCP has it."""

    content: list[Block]
    isError: bool


def blocks(value: object, layout: Layout = pretty) -> list[Block]:
    """The content blocks of a tool's return value."""
    match value:
        case None:
            return []
        case str():
            return [{"type": "text", "text": value}]
        case ImageBlock():
            return [{"type": "image", "data": b64encode(value.data).decode(), "mimeType": value.mime_type}]
        case AudioBlock():
            return [{"type": "audio", "data": b64encode(value.data).decode(), "mimeType": value.mime_type}]
        case Partial():
            return with_gap_sentence(blocks(value.answer, layout))
        case list() | tuple():
            return [block for item in value for block in blocks(item, layout)]
        case _:
            return [{"type": "text", "text": layout(value)}]


def with_gap_sentence(content: list[Block]) -> list[Block]:
    """Content that ends with the sentence about the world's gap.

    It goes into a last text of plain words. After JSON, which must stay readable, it is a block of its own.
    """
    if content and content[-1]["type"] == "text" and not _is_json(content[-1]["text"]):
        text = content[-1]["text"].rstrip()
        return [*content[:-1], {"type": "text", "text": f"{text}\n{GAP_SENTENCE}" if text else GAP_SENTENCE}]
    return [*content, {"type": "text", "text": GAP_SENTENCE}]


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False


def result(value: object, layout: Layout = pretty, *, is_error: bool = False) -> CallToolResult:
    """A `CallToolResult` as it goes over the wire."""
    return {"content": blocks(value, layout), "isError": is_error}
