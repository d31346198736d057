"""A page of slides that ask something, two of them circled: a deck that answers, a chart, or an invitation to the place."""

import random
import re
from collections.abc import Mapping
from typing import Any

from m3bench.tasks.answers.decks import DeckChart, DeckShows
from m3bench.tasks.answers.fields import Field, File, Integer, Name, Number
from m3bench.tasks.checks import DeckHas
from m3bench.tasks.families import forum, sights
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.decks import Deck
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.handouts import SIZE, Talk, handout

_NUMBERS = {2: "two", 3: "three", 4: "four"}
_TALKS = 9
_FORMS = ("bullet points", "a table with their scores")


class _Tables(Tables):
    talks: dict[str, str]
    first: tuple[str, ...]
    last: tuple[str, ...]
    events: tuple[str, ...]
    cities: tuple[str, ...]
    questions: tuple[str, ...]
    pictures: dict[str, str]


_tables = tables("generate_powerpoint", _Tables)


class GeneratePowerpoint:
    """Read the slides; then ask the forum, or an encyclopedia and the weather, and build a deck."""

    name = "generate_powerpoint"
    servers = ("ocr", "Reddit-MCP-Server", "wiki", "weather", "ppt")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Nine slides, each with a title, a speaker, a question and an event; one has a red loop and one a blue one."""
        first, last, cities, communities = (
            rng.sample(pool, _TALKS)
            for pool in (_tables().first, _tables().last, _tables().cities, tuple(_tables().talks))
        )
        talks = [
            Talk(
                _tables().talks[community],
                f"{name} {family}",
                rng.choice(_tables().questions).format(community),
                f"{rng.choice(_tables().events)} {city}",
                _tables().pictures.get(community, "magnifying glass"),
            )
            for name, family, city, community in zip(first, last, cities, communities, strict=True)
        ]
        canvas = Canvas(kit.art, *SIZE)
        boxes = handout(canvas, rng, talks)
        canvas.light(rng, 0.3)
        meant = rng.sample(range(_TALKS), 2)
        for number, colour in zip(meant, (pen.RED, pen.BLUE), strict=True):
            pen.loop(canvas, rng, boxes[number], colour, air=11, width=7)
        red, blue = (
            {"community": communities[number], "city": cities[number], **talks[number]._asdict(), **_place(kit, cities[number])}
            for number in meant
        )  # fmt: skip
        return Composition.of(canvas, red=red, blue=blue)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read the slides, then go for what is asked; every plan ends with a saved deck."""
        red, blue = composition.facts["red"], composition.facts["blue"]
        deck = Deck(re.sub(r"\W+", "-", red["title"].casefold()))
        reading = call("ocr/perform_ocr", {"input_data": path}, free=("config",), either={"language": [None, "eng"]})
        seen, _ = await play.step(reading, deck.opening)
        said = [*(red[name] for name in ("title", "speaker", "asked", "event")), blue["asked"], blue["event"]]
        need(all(word in seen for text in said for word in text.split()), f"the slides must be legible: {seen}")
        match play.goal:
            case "answers":
                return await self._answers(red, blue, deck, rng.choice((2, 3, 4)), rng.choice(_FORMS), path, play)
            case "chart":
                return await self._chart(red, blue, deck, rng.choice((2, 3)), path, play)
            case _:
                return await self._invitation(red, blue, deck, path, play)

    async def _answers(
        self,
        red: Mapping[str, Any],
        blue: Mapping[str, Any],
        deck: Deck,
        count: int,
        form: str,
        path: str,
        play: Script,
    ) -> Solution:
        """The question on one slide, answered by the hottest posts; a comment from where the other one asks about."""
        opener = {"title": red["title"], "subtitle": red["event"], "author": red["speaker"]}
        listed, other, _ = await play.step(
            forum.hot(red["community"], count), forum.hot(blue["community"], 1), deck.template("title_slide", opener)
        )
        posts, (quoted, *_) = forum.posts(listed), forum.posts(other)
        need(len(posts) == count, "there are too few posts")
        pointed = form == _FORMS[0]
        content, _ = await play.step(forum.opened(quoted), deck.slide(1 if pointed else 5, red["asked"]))
        who, said = forum.best_comment(content)
        need(bool(said) and who not in {post.author for post in (*posts, quoted)}, "nobody else commented")
        rows = [["Post", "Score"], *([post.title, str(post.score)] for post in posts)]
        await play.step(deck.points(1, [post.title for post in posts]) if pointed else deck.table(1, rows))
        await play.step(deck.template("quote_testimonial", {"quote": said, "author": who}))
        await play.step(deck.saving)
        listing = [_beginning(post.title) for post in posts] + ([] if pointed else [str(post.score) for post in posts])
        holds = (DeckHas(texts=(red["title"], red["speaker"], red["asked"].rstrip("?"), *listing, _beginning(said))),)
        authors = tuple(sorted({post.author for post in (*posts, quoted)}))
        return Solution(
            wording=f"Read the slides circled in red and in blue in {path}; take the {count} hottest posts of the subreddit that the red one asks about; make "
            f"a deck with its title slide, a slide with {form}, and a quotation of the first comment on the hottest post of the blue one's; save it.",
            answer=f'The deck is saved as {deck.path}. The first post is "{posts[0].title}"; the quotation is by {who}.',
            fields=(
                Field(
                    name="first_post",
                    meaning="the title of the first of the hot posts that are listed",
                    value=forum.title(posts[0], posts),
                ),
                Field(
                    name="commenter",
                    meaning="the user who wrote the comment that is quoted",
                    value=Name(value=who, aliases=(f"u/{who}",), others=authors),
                ),
                _deck(deck, holds),
            ),
            given={"count": _NUMBERS[count], "form": form},
            alternatives=(play.varied("The slides are read by eye.", {0: [deck.opening]}),),
        )

    async def _chart(
        self, red: Mapping[str, Any], blue: Mapping[str, Any], deck: Deck, count: int, path: str, play: Script
    ) -> Solution:
        """The scores of the hot posts of both communities in a chart, and the one that is discussed most."""
        *lists, _ = await play.step(
            *(forum.hot(one["community"], count) for one in (red, blue)), deck.slide(5, red["asked"])
        )
        posts = [post for listed in lists for post in forum.posts(listed)]
        need(len(posts) == 2 * count, "there are too few posts")
        order = sorted(posts, key=lambda post: -post.comments)
        need(order[0].comments > order[1].comments * 1.02, "two are discussed as much")
        need(order[0] is not posts[0], "the first is also the most discussed")
        scores = [post.score for post in posts]
        need(len(set(scores)) == 2 * count and scores.index(max(scores)) != posts.index(order[0]), "all says the same")
        total = sum(scores)
        await play.step(deck.bars(0, "Score", [post.title for post in posts], scores))
        await play.step(deck.saving)
        holds = (DeckHas(texts=(red["asked"].rstrip("?"),)), DeckChart(values=tuple(map(float, scores))))
        return Solution(
            wording=f"Read the slides circled in red and in blue in {path}; take the {count} hottest posts of each subreddit that they ask about; make a "
            "deck with a chart of their scores under the question of the red one; tell which has the most comments, and the sum of the scores.",
            answer=f'The deck is saved as {deck.path}. "{order[0].title}" has the most comments, {order[0].comments}. The scores add up '
            f"to {total}.",
            fields=(
                Field(
                    name="most_discussed",
                    meaning="the title of the post with the most comments",
                    value=forum.title(order[0], posts),
                    compared=tuple(float(post.comments) for post in order),
                ),
                Field(name="comments", meaning="how many comments it has", value=Integer(value=order[0].comments)),
                Field(
                    name="total_score",
                    meaning="the scores of those posts added up",
                    value=Integer(value=total),
                    derived=tuple(map(float, scores)),
                ),
                _deck(deck, holds),
            ),
            given={"count": _NUMBERS[count]},
            alternatives=(play.varied("The slides are read by eye.", {0: [deck.opening]}),),
        )

    async def _invitation(
        self, red: Mapping[str, Any], blue: Mapping[str, Any], deck: Deck, path: str, play: Script
    ) -> Solution:
        """Where one event takes place, how warm it is there and at the other, and a slide with the photograph."""
        city, town = red["city"], red["town"]
        said, *reports, _ = await play.step(
            call("wiki/summary", {"title": city}, either={"title": red["articles"]}),
            *(
                call(
                    "weather/get_weather",
                    {"location": one["town"], "units": "metric"},
                    words={"location": one["city"].split()},
                    either={"units": ["metric", "us", None]},
                )
                for one in (red, blue)
            ),
            deck.slide(5, red["title"]),
        )
        line = said.splitlines()[1]
        degrees, other = map(_degrees, reports)
        need(abs(degrees - other) > 1.1, "it is about as warm in both")
        text = f"{red['speaker']}, {red['event']}. {line}."
        await play.step(deck.image(0, path))
        await play.step(deck.text(0, text, red["speaker"].split()[-1]))
        await play.step(deck.saving)
        holds = (
            DeckHas(texts=(red["title"], red["speaker"], line), pictures=1),
            DeckShows(source=path.removeprefix("./"), boxes=()),
        )
        others = tuple(one for one in _tables().cities if one != city)
        return Solution(
            wording=f"Read the slides circled in red and in blue in {path}; find Wikipedia's description of the city of the red one and the weather of "
            "both; make a slide with title, speaker, that description and the photograph.",
            answer=f"It takes place in {city} ({line}), where it is {degrees} °C now; in {blue['city']} it is {other} °C. The slide is saved as {deck.path}.",
            fields=(
                Field(
                    name="city",
                    meaning="where the talk circled in red takes place",
                    value=Name(value=city, aliases=(town,), others=others, context=(town, red["event"])),
                ),
                Field(
                    name="description",
                    meaning="how Wikipedia describes it in a few words, word for word",
                    value=Name(value=line, context=(city,)),
                ),
                Field(
                    name="temperature",
                    meaning="how warm it is there now",
                    value=Number(value=degrees, unit="°C", within=0.51),
                ),
                Field(
                    name="other_temperature",
                    meaning="how warm it is now where the talk circled in blue takes place",
                    value=Number(value=other, unit="°C", within=0.51),
                ),
                _deck(deck, holds),
            ),
            alternatives=(play.varied("The slides are read by eye.", {0: [deck.opening]}),),
        )


def _place(kit: Kit, city: str) -> dict[str, Any]:
    """How the weather and the encyclopedia call a city."""
    towns = [one for one in kit.world("cities") if one["name"] == city]
    article = next(one for one in kit.world("articles") if city in (one["title"], *one.get("aliases", ())))
    return {
        "town": sights.town_line(kit, max(towns, key=lambda one: float(one.get("people") or 0))),
        "articles": [article["title"], *article.get("aliases", ())],
    }


def _degrees(report: str) -> float:
    found = re.search(r"(-?[\d.]+)°C", report)
    assert found, report
    return float(found[1])


def _deck(deck: Deck, holds: tuple[DeckHas | DeckChart | DeckShows, ...]) -> Field:
    return Field(name="deck", meaning="the presentation", value=File(form="pptx", value=deck.path, holds=holds))


def _beginning(text: str) -> str:
    """A part of a text that is long enough to identify it."""
    return " ".join(text.split()[:5]).rstrip(".,:;!?\"'")
