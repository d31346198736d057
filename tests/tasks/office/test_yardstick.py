"""LibreOffice is the yardstick: words of slides and cells lie where its PDF has them."""

import html
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from m3bench.tasks.office import reading
from m3bench.tasks.office.marks import Box, PrintedSheet
from tests.office import convert
from tests.tasks.office import corpus

NEAR = 0.8
"""How much of two boxes must be common for words to lie in the same place."""
_CAPITAL = 0.66
_WORD = re.compile(r'<word xMin="([\d.-]+)" yMin="([\d.-]+)" xMax="([\d.-]+)" yMax="([\d.-]+)">(.*?)</word>')
_MARGINS = (72.0, 96.0)
"""Of a printed worksheet."""


class Placed(NamedTuple):
    """A word and the box of its capitals."""

    text: str
    box: Box


def printed(pdf: Path) -> list[list[Placed]]:
    """The words of a PDF's pages; pdftotext takes letters to reach 0.95 above and 0.35 below their line."""
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("pdftotext is not installed")
    found = subprocess.run([program, "-bbox", str(pdf), "-"], capture_output=True, text=True, check=True).stdout
    return [[_placed(match) for match in _WORD.finditer(page)] for page in found.split("<page ")[1:]]


def _placed(match: re.Match[str]) -> Placed:
    left, top, right, bottom = (float(value) * 4 / 3 for value in match.groups()[:4])
    size = (bottom - top) / 1.3
    base = top + 0.95 * size
    return Placed(html.unescape(match[5]), (left, base - _CAPITAL * size, right, base))


def common(one: Box, other: Box) -> float:
    """How much two boxes have in common, as a share of what they cover together."""
    across, down = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    if across <= 0 or down <= 0:
        return 0.0
    shared = across * down
    areas = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return shared / (sum(areas) - shared)


def ours(sheet: PrintedSheet, across: float, down: float) -> Iterator[Placed]:
    for word in sheet.words():
        if not word.turned:
            up = _CAPITAL * word.face.size
            box = (word.x + across, word.y - up + down, word.x + word.width + across, word.y + down)
            yield Placed(word.text, box)


def near(wanted: Sequence[Placed], found: list[Placed]) -> int:
    """How many words lie where they should; each of ours counts for one."""
    count = 0
    for word in wanted:
        best = max(
            (other for other in found if other.text == word.text), key=lambda o: common(o.box, word.box), default=None
        )
        if best is not None and common(best.box, word.box) >= NEAR:
            found.remove(best)
            count += 1
    return count


def shares(paths: Sequence[Path], folder: Path) -> tuple[float, float]:
    """The share of words of slides, and of cells outside of charts, that lie where LibreOffice has them."""
    slides, cells = [0, 0], [0, 0]
    for path in paths:
        pages = printed(convert(path, "pdf", folder))
        sheets = reading.sheets(path.name, path.read_bytes())
        if path.suffix == ".pptx":
            for sheet, page in zip(sheets, pages, strict=True):
                slides[0] += len(page)
                slides[1] += near(page, list(ours(sheet, 0.0, 0.0)))
            continue
        charts = [box for name, box in sheets[0].boxes.items() if name.startswith("Chart")]
        top = min((box[1] for box in charts), default=1e9) + _MARGINS[1]
        above = [word for page in pages for word in page if word.box[3] < top]
        cells[0] += len(above)
        cells[1] += near(above, list(ours(sheets[0], *_MARGINS)))
    return slides[1] / slides[0], cells[1] / cells[0]


@pytest.mark.office
@pytest.mark.slow
def test_words_lie_where_libreoffice_has_them(tmp_path: Path) -> None:
    """One file of each kind; measured over eighty: see the nightly test."""
    makers = (corpus.tool_deck, corpus.library_deck, corpus.tool_book, corpus.library_book)
    slides, cells = shares([make(tmp_path, 5 + number) for number, make in enumerate(makers)], tmp_path / "pdf")
    assert slides >= 0.9
    assert cells >= 0.9


@pytest.mark.office
@pytest.mark.night
def test_words_of_eighty_files_lie_where_libreoffice_has_them(tmp_path: Path) -> None:
    slides, cells = shares(corpus.write_all(tmp_path), tmp_path / "pdf")
    assert slides >= 0.95
    assert cells >= 0.95
