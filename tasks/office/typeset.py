"""Text broken into lines in a box, word by word, as LibreOffice breaks and places it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from m3bench.tasks.office import faces
from m3bench.tasks.office.marks import Box, Typeface, Word

_PIECE = re.compile(r"[^\s-]+-?|-|[^\S\n]+|\n")
_ROUNDED = 1.005
"""LibreOffice rounds the height of a line up."""
TAB = 96.0
"""Pixels from one tabulator to the next."""


@dataclass(frozen=True, kw_only=True)
class TextBlock:
    """Text between two breaks."""

    runs: tuple[tuple[str, Typeface], ...]
    """Pieces of text; a line break is `\\n`."""
    end: Typeface
    """How high an empty paragraph is."""
    align: str = "l"
    left: float = 0.0
    first: float = 0.0
    """How much further right its first line begins."""
    bullet: str = ""
    bullet_face: Typeface = field(default_factory=Typeface)
    before: float = 0.0
    after: float = 0.0
    spacing: float = 1.0
    """Of lines, as a share; when below 0, the pixels from one line to the next."""
    by_font: bool = False
    """Whether lines are as high as the font says, as in cells; in shapes every font's are alike."""


@dataclass(frozen=True, kw_only=True)
class _Bit:
    text: str
    face: Typeface
    x: float
    width: float


@dataclass(kw_only=True)
class _Line:
    bits: list[_Bit]
    height: float
    ascent: float
    left: float
    width: float
    above: float = 0.0
    below: float = 0.0
    align: str = "l"
    bullet: _Bit | None = None


def placed(
    paragraphs: Sequence[TextBlock], box: Box, anchor: str, owner: str, *, wrap: bool = True, around: bool = False
) -> list[Word]:
    """The words of a text in a box.

    Args:
        paragraphs: The text.
        box: The room inside of the margins.
        anchor: `t`, `ctr` or `b`.
        owner: What the words belong to.
        wrap: Whether lines end at the box.
        around: Whether a text that is not broken grows to both sides of the box, wherever its lines begin.
    """
    left, top, right, bottom = box
    room = right - left
    lines = _lines(paragraphs, room if wrap else None)
    high = _height(lines)
    if not wrap:
        # A text that is not wrapped stands around its place, not beside it.
        widest = max((line.left + line.width for line in lines), default=0.0)
        first = lines[0].align if lines else "l"
        middle = (room - widest) / 2
        left += {"l": middle if around else 0.0, "ctr": middle, "r": middle if around else room - widest}.get(
            first, 0.0
        )
        room = widest
    y = {"ctr": top + (bottom - top - high) / 2, "b": bottom - high}.get(anchor, top)
    found: list[Word] = []
    for number, line in enumerate(lines):
        y += line.above if number else 0.0
        free = room - line.left - line.width
        shift = left + line.left + {"ctr": free / 2, "r": free}.get(line.align, 0.0)
        found += _words(line, shift, y + line.ascent, owner)
        y += line.height + line.below
    return found


def height(paragraphs: Sequence[TextBlock], room: float | None) -> float:
    """How high a text is in a box of a width."""
    return _height(_lines(paragraphs, room))


def widest(paragraphs: Sequence[TextBlock]) -> float:
    """The width of the longest line that is not broken."""
    return max((line.left + line.width for line in _lines(paragraphs, None)), default=0.0)


def shrunk(paragraphs: Sequence[TextBlock], scale: float, spacing: float = 1.0) -> list[TextBlock]:
    """The same text in smaller letters."""
    return [
        replace(
            block,
            runs=tuple((text, replace(face, size=face.size * scale)) for text, face in block.runs),
            end=replace(block.end, size=block.end.size * scale),
            bullet_face=replace(block.bullet_face, size=block.bullet_face.size * scale),
            before=block.before * spacing,
            after=block.after * spacing,
            left=block.left * scale,
            first=block.first * scale,
        )
        for block in paragraphs
    ]


def _height(lines: Sequence[_Line]) -> float:
    return sum(line.height + line.below + (line.above if number else 0.0) for number, line in enumerate(lines))


def _words(line: _Line, shift: float, base: float, owner: str) -> Iterator[Word]:
    bits = [replace(bit, x=bit.x + shift) for bit in line.bits]
    if line.bullet is not None:
        bits.insert(0, replace(line.bullet, x=line.bullet.x + shift - line.left))
    joined: list[_Bit] = []
    for bit in bits:
        if not bit.text.strip():
            continue
        last = joined[-1] if joined else None
        if (
            last is not None
            and last.face == bit.face
            and abs(last.x + last.width - bit.x) < 0.01
            and last.text[-1:] != "•"
        ):
            joined[-1] = replace(last, text=last.text + bit.text, width=bit.x + bit.width - last.x)
        else:
            joined.append(bit)
    for bit in joined:
        yield Word(text=bit.text, x=bit.x, y=base, width=bit.width, face=bit.face, owner=owner)


def _lines(paragraphs: Sequence[TextBlock], room: float | None) -> list[_Line]:
    found: list[_Line] = []
    for block in paragraphs:
        lines = list(_broken(block, room))
        lines[0].above, lines[-1].below = block.before, block.after
        found += lines
    for number, line in enumerate(found):
        # What is above the first line of all is left out; spacing below one changes the first line as well.
        line.above = line.above if number else 0.0
    return found


def _broken(one: TextBlock, room: float | None) -> Iterator[_Line]:
    start, x = one.left + one.first, 0.0
    bits: list[_Bit] = []
    first = True

    def line(last: bool = False) -> _Line:
        nonlocal first
        made = _line(one, bits, start if first else one.left, first)
        if last and bits:
            # Spaces at the end of a paragraph count, those where a line is broken do not.
            made.width = bits[-1].x + bits[-1].width
        first = False
        return made

    indent = start
    if one.bullet:
        indent = max(start + faces.width(one.bullet, one.bullet_face), one.left)
        start = indent
    for text, face in one.runs:
        for piece in _PIECE.findall(text):
            if piece == "\n":
                yield line(last=True)
                bits, x = [], 0.0
                continue
            piece = piece.replace("\xa0", " ") if piece.strip() else piece
            wide = TAB - x % TAB if "\t" in piece else faces.width(piece, face)
            here = start if first else one.left
            if room is not None and bits and piece.strip() and here + x + wide > room + 0.05:
                tail = _unbroken(bits)
                moved = bits[len(bits) - tail :]
                if tail < len(bits):
                    bits = bits[: len(bits) - tail]
                    yield line()
                    shift = moved[0].x if moved else 0.0
                    bits = [replace(bit, x=bit.x - shift) for bit in moved]
                    x = sum(bit.width for bit in bits)
            if room is not None and piece.strip():
                # A word that is longer than a line is broken where the line ends.
                here = start if first else one.left
                while here + x + wide > room + 0.05 and len(piece) > 1:
                    keep = _fitting(piece, face, room - here - x)
                    if not keep:
                        break
                    bits.append(_Bit(text=piece[:keep], face=face, x=x, width=faces.width(piece[:keep], face)))
                    yield line()
                    bits, x, piece, here = [], 0.0, piece[keep:], one.left
                    wide = faces.width(piece, face)
            bits.append(_Bit(text=piece, face=face, x=x, width=wide))
            x += wide
    yield line(last=True)


def _unbroken(bits: Sequence[_Bit]) -> int:
    """How many bits at the end belong to the word that goes on."""
    count = 0
    for bit in reversed(bits):
        if not bit.text.strip() or bit.text.endswith("-"):
            break
        count += 1
    return count


def _fitting(piece: str, face: Typeface, room: float) -> int:
    keep = len(piece) - 1
    while keep > 0 and faces.width(piece[:keep], face) > room:
        keep -= 1
    return keep


def _measures(one: TextBlock, bits: Sequence[_Bit]) -> tuple[float, float]:
    """How high a line is, and where the foot of its letters is."""
    found = [bit.face for bit in bits] or [one.end]
    if not one.by_font:
        size = max(face.size for face in found)
        return size * faces.LINE, size * faces.ASCENT
    rises = [(up * _ROUNDED, line * _ROUNDED) for up, line in map(faces.rise, found)]
    ascent = max(up for up, _ in rises)
    return ascent + max(line - up for up, line in rises), ascent


def _line(one: TextBlock, bits: Sequence[_Bit], left: float, first: bool) -> _Line:
    inked = [bit for bit in bits if bit.text.strip()]
    width = inked[-1].x + inked[-1].width if inked else 0.0
    high, ascent = _measures(one, bits)
    if one.spacing < 0:
        ascent, high = -one.spacing - (high - ascent), -one.spacing
    elif one.spacing < 1:
        high *= one.spacing
        ascent = high * 0.8
    elif one.spacing > 1:
        ascent += high * (one.spacing - 1)
        high *= one.spacing
    bullet = None
    if first and one.bullet and inked:
        face = one.bullet_face
        bullet = _Bit(text=one.bullet, face=face, x=one.left + one.first, width=faces.width(one.bullet, face))
    return _Line(bits=list(bits), height=high, ascent=ascent, left=left, width=width, align=one.align, bullet=bullet)
