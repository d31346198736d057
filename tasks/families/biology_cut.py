"""Every animal of a picture on a card of its own: detect, then cut them out together."""

import random

from m3bench.tasks.checks import AnswerNames, CallMade, FileOpens, PictureCut
from m3bench.tasks.families import wildlife
from m3bench.tasks.families.base import Composition, Script, Solution
from m3bench.tasks.families.detections import read_objects
from m3bench.tasks.render.art import Art

_QUESTIONS = (
    "I'm making flash cards for my niece and would love one card per animal from this picture. Could you cut each of "
    "them out as a separate image, tightly framed, and tell me which animals I end up with?",
    "Our nature club wants a little portrait of every creature you can see here. Please make one cropped image for each "
    "and list the species with their file names.",
)


class BiologyCut:
    """Detect animals, one crop each."""

    name = "biology_cut"
    servers = ("dinox-mcp", "imagesorcery-mcp")

    def compose(self, rng: random.Random, art: Art) -> Composition:
        """Three or four animals outdoors."""
        return wildlife.compose(rng, art, rng.choice((3, 4)))

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Two steps: the second one parallel."""
        (text,) = await play.step(("dinox-mcp/detect-all-objects", {"imageFileUri": path, "includeDescription": False}))
        found = read_objects(text)
        stem = path.removesuffix(".png")
        await play.step(
            *(
                (
                    "imagesorcery-mcp/crop",
                    {"input_path": path, "x1": x1, "y1": y1, "x2": x2, "y2": y2, "output_path": f"{stem}_{name}.png"},
                )
                for name, (x1, y1, x2, y2) in found
            )
        )
        names = [name for name, _ in found]
        return Solution(
            question=rng.choice(_QUESTIONS),
            wording=f"Detect all objects in {path}, crop each animal ({', '.join(names)}) to its own file, name them.",
            checks=(
                AnswerNames(all_of=tuple((name,) for name in names)),
                CallMade(tool="imagesorcery-mcp/crop", times=len(found)),
                FileOpens(pattern="*.png", count=len(found) + 1),
                *(
                    PictureCut(pattern="*.png", size=(x2 - x1, y2 - y1), what=f"the {name}")
                    for name, (x1, y1, x2, y2) in found
                ),
            ),
            difficulty="easy",
        )
