"""A page on which a person reads a set: each task's picture, question and fields, and, once opened, what is right.

The answer is folded away: a reader can try the question first, and then hold it against what the set calls right. A
contact sheet has all the pictures of a set on one PNG.
"""

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from m3bench.tasks.answers.base import JSON
from m3bench.tasks.answers.fields import Field, right_lines
from m3bench.tasks.foreign_files import READABLE
from m3bench.tasks.task import ReferenceCall, Task

PAGE = "tasks.html"

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }}
body {{ margin: 1.5rem auto; max-width: 76rem; padding: 0 1rem }}
nav {{ columns: 12rem; margin-bottom: 2rem }}
nav a {{ display: block }}
article {{ border-top: 1px solid #8886; display: grid; gap: 0 1.5rem; padding: 1.25rem 0 }}
@media (min-width: 60rem) {{ article {{ grid-template-columns: 1fr 1fr }} }}
article > * {{ min-width: 0 }}
img {{ border-radius: 6px; height: auto; max-width: 100% }}
h3 {{ margin-top: 0 }}
h3 small {{ font-weight: normal; opacity: .7 }}
blockquote {{ margin: 0 0 1rem; font-size: 1.1rem }}
dt code {{ font-weight: bold }}
dd {{ margin: 0 0 .6rem 1rem }}
td, th {{ border-bottom: 1px solid #8884; padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top }}
summary {{ cursor: pointer; margin: .6rem 0 }}
code, td {{ overflow-wrap: anywhere }}
.wide {{ overflow-x: auto }}
</style>
<h1>{title}</h1>
<p>{count} tasks. What is right is folded away: try the question first.</p>
<nav>{families}</nav>
{tasks}
</html>
"""


def write_page(folder: Path, title: str, tasks: Iterable[Task]) -> Path:
    """Write the page beside a folder `pictures` that holds what the tasks show."""
    families: dict[str, list[Task]] = {}
    for task in tasks:
        families.setdefault(task.family, []).append(task)
    parts = (
        f'<h2 id="{escape(family)}">{escape(family)}</h2>\n' + "\n".join(map(_article, members))
        for family, members in families.items()
    )
    page = folder / PAGE
    text = _PAGE.format(
        title=escape(title),
        count=sum(map(len, families.values())),
        families="".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in families),
        tasks="\n".join(parts),
    )
    page.write_text(text, "utf-8")
    return page


def _article(task: Task) -> str:
    pictures = "".join(
        f'<a href="pictures/{escape(name)}"><img loading="lazy" src="pictures/{escape(name)}" alt="{escape(name)}"></a>'
        for name in task.pictures
    )
    asked = "".join(
        f"<dt><code>{escape(field.name)}</code> {escape(field.value.described)}<dd>{escape(field.meaning)}"
        for field in task.fields
    )
    return (
        f'<article id="{escape(task.id)}"><div>{pictures}</div><div>'
        f"<h3>{escape(task.id)} <small>{task.difficulty}</small></h3>"
        f"<blockquote>{escape(task.question)}</blockquote><dl>{asked}</dl>"
        f"<details><summary>What is right</summary>{_right(task)}</details>"
        f"<details><summary>How it is solved</summary>{_solved(task)}</details></div></article>"
    )


def _right(task: Task) -> str:
    fields = "".join(f"<dt><code>{escape(field.name)}</code><dd>{_value(field)}" for field in task.fields)
    checks = "".join(f"<li>{escape(check.title)}" for check in task.checks)
    prose = task.answer.removesuffix(right_lines(task.fields)).strip()
    return f"<p>{escape(prose)}</p><dl>{fields}</dl>" + (f"<ul>{checks}</ul>" if checks else "")


def _value(field: Field) -> str:
    given = field.value.given()
    if isinstance(given, list) and given and all(isinstance(row, dict) for row in given):
        return _table([row for row in given if isinstance(row, dict)])
    return escape(given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))


def _table(rows: list[dict[str, JSON]]) -> str:
    head = "".join(f"<th>{escape(name)}" for name in rows[0])
    lines = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}" for cell in row.values()) for row in rows)
    return f'<div class="wide"><table><tr>{head}{lines}</table></div>'


def _solved(task: Task) -> str:
    ways = "".join(
        f"<p>{escape(reference.note)}</p><ol>{''.join(f'<li>{_step(step)}' for step in reference.steps)}</ol>"
        for reference in task.references
    )
    return f"<p>{escape(task.wording)}</p>{ways}"


def _step(calls: Iterable[ReferenceCall]) -> str:
    return "<br>".join(f"<code>{escape(call.tool)} {escape(_arguments(call.arguments))}</code>" for call in calls)


def _arguments(arguments: Mapping[str, JSON]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


COLUMNS = 8
CELL = (320, 240)
CAPTION = 22


def write_sheet(folder: Path, pictures: Mapping[str, bytes]) -> Path:
    """Write pictures, by file name, into a folder's `pictures`, and `contact.png` beside it."""
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for name, data in pictures.items():
        (folder / "pictures" / name).write_bytes(data)
    sheet = folder / "contact.png"
    _draw(list(pictures.items())).save(sheet, optimize=True)
    return sheet


def _draw(pictures: Sequence[tuple[str, bytes]]) -> Image.Image:
    rows = -(-len(pictures) // COLUMNS)
    wide, tall = CELL
    sheet = Image.new("RGB", (COLUMNS * wide, max(1, rows) * (tall + CAPTION)), "#f4f2ec")
    draw, font = ImageDraw.Draw(sheet), ImageFont.load_default(14)
    for number, (name, data) in enumerate(pictures):
        left, top = number % COLUMNS * wide, number // COLUMNS * (tall + CAPTION)
        with Image.open(io.BytesIO(data), formats=READABLE) as picture:
            small = picture.convert("RGB")
            small.thumbnail((wide - 8, tall - 8), Image.Resampling.LANCZOS)
        sheet.paste(small, (left + (wide - small.width) // 2, top + (tall - small.height) // 2))
        draw.text((left + 8, top + tall), Path(name).stem, fill="#444", font=font)
    return sheet
