"""A seat: what a run is bound to.

One stdio process is a seat, on HTTP a protocol session or the handle in the URL; never a connection, because
desktop clients share one over many chats and the newest protocol has none. The tools a seat shows are fixed
when it opens and never change because of a call, unless a third-party server changes its own.
"""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.protocol.tool_calls import Relay, ToolAnswer, ToolRequest
from m3bench.proxy.steps.announced import AnnouncedSteps
from m3bench.proxy.weather import RunWeather
from m3bench.tasks.catalog import Tool
from m3bench.tasks.jsonrpc import INTERNAL_ERROR
from m3bench.tasks.outcome import Reply
from m3bench.tasks.trap import StrayOrder

CAPABILITIES = frozenset({"elicitation", "roots", "sampling"})
"""What a client may be asked for."""

LARGE_BYTES = 64 * 1024
"""A request from this size on counts towards what a seat may have recorded."""

MOST_LARGE_BYTES = 1 << 30
"""Of large requests of one seat: no honest client sends as much, and a hostile one would fill the disk of all."""

logger = logging.getLogger(__name__)


class ActiveRun(Protocol):
    """A run that is under way, as far as routing calls needs to know it."""

    id: str
    weather: RunWeather | None
    """What happens to its calls; None in fair weather."""

    @property
    def order(self) -> StrayOrder | None:
        """What its task has tools tell the agent to do, and nobody who may; None for most."""
        ...

    def enter(self) -> None:
        """A call of this run has arrived."""
        ...

    def leave(self) -> None:
        """That call is answered and on record."""
        ...

    def admit(self) -> str | None:
        """Count a call; the reason when the run's limits allow no more."""
        ...

    def lose(self, request: ToolRequest, tool: str, answer: ToolAnswer) -> None:
        """Remember a call that could not be put on record; what it was answered is recorded when that works again."""
        ...

    async def call(self, tool: str, arguments: bytes, seconds: float) -> Reply:
        """Run a bundled tool in the run's sandbox, which starts when first needed; raises `SandboxError`."""
        ...

    def keep(self, call: int, result: bytes) -> str:
        """Put a result that is too large for a client into the workspace; returns its path there."""
        ...


@dataclass(eq=False, kw_only=True)
class Seat:
    """Where a client sits."""

    id: str
    profile: str
    tools: Mapping[str, Tool] = field(default_factory=dict)
    """The bundled tools this seat shows, by exposed name."""
    run: ActiveRun | None = None
    lasting: bool = False
    """Whether its client can find it again after the server was restarted."""
    notice: str = ""
    """What became of its run, when that could not continue after a restart."""
    listing: tuple[Json, ...] = ()
    """The tool list as it goes over the wire, in its fixed order."""
    unlisted: tuple[Json, ...] = ()
    """Tools that the list leaves out and `find_tools` finds; then everything but our own goes by way of `call_tool`."""
    hint: str = ""
    """What else a client is told when it finds no run here and its way of connecting may be the reason."""
    client: Json = field(default_factory=dict)
    """What the client can be asked for, as it declared it; a part of `CAPABILITIES`."""
    latest_ns: int = 0
    """When the latest call arrived."""
    large_bytes: int = 0
    """What its large requests came to."""
    level: str | None = None
    """From which level on the client wants log messages; None when it did not say."""
    listeners: list[Relay] = field(default_factory=list)
    """Ways to the clients that sit here now, for what belongs to no call; the newest last."""
    steps: AnnouncedSteps = field(default_factory=AnnouncedSteps)
    """Steps that the client has announced."""

    @property
    def servers(self) -> tuple[str, ...]:
        """The bundled servers whose tools it shows."""
        return tuple(sorted({tool.server for tool in self.tools.values()}))

    def takes(self, size: int) -> bool:
        """Whether a request of this size is taken, which then counts."""
        if size < LARGE_BYTES:
            return True
        if self.large_bytes + size > MOST_LARGE_BYTES:
            return False
        self.large_bytes += size
        return True

    async def announce(self, method: str, params: Mapping[str, object]) -> None:
        """Tell whoever sits here something that belongs to no call."""
        for listener in list(self.listeners):
            try:
                await listener.notify(method, params)
            except Exception as error:
                logger.info("A client could not be told %s: %s", method, error)

    async def request(self, method: str, params: Mapping[str, object]) -> Json:
        """Ask the client that came last; its answer, as `result` or as `error`."""
        if not self.listeners:
            return {"error": {"code": INTERNAL_ERROR, "message": "There is no client to ask."}}
        return await self.listeners[-1].request(method, params)
