"""Animals, and people who should not be recognised: detect both, then blur the people."""

import random

from m3bench.tasks.checks import AnswerNames, AnswerNumber, CallMade, PictureChanged
from m3bench.tasks.families import wildlife
from m3bench.tasks.families.base import Composition, Script, Solution
from m3bench.tasks.families.detections import read_objects
from m3bench.tasks.render.art import Art

_QUESTIONS = (
    "We'd like to print this photo in the reserve's newsletter, but nobody in it gave permission. Make a version in which "
    "every passer-by is blurred beyond recognition while the animals stay sharp. How many people did you hide, and which "
    "animals are left for readers to spot?",
    "Before this goes online, please anonymise it: all humans blurred, wildlife untouched. Tell me the number of persons "
    "you covered and name the animals.",
)


class BiologyChain:
    """Detect organisms, blur people."""

    name = "biology_chain"
    servers = ("dinox-mcp", "imagesorcery-mcp")

    def compose(self, rng: random.Random, art: Art) -> Composition:
        """Two or three animals, two or three people."""
        return wildlife.compose(rng, art, rng.choice((2, 3)), walkers=rng.choice((2, 3)))

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """People and animals are looked for together, then one blur."""
        people, animals = await play.step(
            (
                "dinox-mcp/detect-objects-by-text",
                {"imageFileUri": path, "textPrompt": "person", "includeDescription": False},
            ),
            (
                "dinox-mcp/detect-objects-by-text",
                {"imageFileUri": path, "textPrompt": "animal", "includeDescription": False},
            ),
        )
        boxes = [box for _, box in read_objects(people)]
        names = [name for name, _ in read_objects(animals)]
        areas = [{"x1": x1, "y1": y1, "x2": x2, "y2": y2, "blur_strength": 41} for x1, y1, x2, y2 in boxes]
        await play.step(("imagesorcery-mcp/blur", {"input_path": path, "areas": areas}))
        return Solution(
            question=rng.choice(_QUESTIONS),
            wording=f"Detect persons and animals in {path}, blur every person, count them and name the animals.",
            checks=(
                AnswerNumber(value=len(boxes), tolerance=0, what="the number of people"),
                AnswerNames(all_of=tuple((name,) for name in names)),
                CallMade(tool="imagesorcery-mcp/blur"),
                PictureChanged(source=path.removeprefix("./"), pattern="*.png", boxes=tuple(boxes)),
            ),
            difficulty="medium",
        )
