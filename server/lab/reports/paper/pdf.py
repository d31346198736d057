"""Our own drawings as PDF: vectors, and the letters of the font that the project installs, embedded.

It reads the SVG that `reports.drawing` writes (rectangles, circles, paths of straight lines, lines of text) and nothing
else. Journals ask for embedded fonts, so the font's file goes in whole; letters are named by their glyphs, so any
letter that the font has can be written, searched and copied. The same drawing gives the same bytes.
"""

import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from xml.etree.ElementTree import Element, fromstring

from m3bench.server.scorecard.pages.drawing import font_file, wide

_SVG = "{http://www.w3.org/2000/svg}"
_ROUND = 0.5523
"""How far the handles of a curve reach that is to look like a quarter of a circle."""


def pdf(svg: str) -> bytes:
    """A drawing as a page of its own size, a point for a pixel."""
    root = fromstring(svg)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    used: dict[int, set[str]] = {}
    content = "\n".join(
        # PDF measures from below, and text would stand on its head.
        [
            f"1 0 0 -1 0 {height:g} cm",
            "1 J 1 j",
            *(line for shape in root for line in _draw(shape, width, height, used)),
        ]
    )
    weights = sorted(used)
    fonts = [_font(weight, used[weight], 5 + 5 * place) for place, weight in enumerate(weights)]
    named = " ".join(f"/F{weight} {5 + 5 * place} 0 R" for place, weight in enumerate(weights))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width:g} {height:g}] /Contents 4 0 R "
        f"/Resources << /Font << {named} >> >> >>".encode(),
        _stream(content.encode()),
        *(part for font in fonts for part in font),
    ]
    return _file(objects)


def _draw(shape: Element, width: float, height: float, used: dict[int, set[str]]) -> Iterator[str]:
    match shape.tag.removeprefix(_SVG):
        case "rect":
            whole = shape.get("width") == "100%"
            size = (width, height) if whole else (float(shape.get("width", "0")), float(shape.get("height", "0")))
            yield f"{_colour(shape.get('fill', '#000000'))} rg"
            yield f"{float(shape.get('x', '0')):g} {float(shape.get('y', '0')):g} {size[0]:g} {size[1]:g} re f"
        case "circle":
            x, y, r = (float(shape.get(name, "0")) for name in ("cx", "cy", "r"))
            h = r * _ROUND
            yield f"{_colour(shape.get('fill', '#000000'))} rg {x + r:g} {y:g} m"
            for a, b, c, d, e, f in (
                (r, h, h, r, 0, r), (-h, r, -r, h, -r, 0), (-r, -h, -h, -r, 0, -r), (h, -r, r, -h, r, 0)
            ):  # fmt: skip
                yield f"{x + a:g} {y + b:g} {x + c:g} {y + d:g} {x + e:g} {y + f:g} c"
            yield "f"
        case "path":
            yield f"{_colour(shape.get('stroke', '#000000'))} RG {float(shape.get('stroke-width', '1')):g} w"
            yield f"[{shape.get('stroke-dasharray', '').replace(',', ' ')}] 0 d"
            yield from _path(shape.get("d", ""))
            yield "S"
        case "text":
            yield from _text(shape, used)
        case other:
            raise ValueError(f"a drawing has no {other}")


def _path(path: str) -> Iterator[str]:
    x = y = 0.0
    for step, given in re.findall(r"([MLHVhv])([^MLHVhv]*)", path):
        numbers = [float(part) for part in re.findall(r"-?\d+(?:\.\d+)?", given)]
        match step:
            case "M" | "L":
                x, y = numbers
            case "H":
                x = numbers[0]
            case "V":
                y = numbers[0]
            case "h":
                x += numbers[0]
            case "v":
                y += numbers[0]
        yield f"{x:g} {y:g} {'m' if step == 'M' else 'l'}"


def _text(shape: Element, used: dict[int, set[str]]) -> Iterator[str]:
    said, size, weight = shape.text or "", float(shape.get("font-size", "12")), int(shape.get("font-weight", "400"))
    glyphs = _outlines(weight).glyphs
    said = "".join(letter for letter in said if ord(letter) in glyphs)
    if not said:
        return
    used.setdefault(weight, set()).update(said)
    x, y = float(shape.get("x", "0")), float(shape.get("y", "0"))
    length = wide(said, size, 700 if weight == 700 else 400)
    x -= {"start": 0.0, "middle": length / 2, "end": length}[shape.get("text-anchor", "start")]
    shown = "".join(f"{glyphs[ord(letter)]:04x}" for letter in said)
    yield f"{_colour(shape.get('fill', '#000000'))} rg"
    yield f"BT /F{weight} {size:g} Tf 1 0 0 -1 {x:.2f} {y:.2f} Tm <{shown}> Tj ET"


def _colour(name: str) -> str:
    return " ".join(f"{int(name[at : at + 2], 16) / 255:.3f}" for at in (1, 3, 5))


@dataclass(frozen=True, kw_only=True)
class _Outlines:
    """What a PDF needs of a font."""

    data: bytes
    glyphs: Mapping[int, int]
    """The glyph of each letter."""
    widths: tuple[int, ...]
    """Of each glyph, in thousandths of the size."""
    box: tuple[int, ...]
    ascent: int
    descent: int


@cache
def _outlines(weight: int) -> _Outlines:
    data = font_file(700 if weight == 700 else 400).read_bytes()
    tables = {}
    for at in range(12, 12 + 16 * struct.unpack(">H", data[4:6])[0], 16):
        name, _, start, size = struct.unpack(">4sIII", data[at : at + 16])
        tables[name.decode()] = data[start : start + size]
    unit: int = struct.unpack(">H", tables["head"][18:20])[0]

    def scaled(value: int) -> int:
        return round(value * 1000 / unit)

    ascent, descent = struct.unpack(">hh", tables["hhea"][4:8])
    count = struct.unpack(">H", tables["hhea"][34:36])[0]
    return _Outlines(
        data=data,
        glyphs=_glyphs(tables["cmap"]),
        widths=tuple(scaled(struct.unpack(">H", tables["hmtx"][4 * at : 4 * at + 2])[0]) for at in range(count)),
        box=tuple(map(scaled, struct.unpack(">4h", tables["head"][36:44]))),
        ascent=scaled(ascent),
        descent=scaled(descent),
    )


def _glyphs(table: bytes) -> dict[int, int]:
    """The glyph of each code point, from a `cmap` subtable of format 12: ranges with the first glyph of each."""
    for at in range(4, 4 + 8 * struct.unpack(">H", table[2:4])[0], 8):
        start = struct.unpack(">I", table[at + 4 : at + 8])[0]
        if struct.unpack(">H", table[start : start + 2])[0] == 12:
            count = struct.unpack(">I", table[start + 12 : start + 16])[0]
            ranges = struct.iter_unpack(">III", table[start + 16 : start + 16 + 12 * count])
            return {low + step: glyph + step for low, high, glyph in ranges for step in range(high - low + 1)}
    raise ValueError("the font has no list of all its letters")


def _font(weight: int, letters: set[str], place: int) -> list[bytes]:
    """The five objects of a font, the first of them at a place in the file."""
    found = _outlines(weight)
    name = f"SourceSansPro-{'Bold' if weight == 700 else 'Regular'}"
    pairs = sorted({(found.glyphs[ord(letter)], letter) for letter in letters})
    widths = " ".join(f"{glyph} [{found.widths[min(glyph, len(found.widths) - 1)]}]" for glyph, _ in pairs)
    named = [f"<{glyph:04x}> <{letter.encode('utf-16-be').hex()}>" for glyph, letter in pairs]
    # A block of names has at most a hundred.
    blocks = (named[at : at + 100] for at in range(0, len(named), 100))
    known = "\n".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar" for block in blocks)
    unicode = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def "
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{known}\nendcmap end end"
    )
    return [
        f"<< /Type /Font /Subtype /Type0 /BaseFont /{name} /Encoding /Identity-H "
        f"/DescendantFonts [{place + 1} 0 R] /ToUnicode {place + 4} 0 R >>".encode(),
        f"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /{name} /CIDToGIDMap /Identity /DW 500 /W [{widths}] "
        f"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> "
        f"/FontDescriptor {place + 2} 0 R >>".encode(),
        f"<< /Type /FontDescriptor /FontName /{name} /Flags 4 /ItalicAngle 0 /Ascent {found.ascent} "
        f"/Descent {found.descent} /CapHeight 660 /StemV {140 if weight == 700 else 84} "
        f"/FontBBox [{' '.join(map(str, found.box))}] /FontFile2 {place + 3} 0 R >>".encode(),
        _stream(found.data, f"/Length1 {len(found.data)} "),
        _stream(unicode.encode()),
    ]


def _stream(data: bytes, more: str = "") -> bytes:
    packed = zlib.compress(data, 9)
    head = f"<< /Length {len(packed)} {more}/Filter /FlateDecode >>\nstream\n"
    return head.encode() + packed + b"\nendstream"


def _file(objects: list[bytes]) -> bytes:
    out = bytearray(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    out += b"".join(f"{place:010d} 00000 n \n".encode() for place in places)
    out += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(out)
