"""A slide in a lecture room that asks something: read it, find the answer on Reddit, and make a deck that gives it."""

import random
import re
from typing import Any

from m3bench.tasks.checks import AnswerNames, BackedByCall, CallMade, DeckHas, FileOpens
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call, need
from m3bench.tasks.render import lecture
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.task import ReferenceCall

_TALKS = {
    "askscience": "Curious Minds Wanted", "avocado": "Green Gold", "backpacks": "Packed for Anything", "Baking": "Flour and Patience",
    "BBQ": "Smoke and Fire", "bicycling": "Life on Two Wheels", "books": "Readers Among Us", "Breadit": "The Daily Loaf",
    "burgers": "Between Two Buns", "camping": "Nights Under Canvas", "canning": "Summer in a Jar", "cars": "Engines and Emotions",
    "cats": "Quiet Rulers", "Cheese": "Milk Grows Old", "chocolate": "The Bitter and the Sweet", "clocks": "Keeping Time",
    "Coffee": "The Perfect Cup", "college": "First Year Stories", "cookies": "Crumbs of Comfort", "Cooking": "Heat and Salt",
    "dogs": "Our Oldest Friends", "donuts": "Rings of Joy", "Fishing": "Waiting by the Water", "fountainpens": "Ink Is Not Dead",
    "gaming": "Playing Together", "gardening": "Dirt Under the Nails", "globes": "The World in Hand", "Guitar": "Six Strings",
    "headphones": "Listening Closely", "history": "Lessons of Yesterday", "houseplants": "Jungle at Home", "icecream": "Cold Delights",
    "laptops": "Machines We Carry", "MachineLearning": "Learning Machines", "MechanicalKeyboards": "The Joy of Typing",
    "microscopy": "Small Worlds", "movies": "Evenings in the Dark", "Music": "Songs That Stay", "notebooks": "Paper Thoughts",
    "pasta": "Al Dente", "pencils": "Graphite Dreams", "photography": "Drawing With Light", "Pizza": "Dough and Fire",
    "programming": "Code for Humans", "psychology": "Why We Do It", "Python": "Readable Code Counts", "ramen": "Broth and Noodles",
    "science": "Evidence First", "space": "Looking Up", "sushi": "Rice and Knife", "tea": "Leaves in Water", "Teachers": "Voices From School",
    "technology": "Tools of Tomorrow", "travel": "Far From Home", "umbrellas": "Prepared for Rain",
}  # fmt: skip
_FIRST = ("Ana", "Marco", "Helen", "Peter", "Sofia", "David", "Laura", "Victor", "Emma", "Daniel", "Clara", "Martin", "Nora", "Thomas", "Julia", "Simon")  # fmt: skip
_LAST = ("Becker", "Moreno", "Larsen", "Carter", "Novak", "Fischer", "Romano", "Bennett", "Santos", "Parker", "Weber", "Morgan", "Keller", "Turner", "Hansen", "Cooper")  # fmt: skip
_EVENTS = (
    "Spring Meeting",
    "Winter School",
    "Open Day",
    "Monday Forum",
    "Summer Workshop",
    "Evening Lecture",
    "Annual Conference",
    "Community Night",
)
_CITIES = ("Lisbon", "Oslo", "Dublin", "Vienna", "Toronto", "Madrid", "Boston", "Prague", "Helsinki", "Seattle")
_QUESTIONS = (
    "What are people discussing in r/{} now?",
    "What is hot in r/{} today?",
    "Which posts lead r/{} at the moment?",
    "What keeps r/{} busy these days?",
)
_PICTURES = {
    "avocado": "avocado", "backpacks": "backpack", "Baking": "pie", "BBQ": "fire", "bicycling": "bicycle", "books": "books",
    "Breadit": "bread", "burgers": "hamburger", "camping": "tent", "cars": "car", "cats": "cat", "Cheese": "cheese",
    "chocolate": "chocolate", "clocks": "mantel clock", "Coffee": "coffee", "cookies": "cookie", "dogs": "dog", "donuts": "doughnut",
    "Fishing": "fishing pole", "fountainpens": "fountain pen", "gaming": "game controller", "gardening": "seedling", "globes": "globe",
    "Guitar": "guitar", "headphones": "headphones", "houseplants": "potted plant", "icecream": "ice cream", "laptops": "laptop",
    "MechanicalKeyboards": "keyboard", "microscopy": "microscope", "movies": "film projector", "Music": "radio", "notebooks": "notebook",
    "pasta": "spaghetti", "pencils": "pencil", "photography": "camera", "Pizza": "pizza", "psychology": "brain", "ramen": "ramen",
    "science": "test tube", "space": "rocket", "sushi": "sushi", "tea": "tea", "technology": "robot", "travel": "luggage",
    "umbrellas": "umbrella", "Python": "snake", "history": "amphora", "programming": "desktop computer",
}  # fmt: skip
_COUNTS = {"two": 2, "three": 3, "four": 4}
_FORMS = ("bullet points", "a table with scores", "a text box")
_EXTRAS = ("title and author in the document properties", "a fade transition on the opening slide")
_DECK = "talk"


class GeneratePowerpoint:
    """Read a slide, answer its questions, and build a deck from both."""

    name = "generate_powerpoint"
    servers = ("ocr", "Reddit-MCP-Server", "ppt")
    questions = (
        "I photographed the last speaker's slide. Please rebuild it as PowerPoint: same title and presenter up front, then a "
        "slide for the question there, answered by the {count} hottest posts as {form}, finally a quote of the best comment under "
        "the first post. Include {extra}. Which post came out on top?",
        "Need a deck from this pic, fast!! opener w/ headline + speaker, next slide = whatever it asks, reply with top {count} "
        "reddit hot titles ({form}), closing slide quoting the no. 1 thread's leading comment, also {extra}. save .pptx, tell me "
        "no. 1",
        "Somebody projected an open question and left. Could you find out what Reddit says, {count} hottest threads for the "
        "forum mentioned, and prepare a presentation with a title page (take name and heading off the screen), findings as "
        "{form}, the favourite comment on the leading thread as last page, plus {extra}? Tell me that thread.",
        "For tomorrow's follow-up lecture, turn the photo into an editable file. It should open like the original, naming its "
        "author; the thing asked gets its own page listing {count} currently hot submissions through {form}; finish on a "
        "citation, namely the highest comment below the hottest one. I insist on {extra}. Read its title back to me.",
        "My notes are gone, only this shot survived. Recreate the talk's cover in a pptx, research the query shown (hot list, "
        "first {count} entries), lay the entries out with {form}, append the foremost remark made on entry one, and set "
        "{extra}. What's entry one called?",
        "Presentation wanted, three parts. Part A: cover carrying heading plus presenter as pictured. Part B: answers to what is "
        "written, being {count} trending post titles from the community given, formatted as {form}. Part C: a quotation, the "
        "number one comment of the number one post. Extra wish: {extra}. Report the winning post.",
        "Hello, I organise the meeting in this image and promised attendees a digital handout. Would you make slides starting with "
        "who spoke about what, continuing with {count} hot discussions of the subreddit asked for (use {form}), ending in the "
        "best-rated response to the hottest discussion? Kindly add {extra} and mention here how that discussion is titled.",
        "Challenge: look at the wall, understand the question, check Reddit yourself, deliver PowerPoint. Cover text stays "
        "unchanged, speaker credited. Evidence: {count} hottest items, shown by {form}. Last word: whoever commented best on item "
        "one. Don't forget {extra}. Then give me item one's name.",
        "As his assistant I must finish Friday's slideshow from a snapshot. Keep the name and topic for the start, let {form} carry "
        "{count} present front-runners of any board he inquires about, conclude by quoting a top reader of the very first, and "
        "arrange {extra}. Afterwards state which headline is the front-runner.",
        "Can you answer that slide? I mean literally: a new .pptx whose beginning repeats topic and lecturer, whose middle lists "
        "{count} posts that are hottest where the question points ({form}), whose end cites the chief comment to the hottest. "
        "With {extra}, if possible. Send me the hottest title in chat.",
    )

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A slide with a title, a speaker and a question."""
        community = rng.choice(tuple(_TALKS))
        title = _TALKS[community]
        speaker = f"{rng.choice(_FIRST)} {rng.choice(_LAST)}"
        event = f"{rng.choice(_EVENTS)} {rng.choice(_CITIES)}"
        asked = rng.choice(_QUESTIONS).format(community)
        canvas = Canvas(kit.art, 1320, 880)
        lecture.slide(canvas, rng, title, speaker, asked, event, _PICTURES.get(community, "magnifying glass"))
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
    """Enough of a text to know it by."""
    return " ".join(text.split()[:5]).rstrip(".,:;!?\"'")
