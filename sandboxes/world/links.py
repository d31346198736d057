"""Pages of a picture site and the pictures on them.

Seven of the addresses are public ones whose subject is known, the others are made up in their manner; no page
names its place, as the public ones do not. The pictures are our own posters, painted when first asked for.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from m3bench.sandboxes.world import tables
from m3bench.tasks.lazy_modules import LazyModule

# Who only looks pages up needs no drawing library.
if TYPE_CHECKING:
    from m3bench.sandboxes.world.posters import painter
else:
    painter = LazyModule("m3bench.sandboxes.world.posters.painter")

SITE = "https://unsplash.com/photos/"

_ID = re.compile(r"[A-Za-z0-9_]{1,64}")


@dataclass(frozen=True, kw_only=True)
class LinkedPage:
    """A page with one picture."""

    id: str
    slug: str
    """What the address says of the picture before the id."""
    title: str
    subtitle: str
    description: str
    """What the picture shows, for people."""
    landmark_id: str | None
    """The landmark it shows, where that is one of the world."""
    city_id: str | None
    palette: str
    elements: tuple[tuple[str, Mapping[str, object]], ...]

    @property
    def address(self) -> str:
        """The page's address."""
        return f"{SITE}{self.slug}-{self.id}"


def page_id(address: str) -> str | None:
    """The id in an address: what stands after the last dash of its path; a bare id is one too."""
    try:
        last = urlsplit(address.strip()).path.rstrip("/").rpartition("/")[2]
    except ValueError:
        return None
    found = last.rpartition("-")[2]
    return found if _ID.fullmatch(found) else None


@cache
def pages() -> Mapping[str, LinkedPage]:
    """All pages by id."""
    found = {}
    for record in tables.load("links"):
        values = {key: value for key, value in record.items() if key != "elements"}
        elements = tuple((name, parameters) for name, parameters in record["elements"])
        found[record["id"]] = LinkedPage(elements=elements, **{"landmark_id": None, "city_id": None, **values})
    return found


def picture(page: LinkedPage) -> bytes:
    """The page's picture as a JPEG file."""
    return _painted(page.id)


@lru_cache(32)
def _painted(name: str) -> bytes:
    page = pages()[name]
    return painter.paint(page.palette, page.elements, title=page.title, subtitle=page.subtitle, seed=page.id)
