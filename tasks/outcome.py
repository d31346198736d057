"""How a tool call can end: the words that sandboxes, proxy, record and scores share.

Only vocabulary: what a whole answer looks like is in `m3bench.proxy.protocol.tool_calls`, how it is scored in
`m3bench.server`.
"""

from dataclasses import dataclass
from typing import Literal

from m3bench.tasks.json_types import Record

ToolOutcome = Literal["success", "empty", "not_found", "gap", "invalid_arguments"]
"""What a tool itself can come to. `empty` is an ordinary answer with nothing in it, and `gap` an error, because the
frozen world does not hold what was asked for."""

Outcome = Literal["success", "not_found", "gap", "invalid_arguments", "unknown_tool", "illegal_format", "failed"]
"""How a call ended. A `gap` is the world's: what was asked for may exist and is not held here. `failed` means that
something other than the agent broke, and the owner says what. The others are the agent's doing and are what the
benchmark counts."""

Owner = Literal["agent", "client", "world", "tool", "proxy", "sandbox", "upstream", "cassette", "limit", "weather"]
"""Whose failure it is, as the record names it. Only the agent's own are scored against it; what follows from the
others says `m3bench.tasks.fault`."""

GAP_SENTENCE = "This offline world does not cover it."
"""How every answer ends that is empty only because the frozen world does not hold what was asked for."""

CALL_SECONDS = 50.0
"""How long a tool may take: some clients give up after 60 seconds."""


def recorded(outcome: ToolOutcome) -> tuple[Outcome, Owner]:
    """How the record names what a tool came to, and whose doing it is."""
    if outcome == "empty":
        return "success", "world"
    return outcome, "world" if outcome == "gap" else "agent"


@dataclass(frozen=True)
class Reply:
    """What a tool answered in its sandbox."""

    outcome: ToolOutcome
    result: bytes
    """The raw JSON of the `CallToolResult`, byte for byte as the host wrote it."""


def text_of(result: Record) -> str:
    """The text blocks of a result, one below the other."""
    return "\n".join(block["text"] for block in result.get("content", ()) if block.get("type") == "text")


def without_gap(text: str) -> str:
    """The text of a result without the sentence about the world's gap, as a program reads it."""
    return text.removesuffix(GAP_SENTENCE).removesuffix("\n") if text.endswith(GAP_SENTENCE) else text
