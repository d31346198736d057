"""What a probe sees of one client: who it says it is, what it asks for, and every call with its times.

These notes are the journal of the probe's router. They are kept in memory only and draw no conclusions:
`probe_findings` makes a capability card from them.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from m3bench.proxy.call import Answer, Delivery, ToolRequest
from m3bench.server.clients.probe_words import LongText, Words, long_text


@dataclass(kw_only=True)
class NotedCall:
    """A call to a tool of the probe."""

    tool: str
    request: ToolRequest
    answered_ns: int = 0
    sent_ns: int = 0
    """0 when the answer never left."""
    cancelled: bool = False


@dataclass(frozen=True, kw_only=True)
class Secrets:
    """The words of one round; what is typed back of them was seen."""

    control: str
    """In the text of the first answer, which every client shows."""
    picture: str
    mixed_text: str
    mixed_picture: str
    mixed_data: str
    slow: str
    long: LongText

    @classmethod
    def draw(cls, seed: str, long: int, taken: Iterable[str]) -> "Secrets":
        """The words of a seed, and a long text of that many characters."""
        words = Words(seed, taken)
        return cls(
            control=words.next(),
            picture=words.next(),
            mixed_text=words.next(),
            mixed_picture=words.next(),
            mixed_data=words.next(),
            slow=words.next(),
            long=long_text(words, long),
        )


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A tool that is there to be seen in the list."""

    word: str
    place: int
    """How many tools of the list come up to and with it."""
    page: int


@dataclass(kw_only=True)
class Listed:
    """A page of the tool list that was asked for."""

    page: int
    tools: int
    at_ns: int


@dataclass(kw_only=True)
class Notes:
    """One client, as the probe knows it."""

    client: str
    """Name and version, as the calls say them."""
    info: Mapping[str, Any] = field(default_factory=dict)
    """What it says of itself in `clientInfo`."""
    capabilities: tuple[str, ...] = ()
    revision: str = ""
    sessions: int = 0
    """Handshakes; the newest revision has none."""
    listed: list[Listed] = field(default_factory=list)
    listens: bool = False
    """Whether it subscribed to changes of the tool list."""
    told_ns: int = 0
    """When it was told that the tool list had changed; 0 when never."""
    marks: tuple[Mark, ...] = ()
    profile: str = ""
    calls: list[NotedCall] = field(default_factory=list)
    round: int = 0
    """How often it began."""
    first: int = 0
    """The call that began the round."""
    secrets: Secrets | None = None
    said: Mapping[str, Any] | None = None
    """What the model told at the end; None until then."""

    def begin(self, secrets: Secrets) -> None:
        """A new round, of which nothing is known yet."""
        self.round += 1
        self.first = max((number for number, call in enumerate(self.calls) if call.tool == "probe_start"), default=0)
        self.secrets = secrets
        self.said = None
        self.told_ns = 0

    def tell(self) -> None:
        """The client is told now that the tool list has changed."""
        self.told_ns = time.monotonic_ns()

    def of(self, tool: str) -> list[NotedCall]:
        """The calls to a tool in this round."""
        return [call for call in self.calls[self.first :] if call.tool == tool]

    async def received(self, request: ToolRequest, run: str | None, tool: str) -> int:
        """Note a call before it is answered."""
        self.revision = request.caller.revision or self.revision
        self.calls.append(NotedCall(tool=tool, request=request))
        return len(self.calls) - 1

    async def answered(self, call: int, answer: Answer, delivery: Delivery | None = None) -> None:
        """Note how a call ended."""
        noted = self.calls[call]
        noted.answered_ns = time.monotonic_ns()
        noted.cancelled = answer.owner == "client"

    def sent(self, call: int, sent_ns: int) -> None:
        """Note when the answer left."""
        self.calls[call].sent_ns = sent_ns
