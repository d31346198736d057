"""Hazards on a building site: find them, mark them in the picture, and put it into a presentation."""

import random

from m3bench.tasks.checks import AnswerNames, CallMade, DeckHas, FileOpens
from m3bench.tasks.families.base import Composition, Script, Solution
from m3bench.tasks.families.detections import centre, read_objects
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.stage import Stage

_HAZARDS = {
    "fire": "open flames beside the scaffold",
    "barrel": "an unmarked fuel drum",
    "ladder": "a ladder that nobody secures",
    "plug": "a live cable end",
    "lightning": "exposed high voltage",
}

_QUESTIONS = (
    "Safety walk-through today and this is the picture I took. Circle whatever could hurt somebody, write next to each "
    "circle what it is, and give me a one-slide presentation with the marked-up picture that I can show the crew. Which "
    "dangers did you find?",
    "Can you turn this snapshot of our site into a briefing? Everything dangerous ringed and named right in the image, the "
    "image on a slide, the file saved. Tell me what the risks are.",
)


class Hazard:
    """Detect hazards, annotate, present."""

    name = "hazard"
    servers = ("dinox-mcp", "imagesorcery-mcp", "ppt")

    def compose(self, rng: random.Random, art: Art) -> Composition:
        """A site with workers, walls and two or three hazards."""
        stage = Stage(1280, 800, (176, 200, 220), (188, 166, 140), horizon=0.4)
        stage.hills(rng, (150, 152, 150), 0.4, 0.1, count=3)
        hazards = rng.sample(sorted(_HAZARDS), rng.choice((2, 3)))
        actors = [*hazards, "worker", "worker", "bricks", *rng.sample(["barrier", "bricks"], 1)]
        rng.shuffle(actors)
        slot = stage.width / len(actors)
        for number, kind in enumerate(actors):
            height = {"worker": 200, "ladder": 240}.get(kind, 140)
            x = round(slot * (number + 0.5))
            y = rng.randint(560, 740)
            hazard = kind in _HAZARDS
            stage.place(
                art.object(kind), kind, x, y, round(height * rng.uniform(0.9, 1.1)),
                score=round(rng.uniform(0.85, 0.96), 2),
                description=f"{_HAZARDS[kind].capitalize()}." if hazard else f"A {kind} on the site.",
                aliases=("hazard", "danger") if hazard else (),
            )  # fmt: skip
        picture = stage.png()
        return Composition(picture=picture, scene=stage.scene(picture), facts={"hazards": sorted(hazards)})

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """A chain: each step needs the file or the deck of the one before."""
        (text,) = await play.step(
            (
                "dinox-mcp/detect-objects-by-text",
                {"imageFileUri": path, "textPrompt": "hazard", "includeDescription": True},
            )
        )
        found = read_objects(text)
        circles, labels = [], []
        for name, box in found:
            x, y = centre(box)
            radius = max(box[2] - box[0], box[3] - box[1]) // 2 + 16
            circles.append({"center_x": x, "center_y": y, "radius": radius, "color": [0, 0, 255], "thickness": 5})
            labels.append(
                {"text": name, "x": max(4, x - 40), "y": max(28, y - radius - 10), "color": [0, 0, 255], "thickness": 2}
            )
        circled = path.replace(".png", "_circled.png")
        marked = path.replace(".png", "_marked.png")
        await play.step(
            ("imagesorcery-mcp/draw_circles", {"input_path": path, "circles": circles, "output_path": circled}),
            ("ppt/create_presentation", {"id": "site_briefing"}),
        )
        await play.step(
            ("imagesorcery-mcp/draw_texts", {"input_path": circled, "texts": labels, "output_path": marked}),
            ("ppt/add_slide", {"layout_index": 5, "title": "Hazards on site", "presentation_id": "site_briefing"}),
        )
        await play.step(
            (
                "ppt/manage_image",
                {
                    "slide_index": 0, "operation": "add", "image_source": marked, "source_type": "file",
                    "left": 1.0, "top": 1.6, "width": 8.0, "height": 5.0, "presentation_id": "site_briefing",
                },
            )
        )  # fmt: skip
        await play.step(
            ("ppt/save_presentation", {"file_path": "./media/site_briefing.pptx", "presentation_id": "site_briefing"})
        )
        names = [name for name, _ in found]
        return Solution(
            question=rng.choice(_QUESTIONS),
            wording=f"Detect hazards in {path}, circle and label them, put the picture on a slide, save the deck.",
            checks=(
                AnswerNames(all_of=tuple(_spellings(name) for name in names)),
                CallMade(tool="imagesorcery-mcp/draw_circles"),
                FileOpens(pattern="*.pptx"),
                DeckHas(pictures=1),
            ),
            difficulty="hard",
        )


def _spellings(name: str) -> tuple[str, ...]:
    more = {"barrel": ("drum",), "plug": ("cable",), "lightning": ("voltage", "electric"), "fire": ("flame", "flames")}
    return (name, *more.get(name, ()))
