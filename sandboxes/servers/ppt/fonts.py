"""Font files in the TrueType container (sfnt): what they are, a subset for a text, and whether they suit a talk.

Every offset in a font file may be a lie: whatever points outside the file ends in `FontError`, never in a
wrong read. A subset keeps glyph numbers and drops outlines, so that no other table has to be rewritten.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePosixPath

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt.arguments import choice
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.registry import failure, tool
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import SoftError

MAX_CODES = 0x110000
"""Entries of a character map: there are no more code points."""

_KEPT = ("OS/2", "cmap", "cvt ", "fpgm", "gasp", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "name", "post", "prep")
"""Tables of a subset: those that draw plain text. Ligatures and kerning would point to glyphs that are gone."""

_PIECE = 64 * 1024
_MAGIC = 0xB1B0AFBA
_COMPOSITE_MORE = 0x20
_COMPOSITE_WORDS = 0x1
_COMPOSITE_SCALES = ((0x8, 2), (0x40, 4), (0x80, 8))


class FontError(Exception):
    """The file is not a font this module can read."""


@dataclass(frozen=True)
class FontFile:
    """A font file taken apart."""

    version: bytes
    tables: dict[str, bytes]

    @classmethod
    def parse(cls, data: bytes) -> "FontFile":
        """Read the table directory; of a collection, that of the first font."""
        start = 0
        if data[:4] == b"ttcf":
            (start,) = _unpack(">L", data, 12)
        version = data[start : start + 4]
        if version not in (b"\x00\x01\x00\x00", b"true", b"OTTO"):
            raise FontError("it is neither TrueType nor OpenType")
        (count,) = _unpack(">H", data, start + 4)
        tables = {}
        for number in range(count):
            entry = start + 12 + 16 * number
            _, offset, length = _unpack(">LLL", data, entry + 4)
            if offset + length > len(data):
                raise FontError("a table lies outside the file")
            tables[data[entry : entry + 4].decode("latin-1")] = data[offset : offset + length]
        return cls(version, tables)

    def table(self, tag: str) -> bytes:
        """A table that must be there."""
        if tag not in self.tables:
            raise FontError(f"it has no {tag.strip()!r} table")
        return self.tables[tag]

    @property
    def glyph_count(self) -> int:
        """How many glyphs there are."""
        count: int = _unpack(">H", self.table("maxp"), 4)[0]
        return count

    @property
    def weight(self) -> int:
        """100 to 900; 400 is regular."""
        table = self.tables.get("OS/2", b"")
        return int(_unpack(">H", table, 4)[0]) if len(table) >= 6 else 400

    @property
    def monospaced(self) -> bool:
        """Whether all characters are equally wide."""
        table = self.tables.get("post", b"")
        return len(table) >= 16 and _unpack(">L", table, 12)[0] != 0

    def name(self, *identifiers: int) -> str | None:
        """The first of some names that the font has, such as 1 for the family or 2 for the style."""
        table = self.table("name")
        _, count, base = _unpack(">HHH", table, 0)
        found: dict[int, str] = {}
        for number in range(count):
            platform, _, _, identifier, length, offset = _unpack(">HHHHHH", table, 6 + 12 * number)
            raw = table[base + offset : base + offset + length]
            text = raw.decode("mac-roman" if platform == 1 else "utf-16-be", "replace").strip("\x00 ")
            if text and (identifier not in found or platform == 3):
                found.setdefault(identifier, text)
        return next((found[identifier] for identifier in identifiers if identifier in found), None)

    def characters(self) -> dict[int, int]:
        """Code points and the glyphs that show them."""
        table = self.table("cmap")
        _, count = _unpack(">HH", table, 0)
        records = [_unpack(">HHL", table, 4 + 8 * number) for number in range(count)]
        for platform, encoding in ((3, 10), (0, 6), (0, 4), (3, 1), (0, 3), (0, 2), (0, 1), (0, 0), (3, 0)):
            for record in records:
                if record[:2] == (platform, encoding):
                    return _read_cmap(table[record[2] :], self.glyph_count)
        raise FontError("it has no Unicode character map")

    def subset(self, characters: Iterable[int]) -> bytes:
        """A font file that shows these characters and no others; raises when it has none of them."""
        if "glyf" not in self.tables:
            raise FontError("its outlines are PostScript (CFF): only TrueType outlines can be cut down")
        known = self.characters()
        mapping = {code: known[code] for code in sorted(set(characters)) if code in known}
        if not mapping:
            raise FontError("it has none of the characters asked for")
        glyphs = self._outlines()
        kept = _with_parts({0, *mapping.values()}, glyphs)
        glyf, loca = _join(glyphs, kept)
        head = bytearray(self.table("head"))
        head[50:52] = struct.pack(">H", 1)
        changed = {
            "glyf": glyf,
            "loca": loca,
            "head": bytes(head),
            "cmap": _write_cmap(mapping),
            "post": struct.pack(">L", 0x30000) + self.tables.get("post", b"")[4:32].ljust(28, b"\0"),
        }
        tables = {tag: changed.get(tag, content) for tag, content in self.tables.items() if tag in _KEPT}
        return _assemble({**tables, **changed})

    def _outlines(self) -> list[bytes]:
        glyf, loca, count = self.table("glyf"), self.table("loca"), self.glyph_count
        (long,) = _unpack(">h", self.table("head"), 50)
        offsets = _unpack(f">{count + 1}L", loca, 0) if long else [2 * x for x in _unpack(f">{count + 1}H", loca, 0)]
        if any(first > second for first, second in pairwise(offsets)) or offsets[-1] > len(glyf):
            raise FontError("its outlines lie outside their table")
        return [glyf[first:second] for first, second in pairwise(offsets)]


def _unpack(layout: str, data: bytes, offset: int) -> tuple[int, ...]:
    try:
        return struct.unpack_from(layout, data, offset)
    except struct.error as error:
        raise FontError("it ends too early") from error


def _read_cmap(table: bytes, glyph_count: int) -> dict[int, int]:
    (kind,) = _unpack(">H", table, 0)
    if kind == 4:
        found = _read_cmap_4(table)
    elif kind == 12:
        found = _read_cmap_12(table)
    else:
        raise FontError(f"its character map has format {kind}; only 4 and 12 are known")
    return {code: glyph for code, glyph in found.items() if 0 < glyph < glyph_count}


def _read_cmap_4(table: bytes) -> dict[int, int]:
    (double,) = _unpack(">H", table, 6)
    count = double // 2
    ends = _unpack(f">{count}H", table, 14)
    starts = _unpack(f">{count}H", table, 16 + double)
    deltas = _unpack(f">{count}H", table, 16 + 2 * double)
    base = 16 + 3 * double
    shifts = _unpack(f">{count}H", table, base)
    _check_codes(end - start for start, end in zip(starts, ends, strict=True))
    found: dict[int, int] = {}
    for number, (start, end, delta, shift) in enumerate(zip(starts, ends, deltas, shifts, strict=True)):
        for code in range(start, min(end, 0xFFFE) + 1):
            glyph = code
            if shift:
                (glyph,) = _unpack(">H", table, base + 2 * number + shift + 2 * (code - start))
                if not glyph:
                    continue
            found[code] = (glyph + delta) & 0xFFFF
    return found


def _read_cmap_12(table: bytes) -> dict[int, int]:
    (count,) = _unpack(">L", table, 12)
    groups = [_unpack(">LLL", table, 16 + 12 * number) for number in range(min(count, MAX_CODES))]
    _check_codes(end - start for start, end, _ in groups)
    return {code: glyph + code - start for start, end, glyph in groups for code in range(start, end + 1)}


def _check_codes(spans: Iterable[int]) -> None:
    if sum(max(span, 0) + 1 for span in spans) > MAX_CODES:
        raise FontError("its character map names more characters than there are")


def _with_parts(wanted: set[int], glyphs: list[bytes]) -> set[int]:
    """The glyphs and all those they are put together from."""
    kept: set[int] = set()
    open_ = list(wanted)
    while open_:
        number = open_.pop()
        if number in kept or number >= len(glyphs):
            continue
        kept.add(number)
        open_ += _components(glyphs[number])
    return kept


def _components(outline: bytes) -> list[int]:
    if not outline or _unpack(">h", outline, 0)[0] >= 0:
        return []
    found, offset, flags = [], 10, _COMPOSITE_MORE
    while flags & _COMPOSITE_MORE:
        flags, glyph = _unpack(">HH", outline, offset)
        found.append(glyph)
        offset += 8 if flags & _COMPOSITE_WORDS else 6
        offset += next((size for bit, size in _COMPOSITE_SCALES if flags & bit), 0)
    return found


def _join(glyphs: list[bytes], kept: set[int]) -> tuple[bytes, bytes]:
    parts, offsets, place = [], [0], 0
    for number, outline in enumerate(glyphs):
        if number in kept:
            parts.append(_padded(outline))
            place += len(parts[-1])
        offsets.append(place)
    return b"".join(parts), struct.pack(f">{len(offsets)}L", *offsets)


def _write_cmap(mapping: dict[int, int]) -> bytes:
    groups = b"".join(struct.pack(">LLL", code, code, glyph) for code, glyph in mapping.items())
    full = struct.pack(">HHLLL", 12, 0, 16 + len(groups), 0, len(mapping)) + groups
    basic = _write_cmap_4([(code, glyph) for code, glyph in mapping.items() if code < 0xFFFF][:8000])
    header = struct.pack(">HH", 0, 2)
    header += struct.pack(">HHL", 3, 1, 20) + struct.pack(">HHL", 3, 10, 20 + len(basic))
    return header + basic + full


def _write_cmap_4(pairs: list[tuple[int, int]]) -> bytes:
    segments = [*((code, (glyph - code) & 0xFFFF) for code, glyph in pairs), (0xFFFF, 1)]
    count = len(segments)
    power = 1 << (count.bit_length() - 1)
    head = struct.pack(">HHHH", 2 * count, 2 * power, power.bit_length() - 1, 2 * (count - power))
    codes = struct.pack(f">{count}H", *(code for code, _ in segments))
    deltas = struct.pack(f">{count}H", *(delta for _, delta in segments))
    body = head + codes + b"\0\0" + codes + deltas + b"\0\0" * count
    return struct.pack(">HHH", 4, 6 + len(body), 0) + body


def _assemble(tables: dict[str, bytes]) -> bytes:
    count = len(tables)
    power = 1 << (count.bit_length() - 1)
    directory = struct.pack(">LHHHH", 0x10000, count, 16 * power, power.bit_length() - 1, 16 * (count - power))
    head = bytearray(tables["head"])
    head[8:12] = b"\0\0\0\0"
    tables = {**tables, "head": bytes(head)}
    body, place = [], 12 + 16 * count
    for tag in sorted(tables):
        content = tables[tag]
        directory += struct.pack(">4sLLL", tag.encode("latin-1"), _checksum(content), place, len(content))
        body.append(_padded(content))
        place += len(body[-1])
    font = bytearray(directory + b"".join(body))
    position = font.index(b"head", 12)
    (start,) = struct.unpack_from(">L", font, position + 8)
    font[start + 8 : start + 12] = struct.pack(">L", (_MAGIC - _checksum(bytes(font))) & 0xFFFFFFFF)
    return bytes(font)


def _padded(content: bytes) -> bytes:
    return content + b"\0" * (-len(content) % 4)


def _checksum(content: bytes) -> int:
    padded = _padded(content)
    pieces = (padded[start : start + _PIECE] for start in range(0, len(padded), _PIECE))
    return sum(sum(struct.unpack(f">{len(piece) // 4}L", piece)) for piece in pieces) & 0xFFFFFFFF


WRONG_OPERATION = "Invalid operation: {value}. Must be 'analyze', 'optimize', or 'recommend'"
LATIN = [*range(0x20, 0x7F), *range(0xA0, 0x100), *range(0x2010, 0x2027), 0x20AC, 0x2122]
"""What a subset keeps when no text is given: Latin-1, typographic quotes and dashes, euro, trade mark."""

ADVICE = {
    "business": {"heading": 32, "body": 20, "partners": ["Calibri", "Arial"], "tone": "sober"},
    "creative": {"heading": 40, "body": 22, "partners": ["Georgia", "Verdana"], "tone": "expressive"},
    "academic": {"heading": 30, "body": 18, "partners": ["Times New Roman", "Cambria"], "tone": "dense but legible"},
}


@tool
def manage_fonts(
    context: Context,
    operation: str,
    font_path: str,
    output_path: str | None = None,
    presentation_type: str = "business",
    text_content: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, ("analyze", "optimize", "recommend"), WRONG_OPERATION)
    workspace = context.workspace
    if not workspace.resolve(font_path).is_file():
        raise _failed(font_path, f"Font file not found: {font_path}")
    data = workspace.existing(font_path).read_bytes()
    try:
        font = FontFile.parse(data)
        analysis = _analysis(font, font_path, len(data))
        if wanted == "analyze":
            return analysis
        if wanted == "recommend":
            kind = choice("presentation_type", presentation_type, ADVICE)
            return {
                "font_analysis": analysis,
                "presentation_type": kind,
                "recommendations": _recommendations(font, kind),
            }
        target = output_path or _free_name(workspace, font_path)
        smaller = font.subset(LATIN if text_content is None else map(ord, text_content))
    except FontError as error:
        raise _failed(font_path, f"{font_path} cannot be used as a font: {error}") from error
    with workspace.writing(target) as draft:
        draft.write_bytes(smaller)
    return {
        "message": f"Font optimized: {len(data)} to {len(smaller)} bytes",
        "original_path": font_path,
        "optimized_path": target,
    }


def _analysis(font: FontFile, path: str, size: int) -> dict[str, object]:
    return {
        "file_path": path,
        "font_family": font.name(16, 1) or "Unknown",
        "font_style": font.name(17, 2) or "Unknown",
        "num_glyphs": font.glyph_count,
        "file_size": size,
        "analysis_success": True,
    }


def _recommendations(font: FontFile, kind: str) -> dict[str, object]:
    advice = ADVICE[kind]
    cautions = []
    if font.monospaced:
        cautions.append("All characters are equally wide: good for code, tiring in running text")
    if font.weight < 300:
        cautions.append("The strokes are thin: on a projector they fade, use it for large titles only")
    if font.weight > 700:
        cautions.append("The strokes are heavy: use it for titles, not for body text")
    missing = [code for code in range(0x21, 0x7F) if code not in font.characters()]
    if missing:
        cautions.append(f"{len(missing)} of the basic Latin characters are missing")
    return {
        "suitability": "limited" if cautions else "good",
        "cautions": cautions,
        "tone": advice["tone"],
        "suggested_heading_size": advice["heading"],
        "suggested_body_size": advice["body"],
        "pairs_well_with": advice["partners"],
    }


def _free_name(workspace: Workspace, source: str) -> str:
    path = PurePosixPath(source)
    target, count = path.with_name(f"{path.stem}_optimized.ttf"), 0
    while workspace.resolve(str(target)).exists():
        count += 1
        target = path.with_name(f"{path.stem}_optimized-{count}.ttf")
    return str(target)


def _failed(path: str, message: str) -> SoftError:
    return failure(message, file_path=path, analysis_success=False)
