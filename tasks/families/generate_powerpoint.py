"""A slide in a lecture room that asks something: a deck that answers it, a chart, or an invitation to the place."""

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
from m3bench.tasks.render import lecture
from m3bench.tasks.render.canvas import Canvas

_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
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
    """Read a slide; then ask the forum, or an encyclopedia and the weather, and build a deck."""

    name = "generate_powerpoint"
    servers = ("ocr", "Reddit-MCP-Server", "wiki", "weather", "ppt")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A slide with a title, a speaker and a question."""
        community = rng.choice(tuple(_tables().talks))
        title = _tables().talks[community]
        speaker = f"{rng.choice(_tables().first)} {rng.choice(_tables().last)}"
        occasion, city = rng.choice(_tables().events), rng.choice(_tables().cities)
        event = f"{occasion} {city}"
        asked = rng.choice(_tables().questions).format(community)
        canvas = Canvas(kit.art, 1320, 880)
        lecture.slide(canvas, rng, title, speaker, asked, event, _tables().pictures.get(community, "magnifying glass"))
        canvas.light(rng, 0.6)
        towns = [one for one in kit.world("cities") if one["name"] == city]
        article = next(one for one in kit.world("articles") if city in (one["title"], *one.get("aliases", ())))
        return Composition.of(
            canvas,
            community=community,
            title=title,
            speaker=speaker,
            event=event,
            asked=asked,
            city=city,
            town=sights.town_line(kit, max(towns, key=lambda one: float(one.get("people") or 0))),
            articles=[article["title"], *article.get("aliases", ())],
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read the slide, then go for what is asked; every plan ends with a saved deck."""
        facts = composition.facts
        deck = Deck(re.sub(r"\W+", "-", facts["title"].casefold()))
        match play.goal:
            case "answers":
                return await self._answers(facts, deck, rng.choice((2, 3, 4)), rng.choice(_FORMS), path, play)
            case "chart":
                return await self._chart(facts, deck, rng.choice((3, 4, 5)), path, play)
            case _:
                return await self._invitation(facts, deck, path, play)

    async def _read(self, facts: Mapping[str, Any], deck: Deck, path: str, play: Script) -> None:
        """Read the slide and open a deck; everything on the slide must be legible."""
        reading = call("ocr/perform_ocr", {"input_data": path}, free=("config",), either={"language": [None, "eng"]})
        seen, _ = await play.step(reading, deck.opening)
        words = [word for name in ("title", "speaker", "asked", "event") for word in facts[name].split()]
        need(all(word in seen for word in words), f"the slide must be legible: {seen}")

    async def _answers(
        self, facts: Mapping[str, Any], deck: Deck, count: int, form: str, path: str, play: Script
    ) -> Solution:
        """The question on the slide, answered by the hottest posts and a comment."""
        await self._read(facts, deck, path, play)
        opener = {"title": facts["title"], "subtitle": facts["event"], "author": facts["speaker"]}
        listed, _ = await play.step(forum.hot(facts["community"], count), deck.template("title_slide", opener))
        posts = forum.posts(listed)
        need(len(posts) == count, "there are too few posts")
        pointed = form == _FORMS[0]
        content, _ = await play.step(forum.opened(posts[0]), deck.slide(1 if pointed else 5, facts["asked"]))
        who, said = forum.best_comment(content)
        need(bool(said) and who not in {post.author for post in posts}, "nobody else commented")
        rows = [["Post", "Score"], *([post.title, str(post.score)] for post in posts)]
        await play.step(deck.points(1, [post.title for post in posts]) if pointed else deck.table(1, rows))
        await play.step(deck.template("quote_testimonial", {"quote": said, "author": who}))
        await play.step(deck.saving)
        listing = [_beginning(post.title) for post in posts] + ([] if pointed else [str(post.score) for post in posts])
        holds = (
            DeckHas(texts=(facts["title"], facts["speaker"], facts["asked"].rstrip("?"), *listing, _beginning(said))),
        )
        authors = tuple(sorted({post.author for post in posts}))
        return Solution(
            wording=f"Read the slide in {path}; take the {count} hottest posts of the subreddit that it asks about; make a deck with a title "
            f"slide, a slide with {form}, and a quotation of the first comment on the first post; save it.",
            answer=f'The deck is saved as {deck.path}. The first post is "{posts[0].title}"; the quotation is by {who}.',
            fields=(
                Field(
                    name="first_post",
                    meaning="the title of the first of the hot posts",
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
            alternatives=(play.varied("The slide is read by eye.", {0: [deck.opening]}),),
        )

    async def _chart(self, facts: Mapping[str, Any], deck: Deck, count: int, path: str, play: Script) -> Solution:
        """The scores of the hot posts in a chart, and the one that is discussed most."""
        await self._read(facts, deck, path, play)
        listed, _ = await play.step(forum.hot(facts["community"], count), deck.slide(5, facts["asked"]))
        posts = forum.posts(listed)
        need(len(posts) == count, "there are too few posts")
        order = sorted(posts, key=lambda post: -post.comments)
        need(order[0].comments > order[1].comments * 1.02, "two are discussed as much")
        need(order[0] is not posts[0], "the first is also the most discussed")
        scores = [post.score for post in posts]
        need(len(set(scores)) == count and scores.index(max(scores)) != posts.index(order[0]), "all says the same")
        total = sum(scores)
        await play.step(deck.bars(0, "Score", [post.title for post in posts], scores))
        await play.step(deck.saving)
        holds = (DeckHas(texts=(facts["asked"].rstrip("?"),)), DeckChart(values=tuple(map(float, scores))))
        return Solution(
            wording=f"Read the slide in {path}; take the {count} hottest posts of the subreddit that it asks about; make a deck with a chart "
            "of their scores under the slide's question; tell which has the most comments, and the sum of the scores.",
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
            alternatives=(play.varied("The slide is read by eye.", {0: [deck.opening]}),),
        )

    async def _invitation(self, facts: Mapping[str, Any], deck: Deck, path: str, play: Script) -> Solution:
        """Where the event takes place, how warm it is there, and a slide with the photograph."""
        city, town = facts["city"], facts["town"]
        await self._read(facts, deck, path, play)
        said, report, _ = await play.step(
            call("wiki/summary", {"title": city}, either={"title": facts["articles"]}),
            call(
                "weather/get_weather",
                {"location": town, "units": "metric"},
                words={"location": city.split()},
                either={"units": ["metric", "us", None]},
            ),
            deck.slide(5, facts["title"]),
        )
        line = said.splitlines()[1]
        found = re.search(r"(-?[\d.]+)°C", report)
        assert found, report
        degrees = float(found[1])
        text = f"{facts['speaker']}, {facts['event']}. {line}."
        await play.step(deck.image(0, path))
        await play.step(deck.text(0, text, facts["speaker"].split()[-1]))
        await play.step(deck.saving)
        holds = (
            DeckHas(texts=(facts["title"], facts["speaker"], line), pictures=1),
            DeckShows(source=path.removeprefix("./"), boxes=()),
        )
        others = tuple(one for one in _tables().cities if one != city)
        return Solution(
            wording=f"Read the slide in {path}; find Wikipedia's description of the city of the event and its weather; make a slide with "
            "title, speaker, that description and the photograph.",
            answer=f"It takes place in {city} ({line}), where it is {degrees} °C now. The slide is saved as {deck.path}.",
            fields=(
                Field(
                    name="city",
                    meaning="where the event takes place",
                    value=Name(value=city, aliases=(town,), others=others, context=(town, facts["event"])),
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
                _deck(deck, holds),
            ),
            alternatives=(play.varied("The slide is read by eye.", {0: [deck.opening]}),),
        )


def _deck(deck: Deck, holds: tuple[DeckHas | DeckChart | DeckShows, ...]) -> Field:
    return Field(name="deck", meaning="the presentation", value=File(form="pptx", value=deck.path, holds=holds))


def _beginning(text: str) -> str:
    """A part of a text that is long enough to identify it."""
    return " ".join(text.split()[:5]).rstrip(".,:;!?\"'")
