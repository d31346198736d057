"""A laid table: what Reddit says of each dish just now, what the encyclopedia says, and a workbook of both."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, File, Integer, Name, Text
from m3bench.tasks.answers.office import WorkbookChart, WorkbookRows
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import laid_table, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall


class _Dish(NamedTuple):
    art: str
    community: str
    article: str
    spellings: tuple[str, ...] = ()


_BARE = ("coffee", "tea", "ramen", "rice", "salad", "ice cream", "spaghetti")
"""Drawn in their own cup or bowl, so no plate is put under them."""
_COLUMNS = 4
_SHEET = "Dishes"
_CLEAR = 1.05
"""How many times the next the largest must be."""


class FoodRedditWikiExcel(Family):
    """The hottest post of each dish, its comments, the encyclopedia, and a workbook."""

    name = "food_reddit_wiki_excel"
    servers = ("Reddit-MCP-Server", "wiki", "excel")
    dishes = table(tuple[_Dish, ...])

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Eight dishes, each with a card that names its community; three or four are circled, those from left to right."""
        dishes = rng.sample(self.dishes, rng.choice((3, 3, 4)))
        others = rng.sample([dish for dish in self.dishes if dish not in dishes], 2 * _COLUMNS - len(dishes))
        canvas = Canvas(kit.art, 1440, 960)
        laid_table.laid(canvas, rng, 0.14)
        columns = sorted(rng.sample(range(_COLUMNS), len(dishes)))
        where = {(column, rng.randrange(2)): dish for column, dish in zip(columns, dishes, strict=True)}
        left = [(column, row) for row in range(2) for column in range(_COLUMNS) if (column, row) not in where]
        where |= dict(zip(left, others, strict=True))
        boxes = _served(canvas, rng, [(dish, *place) for place, dish in where.items()])
        canvas.light(rng, 0.6)
        pen.circle(canvas, rng, boxes[: len(dishes)], boxes[len(dishes) :])
        articles = {article["title"]: article for article in kit.world("articles")}
        titles = {dish.article: [dish.article, *articles[dish.article].get("aliases", ())] for dish in dishes}
        return Composition.of(canvas, dishes=dishes, titles=titles)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Everything begins with what is hot in the communities on the cards."""
        goals = {"report": self._report, "ends": self._ends, "busiest": self._busiest}
        return await goals[play.goal](composition, path, play)

    async def _report(self, composition: Composition, path: str, play: Script) -> Solution:
        """The hot lists and the articles, then a workbook with a chart."""
        dishes: list[_Dish] = composition.facts["dishes"]
        book = path.replace(".png", ".xlsx")
        reading = [
            *(_hottest(dish) for dish in dishes),
            *(_article(dish, composition.facts["titles"]) for dish in dishes),
        ]
        making = call("excel/create_workbook", {"filepath": book}, free=("filepath",))
        texts = await play.step(*reading, making)
        posts = [_post(text) for text in texts[: len(dishes)]]
        blurbs = [_opening(text) for text in texts[len(dishes) : 2 * len(dishes)]]
        rows: list[list[str | int]] = [
            ["Dish", "Score", "Hottest post", "Wikipedia"],
            *(
                [dish.art, post["score"], post["title"], blurb]
                for dish, post, blurb in zip(dishes, posts, blurbs, strict=True)
            ),
        ]
        await _tabulated(book, rows, play)
        order = _ranked([post["score"] for post in posts])
        lead = dishes[order[0]]
        listed = WorkbookRows(
            rows=tuple(
                (_dish(dish, dishes), Integer(value=post["score"]), Name(value=post["title"]), _sentence(blurb))
                for dish, post, blurb in zip(dishes, posts, blurbs, strict=True)
            )
        )
        charted = WorkbookChart(form="bar", values=tuple(float(post["score"]) for post in posts))
        return Solution(
            wording=f"For each dish circled in red in {path} put the hottest post of the subreddit on its card, its score and the first sentence of the dish's article "
            "into a workbook with a bar chart of the scores, and say which post has the highest score.",
            answer=f'The {lead.art} leads: "{posts[order[0]]["title"]}" in r/{lead.community} has {posts[order[0]]["score"]} points. Everything is in {book}.',
            fields=(
                Field(
                    name="workbook",
                    meaning="for each dish the hottest post's title, its score and Wikipedia's first sentence; a bar chart of the scores",
                    value=File(form="xlsx", value=book, holds=(listed, charted)),
                ),
                Field(
                    name="leader",
                    meaning="the dish whose post has the highest score",
                    value=_dish(lead, dishes),
                    compared=tuple(float(posts[number]["score"]) for number in order),
                    derived=tuple(float(post["score"]) for post in posts),
                ),
                Field(name="score", meaning="the score of that post", value=Integer(value=posts[order[0]]["score"])),
            ),
        )  # fmt: skip

    async def _ends(self, composition: Composition, path: str, play: Script) -> Solution:
        """What is hot for the dishes at both ends, and who commented first."""
        dishes: list[_Dish] = composition.facts["dishes"]
        need(len(dishes) == 3, "the dishes are not in one row")
        ends = [dishes[0], dishes[-1]]
        posts = [_post(text) for text in await play.step(*map(_hottest, ends))]
        threads = await play.step(*(_thread(post) for post in posts))
        names = [_commenters(text) for text in threads]
        need(all(names), "nobody has commented")
        told = "; ".join(
            f'{dish.art}: "{post["title"]}" by {post["author"]}, first comment by {first[0]}'
            for dish, post, first in zip(ends, posts, names, strict=True)
        )
        return Solution(
            wording=f"Find the hottest posts of the subreddits on the left and the right card in {path}, who wrote them and who commented first.",
            answer=f"{told}.",
            fields=tuple(
                field
                for side, post, first in zip(("left", "right"), posts, names, strict=True)
                for field in _post_fields(side, post, first)
            ),
        )  # fmt: skip

    async def _busiest(self, composition: Composition, path: str, play: Script) -> Solution:
        """The post with the most comments, who began the talk, and what the encyclopedia calls the dish."""
        dishes: list[_Dish] = composition.facts["dishes"]
        posts = [_post(text) for text in await play.step(*map(_hottest, dishes))]
        order = _ranked([post["comments"] for post in posts])
        dish, post = dishes[order[0]], posts[order[0]]
        thread, article = await play.step(_thread(post), _article(dish, composition.facts["titles"]))
        names = _commenters(thread)
        need(bool(names), "nobody has commented")
        short = article.splitlines()[1]
        return Solution(
            wording=f"Find which of the hottest posts of the subreddits circled in red in {path} has the most comments, how many all of them have, who commented first, and what the encyclopedia calls the dish.",
            answer=f'"{post["title"]}" in r/{dish.community} has the most comments, {post["comments"]} of {sum(post["comments"] for post in posts)}; {names[0]} commented first. The {dish.art} is described as: {short}.',
            fields=(
                Field(
                    name="dish",
                    meaning="the dish whose hottest post has the most comments",
                    value=_dish(dish, dishes),
                    compared=tuple(float(posts[number]["comments"]) for number in order),
                    derived=tuple(float(post["comments"]) for post in posts),
                ),
                Field(name="comments", meaning="how many comments that post has", value=Integer(value=post["comments"])),
                Field(name="total", meaning="how many comments the hottest posts of all circled dishes have together", value=Integer(value=sum(post["comments"] for post in posts)), derived=tuple(float(post["comments"]) for post in posts)),
                Field(name="first_commenter", meaning="the user who wrote the first comment", value=_user(names[0], (post["author"], *names))),
                Field(name="description", meaning="the short description below the title of Wikipedia's article on the dish", value=Text(words=25, value=short, mentions=_parts(short))),
            ),
        )  # fmt: skip


def _served(canvas: Canvas, rng: random.Random, dishes: Sequence[tuple[_Dish, int, int]]) -> list[Box]:
    """Dishes with their cards, each in its column and row of the table; returns the boxes of both together."""
    spots = [
        (dish, canvas.width * (column + 0.5) / _COLUMNS + rng.uniform(-12, 12), 360 + row * 404 + rng.uniform(-8, 8), 178 + row * 14)
        for dish, column, row in dishes
    ]  # fmt: skip
    spots = [(dish, _within(canvas, dish, x), foot, size) for dish, x, foot, size in spots]
    for dish, x, foot, size in spots:
        if dish.art not in _BARE:
            laid_table.plate(canvas, rng, x, foot - size * 0.1, size * 1.45)
    boxes = [
        canvas.place(
            dish.art, x, foot, size, flip=rng.random() < 0.3, score=round(rng.uniform(0.86, 0.97), 2), aliases=dish.spellings,
            shadow=dish.art in _BARE,
        )
        for dish, x, foot, size in spots
    ]  # fmt: skip
    cards = [
        laid_table.card(canvas, rng, f"r/{dish.community}", x, foot + size * 0.2 + 66, 38)
        for dish, x, foot, size in spots
    ]
    return [
        (min(box[0], card[0]) - 12, box[1], max(box[2], card[2]) + 12, card[3] + 6)
        for box, card in zip(boxes, cards, strict=True)
    ]


def _within(canvas: Canvas, dish: _Dish, x: float) -> float:
    """Where a dish stands, moved so far that a loop around its card is inside the picture."""
    half = canvas.art.width(f"r/{dish.community}", 38, "serif bold") / 2 + 76
    return min(max(x, half), canvas.width - half)


def _hottest(dish: _Dish) -> ReferenceCall:
    return call(
        "Reddit-MCP-Server/search_hot_posts", {"subreddit": dish.community, "limit": 1},
        either={"subreddit": [dish.community, f"r/{dish.community}"], "limit": [None, *range(1, 26)]},
    )  # fmt: skip


async def _tabulated(book: str, rows: Sequence[Sequence[str | int]], play: Script) -> None:
    """Write rows into a workbook and draw a bar chart of the scores below them."""
    place = {"filepath": book, "sheet_name": _SHEET}
    await play.step(
        call("excel/write_data_to_excel", {**place, "data": rows}, free=("filepath", "sheet_name", "start_cell"))
    )
    drawing = {
        **place,
        "data_range": f"A1:B{len(rows)}",
        "chart_type": "bar",
        "target_cell": f"A{len(rows) + 3}",
        "title": "Scores",
    }
    free = (*place, "data_range", "target_cell", "title", "x_axis", "y_axis")
    await play.step(call("excel/create_chart", drawing, free=free))


def _thread(post: Record) -> ReferenceCall:
    return call(
        "Reddit-MCP-Server/get_post_content", {"post_id": post["id"], "comment_limit": 3, "comment_depth": 1},
        free=("comment_depth",), either={"comment_limit": [None, *range(1, 101)]},
    )  # fmt: skip


def _article(dish: _Dish, titles: Mapping[str, list[str]]) -> ReferenceCall:
    return call("wiki/summary", {"title": dish.article}, either={"title": titles[dish.article]})


def _post(text: str) -> Record:
    """Title, score, comments, author and id of the first post of a list."""
    found = re.search(r"Score: (-?\d+) \| Comments: (\d+)\n\s*Author: (\S+)\n.*?/comments/(\w+)/", text)
    assert found, text
    return {
        "title": text.split("\n")[0].removeprefix("- "),
        "score": int(found[1]),
        "comments": int(found[2]),
        "author": found[3],
        "id": found[4],
    }


def _commenters(text: str) -> list[str]:
    """Who wrote the comments below a post, the first first."""
    lines = text.partition("\nComments:\n")[2].split("\n")
    return [line.removeprefix("- ").partition(": ")[0] for line in lines if line.startswith("- ")]


def _ranked(counts: Sequence[int]) -> list[int]:
    """The places of counts, the largest first, which must be clear."""
    order = sorted(range(len(counts)), key=lambda number: -counts[number])
    need(counts[order[0]] >= _CLEAR * counts[order[1]], "two have about as many")
    return order


def _opening(text: str) -> str:
    """The first sentence of an article."""
    return re.split(r"(?<=[.!?])\s", text.partition("\n\n")[2].strip())[0]


def _dish(dish: _Dish, dishes: Sequence[_Dish]) -> Name:
    others = (name for other in dishes if other is not dish for name in (other.art, other.article, *other.spellings))
    return Name(
        value=dish.art,
        aliases=(*dish.spellings, dish.article, f"r/{dish.community}", dish.community),
        others=tuple(others),
        context=("dish food plate", dish.community, "r"),
    )


def _user(name: str, others: Sequence[str]) -> Name:
    wrong = tuple(other for other in dict.fromkeys(others) if other != name)
    return Name(value=name, aliases=(f"u/{name}",), others=wrong, context=("user u",))


def _post_fields(side: str, post: Record, commenters: Sequence[str]) -> tuple[Field, ...]:
    where = f"for the dish on the {side}"
    return (
        Field(
            name=f"{side}_title",
            meaning=f"the title of the first post of the hot list {where}",
            value=Name(value=post["title"]),
        ),
        Field(name=f"{side}_author", meaning=f"who posted it, {where}", value=_user(post["author"], commenters)),
        Field(
            name=f"{side}_commenter",
            meaning=f"who wrote the first comment under it, {where}",
            value=_user(commenters[0], (post["author"], *commenters)),
        ),
    )


def _sentence(text: str) -> Text:
    """A sentence that is known by its beginning."""
    return Text(words=80, value=text, mentions=((" ".join(text.split()[:6]).rstrip(".,:;!?"),),))


def _parts(text: str) -> tuple[tuple[str, ...], ...]:
    """The words of a short description that carry it."""
    return tuple((word,) for word in re.findall(r"[\w'-]+", text) if len(word) > 3)
