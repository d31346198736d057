"""A survey on a sheet of paper: read the figures, then the statistics, all at once."""

import random
import re

from m3bench.tasks.checks import AnswerNumber, CallMade
from m3bench.tasks.families.base import Composition, Script, Solution
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.stage import Stage

_SURVEYS = (
    ("Books read this term", "books"),
    ("Minutes to walk to school", "minutes"),
    ("Cups of coffee per week", "cups"),
    ("Hours of sleep last weekend", "hours"),
)

_QUESTIONS = (
    "This is the tally sheet from our little survey. I need the average, the middle value and the most common value for "
    "the report; what are they?",
    "Could you work out the mean, median and mode of the figures on this sheet for me? One sentence will do.",
)


class ClassDemand:
    """OCR a sheet, then mean, median and mode."""

    name = "class_demand"
    servers = ("ocr", "math")

    def compose(self, rng: random.Random, art: Art) -> Composition:
        """A sheet with a title and rows of figures; one value is the most common."""
        title, unit = rng.choice(_SURVEYS)
        common = rng.randint(11, 19)
        values = [common] * 4 + rng.sample([value for value in range(10, 60) if value != common], 12)
        rng.shuffle(values)
        stage = Stage(1100, 820, (214, 204, 190), (190, 176, 158), horizon=0.5)
        stage.panel((90, 60, 1010, 760), (252, 251, 246), outline=(200, 196, 186))
        stage.write(title, 140, 110, 50)
        stage.write(f"{len(values)} answers, in {unit}", 140, 185, 32, (90, 96, 110))
        for row in range(4):
            for column, value in enumerate(values[row * 4 : row * 4 + 4]):
                stage.write(str(value), 190 + column * 200, 290 + row * 105, 56)
        picture = stage.png()
        return Composition(picture=picture, scene=stage.scene(picture), facts={"values": values})

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Two steps: read, then three statistics in parallel."""
        arguments = {"input_data": path, "language": "eng", "config": "--oem 3 --psm 6"}
        (text,) = await play.step(("ocr/perform_ocr", arguments))
        rows = [line for line in text.splitlines() if re.fullmatch(r"[\d\s]+", line.strip() or "x")]
        numbers = [int(word) for line in rows for word in line.split()]
        assert numbers == list(composition.facts["values"]), "the sheet must be legible"
        mean, median, mode = await play.step(
            ("math/mean", {"numbers": numbers}),
            ("math/median", {"numbers": numbers}),
            ("math/mode", {"numbers": numbers}),
        )
        common = float(re.search(r"\((\d+)\)", mode)[1])  # type: ignore[index]
        return Solution(
            question=rng.choice(_QUESTIONS),
            wording=f"Read the figures in {path} by OCR and compute their mean, median and mode.",
            checks=(
                AnswerNumber(value=float(mean), tolerance=0.06, what="the mean"),
                AnswerNumber(value=float(median), what="the median"),
                AnswerNumber(value=common, tolerance=0, what="the mode"),
                CallMade(tool="ocr/perform_ocr"),
            ),
            difficulty="easy",
        )
