"""The score card as an MCP App: a page that a client shows beside the answer of `score`.

The page holds no data: the client hands it the answer it was given anyway, so a
ranked run shows what its answer says and nothing more.
"""

from m3bench.server.results.reports.legend import legend
from m3bench.server.results.reports.page import HOSTED, page
from m3bench.server.scorecard.app import REVISION

SCRIPTS = ("card.js", "alignment.js", "app.js")


def scorecard_page() -> str:
    """The page."""
    document = {"kind": "scorecard", "revision": REVISION, "legend": legend()}
    return page("m3bench score card", document, SCRIPTS, styles=("card.css",), policy=HOSTED)
