"""Living things and people who should not be recognised: blur the people, look the others up, find the food chain."""

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, Check, PictureChanged
from m3bench.tasks.families.base import Composition, Kit, Script, Solution, call
from m3bench.tasks.families.detections import Found, centre, read_objects
from m3bench.tasks.families.texts import Tables, tables
from m3bench.tasks.render import wildlife
from m3bench.tasks.render.canvas import Canvas
from m3bench.tasks.render.wildlife import Actor
from m3bench.tasks.task import ReferenceCall

_LABELS = {"rice plant": "rice", "herb": "leaf"}
_WALKERS = ("walker", "standing person", "runner")
_VISITORS = ("student", "farmer", "scientist", "cook", "teacher", "police officer", "mechanic", "doctor")
_COLOURS = {
    "red": [0, 0, 255],
    "yellow": [0, 255, 255],
    "white": [255, 255, 255],
    "blue": [255, 0, 0],
    "orange": [0, 140, 255],
}


class _Tables(Tables):
    chains: dict[str, tuple[tuple[str, ...], ...]]
    """Food chains, from the bottom up."""
    strangers: dict[str, tuple[str, ...]]
    """None of them eats another, nor is eaten by those of the chains."""
    roles: dict[str, tuple[str, ...]]
    plants: tuple[str, ...]
    hunters: tuple[str, ...]
    grazers: tuple[str, ...]
    others: dict[str, str]
    """What an answer says of those whose role can be put in different words."""


_tables = tables("biology_chain", _Tables)


class BiologyChain:
    """Detect organisms, blur people, look for a food chain."""

    name = "biology_chain"
    servers = ("dinox-mcp", "imagesorcery-mcp", "wiki")

    def compose(self, rng: random.Random, kit: Kit) -> Composition:
        """A chain with a stranger, or strangers alone; and two or three people."""
        place = rng.choice(("meadow", "meadow", "sea"))
        chain = rng.choice(_tables().chains[place]) if rng.random() < 0.7 else ()
        beside = [name for name in _tables().strangers[place] if not (name == "crab" and "seal" in chain)]
        names = [*chain, *rng.sample(beside, 1 if chain else 3)]
        many = rng.choice((2, 3) if len(names) < 5 else (2,))
        actors = [
            Actor(
                name,
                label=_LABELS.get(name, name),
                description=f"A {name}.",
                aliases=("plant",) if name in _tables().plants else (),
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
    kinds = {"producer": _tables().plants, "herbivore": _tables().grazers, "carnivore": _tables().hunters}
    return {
        _LABELS.get(name, name): kind
        for kind, group in kinds.items()
        for name in group
        if _LABELS.get(name, name) in names
    }


def _answer(names: Sequence[str], chain: Sequence[str], many: int) -> str:
    roles = _tables().others | _roles(names)
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
        yield AnswerNames(all_of=tuple(_tables().roles[kind] for kind in roles))
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
