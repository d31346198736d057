"""The shell of a lab's pages: that of a card's page, with the scripts and styles of this folder beside a card's."""

from functools import partial
from pathlib import Path

from m3bench.server.scorecard.pages import page as card

ASSETS = Path(__file__).parent / "assets"

page = partial(card.page, assets=ASSETS)
