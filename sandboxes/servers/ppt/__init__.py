"""The `ppt` server: PowerPoint decks by python-pptx, opened, changed and saved inside a workspace.

Names, results and errors are the public server's. Where that one forgets or only pretends, this one does the
thing: a new deck is the current one, decks survive a restart, `./media/x.pptx` is saved there and not in
media/media, texts are fitted, transitions, borders, legends and backgrounds are written, and a call that fails
leaves the deck as it was. Each module says where it differs.
"""

from m3bench.sandboxes.servers.ppt import (
    charts,
    design,
    fonts,
    images,
    presentations,
    shapes,
    slides,
    tables,
    templates,
    text,
)
from m3bench.sandboxes.servers.ppt.registry import server

__all__ = [
    "charts",
    "design",
    "fonts",
    "images",
    "presentations",
    "server",
    "shapes",
    "slides",
    "tables",
    "templates",
    "text",
]
