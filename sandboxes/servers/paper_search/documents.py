"""PDF files: written here without any library and always the same bytes, read back by one that reads others' too.

Pages are letters on white in two standard fonts. No dates or ids go into a file, so a paper downloaded twice is the
same file twice.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from pypdf import PdfReader
from pypdf.errors import PyPdfError

from m3bench.sandboxes.world.papers import Paper, by_id
from m3bench.tasks.errors import LimitError, ToolError

WIDTH, HEIGHT, MARGIN = 612, 792, 72
MOST_PAGES = 400

_REGULAR, _BOLD = "F1", "F2"
_LEADING = 1.35
_NARROW = frozenset("fijlrtI.,:;!'|()[]/-")
_WIDE = frozenset("mwMW@%&—")

Line = tuple[str, str, float]
"""Font, text, size; an empty text is a gap."""


def render(paper: Paper) -> bytes:
    """A paper as a PDF file."""
    return _file(_pages(_lines(paper)), paper.title)


def read(path: Path, most: int) -> list[str]:
    """The text of each page; raises `ToolError` when the file is no PDF that can be read.

    Args:
        path: A file that may come from anywhere.
        most: Characters of text after which it is too much.
    """
    try:
        reader = PdfReader(path)
        if len(reader.pages) > MOST_PAGES:
            raise LimitError(f"the PDF has {len(reader.pages)} pages, more than the {MOST_PAGES} allowed")
        pages: list[str] = []
        for page in reader.pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > most:
                raise LimitError(f"the PDF has more than the {most} characters allowed")
        return pages
    except (PyPdfError, OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ToolError(f"{path.name} is not a PDF that can be read") from error


def _lines(paper: Paper) -> Iterator[Line]:
    yield from _wrapped(_BOLD, paper.title, 16)
    yield _REGULAR, "", 6
    yield from _wrapped(_REGULAR, ", ".join(paper.authors), 11)
    yield from _wrapped(_REGULAR, f"{paper.venue}, {paper.published:%d %B %Y}. {paper.doi or paper.versioned}", 9)
    for heading, text in (*([("Abstract", paper.abstract)] if paper.abstract else []), *paper.sections):
        yield _REGULAR, "", 8
        yield from _wrapped(_BOLD, heading, 12)
        for paragraph in text.split("\n"):
            yield from _wrapped(_REGULAR, paragraph, 10.5)
            yield _REGULAR, "", 3
    if paper.references:
        yield _REGULAR, "", 8
        yield from _wrapped(_BOLD, "References", 12)
        for number, key in enumerate(paper.references, 1):
            cited = by_id()[key]
            names = cited.authors[0] + (" et al." if len(cited.authors) > 1 else ".")
            yield from _wrapped(
                _REGULAR, f"[{number}] {names} {cited.title}. {cited.venue}, {cited.published.year}.", 9
            )


def _wrapped(font: str, text: str, size: float) -> Iterator[Line]:
    room = WIDTH - 2 * MARGIN
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if line and _length(longer) * size > room:
            yield font, line, size
            line = word
        else:
            line = longer
    yield font, line, size


def _length(text: str) -> float:
    """About how long a text is, in its font's size; a little too much rather than too little."""
    return sum(0.31 if char in _NARROW else 0.28 if char == " " else 0.92 if char in _WIDE else 0.58 for char in text)


def _pages(lines: Iterable[Line]) -> list[list[tuple[float, Line]]]:
    """The lines with their heights on each page."""
    pages: list[list[tuple[float, Line]]] = [[]]
    y = float(HEIGHT - MARGIN)
    for line in lines:
        y -= line[2] * _LEADING
        if y < MARGIN:
            pages.append([])
            y = HEIGHT - MARGIN - line[2] * _LEADING
        if line[1]:
            pages[-1].append((y, line))
    return pages


def _file(pages: list[list[tuple[float, Line]]], title: str) -> bytes:
    first_page = 6
    kids = " ".join(f"{first_page + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        b"<< /Title " + _string(title) + b" /Producer (m3bench) >>",
    ]
    for number, page in enumerate(pages):
        content = b"\n".join(
            b"BT /%s %g Tf 1 0 0 1 %d %.2f Tm " % (font.encode(), size, MARGIN, y) + _string(text) + b" Tj ET"
            for y, (font, text, size) in page
        )
        content_number = first_page + 2 * number + 1
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {WIDTH} {HEIGHT}] /Contents {content_number} 0 R "
            f"/Resources << /Font << /{_REGULAR} 3 0 R /{_BOLD} 4 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n" % len(content) + content + b"\nendstream")
    data = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    places: list[int] = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        data
        + b"xref\n0 %d\n0000000000 65535 f \n" % size
        + table
        + b"trailer\n<< /Size %d /Root 1 0 R /Info 5 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(data))
    )


def _string(text: str) -> bytes:
    """A text in the fonts' encoding; letters they lack become question marks."""
    data = text.encode("cp1252", "replace")
    return b"(" + data.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)") + b")"
