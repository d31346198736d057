"""The score card as an MCP App: a page that a client shows beside the answer of `score`.

The page holds no data: the client hands it the answer it was given anyway, so a ranked run shows what its answer
says and nothing more. The picture would cost a model dearly that is shown `_meta`; the page reads it, with what each
call sent and got, through the client, where that lets pages read resources.
"""

from collections.abc import Sequence

from m3bench.server.scorecard.pages.legend import legend
from m3bench.server.scorecard.pages.page import HOSTED, page
from m3bench.server.scorecard.pages.plain import cut
from m3bench.server.scorecard.pages.run import RunDocument, TaskShown, run_document
from m3bench.server.scorecard.pages.small_pictures import with_small_pictures
from m3bench.server.store.records import CallRecord, RunRecord
from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.library import Library

REVISION = "2026-01-26"
"""Of the extension; said in its handshake."""
URI = "ui://m3bench/scorecard"
MIME = "text/html;profile=mcp-app"

CARD, RUN, SHOWN = "m3bench/card", "m3bench/run", "m3bench/shown"
"""In the `_meta` of an answer of `score`: the card's data, the run's handle, and in short its question and calls."""
VIEW = "m3bench://run/{run}/view"
"""Where the page reads the rest through the client that shows it: the picture, and what each call sent and got."""

TOOL_META: JsonObject = {"ui": {"resourceUri": URI}}
"""What the definition of `score` says, to every client: those that do not know it pass over it."""

SCRIPTS = ("card.js", "alignment.js", "calls.js", "run.js", "app.js")

PIXELS = 800
"""That a picture is wide or high at most."""
EXCERPTS = 300_000
"""Characters of arguments and results in all, more or less."""
MANY = 100
"""Calls above which the answer of `score` says nothing of when each came."""
_EXCERPTED = ("arguments", "result")


def scorecard_page() -> str:
    """The page."""
    document = {"kind": "scorecard", "revision": REVISION, "view": VIEW, "legend": legend()}
    return page("m3bench score card", document, SCRIPTS, styles=("card.css",), policy=HOSTED)


def run_view(run: RunRecord, records: Sequence[CallRecord], library: Library) -> RunDocument:
    """What the page reads of a run: as the document of its own page, in a size that clients pass on."""
    at_hand = TaskShown.of_run(run, library)
    small = with_small_pictures(at_hand, PIXELS) if at_hand is not None else None
    return run_document(run, records, small, excerpts=EXCERPTS)


def run_in_short(run: RunRecord, records: Sequence[CallRecord], library: Library) -> dict[str, object]:
    """What the answer of `score` says of a run beside its card: the question, and when each call came."""
    at_hand = TaskShown.of_run(run, library)
    calls = run_document(run, records, at_hand, excerpts=0)["calls"] if len(records) <= MANY else []
    return {
        "question": cut(at_hand.task.question, 2000) if at_hand is not None else "",
        "calls": [{name: value for name, value in call.items() if name not in _EXCERPTED} for call in calls],
    }
