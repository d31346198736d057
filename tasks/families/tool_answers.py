"""Reading what tools answered: a shop, a nutrient table, the detector, a forum, and the frames of a film."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from m3bench.tasks.answers.fields import Name
from m3bench.tasks.families.base import Script, call, need
from m3bench.tasks.json_types import Record
from m3bench.tasks.scene import Box
from m3bench.tasks.sound_and_film import PER_SECOND, FilmSign
from m3bench.tasks.task import ReferenceCall


def nutrient_amount(text: str, label: str) -> float:
    """How much of a nutrient there is; a food of which the table does not say so makes no task."""
    found = re.search(rf"^- {label}[^:]*: ([\d.]+)", text, re.MULTILINE)
    need(found is not None, f"the table has no {label.casefold()} of it")
    assert found is not None
    return float(found[1])


SHOPS = {
    "American": ("amazon.com", "USD"),
    "British": ("amazon.co.uk", "GBP"),
    "Canadian": ("amazon.ca", "CAD"),
    "Australian": ("amazon.com.au", "AUD"),
    "Irish": ("amazon.ie", "EUR"),
}
"""Where the shop is and what money it takes, by the word that a question has for it."""


def prices(text: str) -> list[float]:
    """The prices of the offers in a search result, in its order, whatever their currency."""
    return [float(price.replace(",", "")) for price in re.findall(r"Price: [^\d\n]*([\d,]+\.\d+)", text)]


def offer_title(text: str) -> str:
    """What the first offer in a search result is called."""
    return text.split("\n")[0].removeprefix("- ")


def asin(text: str) -> str:
    """The number of the first offer in a search result."""
    found = re.search(r"/dp/(\w{10})", text)
    assert found, text
    return found[1]


def rated(page: str) -> tuple[float, int]:
    """The rating on a product's page, and by how many customers."""
    found = re.search(r"Rated ([\d.]+) out of 5 by ([\d,]+)", page)
    assert found, page
    return float(found[1]), int(found[2].replace(",", ""))


def hosts(domain: str) -> tuple[str | None, ...]:
    """The ways to name a shop in a call: the American one may be left out."""
    return (domain, None) if domain == "amazon.com" else (domain,)


class Found(NamedTuple):
    """An object the detector reported."""

    name: str
    box: tuple[int, int, int, int]


def read_objects(text: str) -> list[Found]:
    """The objects of a detection result, boxes in whole pixels."""
    start, end = text.index("["), text.rindex("]")
    entries: list[Record] = json.loads(text[start : end + 1])
    return [Found(entry["name"], _whole(entry["bbox"])) for entry in entries]


def centre(box: Box) -> tuple[int, int]:
    """The middle of a box."""
    left, top, right, bottom = box
    return round((left + right) / 2), round((top + bottom) / 2)


def area_of(box: Box) -> float:
    """The pixels of a box."""
    return (box[2] - box[0]) * (box[3] - box[1])


def gap(one: Box, other: Box) -> float:
    """Pixels between the edges of two boxes."""
    aside = max(one[0] - other[2], other[0] - one[2], 0)
    above = max(one[1] - other[3], other[1] - one[3], 0)
    return math.hypot(aside, above)


def _whole(box: dict[str, float]) -> tuple[int, int, int, int]:
    return round(box["xmin"]), round(box["ymin"]), round(box["xmax"]), round(box["ymax"])


_POST = re.compile(r"^- (.*)\n  Score: (-?\d+) \| Comments: (\d+)\n  Author: (.*)\n.*/comments/(\w+)/", re.MULTILINE)


@dataclass(frozen=True)
class Post:
    """A post of a list."""

    title: str
    score: int
    comments: int
    author: str
    id: str


def hot_posts(community: str, count: int) -> ReferenceCall:
    """What is hot in a community; asking for more than the first few finds them too."""
    limits = [*range(count, 26), *([None] if count <= 5 else [])]
    return call(
        "Reddit-MCP-Server/search_hot_posts", {"subreddit": community, "limit": count},
        either={"subreddit": [community, f"r/{community}"], "limit": limits},
    )  # fmt: skip


def posts(text: str) -> list[Post]:
    """The posts of a list, in its order."""
    found = _POST.findall(text)
    return [Post(title, int(score), int(comments), author, id) for title, score, comments, author, id in found]


def open_post(post: Post) -> ReferenceCall:
    """A look at a post and the comments on it."""
    return call(
        "Reddit-MCP-Server/get_post_content", {"post_id": post.id, "comment_limit": 1, "comment_depth": 1},
        free=("comment_limit", "comment_depth"),
    )  # fmt: skip


def best_comment(text: str) -> tuple[str, str]:
    """Who wrote the first comment on a post, and what; both empty when there is none."""
    first = next((line for line in text.splitlines() if line.startswith("- ")), "").removeprefix("- ")
    author, _, said = first.partition(": ")
    return author, said


def post_title(post: Post, others: Sequence[Post]) -> Name:
    """A post by its title, whole or its first sentence; its figures may stand beside it."""
    first = re.split(r"(?<=[.!?])\s", post.title)[0]
    return Name(
        value=post.title,
        aliases=(first,) if first != post.title and len(first.split()) >= 5 else (),
        others=tuple(other.title for other in others if other is not post),
        context=(f"score {post.score} comments {post.comments} author {post.author} points upvotes",),
    )


async def read_signs(path: str, signs: Sequence[FilmSign], play: Script) -> list[str]:
    """The writing that is read off some signs of a film, each in the middle of the time for which it is shown.

    One call reads all of them, at moments that are others in every film: whoever plays the calls of another task has
    found the changes of this film and read nothing of it.

    Args:
        path: The film.
        signs: Which ones.
        play: Makes the calls.
    """
    (text,) = await play.step(call("recordings/find_changes", {"path": path}))
    changes = json.loads(text)["changes"]
    times = [_moment(sign, changes) for sign in signs]
    (text,) = await play.step(call("recordings/read_frames", {"path": path, "times": times}))
    return [frame["text"] for frame in json.loads(text)["frames"]]


def _moment(sign: FilmSign, changes: Sequence[float]) -> float:
    """When a sign is to be seen, as follows from the changes."""
    first = next((at for at in changes if abs(at - sign.first / PER_SECOND) < 1e-6), sign.first / PER_SECOND)
    return round(first + (sign.last - sign.first) / PER_SECOND / 2, 2)
