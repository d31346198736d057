"""A laid table: what Reddit says of each dish just now, what the encyclopedia says, and a workbook of both."""

import random
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, WorkbookCells
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import laid_table
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall


class _Dish(NamedTuple):
    art: str
    community: str
    article: str
    spellings: tuple[str, ...] = ()


_BARE = ("coffee", "tea", "ramen", "rice", "salad", "ice cream", "spaghetti")
"""Drawn in their own cup or bowl, so no plate is put under them."""
_CENTRES = ("candle", "bouquet", "potted plant")
_TOUCHES = ("a bold heading row", "filter buttons", "a bar chart of the scores")
_COUNTS = {"two": 2, "three": 3}
_BOOK, _SHEET = "./table_talk.xlsx", "Dishes"


class _Tables(Tables):
    dishes: tuple[_Dish, ...]


_tables = tables("food_reddit_wiki_excel", _Tables)


class FoodRedditWikiExcel:
    """The hottest post of each dish, its comments and the encyclopedia, then a workbook."""

    name = "food_reddit_wiki_excel"
    servers = ("Reddit-MCP-Server", "wiki", "excel")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Three or four dishes, each with a card that names its community."""
        dishes = rng.sample(_tables().dishes, rng.choice((3, 3, 4)))
        canvas = Canvas(kit.art, 1320, 900)
        laid_table.laid(canvas, rng, 0.25)
        for dish, (x, foot, size) in zip(dishes, _places(rng, len(dishes), canvas.width), strict=True):
            if dish.art not in _BARE:
                laid_table.plate(canvas, rng, x, foot - size * 0.1, size * 1.62)
            canvas.place(
                dish.art, x, foot, size, flip=rng.random() < 0.3, score=round(rng.uniform(0.86, 0.97), 2), aliases=dish.spellings,
                shadow=dish.art in _BARE, description=f"{dish.art} served on a laid table",
            )  # fmt: skip
            laid_table.card(canvas, rng, f"r/{dish.community}", x, foot + size * 0.2 + 80)
        if len(dishes) == 4:
            canvas.place(rng.choice(_CENTRES), canvas.width / 2, 606 + rng.uniform(-30, 30), 150, score=0.84)
        canvas.light(rng, 0.8)
        articles = {article["title"]: article for article in kit.world("articles")}
        titles = {dish.article: [dish.article, *articles[dish.article].get("aliases", ())] for dish in dishes}
        return Composition.of(canvas, dishes=dishes, titles=titles)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """The hot lists, then comments and articles together, then the workbook."""
        dishes: list[_Dish] = composition.facts["dishes"]
        number, touch = rng.choice(tuple(_COUNTS)), rng.choice(_TOUCHES)
        count = _COUNTS[number]
        texts = await play.step(*(_hottest(dish.community) for dish in dishes))
        posts = [_post(text) for text in texts]
        reading = [
            *(_comments(post["id"], count) for post in posts),
            *(_article(dish.article, composition.facts["titles"]) for dish in dishes),
        ]
        texts = await play.step(*reading)
        comments = [_best(text, count) for text in texts[: len(dishes)]]
        blurbs = [_opening(text) for text in texts[len(dishes) :]]
        making = call("excel/create_workbook", {"filepath": _BOOK}, free=("filepath",))
        await play.step(making)
        rows: list[list[str | int]] = [
            ["Dish", "Score", "Hottest post", *(f"Comment {n + 1}" for n in range(count)), "Wikipedia"],
            *(
                [dish.art, post["score"], post["title"], *best, *([""] * (count - len(best))), blurb]
                for dish, post, best, blurb in zip(dishes, posts, comments, blurbs, strict=True)
            ),
        ]
        await play.step(
            call(
                "excel/write_data_to_excel", {"filepath": _BOOK, "sheet_name": _SHEET, "data": rows},
                free=("filepath", "sheet_name", "start_cell"),
            )
        )  # fmt: skip
        await play.step(_finish(touch, len(rows), len(rows[0])))
        lead = max(range(len(posts)), key=lambda n: posts[n]["score"])
        best, dish = posts[lead], dishes[lead]
        return Solution(
            wording=f"For each dish in {path} find the hottest post of the subreddit on its card, read {count} comments, read the "
            f"encyclopedia on the dish, write title, score, comments and opening sentence to a workbook with {touch}, and say "
            "which post has the highest score.",
            answer=f'The {dish.art} leads: "{best["title"]}" in r/{dish.community} has {best["score"]} points. '
            f"Everything is in {_BOOK}.",
            checks=(
                AnswerNames(all_of=((dish.art, *dish.spellings, f"r/{dish.community}", dish.article),)),
                AnswerNumber(value=best["score"], tolerance=0, what="the highest score"),
                WorkbookCells(values=tuple(float(post["score"]) for post in posts)),
                WorkbookCells(values=tuple(_beginning(post["title"]) for post in posts)),
                WorkbookCells(values=tuple(_beginning(text) for best in comments for text in best)),
                WorkbookCells(values=tuple(_beginning(blurb) for blurb in blurbs)),
                CallMade(tool="Reddit-MCP-Server/get_post_content", times=len(dishes)),
            ),
            given={"count": number, "touch": touch},
            alternatives=(
                play.varied("The workbook is made while reading.", {1: [*reading, making], 2: []}),
                play.varied(
                    "The articles are read first.",
                    {0: [*play.steps[0], *reading[len(dishes) :]], 1: reading[: len(dishes)]},
                ),
            ),
        )


def _places(rng: random.Random, count: int, width: int) -> list[tuple[float, float, float]]:
    """Middle, foot and height of each dish."""
    if count == 3:
        size, foot = rng.uniform(235, 265), rng.uniform(530, 640)
        return [(width * (0.18 + 0.32 * n) + rng.uniform(-14, 14), foot, size) for n in range(3)]
    back_foot, front_foot = 386 + rng.uniform(-8, 8), 722 + rng.uniform(-8, 8)
    shift = rng.choice((-1, 1)) * 0.06
    back = [(width * (share - shift / 2), back_foot, 170.0) for share in (0.28, 0.72)]
    return back + [(width * (share + shift / 2), front_foot, 180.0) for share in (0.26, 0.74)]


def _hottest(community: str) -> ReferenceCall:
    return call(
        "Reddit-MCP-Server/search_hot_posts", {"subreddit": community, "limit": 1},
        either={"subreddit": [community, f"r/{community}"], "limit": [None, *range(1, 26)]},
    )  # fmt: skip


def _comments(post: str, count: int) -> ReferenceCall:
    return call(
        "Reddit-MCP-Server/get_post_content", {"post_id": post, "comment_limit": count, "comment_depth": 1},
        free=("comment_depth",), either={"comment_limit": [None, *range(count, 101)]},
    )  # fmt: skip


def _article(title: str, titles: Mapping[str, list[str]]) -> ReferenceCall:
    return call("wiki/summary", {"title": title}, either={"title": titles[title]})


def _post(text: str) -> dict[str, Any]:
    """Title, score and id of the first post of a list."""
    score, link = re.search(r"Score: (-?\d+)", text), re.search(r"/comments/(\w+)/", text)
    assert score, text
    assert link, text
    return {"title": text.split("\n")[0].removeprefix("- "), "score": int(score[1]), "id": link[1]}


def _best(text: str, count: int) -> list[str]:
    """The first comments of a post, without who wrote them."""
    lines = text.partition("\nComments:\n")[2].split("\n")
    return [line.partition(": ")[2] for line in lines if line.startswith("- ")][:count]


def _opening(text: str) -> str:
    """The first sentence of an article."""
    return re.split(r"(?<=[.!?])\s", text.partition("\n\n")[2].strip())[0]


def _beginning(text: str) -> str:
    """A part of a text that is long enough to identify it."""
    return " ".join(text.split()[:6]).rstrip(".,:;!?")


def _finish(touch: str, rows: int, columns: int) -> ReferenceCall:
    """The call that makes the sheet as it was wished."""
    place = {"filepath": _BOOK, "sheet_name": _SHEET}
    last = "ABCDEFGH"[columns - 1]
    if touch == "a bold heading row":
        arguments = {**place, "start_cell": "A1", "end_cell": f"{last}1", "bold": True}
        return call("excel/format_range", arguments, free=(*place, "end_cell", "bg_color", "font_size", "alignment"))
    if touch == "filter buttons":
        arguments = {**place, "data_range": f"A1:{last}{rows}", "table_name": "Dishes"}
        return call("excel/create_table", arguments, free=(*place, "data_range", "table_name", "table_style"))
    arguments = {
        **place,
        "data_range": f"A1:B{rows}",
        "chart_type": "bar",
        "target_cell": f"A{rows + 3}",
        "title": "Scores",
    }
    names = (*place, "data_range", "target_cell", "title", "x_axis", "y_axis")
    return call("excel/create_chart", arguments, free=names)
