"""Which servers a sandbox offers, and where their code is.

By default those of the catalog that are ready. Further servers and those of tables are offered only when named, and so
is the probe, which exists to test backends and is in no catalog.
"""

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from m3bench.sandboxes import servers as bundled
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.catalog import Catalog, load_catalog
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.table_tools import PREFIX, whole_catalog

# What misbehaves on purpose is loaded only where somebody names it; and the search that tables need is slow to load,
# and few sandboxes offer one.
if TYPE_CHECKING:
    from m3bench.sandboxes import probe, table_server
else:
    probe = LazyModule("m3bench.sandboxes.probe")
    table_server = LazyModule("m3bench.sandboxes.table_server")

PROBE = "probe"


def offer(servers: Iterable[str] | None) -> Catalog:
    """The catalog of a sandbox; None means every server that is ready.

    Raises:
        UnknownToolError: There is no server of that name, or it is not ready.
    """
    ready = load_catalog().ready
    if servers is None:
        return Catalog(ready.servers)
    names = set(servers)
    if any(name.startswith(PREFIX) for name in names):
        ready = whole_catalog()
    if PROBE not in names:
        return ready.select(names)
    return Catalog((*ready.select(names - {PROBE}).servers, probe.ENTRY))


def load(server: str) -> ToolServer:
    """The code of a server, imported now if it was not before."""
    if server.startswith(PREFIX):
        return _table(server)
    if server != PROBE:
        return bundled.load(server)
    return probe.server


@cache
def _table(server: str) -> ToolServer:
    return table_server.table_server(server)
