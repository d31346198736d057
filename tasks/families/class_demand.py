"""A classroom with a survey on the board: its median and mode, what the class can afford, and what is said of that."""

import random
import re
from typing import Any, NamedTuple

from m3bench.tasks.checks import AnswerNames, AnswerNumber, BackedByCall, CallMade
from m3bench.tasks.families import offers
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.detections import read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import backdrops, lecture
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import Reference, ReferenceCall


class _Wish(NamedTuple):
    word: str
    """As it is written on the board; without spaces, the name of its community."""
    art: str
    label: str
    article: str = ""
    """Its article in the encyclopedia; empty when that is never asked."""


_BUDGETS = (32, 35, 38, 40, 48, 50, 55, 65, 70, 80, 90, 100)


class _Tables(Tables):
    cheap: tuple[_Wish, ...]
    """What costs less than the smallest budget, so that something is always within it."""
    dear: tuple[_Wish, ...]
    others: tuple[_Wish, ...]
    titles: tuple[str, ...]


_tables = tables("class_demand", _Tables)


class ClassDemand:
    """Read the survey and the room, find prices, and look up what can be bought."""

    name = "class_demand"
    servers = ("ocr", "dinox-mcp", "math", "amazon", "Reddit-MCP-Server", "wiki")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A board with six wishes and their votes, and some of the things on desks."""
        cheap = rng.choice(_tables().cheap)
        leaders = [
            rng.choice([wish for wish in (*_tables().cheap, *_tables().dear, *_tables().dear) if wish is not cheap]),
            cheap,
        ]
        wishes = leaders + rng.sample(_tables().others, 4)
        common = rng.randint(5, 12)
        first, second = rng.randint(22, 29), rng.randint(15, 20)
        low, high = rng.sample([number for number in range(4, 14) if number != common], 2)
        votes = [first, second, common, common, low, high]
        rows = list(zip(wishes, votes, strict=True))
        rng.shuffle(rows)
        canvas = Canvas(kit.art, 1400, 980)
        backdrops.room(canvas, rng, floor=0.8)
        lecture.board(
            canvas,
            rng,
            rng.choice(_tables().titles),
            [(wish.word, str(number)) for wish, number in rows],
            (170, 46, 1230, 566),
        )
        things = [*(leaders[0] for _ in range(rng.randint(1, 3))), *(leaders[1] for _ in range(rng.randint(1, 3)))]
        things += rng.sample(wishes[2:], 8 - len(things) if len(things) > 4 else 3)
        rng.shuffle(things)
        surfaces = lecture.desks(canvas, rng, 776, 2)
        for number, thing in enumerate(things):
            left, right, foot = surfaces[number * 2 // len(things)]
            mates = [n for n in range(len(things)) if n * 2 // len(things) == number * 2 // len(things)]
            x = left + (right - left) * (mates.index(number) + 0.5) / len(mates)
            drawn = kit.art.object(thing.art)
            size = min(146.0, 128.0 * drawn.height / drawn.width)
            canvas.place(
                thing.art, x, foot, size, label=thing.label, flip=rng.random() < 0.3, score=round(rng.uniform(0.84, 0.97), 2),
                aliases=tuple({thing.art} - {thing.label}), description=f"{thing.label} on a desk",
            )  # fmt: skip
        canvas.light(rng, 0.6)
        return Composition.of(
            canvas,
            rows=rows,
            articles={
                article["title"]: [article["title"], *article.get("aliases", ())]
                for article in kit.world("articles")
                if article["title"] in {wish.article for wish in leaders}
            },
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read board and room, then figures and prices, then what is said of the choice, then the bill."""
        budget = rng.choice(_BUDGETS)
        wishes = {wish.word: wish for wish, _ in composition.facts["rows"]}
        looking = call(
            "dinox-mcp/detect-all-objects",
            {"imageFileUri": path, "includeDescription": False},
            free=("includeDescription",),
        )
        reading = call("ocr/perform_ocr", {"input_data": path}, free=("config",), either={"language": [None, "eng"]})
        board, room = await play.step(reading, looking)
        demand = _rows(board, wishes)
        read = {wish.word: number for wish, number in composition.facts["rows"]}
        need(demand == read, f"the board must be legible: {board}")
        ranked = sorted(demand, key=lambda word: -demand[word])
        figures = list(demand.values())
        texts = await play.step(
            call("math/median", {"numbers": figures}),
            call("math/mode", {"numbers": figures}),
            *(_search(word) for word in ranked[:2]),
        )
        median, mode = float(texts[0]), float(_found(r"\((\d+)\)", texts[1]))
        prices = [offers.prices(text)[0] for text in texts[2:]]
        word, price = next((word, price) for word, price in zip(ranked, prices, strict=False) if price <= budget)
        wish = wishes[word]
        there = sum(found.name == wish.label for found in read_objects(room))
        community = word.replace(" ", "").casefold()
        hot, said, missing = await play.step(
            call(
                "Reddit-MCP-Server/search_hot_posts", {"subreddit": community, "limit": 1},
                either={"subreddit": [community, f"r/{community}"], "limit": [None, *range(1, 26)]},
            ),
            call("wiki/summary", {"title": wish.article}, either={"title": composition.facts["articles"][wish.article]}),
            call("math/subtract", {"minuend": demand[word], "subtrahend": there}),
        )  # fmt: skip
        (bill,) = await play.step(call("math/multiply", {"firstNumber": price, "SecondNumber": int(float(missing))}))
        post, line = hot.split("\n")[0].removeprefix("- "), said.splitlines()[1]
        cost = round(float(bill), 2)
        named = word.casefold()
        return Solution(
            wording=f"Read the survey in {path} and detect the objects; compute median and mode; find the two most wanted things on Amazon; "
            f"for the more wanted one that costs at most {budget} dollars subtract those in the room from the votes, multiply by the "
            "price, and find the hottest post and the article on it.",
            answer=f"The median is {median:g} and the mode {mode:g}. Within {budget} dollars the most wanted are {named} at {price:.2f} each. "
            f"There are {there} in the room, so {float(missing):g} are missing, which costs {cost:.2f} dollars. "
            f'The hottest post in r/{community} is "{post}". Wikipedia: {line}.',
            checks=(
                AnswerNumber(value=median, tolerance=0, what="the median"),
                AnswerNumber(value=mode, tolerance=0, what="the mode"),
                AnswerNumber(value=price, tolerance=0.011, what="the price of one"),
                AnswerNumber(value=cost, tolerance=0.011, what="the cost of those missing"),
                AnswerNames(all_of=((named, wish.label, wish.art), (_beginning(post),))),
                BackedByCall(any_of=(_beginning(post),)),
                CallMade(tool="wiki/summary", containing=wish.label),
                CallMade(tool="ocr/perform_ocr"),
            ),
            given={"budget": str(budget)},
            alternatives=(
                play.varied(
                    "Only the wished things are looked for.",
                    {0: [reading], 1: [*play.steps[1], _named(path, ranked[:2], wishes)]},
                ),
                _one_by_one(play.steps, enough=word == ranked[0]),
            ),
        )


def _one_by_one(steps: list[tuple[ReferenceCall, ...]], enough: bool) -> Reference:
    """The second wish is priced only when the first is too dear."""
    first, (*figures, top, second), *rest = steps
    later = () if enough else ((second,),)
    return Reference(note="One price after the other.", steps=(first, (*figures, top), *later, *rest))


def _search(word: str) -> ReferenceCall:
    keywords = word.casefold()
    stem = keywords if keywords in ("scissors", "headphones") else keywords.removesuffix("s")
    return call(
        "amazon/search_products", {"keywords": keywords, "n": 1},
        words={"keywords": stem.split()}, either={"n": [None, *range(1, 11)], "amazon_domain": [None, "amazon.com"]},
    )  # fmt: skip


def _named(path: str, words: list[str], wishes: dict[str, _Wish]) -> ReferenceCall:
    labels = [wishes[word].label for word in words]
    arguments: dict[str, Any] = {"imageFileUri": path, "textPrompt": ".".join(labels), "includeDescription": False}
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


def _beginning(text: str) -> str:
    """A part of a text that is long enough to identify it."""
    return " ".join(text.split()[:5]).rstrip(".,:;!?\"'")
