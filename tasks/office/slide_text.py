"""The text of shapes on slides: what a run looks like by its own words, its shape, layout, master and theme."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

from m3bench.tasks.office import typeset
from m3bench.tasks.office.colours import A, OfficeTheme
from m3bench.tasks.office.marks import BLACK, Box, Colour, Typeface
from m3bench.tasks.office.typeset import TextBlock

EMU = 9525
"""Of a pixel."""
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
POINT = 4 / 3
_INSETS = {"lIns": 91440, "tIns": 45720, "rIns": 91440, "bIns": 45720}
_ROUNDS = 10


@dataclass(frozen=True, kw_only=True)
class Style:
    """Where the looks of a text are looked up, from its own to the file's."""

    theme: OfficeTheme
    lists: tuple[Any, ...]
    """Elements with `lvl1pPr` and so on."""
    bodies: tuple[Any, ...] = ()
    """Elements `bodyPr`."""
    colour: Colour | None = None
    """What the shape's own style says, before the file's defaults."""
    bold: bool | None = None
    family: str | None = None

    def body(self, name: str, otherwise: str) -> str:
        """An attribute of the text's box."""
        return next((str(node.get(name)) for node in self.bodies if node.get(name) is not None), otherwise)

    def insets(self) -> Box:
        """The margins of the text's box, in pixels."""
        left, top, right, bottom = (int(self.body(name, str(usual))) / EMU for name, usual in _INSETS.items())
        return left, top, right, bottom

    def fit(self) -> Any:
        """How the text is made to fit by its own words, or None: LibreOffice does not ask the layout."""
        for body in self.bodies[:1]:
            for name in ("normAutofit", "spAutoFit", "noAutofit"):
                found = body.find(f"{A}{name}")
                if found is not None:
                    return found
        return None


def paragraphs(body: Any, style: Style) -> list[TextBlock]:
    """The paragraphs of an element with text."""
    numbers: dict[int, int] = {}
    return [_paragraph(paragraph, style, numbers) for paragraph in body.iterfind(f"{A}p")]


def fitted(text: Sequence[TextBlock], style: Style, box: Box) -> list[TextBlock]:
    """A text whose letters are made smaller where its box says so, as LibreOffice does."""
    fit = style.fit()
    if fit is None or not fit.tag.endswith("normAutofit"):
        return list(text)
    scale, best, seen = 1.0, 0.0, set()
    if fit.get("fontScale"):
        scale = int(str(fit.get("fontScale")).rstrip("%")) / (100_000 if "%" not in fit.get("fontScale") else 100)
    wide, high = box[2] - box[0], max(1.0, box[3] - box[1])
    for _ in range(_ROUNDS):
        tall = typeset.height(_scaled(text, scale), wide)
        factor = sqrt(high / tall) if tall else 1.0
        if factor >= 0.98:
            best = max(best, scale)
        elif scale in seen:
            break
        else:
            seen.add(scale)
        if factor < 1.0 or scale != 1.0:
            scale = int(min(100.0, max(1.0, 100 * scale * factor))) / 100
    return _scaled(text, min(1.0, best) or scale)


def _scaled(text: Sequence[TextBlock], scale: float) -> list[TextBlock]:
    return typeset.shrunk(text, scale, 1.0 if scale == 1 else scale) if scale != 1 else list(text)


def _paragraph(one: Any, style: Style, numbers: dict[int, int]) -> TextBlock:
    own = one.find(f"{A}pPr")
    level = int(own.get("lvl", "0")) if own is not None else 0
    chain = [own] if own is not None else []
    chain += [found for place in style.lists if (found := place.find(f"{A}lvl{level + 1}pPr")) is not None]
    runs = tuple(_runs(one, chain, style))
    end = _face(one.find(f"{A}endParaRPr"), chain, style)
    tallest = max((face for _, face in runs), key=lambda face: face.size, default=end)
    bullet, bullet_face = _bullet(chain, runs[0][1] if runs else end, style, numbers, level)
    spacing = _spacing(chain, "lnSpc", 1.0)
    return TextBlock(
        runs=runs,
        end=end,
        align={"l": "l", "ctr": "ctr", "r": "r"}.get(_first(chain, "algn", "l"), "l"),
        left=int(_first(chain, "marL", "0")) / EMU,
        first=int(_first(chain, "indent", "0")) / EMU,
        bullet=bullet,
        bullet_face=bullet_face,
        before=_distance(chain, "spcBef", tallest.size),
        after=_distance(chain, "spcAft", tallest.size),
        spacing=spacing,
    )


def _runs(one: Any, chain: Sequence[Any], style: Style) -> Iterator[tuple[str, Typeface]]:
    for part in one:
        name = part.tag.removeprefix(A) if isinstance(part.tag, str) else ""
        if name in ("r", "fld", "br"):
            face = _face(part.find(f"{A}rPr"), chain, style)
            text = "\n" if name == "br" else "".join(found.text or "" for found in part.iterfind(f"{A}t"))
            properties = part.find(f"{A}rPr")
            if properties is not None and properties.get("cap") == "all":
                text = text.upper()
            if text:
                yield text.replace("\x0b", "\n"), face


def _first(chain: Sequence[Any], name: str, otherwise: str) -> str:
    return next((str(node.get(name)) for node in chain if node.get(name) is not None), otherwise)


def _face(own: Any, chain: Sequence[Any], style: Style) -> Typeface:
    defaults = [found for node in chain if (found := node.find(f"{A}defRPr")) is not None]
    looked = [own, *defaults] if own is not None else defaults

    def first(name: str) -> str | None:
        return next((node.get(name) for node in looked if node.get(name) is not None), None)

    family = next((found.get("typeface") for node in looked if (found := node.find(f"{A}latin")) is not None), None)
    size = int(first("sz") or 1800) / 100 * POINT
    if int(first("baseline") or 0):
        size *= 0.58
    bold, underlined = first("b"), first("u")
    link = own is not None and own.find(f"{A}hlinkClick") is not None
    return Typeface(
        family=style.theme.family(family or style.family or "+mn-lt"),
        size=size,
        bold=bold in ("1", "true") if bold is not None else bool(style.bold),
        italic=first("i") in ("1", "true"),
        underlined=underlined not in (None, "none") or link,
        colour=style.theme.named("hlink") if link else _ink(own, defaults, style),
    )


def _ink(own: Any, defaults: Sequence[Any], style: Style) -> Colour:
    if own is not None and (found := _filled(own, style)) is not None:
        return found
    # The shape's own style comes behind the run and before what is the same everywhere.
    if style.colour is not None:
        return style.colour
    return next((found for node in defaults if (found := _filled(node, style)) is not None), BLACK)


def _filled(one: Any, style: Style) -> Colour | None:
    for path in (f"{A}solidFill", f"{A}gradFill/{A}gsLst/{A}gs"):
        found = style.theme.of(one.find(path))
        if found is not None:
            return found[0]
    return None


def _spacing(chain: Sequence[Any], name: str, otherwise: float) -> float:
    for node in chain:
        found = node.find(f"{A}{name}")
        if found is None:
            continue
        share, points = found.find(f"{A}spcPct"), found.find(f"{A}spcPts")
        if share is not None:
            given = str(share.get("val"))
            return float(given.rstrip("%")) / (100 if "%" in given else 100_000)
        if points is not None:
            return -int(points.get("val")) / 100 * POINT
    return otherwise


def _distance(chain: Sequence[Any], name: str, size: float) -> float:
    found = _spacing(chain, name, 0.0)
    return -found if found < 0 else found * size


def _bullet(
    chain: Sequence[Any], face: Typeface, style: Style, numbers: dict[int, int], level: int
) -> tuple[str, Typeface]:
    for node in chain:
        kinds = {child.tag.removeprefix(A): child for child in node if isinstance(child.tag, str)}
        if "buNone" in kinds:
            break
        if "buChar" in kinds or "buAutoNum" in kinds:
            return _sign(kinds, numbers, level), _bullet_face(chain, face, style)
    numbers.pop(level, None)
    return "", face


def _sign(kinds: dict[str, Any], numbers: dict[int, int], level: int) -> str:
    if "buChar" in kinds:
        return str(kinds["buChar"].get("char", "•"))[:1]
    numbers[level] = numbers.get(level, int(kinds["buAutoNum"].get("startAt", "1")) - 1) + 1
    return f"{numbers[level]}."


def _bullet_face(chain: Sequence[Any], face: Typeface, style: Style) -> Typeface:
    share, colour = 1.0, face.colour
    for node in chain:
        size = node.find(f"{A}buSzPct")
        if size is not None and share == 1.0:
            share = int(str(size.get("val")).rstrip("%")) / 100_000
    for node in chain:
        found = style.theme.of(node.find(f"{A}buClr"))
        if found is not None:
            colour = found[0]
            break
    family = next(
        (found.get("typeface") for node in chain if (found := node.find(f"{A}buFont")) is not None), face.family
    )
    return replace(
        face, size=face.size * share, colour=colour, family=family, underlined=False, bold=False, italic=False
    )
