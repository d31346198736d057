"""Tool names as clients write them, taken for the tools that are meant.

Clients put the server's name before a tool's, and some turn hyphens into underscores. They undo that before they call,
but models and frameworks also write such names themselves. A name that is a tool's own is never read otherwise.
"""

import re
from collections.abc import Collection, Iterator

_PREFIX = re.compile(r"(?:mcp(__|_|-))?m3bench(?:__|[_\-.:/])")
_ANY_SERVER = re.compile(r"mcp__[A-Za-z0-9-]+?__|mcp_[A-Za-z0-9-]+?_")
"""Whatever the person called this server in the client's configuration."""
_SUFFIX = re.compile(r"_mcp_[A-Za-z0-9-]+$")


def understood(name: str, known: Collection[str]) -> str:
    """The known tool that a name stands for; the name itself when it is none or could be several."""
    if name in known:
        return name
    for plain in _bare(name):
        if plain in known:
            return plain
        alike = [one for one in known if one.replace("-", "_") == plain.replace("-", "_")]
        if len(alike) == 1:
            return alike[0]
    return name


def _bare(name: str) -> Iterator[str]:
    """The name, and what is left of it without what a client adds."""
    yield name
    for prefix in (_PREFIX, _ANY_SERVER):
        if found := prefix.match(name):
            yield name[found.end() :]
    if found := _SUFFIX.search(name):
        yield name[: found.start()]
