"""Communities of the frozen world and what people talk about in them.

Every word is invented, and so are the people. The threads of a community lie in a file of their own, which is read
when somebody asks for that community. A thread carries the best part of its comments; `comments` counts all of them.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from m3bench.sandboxes.world import tables
from m3bench.sandboxes.world.tables import Record

_HOT_SECONDS = 45_000
"""A thread this much younger is as hot with a tenth of the score."""
_SLUG_LENGTH = 50


@dataclass(frozen=True, kw_only=True)
class Comment:
    """What somebody wrote, and what others wrote to that."""

    author: str
    score: int
    text: str
    replies: "tuple[Comment, ...]"


@dataclass(frozen=True, kw_only=True)
class Thread:
    """A post with its comments."""

    id: str
    """In base 36; younger threads have larger ones."""
    community: str
    """The name as it is written in addresses."""
    title: str
    author: str
    created: datetime
    score: int
    comments: int
    """How many were written, with those that are not carried."""
    text: str
    """Empty when the post is a link or a picture."""
    stickied: bool
    replies: tuple[Comment, ...]
    """Best first."""

    @property
    def path(self) -> str:
        """Where the thread is on the site."""
        slug = ""
        for word in re.findall(r"[^\W_]+", re.sub("['’]", "", self.title.lower())):
            if len(slug) + len(word) >= _SLUG_LENGTH:
                break
            slug += f"_{word}" if slug else word
        return f"/r/{self.community}/comments/{self.id}/{slug}/"

    @property
    def heat(self) -> float:
        """What the hot listing is ordered by: each factor of ten in score is worth twelve and a half hours."""
        return round(math.log10(max(1, self.score)) + self.created.timestamp() / _HOT_SECONDS, 7)


def hot(community: str) -> tuple[Thread, ...]:
    """The threads of a community, pinned ones first, then the hottest first.

    The name is taken without regard to case, spaces and a leading `r/`; a plural finds a community of the singular
    and the other way round when there is no closer one. Raises `KeyError` when there is no such community.
    """
    return _threads(_known()[_asked(community)]["id"])


def thread(id: str) -> Thread:
    """A thread by its id; raises `KeyError` when there is none."""
    if re.fullmatch(r"[0-9a-z]+", id):
        for record in tables.stream("threads", f'{{"id": "{id}"'):
            return _thread(record)
    raise KeyError(id)


def _asked(community: str) -> str:
    name = re.sub(r"^/?r/", "", "".join(community.casefold().split())).strip("/")
    known = _known()
    return name if name in known else next((other for other in _other_numbers(name) if other in known), name)


def _other_numbers(name: str) -> list[str]:
    """The plurals of a name and what it may be the plural of."""
    more = [name + "s", name + "es", *([name[:-1] + "ies"] if name.endswith("y") else [])]
    less = [name[:-3] + "y" if name.endswith("ies") else "", name.removesuffix("s"), name.removesuffix("es")]
    return more + less


@cache
def _known() -> Mapping[str, Record]:
    return {record["id"]: record for record in tables.load("communities")}


@cache
def _threads(community: str) -> tuple[Thread, ...]:
    found = [_thread(record) for record in tables.load(f"threads/{community}")]
    return tuple(sorted(found, key=lambda thread: (not thread.stickied, -thread.heat, thread.id)))


def _thread(record: Record) -> Thread:
    return Thread(
        id=record["id"],
        community=_known()[record["community_id"]]["name"],
        title=record["title"],
        author=record["author"],
        created=datetime.fromisoformat(record["created"]),
        score=record["score"],
        comments=record["comments"],
        text=record["text"],
        stickied=record.get("stickied", False),
        replies=_comments(record["replies"]),
    )


def _comments(records: list[Record]) -> tuple[Comment, ...]:
    return tuple(
        Comment(
            author=record["author"],
            score=record["score"],
            text=record["text"],
            replies=_comments(record.get("replies", [])),
        )
        for record in records
    )
