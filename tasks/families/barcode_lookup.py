"""A book's back: read its code, and note it in a workbook."""

import json
import random

from m3bench.tasks.checks import AnswerNames, CallMade, FileOpens, WorkbookCells
from m3bench.tasks.families.base import Composition, Script, Solution
from m3bench.tasks.render.art import Art
from m3bench.tasks.render.stage import Stage

_BACKS = (
    ("9780140449136", "A prisoner of his own idea walks through a hot summer city."),
    ("9780141439518", "Two stubborn people, five sisters and a very small county."),
    ("9780743273565", "Lights across the bay, and parties nobody was invited to."),
    ("9780061120084", "A lawyer, a trial and two children who watch a town."),
)

_QUESTIONS = (
    "I'm cataloguing our shelf and this is the back of the next book. Read the number off it and start a little "
    "spreadsheet for the catalogue with it in. What's the number?",
    "Please scan this book for me and put the result into a new table file, so I can add more later. I also need the "
    "number in your reply.",
)


class BarcodeLookup:
    """Decode a barcode, write it down."""

    name = "barcode_lookup"
    servers = ("pyzbar-mcp", "excel")

    def compose(self, rng: random.Random, art: Art) -> Composition:
        """The back of a book with an EAN-13 code."""
        import zxingcpp
        from PIL import Image

        number, blurb = rng.choice(_BACKS)
        stage = Stage(1000, 1100, (198, 186, 170), (170, 150, 128), horizon=0.5)
        cover = rng.choice(((38, 70, 83), (106, 44, 60), (60, 84, 52)))
        stage.panel((140, 70, 860, 1040), cover, radius=10)
        words, lines = blurb.split(), [""]
        for word in words:
            if len(lines[-1]) + len(word) > 26:
                lines.append("")
            lines[-1] = f"{lines[-1]} {word}".strip()
        for index, line in enumerate(lines):
            stage.write(line, 200, 170 + index * 62, 42, (244, 240, 230))
        stage.panel((470, 760, 830, 990), (255, 255, 255), radius=4)
        code = zxingcpp.create_barcode(number, zxingcpp.BarcodeFormat.EAN13)
        bars = Image.fromarray(zxingcpp.write_barcode_to_image(code, scale=3, add_hrt=True, add_quiet_zones=True))
        stage.paste(bars.convert("RGB"), 650 - bars.width // 2, 875 - bars.height // 2)
        picture = stage.png()
        return Composition(picture=picture, scene=stage.scene(picture), facts={"number": number})

    async def solve(self, rng: random.Random, composition: Composition, path: str, play: Script) -> Solution:
        """Scanning and making the workbook are independent; writing needs both."""
        book = "./media/catalogue.xlsx"
        text, _ = await play.step(
            ("pyzbar-mcp/scan_barcode", {"image_paths": path}), ("excel/create_workbook", {"filepath": book})
        )
        number = json.loads(text)["metadata"]["results"][0]["data"]
        assert number == composition.facts["number"], "the code must be legible"
        await play.step(
            (
                "excel/write_data_to_excel",
                {"filepath": book, "sheet_name": "Sheet1", "data": [["ISBN"], [number]], "start_cell": "A1"},
            )
        )
        return Solution(
            question=rng.choice(_QUESTIONS),
            wording=f"Decode the barcode in {path}, create a workbook and write the ISBN into it.",
            checks=(
                AnswerNames(all_of=((number, f"{number[:3]}-{number[3:]}"),)),
                FileOpens(pattern="*.xlsx"),
                WorkbookCells(values=(number,)),
                CallMade(tool="pyzbar-mcp/scan_barcode"),
            ),
            difficulty="easy",
        )
