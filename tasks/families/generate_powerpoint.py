"""A slide seen in a picture becomes a real one: read it, then build the title slide of a new deck."""

import random

from m3bench.tasks.checks import AnswerNames, CallMade, DeckHas, FileOpens
from m3bench.tasks.families.base import Composition, Script, Solution
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.stage import Stage

_SLIDES = (
    ("Harbours of the North", "How small ports learned to share the sea"),
    ("Bread Before Dawn", "A night with four village bakers"),
    ("Rivers in Glass", "Reading the age of ice from its colours"),
    ("The Quiet Orchard", "What bees do when nobody is looking"),
    ("Letters from the Lighthouse", "Twelve winters of weather reports"),
)
_COLOURS = (((34, 66, 110), (226, 236, 248)), ((96, 40, 46), (250, 236, 226)), ((32, 82, 70), (230, 244, 236)))

_QUESTIONS = (
    "All that's left of my talk is this photo of the opening slide. Can you rebuild it as a real presentation with the "
    "same title and subtitle, save it, and tell me what the talk was called?",
    "Someone sent me a picture of a title slide. I need an editable deck that starts with the same words. Please make it, "
    "save the file and read the heading back to me.",
)


class GeneratePowerpoint:
    """OCR a slide, rebuild it from a template."""

    name = "generate_powerpoint"
    servers = ("ocr", "ppt")

    def compose(self, rng: random.Random, art: Art) -> Composition:
        """A title slide on a wall."""
        title, subtitle = rng.choice(_SLIDES)
        dark, light = rng.choice(_COLOURS)
        stage = Stage(1280, 800, (120, 118, 122), (88, 80, 76), horizon=0.86)
        stage.panel((110, 70, 1170, 660), light, radius=6)
        stage.panel((110, 70, 1170, 130), dark, radius=6)
        stage.write(title, 180, 250, 66, dark)
        stage.write(subtitle, 182, 370, 36, (70, 74, 84))
        picture = stage.png()
        facts = {"title": title, "subtitle": subtitle}
        return Composition(picture=picture, scene=stage.scene(picture), facts=facts)

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Reading and opening a deck are independent; the rest is a chain."""
        deck = "rebuilt_talk"
        reading = {"input_data": path, "language": "eng", "config": "--oem 3 --psm 6"}
        text, _ = await play.step(("ocr/perform_ocr", reading), ("ppt/create_presentation", {"id": deck}))
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        title, subtitle = composition.facts["title"], composition.facts["subtitle"]
        assert title in lines, "the slide must be legible"
        assert subtitle in lines, "the slide must be legible"
        await play.step(
            (
                "ppt/create_slide_from_template",
                {
                    "template_id": "title_slide",
                    "color_scheme": "modern_blue",
                    "content_mapping": {"title": title, "subtitle": subtitle},
                    "presentation_id": deck,
                },
            )
        )
        await play.step(("ppt/save_presentation", {"file_path": f"./media/{deck}.pptx", "presentation_id": deck}))
        return Solution(
            question=rng.choice(_QUESTIONS),
            wording=f"OCR {path}, create a presentation whose title slide has the same title and subtitle, save it.",
            checks=(
                AnswerNames(all_of=((title,),)),
                FileOpens(pattern="*.pptx"),
                DeckHas(texts=(title, subtitle)),
                CallMade(tool="ocr/perform_ocr"),
            ),
            difficulty="medium",
        )
