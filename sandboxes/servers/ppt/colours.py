"""Eight colour schemes, which text can be read on which colour, and schemes as backgrounds and themes.

A scheme names what a colour is for, so that a template says `primary` and not a number. `neon_vibrant` is the
only scheme meant for dark slides throughout.

A background is a background: no picture is laid behind the shapes, and no shape index shifts. A dark one also turns the
slide's colour mapping around, so that text without a colour of its own is light.

A theme's colours are replaced in place. Where existing slides are to keep their looks they move to a copy of their
master, as PowerPoint does when a design is applied to some slides only; layout numbers stay the same.
"""

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree
from lxml.etree import _Element
from pptx.dml.color import RGBColor
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn
from pptx.presentation import Presentation
from pptx.slide import Slide, SlideMaster

from m3bench.sandboxes.servers.ppt.registry import refusal

WHITE = RGBColor(255, 255, 255)
DEFAULT = "modern_blue"


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """The colours of a presentation by purpose."""

    name: str
    primary: RGBColor
    """Titles and large dark areas; white text can be read on it."""
    secondary: RGBColor
    accent1: RGBColor
    accent2: RGBColor
    light: RGBColor
    """Backgrounds and cards; the text colour can be read on it."""
    text: RGBColor

    def colour(self, purpose: str) -> RGBColor:
        """The colour for a purpose; besides the scheme's own there is `white`."""
        if purpose == "white":
            return WHITE
        found = getattr(self, purpose)
        assert isinstance(found, RGBColor)
        return found

    @property
    def series(self) -> tuple[RGBColor, ...]:
        """Colours for chart series, told apart also in print."""
        strong = (self.primary, self.accent1, self.secondary, self.accent2)
        return (*strong, *(blend(colour, WHITE, 0.45) for colour in strong))


PURPOSES = ("primary", "secondary", "accent1", "accent2", "light", "text")


def blend(colour: RGBColor, other: RGBColor, share: float) -> RGBColor:
    """A colour with some share of another."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(colour, other, strict=True))
    return RGBColor(red, green, blue)


def contrast(one: RGBColor, other: RGBColor) -> float:
    """The contrast ratio of two colours, 1 to 21, as accessibility guidelines define it."""
    bright, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


def is_dark(colour: RGBColor) -> bool:
    """Whether white reads better on it than black."""
    return contrast(colour, WHITE) > contrast(colour, RGBColor(0, 0, 0))


def readable_on(ground: RGBColor, dark: RGBColor) -> RGBColor:
    """White or the given dark colour, whichever reads better."""
    return WHITE if contrast(WHITE, ground) >= contrast(dark, ground) else dark


def scheme(name: str) -> Scheme:
    """The scheme of a name."""
    if name.lower() not in SCHEMES:
        raise refusal("color_scheme", f"{name[:40]!r} is not known. Use one of: {', '.join(SCHEMES)}")
    return SCHEMES[name.lower()]


def scheme_or_default(name: str) -> Scheme:
    """The scheme of a name, the default one when there is none."""
    return SCHEMES.get(name.lower(), SCHEMES[DEFAULT])


def _luminance(colour: RGBColor) -> float:
    red, green, blue = map(_linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: int) -> float:
    return part / 255 / 12.92 if part <= 10 else float(((part / 255 + 0.055) / 1.055) ** 2.4)


def _of(name: str, *colours: str) -> Scheme:
    values = {purpose: RGBColor.from_string(colour) for purpose, colour in zip(PURPOSES, colours, strict=True)}
    return Scheme(name=name, **values)


SCHEMES = {
    item.name: item
    for item in (
        _of("modern_blue", "1B4B8A", "2F86C6", "17A398", "F2A33A", "EDF3FA", "1F2A37"),
        _of("corporate_gray", "3A424D", "74808F", "0E7CA6", "C8792B", "F1F3F5", "262B31"),
        _of("elegant_green", "1D5B47", "4C9A76", "B8903F", "7A5236", "EEF5F0", "1E2E28"),
        _of("warm_red", "97262C", "CF5A43", "E59A3C", "5E4057", "FCF2ED", "3A2222"),
        _of("pastel_dream", "6B5B9A", "8FB3D6", "DB8FA6", "84BBA0", "F6F3FB", "3E3556"),
        _of("nature_earth", "52612F", "8C6E47", "C4873A", "5A7D79", "F7F3E8", "352F25"),
        _of("neon_vibrant", "1A1338", "7B2BD0", "00D8F0", "FF3D9A", "EFEBFA", "221A44"),
        _of("minimalist_mono", "202124", "5F6368", "9AA0A6", "B23A2E", "F5F5F5", "202124"),
    )
}
"""All schemes by name."""


GRADIENT_ANGLES = {"horizontal": 0.0, "vertical": 270.0, "diagonal": 315.0}
"""python-pptx counts against the clock: these run left to right, top to bottom, corner to corner."""

_SAME = [f"accent{number}" for number in range(1, 7)] + ["hlink", "folHlink"]
_DARK = {"bg1": "dk1", "tx1": "lt1", "bg2": "dk2", "tx2": "lt2", **{name: name for name in _SAME}}


def paint_background(slide: Slide, colour: RGBColor) -> None:
    """A background of one colour."""
    fill = slide.background.fill
    fill.solid()
    fill.fore_color.rgb = colour
    _map_colours(slide, is_dark(colour))


def shade_background(slide: Slide, first: RGBColor, second: RGBColor, direction: str = "diagonal") -> None:
    """A background that runs from one colour to another."""
    fill = slide.background.fill
    fill.gradient()
    fill.gradient_angle = GRADIENT_ANGLES[direction]
    for stop, colour in zip(fill.gradient_stops, (first, second), strict=True):
        stop.color.rgb = colour
    _map_colours(slide, is_dark(blend(first, second, 0.5)))


def _map_colours(slide: Slide, dark: bool) -> None:
    override = slide._element.get_or_add_clrMapOvr()
    for child in list(override):
        override.remove(child)
    if not dark:
        override.append(override.makeelement(qn("a:masterClrMapping"), {}))
        return
    override.append(override.makeelement(qn("a:overrideClrMapping"), _DARK))


_PARSER = etree.XMLParser(resolve_entities=False, no_network=True)
_FIRST_ID = 2147483648
"""Masters and layouts are numbered from here on."""


def set_theme(presentation: Presentation, scheme: Scheme, *, keep_slides: bool) -> None:
    """Make a scheme the theme's colours; slides that exist look as before when they are to be kept."""
    masters = list(presentation.slide_masters)
    if keep_slides:
        # New slides are made on the first master: the others belong to slides that are to be kept.
        masters = masters[:1]
        _move_slides(presentation, masters[0])
    for master in masters:
        part = master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
        theme = etree.fromstring(part.blob, _PARSER)
        colours = theme.find(f".//{qn('a:clrScheme')}")
        if colours is not None:
            _recolour(colours, scheme)
            part.blob = etree.tostring(theme, xml_declaration=True, encoding="UTF-8", standalone=True)
            _colour_titles(master)


def _recolour(colours: _Element, scheme: Scheme) -> None:
    wanted = {
        "dk1": scheme.text,
        "lt1": scheme.colour("white"),
        "dk2": scheme.primary,
        "lt2": scheme.light,
        "accent1": scheme.primary,
        "accent2": scheme.accent1,
        "accent3": scheme.secondary,
        "accent4": scheme.accent2,
        "accent5": blend(scheme.primary, scheme.colour("white"), 0.4),
        "accent6": blend(scheme.accent1, scheme.colour("white"), 0.4),
        "hlink": scheme.secondary,
        "folHlink": scheme.accent2,
    }
    colours.set("name", scheme.name)
    for name, colour in wanted.items():
        slot = colours.find(qn(f"a:{name}"))
        if slot is not None:
            for child in list(slot):
                slot.remove(child)
            etree.SubElement(slot, qn("a:srgbClr"), val=str(colour))


def _colour_titles(master: SlideMaster) -> None:
    """Let titles take the theme's dark colour."""
    for colour in master._element.xpath("p:txStyles/p:titleStyle/a:lvl1pPr/a:defRPr/a:solidFill/a:schemeClr"):
        colour.set("val", "tx2")


def _move_slides(presentation: Presentation, master: SlideMaster) -> None:
    """Put the slides of a master onto a copy of it."""
    slides = [slide for slide in presentation.slides if slide.slide_layout.slide_master.part is master.part]
    if not slides:
        return
    originals: list[Part] = [master.part, master.part.part_related_by(RELATIONSHIP_TYPE.THEME)]
    originals += [layout.part for layout in master.slide_layouts]
    parts: dict[PackURI, Part] = {part.partname: part for part in master.part.package.iter_parts()}
    copies: list[Part] = []
    for original in originals:
        name = _free_name(original.partname, {*parts, *(copy.partname for copy in copies)})
        copies.append(type(original).load(name, original.content_type, original.package, original.blob))
    parts.update({original.partname: copy for original, copy in zip(originals, copies, strict=True)})
    for original, copy in zip(originals, copies, strict=True):
        _relate(copy, original, parts)
    _enlist(presentation, copies[0])
    for slide in slides:
        _relate(slide.part, slide.part, parts)


def _free_name(name: PackURI, taken: set[PackURI]) -> PackURI:
    stem = re.sub(r"\d*\.xml$", "", str(name))
    return next(free for number in range(1, 10_000) if (free := PackURI(f"{stem}{number}.xml")) not in taken)


def _relate(part: Part, original: Part, parts: dict[PackURI, Part]) -> None:
    """Give a part the relationships of another, to the parts that now have those names."""
    part.rels.load_from_xml(original.partname.baseURI, parse_xml(original.rels.xml), parts)


def _enlist(presentation: Presentation, master: Any) -> None:
    """Make a master known to the presentation, with numbers of its own for itself and its layouts."""
    entries: _Element = presentation.part._element.get_or_add_sldMasterIdLst()
    trees = [entries, *(item._element for item in presentation.slide_masters)]
    used = [int(value) for tree in trees for value in tree.xpath(".//p:sldMasterId/@id|.//p:sldLayoutId/@id")]
    following = max([_FIRST_ID, *used]) + 1
    entry = entries._add_sldMasterId(rId=presentation.part.relate_to(master, RELATIONSHIP_TYPE.SLIDE_MASTER))
    for number, element in enumerate([entry, *master._element.xpath("p:sldLayoutIdLst/p:sldLayoutId")], following):
        element.set("id", str(number))
