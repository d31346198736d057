"""Third-party servers as a person asked for them, and the seats that hear from them."""

from collections.abc import Callable, Collection, Mapping

from m3bench.proxy.names import CALL_TOOL
from m3bench.proxy.protocol.messages import Json
from m3bench.proxy.seat import Seat
from m3bench.proxy.upstreams.cassette import Cassette
from m3bench.proxy.upstreams.configuration import read_servers
from m3bench.proxy.upstreams.lifecycle import TOOLS_CHANGED
from m3bench.proxy.upstreams.servers import UpstreamServers
from m3bench.server.serving.containers import Containers
from m3bench.server.settings import Settings
from m3bench.server.store.records import OWN_TOOLS
from m3bench.tasks.errors import UserError


def open_upstreams(settings: Settings, prompts: Collection[str]) -> UpstreamServers:
    """The servers that settings name, live or recorded; nothing is started yet.

    Args:
        settings: What the person chose.
        prompts: The names of our own prompts.
    """
    entries = read_servers(settings.servers) if settings.servers is not None else {}
    cassette = None
    if settings.record is not None and settings.replay:
        raise UserError("A cassette is recorded or replayed, not both: give --record or --replay.")
    if settings.record is not None:
        cassette = Cassette(settings.record, replaying=False)
    elif settings.replay:
        cassette = Cassette(*settings.replay, replaying=True, live=settings.on_miss == "live")
    return UpstreamServers(
        entries,
        prefix=settings.prefix,
        cassette=cassette,
        reserved=OWN_TOOLS | {CALL_TOOL},
        prompts=prompts,
        containers=Containers().open,
    )


class UpstreamNotices:
    """Tells the seats what third-party servers change and say.

    Args:
        upstreams: The servers.
        seats: The seats that there are, by id.
        list_tools: Has a seat show the tools that there are for it now.
    """

    def __init__(
        self, upstreams: UpstreamServers, seats: Mapping[str, Seat], list_tools: Callable[[Seat], None]
    ) -> None:
        self._upstreams = upstreams
        self._seats = seats
        self._list_tools = list_tools
        upstreams.changed = self.tell

    async def prepare(self, seat: Seat) -> None:
        """Have the tool list of a seat complete before it is shown."""
        if self._upstreams.names:
            await self._upstreams.prepare(seat)
            self._list_tools(seat)

    async def tell(self, seat: Seat | None, method: str, params: Json) -> None:
        """Pass on what a server said; a change of its tools only where a seat shows others now."""
        for each in [seat] if seat is not None else list(self._seats.values()):
            before = each.listing
            if method == TOOLS_CHANGED:
                self._list_tools(each)
            if method != TOOLS_CHANGED or each.listing != before:
                await each.announce(method, params)
