"""Which servers a sandbox offers, and where their code is.

Ordinarily those of the catalog that are ready. Further ones and those of tables are there for those who name them, and
so is the probe, which exists to put a backend to the test and is listed nowhere.
"""

from collections.abc import Iterable
from functools import cache

from m3bench.sandboxes import servers as bundled
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.catalog import Catalog, load_catalog
from m3bench.tasks.table_tools import PREFIX, whole_catalog

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
    from m3bench.sandboxes.probe import ENTRY

    return Catalog((*ready.select(names - {PROBE}).servers, ENTRY))


def load(server: str) -> ToolServer:
    """The code of a server, imported now if it was not before."""
    if server.startswith(PREFIX):
        return _table(server)
    if server != PROBE:
        return bundled.load(server)
    from m3bench.sandboxes.probe import server as probe

    return probe


@cache
def _table(server: str) -> ToolServer:
    from m3bench.sandboxes.table_server import table_server

    return table_server(server)
