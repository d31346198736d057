"""Living things and people who should not be recognised: blur the people, look the others up, find the food chain."""

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, Check, PictureChanged
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.detections import Found, centre, read_objects
from m3bench.tasks.render import wildlife
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.wildlife import Actor
from m3bench.tasks.task import ReferenceCall

_CHAINS = {
    "meadow": (
        ("clover", "rabbit", "fox"), ("clover", "rabbit", "eagle"), ("carrot", "rabbit", "fox"), ("lettuce", "snail", "hedgehog"),
        ("herb", "caterpillar", "bird"), ("corn", "mouse", "owl"), ("corn", "mouse", "snake", "eagle"), ("fly", "frog", "snake"),
        ("fly", "frog", "snake", "eagle"), ("cricket", "lizard", "snake"), ("cricket", "lizard", "snake", "eagle"),
        ("corn", "mouse", "cat"), ("rice plant", "mouse", "owl"), ("rice plant", "mouse", "snake"), ("lettuce", "snail", "hedgehog", "badger"),
        ("beetle", "hedgehog", "badger"), ("rice plant", "mouse", "snake", "eagle"),
    ),
    "sea": (
        ("shrimp", "fish", "seal", "shark"), ("shrimp", "fish", "seal"), ("shrimp", "squid", "seal", "shark"), ("shrimp", "fish", "dolphin"),
        ("shrimp", "squid", "dolphin"), ("fish", "squid", "dolphin"), ("fish", "seal", "shark"), ("squid", "seal", "shark"),
    ),
}  # fmt: skip
"""Who is eaten by whom, from below."""
_STRANGERS = {
    "meadow": (
        "elephant", "hippopotamus", "rhinoceros", "camel", "kangaroo", "koala", "panda", "giraffe", "bison", "llama", "horse",
        "donkey", "swan", "goose", "zebra", "cow",
    ),
    "sea": ("coral", "lobster", "crab", "turtle", "whale"),
}  # fmt: skip
"""None of them eats another, nor is eaten by those of the chains."""
_ROLES = {
    "producer": ("producer", "producers", "plant", "plants"),
    "herbivore": ("herbivore", "herbivores", "herbivorous", "plant-eater", "plant-eaters", "plant eater", "plant eaters", "primary consumer"),
    "carnivore": (
        "carnivore", "carnivores", "carnivorous", "meat-eater", "meat-eaters", "meat eater", "meat eaters", "predator", "predators", "hunter",
    ),
}  # fmt: skip
_PLANTS = ("clover", "carrot", "lettuce", "herb", "corn", "rice plant")
_HUNTERS = (
    "fox",
    "eagle",
    "owl",
    "snake",
    "cat",
    "frog",
    "lizard",
    "seal",
    "shark",
    "dolphin",
    "squid",
    "spider",
    "fish",
)
_GRAZERS = (
    "rabbit", "snail", "caterpillar", "elephant", "hippopotamus", "rhinoceros", "camel", "kangaroo", "koala", "panda",
    "giraffe", "bison", "llama", "horse", "donkey", "swan", "goose", "zebra", "cow",
)  # fmt: skip
_LABELS = {"rice plant": "rice", "herb": "leaf"}
_WALKERS = ("walker", "standing person", "runner")
_VISITORS = ("student", "farmer", "scientist", "cook", "teacher", "police officer", "mechanic", "doctor")
_OTHERS = {
    "mouse": "omnivore", "bird": "omnivore", "badger": "omnivore", "hedgehog": "insect eater", "beetle": "herbivore", "cricket": "herbivore",
    "fly": "scavenger", "shrimp": "omnivore", "coral": "omnivore with algae of its own", "lobster": "omnivore", "crab": "omnivore",
    "turtle": "herbivore", "whale": "filter feeder",
}  # fmt: skip
"""What an answer says of those whose role can be put in different words."""
_COLOURS = {
    "red": [0, 0, 255],
    "yellow": [0, 255, 255],
    "white": [255, 255, 255],
    "blue": [255, 0, 0],
    "orange": [0, 140, 255],
}


class BiologyChain:
    """Detect organisms, blur people, look for a food chain."""

    name = "biology_chain"
    servers = ("dinox-mcp", "imagesorcery-mcp", "wiki")
    questions = (
        "This goes into our nature newsletter, so please blur everybody's whole body in it. Is there a food chain of three or more among "
        "the other living things? Start with yes or no, say after checking an encyclopedia what role each plays (producer, herbivore, "
        "carnivore…), and if yes draw {colour} arrows, eaten to eater. How many people did you hide?",
        "Biology teacher here. Privacy first: make persons unrecognisable, head to toe, and count them. Next, read up on all remaining "
        'organisms. Do at least three form a chain of who-eats-whom? Answer "yes" or "no" plainly, classify them by diet, and put '
        "{colour} arrows from prey to predator onto the anonymised copy should one exist.",
        "Quick bet with my sister: she claims you could build a food chain (3+ links) out of this scene. Yes or no? Back it up with "
        "reference articles on every species, telling which are plants, plant-eaters, meat-eaters. Smear out any humans before anything "
        "else, tell me their number, and arrows in {colour} if she's right, food → feeder.",
        "Before publication, obscure each visitor completely. Then determine trophic roles of whatever is alive besides them, using "
        "encyclopaedic sources, and decide: food chain with ≥ 3 members, yes/no? A positive verdict should appear on the blurred figure as "
        "{colour} arrows pointing at the consumer. State the visitor count as well.",
        "Hello! I'd post this picture but strangers got into it; could you fuzz them fully and mention how many there were? My followers "
        "also love ecology: look up the rest, explain their place (producer? herbivore? carnivore?) and whether three in a row eat one "
        "another, yes or no. Then {colour} arrows toward the diner, only where true.",
        'Need a slide for class eight. Task for pupils: "find the food chain, if any, with no fewer than three steps". Give me the '
        "solution as yes or no, feeding type of each organism from wiki knowledge, a version with all people blurred, and on top, given "
        "a chain, {colour} arrows running upward from food. Headcount of blurred folks too.",
        "Park ranger asking. Who in this shot eats whom? I want a clear yes or no on a chain of three or longer, each species's role "
        "confirmed by its article, hikers and guests masked by blur entirely with a tally, and, when it's yes, {colour} arrow marks going "
        "from the eaten one to its eater.",
        "Let's settle it scientifically: (1) blur humans, report n; (2) consult the encyclopedia about non-human organisms; (3) label "
        "those producer, herbivore, carnivore or omnivore; (4) is some sequence of three+ linked by eating, yes/no; (5) if so, overlay "
        "{colour} arrows, victim to attacker, upon the blurred output.",
        'My grandson asked, "Opa, would these gobble each other up?" Help me reply, beginning yes or no, meaning three or more in a '
        "line. Look the creatures and plants up properly so that I know who munches greens and who hunts. Mind data protection: people out "
        "of focus, total please! If they do gobble, show it by {colour} arrows, snack first.",
        "Exhibit review: does the display illustrate a genuine food chain (minimum: three organisms)? Reply yes or no with reasons drawn "
        "from wiki summaries per organism, naming plant eaters versus hunters. Deliver an image whose people are blurred out, quantity "
        "noted; for a yes, extend it by {colour} arrows from lower to higher level.",
    )

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A chain with a stranger, or strangers alone; and two or three people."""
        place = rng.choice(("meadow", "meadow", "sea"))
        chain = rng.choice(_CHAINS[place]) if rng.random() < 0.7 else ()
        beside = [name for name in _STRANGERS[place] if not (name == "crab" and "seal" in chain)]
        names = [*chain, *rng.sample(beside, 1 if chain else 3)]
        many = rng.choice((2, 3) if len(names) < 5 else (2,))
        actors = [
            Actor(
                name,
                label=_LABELS.get(name, name),
                description=f"A {name}.",
                aliases=("plant",) if name in _PLANTS else (),
            )
            for name in names
        ]
        canvas = Canvas(kit.art, 1400, 900)
        if place == "sea":
            guests = [
                Actor(art, label="person", description=f"A {art} looking on.") for art in rng.sample(_VISITORS, many)
            ]
            boxes, people = wildlife.aquarium(canvas, rng, actors, guests)
        else:
            guests = [
                Actor(rng.choice(_WALKERS), label="person", description="A person on a walk.") for _ in range(many)
            ]
            found = wildlife.land(canvas, rng, [*actors, *guests], rng.choice(("meadow", "forest")))
            boxes, people = found[: len(actors)], found[len(actors) :]
        canvas.light(rng)
        return Composition.of(
            canvas,
            names=[actor.name for actor in actors],
            chain=[_LABELS.get(name, name) for name in chain],
            people=people,
            boxes=boxes,
        )

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Detect; blur while searching; read; and draw when there is a chain."""
        colour = rng.choice(sorted(_COLOURS))
        facts = composition.facts
        together, apart = _detections(path, facts["names"])
        if rng.random() < 0.5:
            (text,) = await play.step(*together)
            seen = read_objects(text)
            other = apart
        else:
            seen = [found for text in await play.step(*apart) for found in read_objects(text)]
            other = together
        people = [found.box for found in seen if found.name == "person"]
        living = [found for found in seen if found.name != "person"]
        assert len(people) == len(facts["people"])
        assert sorted(found.name for found in living) == sorted(facts["names"])
        blurred = path.replace(".png", "_blurred.png")
        _, *texts = await play.step(
            _blur(path, people, blurred),
            *(
                call("wiki/search", {"query": found.name, "n": 3}, free=["n"], words={"query": [found.name]})
                for found in living
            ),
        )
        titles = [_first(text) for text in texts]
        await play.step(*(_summary(title, found.name) for title, found in zip(titles, living, strict=True)))
        if facts["chain"]:
            await play.step(_arrows(blurred, [_of(living, name) for name in facts["chain"]], _COLOURS[colour]))
        return Solution(
            wording=f"Detect people and other organisms in {path}, blur the people, look the others up in the encyclopedia, say whether three "
            f"or more form a food chain, and if so draw {colour} arrows from the eaten to the eater on the blurred picture.",
            answer=_answer(facts["names"], facts["chain"], len(people)),
            given={"colour": colour},
            checks=tuple(_checks(path, living, people, facts["chain"])),
            alternatives=(
                play.varied("Look for the things in another way.", {0: other}),
                play.varied(
                    "Read the articles at once.",
                    {1: [_blur(path, people, blurred)], 2: [_summary(found.name, found.name) for found in living]},
                ),
            ),
        )


def _detections(path: str, names: Sequence[str]) -> tuple[list[ReferenceCall], list[ReferenceCall]]:
    """Everything at once; or the people and the rest each by name."""
    prompt = ".".join(sorted(names))
    base = {"imageFileUri": path, "includeDescription": False}
    return (
        [call("dinox-mcp/detect-all-objects", base, free=["includeDescription"])],
        [
            call(
                "dinox-mcp/detect-objects-by-text", {**base, "textPrompt": text},
                free=["includeDescription"], words={"textPrompt": words},
            )
            for text, words in (("person", ["person"]), (prompt, sorted(names)))
        ],
    )  # fmt: skip


def _blur(path: str, people: Sequence[tuple[int, int, int, int]], end: str) -> ReferenceCall:
    areas = [{"x1": x1, "y1": y1, "x2": x2, "y2": y2, "blur_strength": 75} for x1, y1, x2, y2 in people]
    return call("imagesorcery-mcp/blur", {"input_path": path, "areas": areas, "output_path": end}, free=["output_path"])


def _first(text: str) -> str:
    found = re.search(r"^- (.+)$", text, re.MULTILINE)
    assert found, text
    return found[1]


def _summary(title: str, name: str) -> ReferenceCall:
    return call("wiki/summary", {"title": title}, either={"title": [title, name, f"{name}s"]})


def _arrows(path: str, chain: Sequence[Found], colour: list[int]) -> ReferenceCall:
    arrows = []
    for eaten, eater in pairwise(chain):
        (x1, y1), (x2, y2) = centre(eaten.box), centre(eater.box)
        arrows.append({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "color": colour, "thickness": 8, "tip_length": 0.08})
    return call(
        "imagesorcery-mcp/draw_arrows",
        {"input_path": path, "arrows": arrows, "output_path": path.replace("_blurred", "_chain")},
        free=["input_path", "output_path"],
    )  # fmt: skip


def _of(living: Sequence[Found], name: str) -> Found:
    return next(found for found in living if found.name == name)


def _roles(names: Sequence[str]) -> dict[str, str]:
    """The roles that are beyond doubt."""
    kinds = {"producer": _PLANTS, "herbivore": _GRAZERS, "carnivore": _HUNTERS}
    return {
        _LABELS.get(name, name): kind
        for kind, group in kinds.items()
        for name in group
        if _LABELS.get(name, name) in names
    }


def _answer(names: Sequence[str], chain: Sequence[str], many: int) -> str:
    roles = _OTHERS | _roles(names)
    said = ", ".join(f"the {name} ({roles[name]})" for name in names)
    verdict = f"Yes. The chain runs {' → '.join(chain)}." if chain else "No. No three of them eat one another."
    return f"{verdict} The living things are {said}. I blurred {many} people."


def _checks(
    path: str, living: Sequence[Found], people: Sequence[tuple[int, int, int, int]], chain: Sequence[str]
) -> Iterator[Check]:
    source = path.removeprefix("./")
    names = [found.name for found in living]
    yield AnswerNames(all_of=(("yes",) if chain else ("no",), *((name, f"{name}s") for name in names)))
    if roles := sorted(set(_roles(names).values())):
        yield AnswerNames(all_of=tuple(_ROLES[kind] for kind in roles))
    yield AnswerNumber(value=len(people), tolerance=0, what="the number of people")
    yield PictureChanged(source=source, pattern="*.png", boxes=tuple(people))
    if chain:
        yield PictureChanged(
            source=source,
            pattern="*.png",
            margin=2000,
            boxes=(*people, *(_grown(_of(living, name).box) for name in chain)),
        )
    yield CallMade(tool="wiki/summary", times=len(names))


def _grown(box: tuple[int, int, int, int], by: int = 30) -> tuple[int, int, int, int]:
    left, top, right, bottom = box
    return max(0, left - by), max(0, top - by), right + by, bottom + by
