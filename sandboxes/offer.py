"""Which servers a sandbox offers, and where their code is.

By default those of the catalog that are ready. Further servers and those of tables are offered only when named, and so
is the probe, which exists to test backends and is in no catalog.
"""

from collections.abc import Iterable
from functools import cache
from types import ModuleType

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
    return Catalog((*ready.select(names - {PROBE}).servers, _probe().ENTRY))


def load(server: str) -> ToolServer:
    """The code of a server, imported now if it was not before."""
    if server.startswith(PREFIX):
        return _table(server)
    if server != PROBE:
        return bundled.load(server)
    found = _probe().server
    assert isinstance(found, ToolServer)
    return found


def _probe() -> ModuleType:
    # Here and not above: what misbehaves on purpose is loaded only where somebody names it.
    from m3bench.sandboxes import probe

    return probe


@cache
def _table(server: str) -> ToolServer:
    # Here and not above: the search that it needs is slow to load, and few sandboxes offer a table.
    from m3bench.sandboxes.table_server import table_server

    return table_server(server)
