"""Who asks: a person, the client they use, and what the two may do here together."""

import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

PLAY, WATCH, OPERATE = "play", "watch", "operate"

SCOPES = {
    PLAY: "play tasks and call their tools",
    WATCH: "look at the pages of this server: seats, runs and results",
    OPERATE: "read this server's numbers, and on a ranked server what its pages show",
}
"""What there is to be allowed, in words for the person who allows it."""

MOST_LINES = 120
"""Of refusals within a minute: whoever sends more must not fill the disk."""

logger = logging.getLogger("m3bench.auth")


@dataclass(frozen=True, kw_only=True)
class Identity:
    """A person who uses a client."""

    subject: str
    """The person, by the name that never changes at their issuer."""
    issuer: str
    """Who vouches for that name."""
    client: str
    """The client, by its name at the issuer."""
    scopes: frozenset[str]

    def seat(self, chat: str) -> str:
        """The handle of this person's seat for a chat; the same one when it is asked for its own seat.

        The beginning is the person's alone, so that nobody sits down on another's seat, whatever handle they ask for.
        """
        mine = _digest(self.issuer, self.subject) + "-"
        return chat if chat.startswith(mine) and len(chat) == 2 * len(mine) - 1 else mine + _digest(mine, chat)


class TokenChecker(Protocol):
    """Finds out whose a token is."""

    async def identity(self, token: str) -> Identity | None:
        """Whose a token is; None when it is not valid here, and then the reason is logged."""
        ...

    async def ran_out(self, token: str) -> Identity | None:
        """Whose a token is that expired recently; None when it never was valid, or still is."""
        ...


class Refusals:
    """Logs what was refused, without secrets and only up to a limit.

    Args:
        clock: Gives the time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lines: deque[float] = deque(maxlen=MOST_LINES)
        self._silent = 0

    def say(self, what: str, *facts: object) -> None:
        """Log a refusal: a sentence of ours with `%r` for each fact, which somebody else may have chosen."""
        self.note(f"Refused: {what}", *facts)

    def note(self, what: str, *facts: object) -> None:
        """Log what is odd, and was not refused."""
        now = self._clock()
        if len(self._lines) == MOST_LINES and now - self._lines[0] < 60:
            self._silent += 1
            return
        if self._silent:
            logger.warning("%d more refusals were not logged", self._silent)
            self._silent = 0
        self._lines.append(now)
        logger.warning(what, *(str(fact)[:120] for fact in facts))


def scopes_of(text: str) -> frozenset[str]:
    """The scopes of ours in a list with spaces."""
    return frozenset(text.split()) & SCOPES.keys()


def scope_text(scopes: frozenset[str] | set[str]) -> str:
    """Scopes as they are written, in one order."""
    return " ".join(scope for scope in SCOPES if scope in scopes)


def _digest(*parts: str) -> str:
    return sha256("\0".join(("m3bench seat", *parts)).encode()).hexdigest()[:24]
