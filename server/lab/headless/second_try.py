"""Reads what a model replied to a prompt; a reply that cannot be read may be written once more, and no third time.

A reply that should have held calls and cannot be read is put on record as an attempt at one. What the model is told the
second time is its solver's own: papers differ in that.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageUser

from m3bench.server.lab.headless.executor_replies import ReplyError

Read = TypeVar("Read")


class Ask(Protocol):
    """Puts a prompt to the model."""

    async def __call__(self, prompt: str, earlier: Sequence[ChatMessage] = ()) -> ChatMessageAssistant:
        """The reply to a prompt behind some earlier messages, beside the solver's own history."""
        ...


async def read_or_ask_again(
    ask: Ask,
    prompt: str,
    read: Callable[[str], Read],
    correction: str,
    attempt: Callable[[str], Awaitable[None]] | None = None,
) -> tuple[str, Read]:
    """What the model replied, and what that says.

    Args:
        ask: Puts a prompt to the model.
        prompt: The prompt.
        read: Reads a reply.
        correction: What the model is told of a reply that cannot be read, with `{problem}`.
        attempt: Puts such a reply on record; left out where no call was to be made.

    Raises:
        ReplyError: The second reply cannot be read either.
    """
    text = (await ask(prompt)).text
    try:
        return text, read(text)
    except ReplyError as error:
        if attempt is not None:
            await attempt(text)
        earlier: list[ChatMessage] = [ChatMessageUser(content=prompt), ChatMessageAssistant(content=text)]
        text = (await ask(correction.format(problem=error), earlier)).text
    try:
        return text, read(text)
    except ReplyError:
        if attempt is not None:
            await attempt(text)
        raise
