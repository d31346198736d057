"""A classroom with a survey on the board: its figures, what the class can afford, and what stands on the desks."""

import random
import re
from collections.abc import Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, Integer, Money, Name, Number
from m3bench.tasks.families import tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.families.tool_answers import read_objects
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.proportions import share, turn
from m3bench.tasks.render.shapes import mix, on, polygon, rect
from m3bench.tasks.task import Reference, ReferenceCall

_BOARDS = {"#2f5d4c": "#8a6242", "#34404c": "#a47c52", "#f7f9fa": "#9aa4ad", "#fbf8ee": "#7d8791"}
"""Surfaces to write on, each with its frame: chalk, slate, enamel and paper."""


def board(
    canvas: Canvas,
    rng: random.Random,
    title: str,
    rows: Sequence[tuple[str, str]],
    box: tuple[float, float, float, float],
) -> tuple[str, list[tuple[float, float]]]:
    """A board with a title and rows of a word and a figure; returns its colour and where each row ends."""
    left, top, right, bottom = box
    surface = rng.choice(tuple(_BOARDS))
    ink = on(surface)
    canvas.draw(
        rect(left - 18, top - 18, right - left + 36, bottom - top + 36, _BOARDS[surface], 8),
        rect(left, top, right - left, bottom - top, surface, 2),
        rect(left, bottom + 14, right - left, 12, mix(_BOARDS[surface], "#000000", 0.25), 3),
    )
    canvas.text(
        title, (left + right) / 2, top + 74, 52, face="sans bold", fill=ink, anchor="middle", width=right - left - 80
    )
    step, ends = (bottom - top - 142) / len(rows), []
    for number, (word, figure) in enumerate(rows):
        y = top + 130 + step * (number + 0.42)
        canvas.text(word, left + (right - left) * 0.2, y, 40, face="sans bold", fill=ink)
        end = left + (right - left) * 0.74
        canvas.text(figure, end, y, 40, face="sans bold", fill=ink, anchor="end")
        ends.append((end, y))
    return surface, ends


def desks(canvas: Canvas, rng: random.Random, top: float, count: int) -> list[tuple[float, float, float]]:
    """A row of desks whose tops lie at a height; returns left end, right end and height of each surface."""
    wood = rng.choice(("#c9a376", "#b98a5e", "#d8bd94", "#a97f5b"))
    wide = canvas.width * 0.94 / count
    found = []
    for number in range(count):
        left, right = canvas.width * 0.03 + number * wide + 14, canvas.width * 0.03 + (number + 1) * wide - 14
        for x in (left + 30, right - 44):
            canvas.draw(rect(x, top + 40, 14, canvas.height - top, "#6f7780"))
        canvas.draw(
            polygon(
                [(left + 22, top), (right - 22, top), (right, top + 46), (left, top + 46)], mix(wood, "#ffffff", 0.22)
            ),
            rect(left, top + 46, right - left, 20, mix(wood, "#000000", 0.18), 3),
        )
        found.append((left + 30, right - 30, top + 30))
    return found


class _Wish(NamedTuple):
    word: str
    """As it is written on the board; without spaces, the name of its community."""
    art: str
    label: str
    article: str = ""
    """Its article in the encyclopedia; empty when that is never asked."""


_MOST_LATE = 6
"""Votes that are added to a row by hand at most."""
_BUDGETS = (32, 35, 38, 40, 48, 50, 55, 65, 70, 80, 90, 100)


class ClassDemand(Family):
    """Read the survey and the room, find prices, and look up what can be bought."""

    name = "class_demand"
    servers = ("ocr", "dinox-mcp", "math", "amazon", "Reddit-MCP-Server", "wiki")
    cheap = table(tuple[_Wish, ...])
    """What costs less than the smallest budget, so that something is always within it."""
    dear = table(tuple[_Wish, ...])
    others = table(tuple[_Wish, ...])
    titles = words()

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A board with six wishes and their votes, the latest as strokes by hand, and some of the things on desks."""
        cheap = rng.choice(self.cheap)
        leaders = [
            rng.choice([wish for wish in (*self.cheap, *self.dear, *self.dear) if wish is not cheap]),
            cheap,
        ]
        wishes = leaders + rng.sample(self.others, 4)
        common = rng.randint(5, 12)
        first, second = rng.randint(22, 29), rng.randint(15, 20)
        low, high = rng.sample([number for number in range(4, 14) if number != common], 2)
        votes = [first, second, common, common, low, high]
        rows = list(zip(wishes, votes, strict=True))
        rng.shuffle(rows)
        canvas = Canvas(kit.art, 1400, 980)
        backdrops.room(canvas, rng, floor=0.8)
        late = [rng.randint(1, min(_MOST_LATE, number - 1)) for _, number in rows]
        surface, ends = board(
            canvas,
            rng,
            rng.choice(self.titles),
            [(wish.word, str(number - more)) for (wish, number), more in zip(rows, late, strict=True)],
            (170, 46, 1230, 566),
        )
        things = [*(leaders[0] for _ in range(rng.randint(1, 3))), *(leaders[1] for _ in range(rng.randint(1, 3)))]
        things += rng.sample(wishes[2:], 8 - len(things) if len(things) > 4 else 3)
        rng.shuffle(things)
        surfaces = desks(canvas, rng, 776, 2)
        for number, thing in enumerate(things):
            left, right, foot = surfaces[number * 2 // len(things)]
            mates = [n for n in range(len(things)) if n * 2 // len(things) == number * 2 // len(things)]
            x = left + (right - left) * (mates.index(number) + 0.5) / len(mates)
            drawn = kit.art.object(thing.art)
            size = min(206 * share(thing.art), 140 * drawn.height / drawn.width)
            flip = rng.random() < 0.3
            score = round(rng.uniform(0.84, 0.97), 2)
            canvas.place(
                thing.art, x, foot, size, label=thing.label, flip=flip, turn=turn(thing.art, flip), score=score,
                aliases=tuple({thing.art} - {thing.label}),
            )  # fmt: skip
        canvas.light(rng, 0.6)
        colour = pen.CHALK if on(surface) == on("#000000") else pen.BLUE
        for (x, y), count in zip(ends, late, strict=True):
            pen.strokes(canvas, rng, x + 44, y + 2, count, colour, tall=36)
        return Composition.of(
            canvas,
            rows=[(wish, number - more, more) for (wish, number), more in zip(rows, late, strict=True)],
            articles={
                article["title"]: [article["title"], *article.get("aliases", ())]
                for article in kit.world("articles")
                if article["title"] in {wish.article for wish in leaders}
            },
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read what is needed, then go for what is asked."""
        plan = {"purchase": _purchase, "figures": _figures, "desks": _desks}[play.goal]
        return await plan(rng, composition, path, play)


async def _purchase(rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
    """The more wanted thing that is within the budget, and what those still missing cost."""
    budget = rng.choice(_BUDGETS)
    wishes = _wishes(composition)
    board, room = await play.step(_reading(path), _looking(path))
    demand = _demand(board, composition)
    ranked = sorted(demand, key=lambda word: -demand[word])
    prices = [tool_answers.prices(text)[0] for text in await play.step(*(_search(word) for word in ranked[:2]))]
    need(all(abs(price - budget) > 0.02 * budget for price in prices), "a price is at the limit")
    word, price = next((word, price) for word, price in zip(ranked, prices, strict=False) if price <= budget)
    there = _count(room, wishes[word])
    (text,) = await play.step(call("math/subtract", {"minuend": demand[word], "subtrahend": there}))
    missing = int(float(text))
    need(missing > 1 and missing not in _figures_on(composition), "what is missing can be read off the board")
    (bill,) = await play.step(call("math/multiply", {"firstNumber": price, "SecondNumber": missing}))
    cost = round(float(bill), 2)
    need(cost != price * demand[word], "nothing of it is there")
    return Solution(
        wording=f"Read the survey in {path} and detect the objects; find the two most wanted things on Amazon; for the more wanted one that "
        f"costs at most {budget} dollars subtract those in the room from the votes and multiply by the price.",
        answer=f"The most wanted within {budget} dollars are {word.casefold()} at {price:.2f} each. There are {there} in the room, so "
        f"{missing} are missing, which costs {cost:.2f} dollars.",
        fields=(
            Field(name="thing", meaning="what to buy", value=_thing(word, wishes),
                  compared=tuple(float(demand[other]) for other in ranked[ranked.index(word) :])),
            Field(name="unit_price", meaning="the price of one", value=Money(value=price, unit="USD")),
            Field(name="quantity", meaning="how many are still to be bought", value=Integer(value=missing),
                  derived=(float(demand[word]),)),
            Field(name="total_cost", meaning="what those cost together", value=Money(value=cost, unit="USD"),
                  derived=(price, float(demand[word]))),
        ),
        given={"budget": str(budget)},
        alternatives=(
            play.varied(
                "Only the wished things are looked for.",
                {0: [_reading(path)], 1: [*play.steps[1], _named(path, ranked[:2], wishes)]},
            ),
            _one_by_one(play.steps, enough=word == ranked[0]),
            play.varied("Board and desks are seen by eye.", {0: ()}),
        ),
    )  # fmt: skip


async def _figures(rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
    """Median and mode, and what people say of the winner."""
    wishes = _wishes(composition)
    (board,) = await play.step(_reading(path))
    demand = _demand(board, composition)
    votes = list(demand.values())
    ranked = sorted(demand, key=lambda word: -demand[word])
    community = ranked[0].replace(" ", "").casefold()
    count = rng.choice((2, 3, 4))
    middle, common, listed = await play.step(
        call("math/median", {"numbers": votes}),
        call("math/mode", {"numbers": votes}),
        tool_answers.hot_posts(community, count),
    )
    median, mode = float(middle), float(_found(r"\((\d+)\)", common))
    need(median != mode, "median and mode are the same")
    posts = tool_answers.posts(listed)
    need(len(posts) >= 2 and posts[0].score > posts[1].score * 1.02, "two posts are about alike")
    (text,) = await play.step(tool_answers.open_post(posts[0]))
    author, said = tool_answers.best_comment(text)
    need(bool(author) and author != posts[0].author, "nobody else commented")
    return Solution(
        wording=f"Read the survey in {path}; compute median and mode of the votes; find the hottest post in the subreddit of the most wanted "
        "thing and who wrote the best comment on it.",
        answer=f"The median is {median:g} and the mode {mode:g}. Most wanted are {ranked[0].casefold()}. The hottest post in r/{community} is "
        f'"{posts[0].title}", and {author} wrote the first comment: "{said}"',
        fields=(
            Field(name="median", meaning="the median of the votes", value=Number(value=median), derived=tuple(map(float, votes))),
            Field(name="mode", meaning="the mode of the votes", value=Number(value=mode), derived=tuple(map(float, votes))),
            Field(name="favourite", meaning="what got the most votes", value=_thing(ranked[0], wishes),
                  compared=tuple(float(demand[word]) for word in ranked)),
            Field(name="post", meaning="the title of the first hot post in its subreddit", value=tool_answers.post_title(posts[0], posts)),
            Field(name="commenter", meaning="who wrote the first comment on that post",
                  value=Name(value=author, others=tuple(sorted({post.author for post in posts} - {author})))),
        ),
        alternatives=(play.varied("The board is read by eye.", {0: ()}),),
    )  # fmt: skip


async def _desks(rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
    """What stands on the desks most often, how wanted it is, what it is, and what some more cost."""
    more, wishes = rng.randint(3, 9), _wishes(composition)
    board, room = await play.step(_reading(path), _looking(path))
    demand = _demand(board, composition)
    counts = {word: _count(room, wish) for word, wish in wishes.items()}
    ranked = sorted(counts, key=lambda word: -counts[word])
    word, there = ranked[0], counts[ranked[0]]
    wish = wishes[word]
    need(there > counts[ranked[1]] and bool(wish.article), "two things stand there as often")
    need(demand[word] not in (there, more), "two figures are the same")
    need(there not in _figures_on(composition), "how many there are stands on the board")
    articles = composition.facts["articles"][wish.article]
    offer, said = await play.step(
        _search(word), call("wiki/summary", {"title": wish.article}, either={"title": articles})
    )
    price, line = tool_answers.prices(offer)[0], said.splitlines()[1]
    (bill,) = await play.step(call("math/multiply", {"firstNumber": price, "SecondNumber": more}))
    cost = round(float(bill), 2)
    return Solution(
        wording=f"Detect the objects in {path} and read the survey; of the wish that stands there most often give pieces, votes, Wikipedia's "
        f"description and the price of {more} at amazon.com.",
        answer=f"Most of what is on the desks are {word.casefold()}: {there} of them, with {demand[word]} votes. Wikipedia says: {line}. {more} more "
        f"cost {cost:.2f} dollars at {price:.2f} each.",
        fields=(
            Field(name="thing", meaning="which of the things on the list stands on the desks most often", value=_thing(word, wishes),
                  compared=(float(there), *(float(counts[other]) for other in ranked[1:]))),
            Field(name="pieces", meaning="how many of them stand there", value=Integer(value=there)),
            Field(name="votes", meaning="how many votes it got", value=Integer(value=demand[word])),
            Field(name="description", meaning="Wikipedia's short description of it, word for word", value=Name(value=line)),
            Field(name="cost", meaning="what that many more cost", value=Money(value=cost, unit="USD"), derived=(price,)),
        ),
        given={"more": str(more)},
        alternatives=(
            play.varied("The board is read by eye.", {0: [_looking(path)]}),
            play.varied("Board and desks are seen by eye.", {0: ()}),
        ),
    )  # fmt: skip


def _reading(path: str) -> ReferenceCall:
    return call("ocr/perform_ocr", {"input_data": path}, free=("config",), either={"language": [None, "eng"]})


def _looking(path: str) -> ReferenceCall:
    return call(
        "dinox-mcp/detect-all-objects",
        {"imageFileUri": path, "includeDescription": False},
        free=("includeDescription",),
    )


def _wishes(composition: Composition) -> dict[str, _Wish]:
    return {wish.word: wish for wish, *_ in composition.facts["rows"]}


def _demand(board: str, composition: Composition) -> dict[str, int]:
    """The votes as the board was read, which must be as it was drawn, and those that were added by hand."""
    rows = composition.facts["rows"]
    need(
        _rows(board, _wishes(composition)) == {wish.word: number for wish, number, _ in rows},
        f"the board must be legible: {board}",
    )
    return {wish.word: number + late for wish, number, late in rows}


def _figures_on(composition: Composition) -> set[int]:
    """The votes on the board, with and without those that were added by hand."""
    return {figure for _, number, late in composition.facts["rows"] for figure in (number, number + late)}


def _count(room: str, wish: _Wish) -> int:
    return sum(found.name == wish.label for found in read_objects(room))


def _thing(word: str, wishes: dict[str, _Wish]) -> Name:
    wish = wishes[word]
    others = [name for other in wishes.values() if other is not wish for name in (other.word, other.label)]
    return Name(value=word.casefold(), aliases=tuple(sorted({wish.label, wish.art})), others=tuple(others))


def _one_by_one(steps: list[tuple[ReferenceCall, ...]], enough: bool) -> Reference:
    """The second wish is priced only when the first is too dear."""
    first, (top, second), *rest = steps
    later = () if enough else ((second,),)
    return Reference(note="One price after the other.", steps=(first, (top,), *later, *rest))


def _search(word: str) -> ReferenceCall:
    keywords = word.casefold()
    stem = keywords if keywords in ("scissors", "headphones") else keywords.removesuffix("s")
    return call(
        "amazon/search_products", {"keywords": keywords, "n": 1},
        words={"keywords": stem.split()}, either={"n": [None, *range(1, 11)], "amazon_domain": [None, "amazon.com"]},
    )  # fmt: skip


def _named(path: str, words: list[str], wishes: dict[str, _Wish]) -> ReferenceCall:
    labels = [wishes[word].label for word in words]
    arguments: dict[str, object] = {"imageFileUri": path, "textPrompt": ".".join(labels), "includeDescription": False}
    return call(
        "dinox-mcp/detect-objects-by-text", arguments, free=("includeDescription",), words={"textPrompt": labels}
    )


def _rows(text: str, wishes: dict[str, _Wish]) -> dict[str, int]:
    """The votes for each wish, in the order of the board."""
    found = {}
    for line in text.splitlines():
        for word in wishes:
            figure = re.search(rf"\b{word}\W+(\d+)\b", line)
            if figure:
                found[word] = int(figure[1])
    return found


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    assert match, text
    return match[1]
