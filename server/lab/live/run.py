"""The page of a run that was watched: the same as `m3bench report` writes, once the run is sealed."""

from collections.abc import Callable

from m3bench.server.lab.live.results import run_links
from m3bench.server.lab.live.rows import SEALED
from m3bench.server.scorecard.pages.run import TaskShown, run_document, run_page
from m3bench.server.store.opening import open_store
from m3bench.server.store.place import Place
from m3bench.tasks.library import Library


def run_html(place: Place, library: Library, name: str, may_see: Callable[[str], bool]) -> str | None:
    """The page; None when there is no such run, or none that may be seen.

    Args:
        place: Where the record is.
        library: The tasks of the server.
        name: The run's handle, or its beginning.
        may_see: Whether runs in a mode may be seen.
    """
    if not place.begun:
        return None
    # A connection of its own: this runs in a thread, beside the server's.
    store = open_store(place)
    try:
        run = store.run(name)
        if run is None or run.state not in SEALED or not may_see(run.mode):
            return None
        calls = store.calls(run.id)
    finally:
        store.close()
    return run_page({**run_document(run, calls, TaskShown.of_run(run, library)), "links": run_links(run)})
