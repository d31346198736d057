"""What a manifest says of the tools: everything that a run is offered, and nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from m3bench.server.runs.versions import versions
from m3bench.tasks.catalog import Catalog, Server, load_catalog
from m3bench.tasks.library import BUNDLED, DESK, Library

CATALOG = load_catalog().ready


def changed(server: Server) -> Server:
    """A server whose first tool says something else of itself."""
    first, *rest = server.tools
    return replace(server, tools=(replace(first, description=f"{first.description} Or so."), *rest))


def catalog_hash(library: Library, catalog: Catalog) -> str:
    return str(versions(library, catalog)["catalog"])


def test_a_change_in_a_further_server_changes_the_hash_of_runs_that_are_offered_it_and_of_no_other() -> None:
    further = tuple(changed(server) if server.name == "desk" else server for server in CATALOG.further)
    assert further != CATALOG.further
    other = Catalog(CATALOG.servers, further)
    assert catalog_hash(Library(DESK), other) != catalog_hash(Library(DESK), CATALOG)
    assert catalog_hash(Library(BUNDLED), other) == catalog_hash(Library(BUNDLED), CATALOG) == CATALOG.hash


def test_a_further_server_that_no_task_of_a_set_needs_changes_nothing() -> None:
    more = Catalog(CATALOG.servers, (*CATALOG.further, replace(CATALOG.further[0], name="nobody-needs-it")))
    assert catalog_hash(Library(DESK), more) == catalog_hash(Library(DESK), CATALOG)


@pytest.mark.parametrize("folder", [BUNDLED, DESK])
def test_a_change_in_an_ordinary_server_changes_the_hash_of_every_run(folder: Path) -> None:
    library = Library(folder)
    other = Catalog((changed(CATALOG.servers[0]), *CATALOG.servers[1:]), CATALOG.further)
    assert catalog_hash(library, other) != catalog_hash(library, CATALOG)
