"""Presentations and workbooks to be rendered: as our tools write them, and as python-pptx and openpyxl do."""

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openpyxl import Workbook
from openpyxl.chart import BarChart, LineChart, PieChart, Reference
from openpyxl.drawing.image import Image as SheetImage
from openpyxl.formatting.rule import CellIsRule, ColorScaleRule
from openpyxl.styles import Alignment, Border, Font, PatternFill, Side
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.util import Inches, Pt

from tests.pictures import encoded
from tests.sandboxes.servers.conftest import Bench

_SPOKEN = (
    "harbour orchard winter budget station copper lantern meadow ticket vessel granite kitchen autumn market signal "
    "garden bicycle thunder pottery railway compass chimney feather voyage candle mountain library engine blanket river"
)
WORDS = _SPOKEN.split(" ")
COUNT = 40
"""Files of each kind; half of them were never looked at while the renderer was written: those with odd numbers."""
FACES = ("Calibri", "Arial", "Times New Roman", "Liberation Sans", "Courier New")


def write_all(folder: Path) -> list[Path]:
    """Every file of ours."""
    made = []
    for number in range(COUNT):
        made.append((tool_deck, library_deck)[number // 2 % 2](folder, number))
        made.append((tool_book, library_book)[number // 2 % 2](folder, number))
    return made


def said(rng: random.Random, least: int, most: int) -> str:
    """Words, the first with a capital."""
    return " ".join(rng.choices(WORDS, k=rng.randint(least, most))).capitalize()


def photo(rng: random.Random) -> bytes:
    """A small picture in one strong colour."""
    size = (rng.randint(60, 200), rng.randint(60, 200))
    return encoded(Image.new("RGB", size, tuple(rng.choices(range(30, 180), k=3))), "PNG")


def tool_deck(folder: Path, number: int) -> Path:
    """A deck that the server `ppt` wrote."""
    rng = random.Random(number)
    bench = Bench(folder / f"tools-{number}")
    (bench.folder / "media").mkdir()
    (bench.folder / "media/photo.png").write_bytes(photo(rng))

    def call(tool: str, **arguments: Any) -> None:
        bench.text(f"ppt/{tool}", arguments)

    call("create_presentation", id="deck")
    call("add_slide", layout_index=0, title=said(rng, 2, 6))
    call("populate_placeholder", slide_index=0, placeholder_idx=1, text=said(rng, 4, 16))
    call("add_slide", layout_index=1, title=said(rng, 3, 9))
    points = [said(rng, 3, 22) for _ in range(rng.randint(2, 5))]
    call("add_bullet_points", slide_index=1, placeholder_idx=1, bullet_points=points)
    call("add_slide", layout_index=5, title=said(rng, 2, 5))
    rows, cols = rng.randint(2, 6), rng.randint(2, 4)
    data = [[said(rng, 1, 3) for _ in range(cols)] for _ in range(rows)]
    spot = {"left": 0.6, "top": 1.6, "width": 8.4, "height": 0.45 * rows}
    call("add_table", slide_index=2, rows=rows, cols=cols, data=data, **spot)
    call("add_slide", layout_index=6)
    call(
        "manage_text",
        slide_index=3,
        operation="add",
        text=said(rng, 8, 30),
        left=0.5,
        top=0.4,
        width=5,
        height=2,
        font_size=rng.choice((12, 16, 20)),
        alignment=rng.choice(("left", "center", "right")),
    )
    call(
        "add_shape",
        slide_index=3,
        shape_type=rng.choice(("rectangle", "rounded_rectangle", "oval")),
        left=6,
        top=0.6,
        width=3,
        height=1.5,
        text=said(rng, 1, 4),
        fill_color=[40, 90, 160],
        font_color=[255, 255, 255],
        font_size=16,
    )
    call("manage_image", slide_index=3, operation="add", image_source="media/photo.png", left=0.6, top=3.2, width=2)
    kind = ("column", "bar", "line", "pie")[number % 4]
    names = [said(rng, 1, 1) for _ in range(1 if kind == "pie" else 2)]
    groups = [said(rng, 1, 1) for _ in range(rng.randint(3, 5))]
    values = [[rng.randint(3, 60) for _ in groups] for _ in names]
    call(
        "add_chart",
        slide_index=3,
        chart_type=kind,
        left=3.4,
        top=3,
        width=6,
        height=4,
        categories=groups,
        series_names=names,
        series_values=values,
        title=said(rng, 2, 3),
    )
    call("save_presentation", file_path=f"deck-{number}.pptx")
    return bench.workspace.resolve(f"media/deck-{number}.pptx")


def library_deck(folder: Path, number: int) -> Path:
    """A deck written with python-pptx."""
    rng = random.Random(1000 + number)
    deck = Presentation()
    _title_and_bullets(rng, deck)
    _boxes_and_shapes(rng, deck)
    _table_and_picture(rng, deck)
    _deck_chart(rng, deck, number)
    path = folder / f"library-deck-{number}.pptx"
    deck.save(str(path))
    return path


def _title_and_bullets(rng: random.Random, deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = said(rng, 2, 10)
    frame = slide.placeholders[1].text_frame
    frame.text = said(rng, 3, 14)
    for _ in range(rng.randint(2, 5)):
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = said(rng, 2, 14), rng.randint(0, 2)


def _boxes_and_shapes(rng: random.Random, deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    for place in range(3):
        box = slide.shapes.add_textbox(Inches(0.5), Inches(0.4 + 2.2 * place), Inches(rng.uniform(3, 5)), Inches(1.8))
        frame = box.text_frame
        frame.word_wrap, frame.vertical_anchor = True, rng.choice(list(MSO_ANCHOR)[:3])
        for _ in range(rng.randint(1, 2)):
            paragraph = frame.paragraphs[-1] if not frame.text else frame.add_paragraph()
            paragraph.alignment = rng.choice((PP_ALIGN.LEFT, PP_ALIGN.CENTER, PP_ALIGN.RIGHT))
            face, size = rng.choice(FACES), rng.choice((11, 14, 18, 20))
            for _ in range(rng.randint(1, 3)):
                run = paragraph.add_run()
                run.text = said(rng, 2, 7) + " "
                run.font.name, run.font.size = face, Pt(size)
                run.font.bold, run.font.italic = rng.random() < 0.3, rng.random() < 0.2
    for place, kind in enumerate((MSO_SHAPE.RECTANGLE, MSO_SHAPE.ROUNDED_RECTANGLE, MSO_SHAPE.OVAL)):
        shape = slide.shapes.add_shape(kind, Inches(6), Inches(0.5 + 2.2 * place), Inches(3), Inches(1.7))
        shape.text_frame.text = said(rng, 1, 6)
        shape.fill.solid()
        shape.fill.fore_color.rgb = RGBColor(*rng.choices(range(160), k=3))


def _table_and_picture(rng: random.Random, deck: Any) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = said(rng, 2, 4)
    rows, columns = rng.randint(2, 5), rng.randint(2, 4)
    spot = Inches(0.5), Inches(1.6), Inches(rng.uniform(5, 9)), Inches(0.4 * rows)
    table = slide.shapes.add_table(rows, columns, *spot).table
    for row in range(rows):
        for column in range(columns):
            table.cell(row, column).text = said(rng, 1, 4)
    slide.shapes.add_picture(io.BytesIO(photo(rng)), Inches(6.5), Inches(5.4), Inches(1.5))


def _deck_chart(rng: random.Random, deck: Any, number: int) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    data = CategoryChartData()
    data.categories = [said(rng, 1, 1) for _ in range(rng.randint(3, 6))]
    kinds = (XL_CHART_TYPE.COLUMN_CLUSTERED, XL_CHART_TYPE.BAR_CLUSTERED, XL_CHART_TYPE.LINE, XL_CHART_TYPE.PIE)
    kind = kinds[number % 4]
    for _ in range(1 if number % 4 == 3 else rng.randint(1, 3)):
        data.add_series(said(rng, 1, 1), [rng.randint(2, 90) for _ in data.categories])
    spot = Inches(0.8), Inches(0.6), Inches(rng.uniform(6, 8)), Inches(rng.uniform(4, 6))
    chart = slide.shapes.add_chart(kind, *spot, data).chart
    chart.has_legend = rng.random() < 0.7
    if chart.has_legend:
        chart.legend.position = rng.choice((XL_LEGEND_POSITION.RIGHT, XL_LEGEND_POSITION.BOTTOM))
        chart.legend.include_in_layout = False
    chart.has_title = rng.random() < 0.6
    if chart.has_title:
        chart.chart_title.text_frame.text = said(rng, 2, 4)


def _rows(rng: random.Random) -> list[list[Any]]:
    head = [said(rng, 1, 1) for _ in range(rng.randint(3, 5))]
    body = [
        [said(rng, 1, 2), *(rng.choice((rng.randint(1, 900), round(rng.uniform(0, 90), 2))) for _ in head[1:])]
        for _ in range(rng.randint(4, 12))
    ]
    return [head, *body]


def tool_book(folder: Path, number: int) -> Path:
    """A workbook that the server `excel` wrote."""
    rng = random.Random(2000 + number)
    bench = Bench(folder / f"sheets-{number}")
    name = f"book-{number}.xlsx"

    def call(tool: str, **arguments: Any) -> None:
        bench.text(f"excel/{tool}", {"filepath": name, **arguments})

    rows = _rows(rng)
    last, wide = len(rows), "ABCDEFG"[len(rows[0]) - 1]
    sheet = {"sheet_name": "Sheet1"}
    call("create_workbook")
    call("write_data_to_excel", **sheet, data=rows)
    call(
        "format_range",
        **sheet,
        start_cell="A1",
        end_cell=f"{wide}1",
        bold=True,
        bg_color="DDEBF7",
        border_style="thin",
        alignment=rng.choice(("left", "center")),
    )
    call(
        "format_range",
        **sheet,
        start_cell="B2",
        end_cell=f"B{last}",
        number_format=rng.choice(("0.00", "#,##0.0", "0%", "0")),
    )
    call("apply_formula", **sheet, cell=f"B{last + 1}", formula=f"=SUM(B2:B{last})")
    kind = ("bar", "line", "pie")[number % 3]
    call(
        "create_chart",
        **sheet,
        data_range=f"A1:B{last}",
        chart_type=kind,
        target_cell=f"A{last + 4}",
        title=said(rng, 2, 3),
        x_axis=said(rng, 1, 1),
        y_axis=said(rng, 1, 1),
    )
    return bench.workspace.resolve(name)


def library_book(folder: Path, number: int) -> Path:
    """A workbook written with openpyxl."""
    rng = random.Random(3000 + number)
    book = Workbook()
    sheet: Any = book.active
    for row in _rows(rng):
        sheet.append(row)
    last, columns = sheet.max_row, sheet.max_column
    thin = Side(style="thin", color="888888")
    for cell in sheet[1]:
        cell.font = Font(bold=True, color="FFFFFF", name=rng.choice(("Calibri", "Arial")), sz=rng.choice((11, 12)))
        cell.fill = PatternFill("solid", fgColor="1F4E79")
        cell.alignment = Alignment(horizontal=rng.choice(("left", "center", "right")), vertical="center")
    for row in sheet.iter_rows(min_row=2, min_col=2):
        for cell in row:
            cell.number_format = rng.choice(("0.0", "#,##0", "0.00", "General", "0%"))
            cell.border = Border(top=thin, bottom=thin, left=thin, right=thin)
    sheet.column_dimensions["A"].width = rng.uniform(14, 26)
    sheet.column_dimensions["B"].width = rng.uniform(9, 14)
    sheet.row_dimensions[1].height = rng.choice((18, 24, 30))
    sheet.conditional_formatting.add(
        f"B2:B{last}",
        rng.choice(
            (
                CellIsRule(operator="greaterThan", formula=["100"], fill=PatternFill("solid", bgColor="FFC7CE")),
                ColorScaleRule(start_type="min", start_color="FFFFFF", end_type="max", end_color="63BE7B"),
            )
        ),
    )
    foot = sheet.cell(last + 2, 1, said(rng, 9, 16))
    sheet.merge_cells(start_row=last + 2, start_column=1, end_row=last + 2, end_column=columns)
    foot.alignment = Alignment(wrap_text=True, vertical=rng.choice(("top", "center")), horizontal="left")
    sheet.row_dimensions[last + 2].height = 34
    sheet.cell(last + 1, 2, f"=SUM(B2:B{last})")
    _book_chart(rng, sheet, last, number)
    sheet.add_image(SheetImage(io.BytesIO(photo(rng))), f"B{last + 23}")
    path = folder / f"library-book-{number}.xlsx"
    book.save(path)
    return path


def _book_chart(rng: random.Random, sheet: Any, last: int, number: int) -> None:
    makers: tuple[Callable[[], Any], ...] = (BarChart, LineChart, PieChart)
    chart = makers[number % 3]()
    chart.title = said(rng, 2, 3) if rng.random() < 0.7 else None
    if number % 3 == 0 and rng.random() < 0.5:
        chart.type = "bar"
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=last), titles_from_data=True)
    chart.set_categories(Reference(sheet, min_col=1, min_row=2, max_row=last))
    chart.width, chart.height = rng.uniform(12, 15), rng.uniform(7, 9)
    sheet.add_chart(chart, f"A{last + 4}")
