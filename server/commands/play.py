"""`m3bench play`: a person plays tasks in a browser, over a server of their own."""

import threading
import webbrowser
from typing import TYPE_CHECKING, Annotated

import typer

from m3bench.server.commands.options import Data, Tasks
from m3bench.server.settings import Settings
from m3bench.tasks.lazy_modules import LazyModule

# The MCP library takes most of a second to import: help and completion do without it.
if TYPE_CHECKING:
    from m3bench.server.commands import serving
else:
    serving = LazyModule("m3bench.server.commands.serving")


def play(
    task: Annotated[
        str | None, typer.Argument(metavar="TASK", help="A task's id; the page lets you choose when left out.")
    ] = None,
    tasks: Tasks = None,
    data: Data = None,
    port: Annotated[
        int, typer.Option(min=0, max=65535, metavar="N", help="The port to listen on; a free one when left out.")
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address, and open no browser.")] = False,
) -> None:
    """Play a task yourself, in a browser.

    \b
    m3bench play                             # choose a task on the page
    m3bench play barcode_lookup-1
    m3bench play --no-open                   # on a machine without a screen

    The page shows the question and its pictures, finds tools as you type, makes forms of their arguments and sends
    calls, several as one turn where you like; then you hand in the fields and see your score card. Everything works
    with the keyboard alone.

    You are an ordinary client with a seat of its own, named person: runs are recorded, scored and exported like any
    other, and `m3bench runs list` shows them. The server answers this machine only, and its address works once. Ctrl-C
    ends it; a task that was not handed in is then given up.
    """
    serving.serve_person(Settings.of(task=task, tasks=tasks, data=data), port, _ignored if no_open else _show)


def _ignored(address: str) -> None:
    """Open nothing."""


def _show(address: str) -> None:
    """Open a browser that has a window; one in the terminal would take that from us."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    if isinstance(browser, webbrowser.BackgroundBrowser) or not isinstance(browser, webbrowser.GenericBrowser):
        threading.Thread(target=browser.open, args=(address,), daemon=True).start()
