"""What a client asks its model, and what the model says, whatever the API between them.

A request is the whole conversation so far: clients send it anew each turn. The dialects read requests into this form
and put answers into theirs.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass

BY_SEARCH = ("ToolSearch", "tool_search")
"""What the tool is called that finds others, in clients that do not load all of them."""
BRIDGE = "tool_call"
"""The tool that calls others, in a client that never loads them."""


@dataclass(frozen=True, kw_only=True)
class Called:
    """A call of the model, as the client shows it."""

    name: str
    arguments: Mapping[str, object]

    @property
    def tool(self) -> str:
        """The tool that is meant: behind a bridge it is named in the arguments."""
        return str(self.arguments.get("name", "")) if self.name == BRIDGE else self.name


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a client asks."""

    tools: Mapping[str, Mapping[str, object]]
    """The parameters of each tool that the model may call, by name; of none when it may not call any now."""
    calls: tuple[Called, ...]
    """What the model called so far."""
    texts: tuple[str, ...]
    """Everything that is said as text: the person's words, results, reminders."""
    pictures: tuple[bytes, ...]
    """Every picture that the model can see."""


@dataclass(frozen=True, kw_only=True)
class Saying:
    """What the model answers: calls side by side, or words that end the conversation."""

    calls: tuple[Called, ...] = ()
    text: str = ""


STREAM = "text/event-stream"
"""The type of an answer that is streamed."""


@dataclass(frozen=True, kw_only=True)
class ModelReply:
    """An answer as bytes."""

    media_type: str
    body: bytes
    pieces: tuple[bytes, ...] = ()
    """Its parts, where the model takes time to write each; nothing where all of it is there at once."""


class Gathered:
    """Collects the parts of a request while it is read."""

    def __init__(self) -> None:
        self.tools: dict[str, Mapping[str, object]] = {}
        self._calls: list[Called] = []
        self._texts: list[str] = []
        self._pictures: list[bytes] = []

    def call(self, name: object, arguments: object) -> None:
        """A call, with arguments as an object or as JSON."""
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments or "{}")
            except ValueError:
                arguments = {}
        self._calls.append(Called(name=str(name), arguments=arguments if isinstance(arguments, dict) else {}))

    def text(self, text: object) -> None:
        """Words, if that is what it is."""
        if isinstance(text, str) and text:
            self._texts.append(text)

    def picture(self, data: object) -> None:
        """A picture in base64, alone or as a `data:` address."""
        if not isinstance(data, str):
            return
        try:
            self._pictures.append(base64.b64decode(data.partition("base64,")[2] or data, validate=True))
        except binascii.Error:
            self._texts.append(data)

    def request(self) -> Request:
        """What was collected."""
        return Request(
            tools=self.tools, calls=tuple(self._calls), texts=tuple(self._texts), pictures=tuple(self._pictures)
        )


def parts(content: object) -> list[dict[str, object]]:
    """The parts of a message, which may be given as a text alone."""
    if isinstance(content, list):
        return [part if isinstance(part, dict) else {"type": "text", "text": part} for part in content]
    return [{"type": "text", "text": content}]


def objects(value: object) -> list[dict[str, object]]:
    """The objects of a list; none where there is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def inner_object(value: object) -> dict[str, object]:
    """An object inside another; empty where there is none."""
    return value if isinstance(value, dict) else {}


def streamed(events: list[tuple[str | None, object]]) -> ModelReply:
    """Events by name, as a stream of server-sent events."""
    lines = []
    for name, data in events:
        lines.append(f"event: {name}\n" if name else "")
        lines.append(f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n")
    return ModelReply(media_type=STREAM, body="".join(lines).encode())


def whole(data: object) -> ModelReply:
    """An answer in one piece."""
    return ModelReply(media_type="application/json", body=json.dumps(data).encode())
