"""A page of slides that ask something, two of them circled: a deck that answers, a chart, or an invitation to the place."""

import random
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from m3bench.tasks.answers.fields import Field, File, Integer, Name, Number
from m3bench.tasks.answers.office import DeckChart, DeckShows
from m3bench.tasks.checks import DeckHas
from m3bench.tasks.families import sights, tool_answers
from m3bench.tasks.families.base import Composition, Family, Kit, Script, Solution, call, need, table, words
from m3bench.tasks.json_types import Record
from m3bench.tasks.render import backdrops, pen
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.shapes import mix, rect
from m3bench.tasks.scene import Box
from m3bench.tasks.task import ReferenceCall

SIZE = (1280, 1032)
"""Of a picture."""
_COLUMNS = 3
_WIDE, _TALL = 366, 282
"""Of a slide."""
_ACROSS, _DOWN = 400, 323
"""From one slide to the next."""
_FIRST = (57, 48)
"""Left and upper end of the first slide."""
_COLOURS = (
    "#22426e", "#6d2a35", "#1f5a4c", "#4b3a78", "#7a4d16", "#27414f", "#8a2f5c", "#2f6b1f", "#5a4236",
)  # fmt: skip
_ROOM = _WIDE - 42


class Talk(NamedTuple):
    """What stands on a slide."""

    title: str
    speaker: str
    asked: str
    event: str
    picture: str
    """An object of the art."""


def handout(canvas: Canvas, rng: random.Random, talks: Sequence[Talk]) -> list[Box]:
    """Draw a sheet with a slide for each talk; returns the boxes of the slides."""
    backdrops.table(canvas, rng)
    backdrops.paper(canvas, rng, (24, 20, canvas.width - 24, canvas.height - 20))
    colours = rng.sample(_COLOURS, len(_COLOURS))
    boxes: list[Box] = []
    for number, talk in enumerate(talks):
        row, column = divmod(number, _COLUMNS)
        left = _FIRST[0] + column * _ACROSS + rng.randint(-2, 2)
        top = _FIRST[1] + row * _DOWN + rng.randint(-2, 2)
        _slide(canvas, talk, colours[number % len(colours)], left, top)
        boxes.append((left, top, left + _WIDE, top + _TALL))
    return boxes


def _slide(canvas: Canvas, talk: Talk, colour: str, left: float, top: float) -> None:
    edge = f'stroke="{mix(colour, "#ffffff", 0.4)}" stroke-width="3"'
    canvas.draw(
        rect(left, top, _WIDE, _TALL, mix(colour, "#ffffff", 0.95), 3, edge),
        rect(left, top, _WIDE, 13, colour),
    )
    inset = left + 21
    canvas.text(talk.title, inset, top + 54, 29, face="sans bold", fill=colour, width=_ROOM)
    canvas.text(talk.speaker, inset, top + 92, 24, face="sans bold", fill="#4a505c", width=_ROOM)
    canvas.paragraph(talk.asked, inset, top + 139, _ROOM, 25, face="sans bold", fill="#22262e")
    canvas.text(talk.event, inset, top + _TALL - 18, 22, face="sans bold", fill="#3f4550", width=_ROOM - 82)
    canvas.place(talk.picture, left + _WIDE - 50, top + _TALL - 13, 62, shadow=False)


_PLACE = ("slide_index", "presentation_id", "left", "top", "width", "height")
_LOOKS = (
    "font_size", "font_name", "bold", "italic", "color", "bg_color", "alignment", "vertical_alignment", "auto_fit",
)  # fmt: skip


class DeckCalls:
    """A presentation by a name of its own."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.path = f"./media/{name}.pptx"
        self.opening = call("ppt/create_presentation", {"id": name}, free=("id",))
        self.saving = call(
            "ppt/save_presentation",
            {"file_path": self.path, "presentation_id": name},
            free=("file_path", "presentation_id"),
        )

    def template(self, name: str, texts: dict[str, str]) -> ReferenceCall:
        """A slide of a built-in kind."""
        arguments = {"template_id": name, "content_mapping": texts}
        return self._call("create_slide_from_template", arguments, "color_scheme", "layout_index")

    def slide(self, layout: int, title: str) -> ReferenceCall:
        """A slide with a title."""
        looks = ("background_type", "background_colors", "color_scheme", "gradient_direction")
        return self._call("add_slide", {"layout_index": layout, "title": title}, "layout_index", *looks)

    def points(self, slide: int, texts: Sequence[str]) -> ReferenceCall:
        """Bullet points on a slide."""
        arguments = {"slide_index": slide, "placeholder_idx": 1, "bullet_points": list(texts)}
        return self._call("add_bullet_points", arguments, "slide_index")

    def table(self, slide: int, rows: Sequence[Sequence[str]]) -> ReferenceCall:
        """A table on a slide, its first row the heading."""
        arguments = {
            "slide_index": slide, "rows": len(rows), "cols": len(rows[0]),
            "left": 0.6, "top": 2.0, "width": 8.8, "height": 3.6, "data": [list(row) for row in rows],
        }  # fmt: skip
        looks = ("header_font_size", "body_font_size", "header_bg_color", "body_bg_color", "border_color")
        return self._call("add_table", arguments, *_PLACE, *looks)

    def bars(self, slide: int, series: str, names: Sequence[str], values: Sequence[float]) -> ReferenceCall:
        """A bar chart on a slide."""
        arguments = {
            "slide_index": slide, "chart_type": "bar", "left": 0.6, "top": 1.8, "width": 8.8, "height": 5.0,
            "categories": list(names), "series_names": [series], "series_values": [list(values)],
        }  # fmt: skip
        looks = (
            "chart_type", "categories", "series_names", "has_legend", "legend_position", "has_data_labels", "title",
            "x_axis_title", "y_axis_title", "color_scheme",
        )  # fmt: skip
        return self._call("add_chart", arguments, *_PLACE, *looks)

    def image(self, slide: int, path: str) -> ReferenceCall:
        """A picture on a slide."""
        arguments = {
            "slide_index": slide, "operation": "add", "image_source": path, "left": 1.0, "top": 2.8, "width": 6.0,
        }  # fmt: skip
        return self._call("manage_image", arguments, *_PLACE, "enhancement_style", "output_path")

    def text(self, slide: int, text: str, word: str) -> ReferenceCall:
        """A box of text on a slide, in which a word must be."""
        arguments = {
            "slide_index": slide, "operation": "add", "left": 1.0, "top": 1.7, "width": 8.0, "height": 0.9, "text": text,
        }  # fmt: skip
        return self._call("manage_text", arguments, *_PLACE, *_LOOKS, words={"text": [word]})

    def _call(
        self, tool: str, arguments: Mapping[str, object], *free: str, words: Mapping[str, Sequence[str]] | None = None
    ) -> ReferenceCall:
        names = dict.fromkeys((*free, "presentation_id"))
        return call(f"ppt/{tool}", {**arguments, "presentation_id": self.id}, free=names, words=words)


_NUMBERS = {2: "two", 3: "three", 4: "four"}
_TALKS = 9
_FORMS = ("bullet points", "a table with their scores")


class GeneratePowerpoint(Family):
    """Read the slides; then ask the forum, or an encyclopedia and the weather, and build a deck."""

    name = "generate_powerpoint"
    servers = ("ocr", "Reddit-MCP-Server", "wiki", "weather", "ppt")
    talks = table(dict[str, str])
    first = words()
    last = words()
    events = words()
    cities = words()
    questions = words()
    pictures = table(dict[str, str])

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """Nine slides, each with a title, a speaker, a question and an event; one has a red loop and one a blue one."""
        first, last, cities, communities = (
            rng.sample(pool, _TALKS) for pool in (self.first, self.last, self.cities, tuple(self.talks))
        )
        talks = [
            Talk(
                self.talks[community],
                f"{name} {family}",
                rng.choice(self.questions).format(community),
                f"{rng.choice(self.events)} {city}",
                self.pictures.get(community, "magnifying glass"),
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
        deck = DeckCalls(re.sub(r"\W+", "-", red["title"].casefold()))
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
        red: Record,
        blue: Record,
        deck: DeckCalls,
        count: int,
        form: str,
        path: str,
        play: Script,
    ) -> Solution:
        """The question on one slide, answered by the hottest posts; a comment from where the other one asks about."""
        opener = {"title": red["title"], "subtitle": red["event"], "author": red["speaker"]}
        listed, other, _ = await play.step(
            tool_answers.hot_posts(red["community"], count),
            tool_answers.hot_posts(blue["community"], 1),
            deck.template("title_slide", opener),
        )
        posts, (quoted, *_) = tool_answers.posts(listed), tool_answers.posts(other)
        need(len(posts) == count, "there are too few posts")
        pointed = form == _FORMS[0]
        content, _ = await play.step(tool_answers.open_post(quoted), deck.slide(1 if pointed else 5, red["asked"]))
        who, said = tool_answers.best_comment(content)
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
                    value=tool_answers.post_title(posts[0], posts),
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

    async def _chart(self, red: Record, blue: Record, deck: DeckCalls, count: int, path: str, play: Script) -> Solution:
        """The scores of the hot posts of both communities in a chart, and the one that is discussed most."""
        *lists, _ = await play.step(
            *(tool_answers.hot_posts(place["community"], count) for place in (red, blue)), deck.slide(5, red["asked"])
        )
        posts = [post for listed in lists for post in tool_answers.posts(listed)]
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
                    value=tool_answers.post_title(order[0], posts),
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

    async def _invitation(self, red: Record, blue: Record, deck: DeckCalls, path: str, play: Script) -> Solution:
        """Where one event takes place, how warm it is there and at the other, and a slide with the photograph."""
        city, town = red["city"], red["town"]
        said, *reports, _ = await play.step(
            call("wiki/summary", {"title": city}, either={"title": red["articles"]}),
            *(
                call(
                    "weather/get_weather",
                    {"location": place["town"], "units": "metric"},
                    words={"location": place["city"].split()},
                    either={"units": ["metric", "us", None]},
                )
                for place in (red, blue)
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
        others = tuple(other for other in self.cities if other != city)
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


def _place(kit: Kit, city: str) -> Record:
    """How the weather and the encyclopedia call a city."""
    towns = [town for town in kit.world("cities") if town["name"] == city]
    article = next(record for record in kit.world("articles") if city in (record["title"], *record.get("aliases", ())))
    return {
        "town": sights.town_line(kit, max(towns, key=lambda one: float(one.get("people") or 0))),
        "articles": [article["title"], *article.get("aliases", ())],
    }


def _degrees(report: str) -> float:
    found = re.search(r"(-?[\d.]+)°C", report)
    assert found, report
    return float(found[1])


def _deck(deck: DeckCalls, holds: tuple[DeckHas | DeckChart | DeckShows, ...]) -> Field:
    return Field(name="deck", meaning="the presentation", value=File(form="pptx", value=deck.path, holds=holds))


def _beginning(text: str) -> str:
    """A part of a text that is long enough to identify it."""
    return " ".join(text.split()[:5]).rstrip(".,:;!?\"'")
