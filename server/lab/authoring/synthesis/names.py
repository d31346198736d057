"""Names of services and tools that a question must not say, as the catalog has them and as people spell them.

Whoever asks wants something done and does not know by which tool. A tool's name of several words counts with blanks
between them as well; a name that is an ordinary word, such as `search`, does not count. What people call the services
behind the servers stands in `words/services.toml`.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from m3bench.tasks.catalog import load_catalog


@cache
def forbidden() -> tuple[str, ...]:
    """What a question must not say, in lower case, sorted."""
    folder = files("m3bench.server.lab.authoring.synthesis") / "words"
    services = tomllib.loads((folder / "services.toml").read_text(encoding="utf-8"))
    return tuple(sorted({*_of_tools(), *(name.casefold() for names in services.values() for name in names)}))


def named(text: str) -> str | None:
    """The first service or tool that a text names; None when it names none."""
    found = _pattern().search(" ".join(re.sub(r"[^\w.\s-]", " ", text.casefold()).split()))
    return found[0] if found else None


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forbidden()))})(?!\w)")


def _of_tools() -> Iterator[str]:
    for tool in load_catalog().ready.tools:
        for name in (tool.name, tool.server):
            spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", re.sub(r"[_-]+", " ", name)).casefold()
            if " " in spaced:
                yield spaced
            if spaced != name:
                yield name.casefold()
        yield from (tool.qualified.casefold(), tool.exposed.casefold())
