"""What clients say about steps in their requests: a claim, not evidence.

Nothing here is believed against the record. `steps` decides what a claim is worth.
"""

from collections.abc import Mapping
from typing import Literal

HINT = "m3bench/step"
"""Key in a request's `_meta` with which a client names the step a call belongs to."""

CONVERSATION = (
    "vscode.conversationId",
    "threadId",
    "agent-session-id",
    "ai.opencode/sessionID",
    "antigravity.google/conversation_id",
)
"""Keys of `_meta` that tell one chat from another: calls of two chats are never in one step."""

TURN = ("vscode.requestId",)
"""Keys of `_meta` that change with every turn of the person: a step never crosses it."""

WAIT = "wait_for_previous"
"""Gemini CLI's argument: true says that a call of the same turn must wait for the one before it."""

Claim = Literal["same", "new"]


def conversation(meta: Mapping[str, object]) -> tuple[object, ...]:
    """The chat a request comes from, as far as the client says."""
    return tuple(str(meta.get(key)) for key in CONVERSATION)


def claim(meta: Mapping[str, object], arguments: Mapping[str, object], before: Mapping[str, object]) -> Claim | None:
    """Whether the client says that a call is in the step of the one before it, or in a new one; None when it does not.

    Args:
        meta: The request's `_meta`.
        arguments: Its arguments.
        before: The `_meta` of the request before it.
    """
    if HINT in meta and HINT in before:
        return "same" if meta[HINT] == before[HINT] else "new"
    if any(meta.get(key) != before.get(key) for key in TURN):
        return "new"
    return "same" if arguments.get(WAIT) is True else None
