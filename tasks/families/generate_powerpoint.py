"""A slide in a lecture room that asks something: read it, find the answer on Reddit, and make a deck that gives it."""

import random
import re
from typing import Any

from m3bench.tasks.checks import AnswerNames, BackedByCall, CallMade, DeckHas, FileOpens
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import lecture
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

_COUNTS = {"two": 2, "three": 3, "four": 4}
_FORMS = ("bullet points", "a table with scores", "a text box")
_EXTRAS = ("title and author in the document properties", "a fade transition on the opening slide")
_DECK = "talk"


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
    """Read a slide, answer its questions, and build a deck from both."""

    name = "generate_powerpoint"
    servers = ("ocr", "Reddit-MCP-Server", "ppt")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A slide with a title, a speaker and a question."""
        community = rng.choice(tuple(_tables().talks))
        title = _tables().talks[community]
        speaker = f"{rng.choice(_tables().first)} {rng.choice(_tables().last)}"
        event = f"{rng.choice(_tables().events)} {rng.choice(_tables().cities)}"
        asked = rng.choice(_tables().questions).format(community)
        canvas = Canvas(kit.art, 1320, 880)
        lecture.slide(canvas, rng, title, speaker, asked, event, _tables().pictures.get(community, "magnifying glass"))
        canvas.light(rng, 0.6)
        return Composition.of(canvas, community=community, title=title, speaker=speaker, event=event, asked=asked)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Read and look up, open a deck, then slide after slide."""
        facts = composition.facts
        number, form, extra = rng.choice(tuple(_COUNTS)), rng.choice(_FORMS), rng.choice(_EXTRAS)
        count = _COUNTS[number]
        reading = call("ocr/perform_ocr", {"input_data": path}, free=("config",), either={"language": [None, "eng"]})
        seen, listed = await play.step(reading, _hot(facts["community"], count))
        words = [word for name in ("title", "speaker", "asked", "event") for word in facts[name].split()]
        need(all(word in seen for word in words), f"the slide must be legible: {seen}")
        posts = _posts(listed)
        asking = call(
            "Reddit-MCP-Server/get_post_content", {"post_id": posts[0]["id"], "comment_limit": 1, "comment_depth": 1},
            free=("comment_limit", "comment_depth"),
        )  # fmt: skip
        opening = call("ppt/create_presentation", {"id": _DECK}, free=("id",))
        content, _ = await play.step(asking, opening)
        who, _, said = (
            next(line for line in content.splitlines() if line.startswith("- ")).removeprefix("- ").partition(": ")
        )
        texts = {"title": facts["title"], "subtitle": facts["event"], "author": facts["speaker"]}
        await play.step(_template("title_slide", texts))
        arguments = {
            "layout_index": 1 if form == "bullet points" else 5,
            "title": facts["asked"],
            "presentation_id": _DECK,
        }
        names = (
            "layout_index",
            "presentation_id",
            "background_type",
            "background_colors",
            "color_scheme",
            "gradient_direction",
        )
        await play.step(call("ppt/add_slide", arguments, free=names))
        touch = _extra(extra, facts["title"], facts["speaker"])
        await play.step(_fill(form, 1, posts), touch)
        await play.step(_template("quote_testimonial", {"quote": said, "author": who}))
        await play.step(
            call(
                "ppt/save_presentation",
                {"file_path": f"./media/{_DECK}.pptx", "presentation_id": _DECK},
                free=("file_path", "presentation_id"),
            )
        )
        top = posts[0]["title"]
        return Solution(
            wording=f"Read the slide in {path}; take the {count} hottest posts of the subreddit that it asks about; make a deck with a "
            f"title slide, a slide with {form}, a quotation of the best comment on the first post, and {extra}; save it.",
            answer=f'The deck "{facts["title"]}" by {facts["speaker"]} is saved as ./media/{_DECK}.pptx. The hottest post is "{top}".',
            checks=(
                FileOpens(pattern="*.pptx"),
                DeckHas(texts=(facts["title"], facts["speaker"])),
                DeckHas(texts=tuple(_beginning(post["title"]) for post in posts)),
                DeckHas(texts=(_beginning(said),)),
                AnswerNames(all_of=((_beginning(top),),)),
                BackedByCall(any_of=(_beginning(top),)),
                CallMade(tool="ocr/perform_ocr"),
                CallMade(tool=touch.tool),
            ),
            given={"count": number, "form": form, "extra": extra},
            alternatives=(play.varied("The deck is opened at once.", {0: [*play.steps[0], opening], 1: [asking]}),),
        )


def _hot(community: str, count: int) -> ReferenceCall:
    return call(
        "Reddit-MCP-Server/search_hot_posts", {"subreddit": community, "limit": count},
        either={"subreddit": [community, f"r/{community}"], "limit": [*range(count, 26), *([None] if count <= 5 else [])]},
    )  # fmt: skip


def _template(name: str, texts: dict[str, str]) -> ReferenceCall:
    arguments = {"template_id": name, "content_mapping": texts, "presentation_id": _DECK}
    return call("ppt/create_slide_from_template", arguments, free=("color_scheme", "layout_index", "presentation_id"))


def _fill(form: str, slide: int, posts: list[dict[str, Any]]) -> ReferenceCall:
    """The call that puts the posts on a slide."""
    place: dict[str, Any] = {"slide_index": slide, "presentation_id": _DECK}
    titles = [post["title"] for post in posts]
    if form == "bullet points":
        return call(
            "ppt/add_bullet_points",
            {**place, "placeholder_idx": 1, "bullet_points": titles},
            free=("presentation_id", "slide_index"),
        )
    where = {"left": 0.6, "top": 2.0, "width": 8.8, "height": 3.6}
    if form == "a text box":
        arguments = {**place, "operation": "add", **where, "text": "\n".join(titles), "font_size": 20}
        names = (
            "presentation_id",
            "slide_index",
            *where,
            "font_size",
            "font_name",
            "bold",
            "italic",
            "color",
            "bg_color",
            "alignment",
            "vertical_alignment",
            "auto_fit",
        )
        return call("ppt/manage_text", arguments, free=names)
    data = [["Post", "Score"], *([post["title"], str(post["score"])] for post in posts)]
    names = (
        "presentation_id",
        "slide_index",
        *where,
        "header_font_size",
        "body_font_size",
        "header_bg_color",
        "body_bg_color",
        "border_color",
    )
    return call("ppt/add_table", {**place, "rows": len(data), "cols": 2, **where, "data": data}, free=names)


def _extra(extra: str, title: str, speaker: str) -> ReferenceCall:
    arguments: dict[str, Any]
    if extra.startswith("title"):
        arguments = {"title": title, "author": speaker, "presentation_id": _DECK}
        return call("ppt/set_core_properties", arguments, free=("presentation_id", "subject", "keywords", "comments"))
    arguments = {"slide_index": 0, "operation": "set", "transition_type": "fade", "presentation_id": _DECK}
    return call("ppt/manage_slide_transitions", arguments, free=("presentation_id", "duration"))


def _posts(text: str) -> list[dict[str, Any]]:
    """Title, score and id of each post of a list."""
    found = re.findall(r"^- (.*)\n  Score: (-?\d+).*\n.*\n.*/comments/(\w+)/", text, re.MULTILINE)
    return [{"title": title, "score": int(score), "id": key} for title, score, key in found]


def _beginning(text: str) -> str:
    """A part of a text that is long enough to identify it."""
    return " ".join(text.split()[:5]).rstrip(".,:;!?\"'")
