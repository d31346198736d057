"""What a tool call can come to: the words that sandboxes, proxy, record and scores share.

Only vocabulary: what a whole answer looks like is in `m3bench.proxy.call`, how it is scored in `m3bench.server`.
"""

from dataclasses import dataclass
from typing import Literal

ToolOutcome = Literal["success", "not_found", "invalid_arguments"]
"""What a tool itself can come to."""

Outcome = Literal["success", "not_found", "invalid_arguments", "unknown_tool", "illegal_format", "failed"]
"""How a call ended. The first five are the agent's doing and are what the benchmark counts; `failed` means
that something other than the agent broke, and the owner says what."""

Owner = Literal["agent", "client", "proxy", "sandbox", "upstream", "cassette"]
"""Whose failure it is. Only the agent's own are scored against it."""

CALL_SECONDS = 50.0
"""How long a tool may take: some clients give up after 60 seconds."""


@dataclass(frozen=True)
class Reply:
    """What a tool answered in its sandbox."""

    outcome: ToolOutcome
    result: bytes
    """The raw JSON of the `CallToolResult`, byte for byte as the host wrote it."""
