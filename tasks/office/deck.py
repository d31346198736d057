"""Slides of a presentation as sheets of marks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from math import cos, radians, sin
from typing import TYPE_CHECKING, Any

from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.office import charts, faces, outlines, slide_tables, typeset
from m3bench.tasks.office.colours import A, OfficeTheme, mixed
from m3bench.tasks.office.marks import (
    MOST_MARKS,
    WHITE,
    Box,
    Colour,
    Inset,
    Mark,
    OfficeError,
    Point,
    PrintedSheet,
    Stroke,
    Surface,
    Word,
    corners,
)
from m3bench.tasks.office.slide_text import EMU, P, Style, fitted, paragraphs

if TYPE_CHECKING:
    import pptx
    from lxml import etree
else:
    pptx = LazyModule("pptx")
    etree = LazyModule("lxml.etree")

R = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_CHART = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_THEME = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/theme"
_STYLES = {
    "title": "titleStyle",
    "ctrTitle": "titleStyle",
    "dt": "otherStyle",
    "ftr": "otherStyle",
    "sldNum": "otherStyle",
}
_ON_MASTER = {
    "ctrTitle": "title",
    "subTitle": "body",
    "obj": "body",
    "": "body",
    "tbl": "body",
    "chart": "body",
    "pic": "body",
    "media": "body",
    "dgm": "body",
    "clipArt": "body",
}
_STRIPES = 48
_QUIET = ("nvSpPr", "nvPicPr", "nvCxnSpPr", "nvGrpSpPr", "nvGraphicFramePr", "grpSpPr", "extLst")


@dataclass(frozen=True)
class _Frame:
    """How coordinates of a group become those of the slide."""

    x: float = 0.0
    y: float = 0.0
    across: float = 1.0
    down: float = 1.0

    def box(self, xfrm: Any) -> Box | None:
        off, ext = xfrm.find(f"{A}off"), xfrm.find(f"{A}ext")
        if off is None or ext is None:
            return None
        left = self.x + int(off.get("x")) / EMU * self.across
        top = self.y + int(off.get("y")) / EMU * self.down
        return left, top, left + int(ext.get("cx")) / EMU * self.across, top + int(ext.get("cy")) / EMU * self.down


@dataclass(kw_only=True)
class _Drawing:
    """A slide while it is read."""

    slide: Any
    theme: OfficeTheme
    defaults: Any
    marks: list[Mark] = field(default_factory=list)
    boxes: dict[str, Box] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    part: Any = None
    """The part whose shapes are read: the slide's, its layout's or its master's."""
    shown: bool = False
    """Whether placeholders are shown: those of layouts are not."""

    def says(self, what: str) -> None:
        self.unknown.setdefault(what)

    def named(self, element: Any, box: Box) -> str:
        found = element.find(f".//{P}cNvPr")
        name = (found.get("name") if found is not None else "") or "shape"
        unique, count = name, 2
        while unique in self.boxes:
            unique, count = f"{name} ({count})", count + 1
        self.boxes[unique] = box
        return unique


def sheets(data: bytes) -> list[PrintedSheet]:
    """Every slide of a presentation.

    Raises:
        OfficeError: It is not one.
    """
    try:
        deck = pptx.Presentation(BytesIO(data))
        return [_sheet(deck, slide, number) for number, slide in enumerate(deck.slides, 1)]
    except OfficeError:
        raise
    except Exception as error:  # A broken file can make the library fail anywhere.
        raise OfficeError(f"it is no presentation that can be read ({type(error).__name__})") from error


def _sheet(deck: Any, slide: Any, number: int) -> PrintedSheet:
    layout = slide.slide_layout
    master = layout.slide_master
    theme = _theme(master)
    defaults = deck.part._element.find(f"{P}defaultTextStyle")
    drawing = _Drawing(slide=slide, theme=theme, defaults=defaults if defaults is not None else etree.Element("none"))
    wide, high = deck.slide_width / EMU, deck.slide_height / EMU
    ground = _ground(drawing, (slide, layout, master), (0.0, 0.0, wide, high))
    show = slide._element.get("showMasterSp") not in ("0", "false")
    if show and layout._element.get("showMasterSp") not in ("0", "false"):
        _shapes(drawing, master)
    if show:
        _shapes(drawing, layout)
    drawing.shown = True
    drawing.boxes.clear()
    _shapes(drawing, slide)
    if slide._element.find(f"{P}timing") is not None:
        drawing.says("animation: everything is shown at once")
    strange = dict.fromkeys(
        f"the font {mark.face.family}: drawn as wide as {faces.FALLBACK}"
        for mark in drawing.marks
        if isinstance(mark, Word) and faces.known(mark.face.family) is None
    )
    return PrintedSheet(
        name=f"slide {number}",
        width=wide,
        height=high,
        marks=tuple(drawing.marks),
        boxes=drawing.boxes,
        unknown=(*drawing.unknown, *strange),
        ground=ground,
    )


def _theme(master: Any) -> OfficeTheme:
    mapping = master._element.find(f"{P}clrMap")
    root = None
    for relation in master.part.rels.values():
        if relation.reltype == _THEME:
            root = etree.fromstring(relation.target_part.blob)
    return OfficeTheme(root, dict(mapping.attrib) if mapping is not None else None)


def _ground(drawing: _Drawing, levels: Sequence[Any], box: Box) -> Colour:
    for level in levels:
        properties = level._element.find(f"{P}cSld/{P}bg/{P}bgPr")
        reference = level._element.find(f"{P}cSld/{P}bg/{P}bgRef")
        if properties is not None:
            solid = drawing.theme.of(properties.find(f"{A}solidFill"))
            if solid is not None:
                return solid[0]
            gradient = properties.find(f"{A}gradFill")
            if gradient is not None:
                drawing.marks += _fade(drawing, gradient, box, "background")
                return WHITE
            drawing.says("a background that is neither one colour nor a gradient")
            return WHITE
        if reference is not None:
            found = drawing.theme.of(reference)
            return found[0] if found is not None else WHITE
    return WHITE


def _fade(drawing: _Drawing, gradient: Any, box: Box, owner: str) -> Iterator[Surface]:
    """A gradient as stripes from side to side or from top to bottom."""
    stops = _stops(drawing.theme, gradient)
    linear = gradient.find(f"{A}lin")
    degrees = int(linear.get("ang", "0")) / 60_000 if linear is not None else 90.0
    if linear is None:
        drawing.says("a gradient that is not straight")
    left, top, right, bottom = box
    sideways = abs(cos(radians(degrees))) > abs(sin(radians(degrees)))
    for stripe in range(_STRIPES):
        colour = _between(stops, (stripe + 0.5) / _STRIPES)
        first, last = stripe / _STRIPES, (stripe + 1) / _STRIPES
        if sideways:
            part = (left + (right - left) * first, top, left + (right - left) * last, bottom)
        else:
            part = (left, top + (bottom - top) * first, right, top + (bottom - top) * last)
        yield Surface(points=corners(part), owner=owner, fill=colour)


def _stops(theme: OfficeTheme, gradient: Any) -> list[tuple[float, Colour]]:
    found = [(int(stop.get("pos", "0")) / 100_000, theme.of(stop)) for stop in gradient.iterfind(f"{A}gsLst/{A}gs")]
    return sorted((place, colour[0]) for place, colour in found if colour is not None) or [(0.0, WHITE)]


def _between(stops: Sequence[tuple[float, Colour]], place: float) -> Colour:
    before = max((stop for stop in stops if stop[0] <= place), default=stops[0])
    behind = min((stop for stop in stops if stop[0] > place), default=stops[-1])
    gap = behind[0] - before[0]
    return mixed(before[1], behind[1], (place - before[0]) / gap) if gap > 0 else before[1]


def _shapes(drawing: _Drawing, holder: Any) -> None:
    drawing.part = holder.part
    tree = holder._element.find(f"{P}cSld/{P}spTree")
    if tree is not None:
        _group(drawing, tree, _Frame(), 0)


def _group(drawing: _Drawing, group: Any, frame: _Frame, depth: int) -> None:
    if depth > 12:
        raise OfficeError("its groups lie too deep in each other")
    for element in group:
        if not isinstance(element.tag, str):
            continue
        if len(drawing.marks) > MOST_MARKS:
            raise OfficeError(f"a slide has more than {MOST_MARKS} marks")
        kind = etree.QName(element).localname
        hidden = element.find(f".//{P}cNvPr")
        if hidden is not None and hidden.get("hidden") in ("1", "true"):
            continue
        if kind == "grpSp":
            _group(drawing, element, _inner(element, frame), depth + 1)
        elif kind in _READERS:
            _READERS[kind](drawing, element, frame)
        elif kind not in _QUIET:
            drawing.says(f"an element of the kind {kind}")


def _inner(element: Any, frame: _Frame) -> _Frame:
    xfrm = element.find(f"{P}grpSpPr/{A}xfrm")
    if xfrm is None:
        return frame
    outer, off, ext = frame.box(xfrm), xfrm.find(f"{A}chOff"), xfrm.find(f"{A}chExt")
    if outer is None or off is None or ext is None or not int(ext.get("cx")) or not int(ext.get("cy")):
        return frame
    across = (outer[2] - outer[0]) * EMU / int(ext.get("cx"))
    down = (outer[3] - outer[1]) * EMU / int(ext.get("cy"))
    return _Frame(outer[0] - int(off.get("x")) / EMU * across, outer[1] - int(off.get("y")) / EMU * down, across, down)


def _placeholders(drawing: _Drawing, element: Any) -> tuple[Any, list[Any], str]:
    """A shape's mark as a placeholder, what it takes the place of on layout and master, and its style on the master."""
    mark = element.find(f".//{P}nvPr/{P}ph")
    if mark is None:
        return None, [], ""
    kind, index = mark.get("type", ""), mark.get("idx", "0")
    layout = drawing.slide.slide_layout
    found = []
    for shape in layout._element.iterfind(f"{P}cSld/{P}spTree/*"):
        other = shape.find(f".//{P}nvPr/{P}ph")
        if other is not None and (other.get("idx", "0") == index or kind == other.get("type", "") != ""):
            found.append(shape)
            kind = kind or other.get("type", "")
            break
    wanted = _ON_MASTER.get(kind, kind)
    for shape in layout.slide_master._element.iterfind(f"{P}cSld/{P}spTree/*"):
        other = shape.find(f".//{P}nvPr/{P}ph")
        if other is not None and other.get("type", "body") == wanted:
            found.append(shape)
            break
    return mark, found, _STYLES.get(kind, "bodyStyle")


def _xfrm(element: Any, others: Sequence[Any]) -> Any:
    for node in (element, *others):
        found = node.find(f"{P}spPr/{A}xfrm")
        if found is not None and found.find(f"{A}off") is not None:
            return found
    return None


def _shape(drawing: _Drawing, element: Any, frame: _Frame) -> None:
    mark, others, style_name = _placeholders(drawing, element)
    if mark is not None and not drawing.shown:
        return
    xfrm = _xfrm(element, others)
    box = frame.box(xfrm) if xfrm is not None else None
    if box is None:
        return
    body = element.find(f"{P}txBody")
    text = body is not None and any(t.text for t in body.iter(f"{A}t"))
    properties = element.find(f"{P}spPr")
    if mark is not None and not text and not _painted(properties):
        drawing.named(element, box)
        return
    style = _style(drawing, element, others, style_name)
    owner = drawing.named(element, box)
    degrees = int(xfrm.get("rot", "0")) / 60_000
    words, room = _text(drawing, body, style, element, box, owner) if text else ([], box)
    _outline(drawing, element, others, room, degrees, owner)
    if degrees % 360 and words:
        words = _turn(drawing, words, box, degrees)
    drawing.marks += words


def _painted(properties: Any) -> bool:
    return properties is not None and any(
        properties.find(f"{A}{kind}") is not None for kind in ("solidFill", "gradFill", "ln", "blipFill")
    )


def _style(drawing: _Drawing, element: Any, others: Sequence[Any], name: str) -> Style:
    holders = [element, *others]
    lists = [found for node in holders if (found := node.find(f"{P}txBody/{A}lstStyle")) is not None]
    if name:
        found = drawing.slide.slide_layout.slide_master._element.find(f"{P}txStyles/{P}{name}")
        lists += [found] if found is not None else []
    reference = element.find(f"{P}style/{A}fontRef")
    colour = drawing.theme.of(reference)
    return Style(
        theme=drawing.theme,
        lists=(*lists, drawing.defaults),
        bodies=tuple(found for node in holders if (found := node.find(f"{P}txBody/{A}bodyPr")) is not None),
        colour=colour[0] if colour is not None else None,
    )


def _text(drawing: _Drawing, body: Any, style: Style, element: Any, box: Box, owner: str) -> tuple[list[Word], Box]:
    """The words of a shape, and its box, which may grow with them."""
    kind, adjustments = _geometry(element)
    inner = outlines.text_box(kind, box, adjustments)
    left, top, right, bottom = style.insets()
    room = (inner[0] + left, inner[1] + top, inner[2] - right, inner[3] - bottom)
    turned = style.body("vert", "horz")
    if turned not in ("horz", ""):
        drawing.says(f"text that runs {turned}: drawn level")
    if int(style.body("numCol", "1")) > 1:
        drawing.says("text in columns: drawn in one")
    text = fitted(paragraphs(body, style), style, room)
    fit = style.fit()
    # Text that is made to fit is broken, whatever the box says.
    wrap = style.body("wrap", "square") != "none" or (fit is not None and fit.tag.endswith("normAutofit"))
    anchor = style.body("anchor", "t")
    if fit is not None and fit.tag.endswith("spAutoFit"):
        over = typeset.height(text, room[2] - room[0] if wrap else None) - (room[3] - room[1])
        if over > 0:
            up = {"t": 0.0, "ctr": over / 2, "b": over}.get(anchor, 0.0)
            box = (box[0], box[1] - up, box[2], box[3] + over - up)
            room = (room[0], room[1] - up, room[2], room[3] + over - up)
    return typeset.placed(text, room, anchor, owner, wrap=wrap, around=True), box


def _turn(drawing: _Drawing, words: Sequence[Word], box: Box, degrees: float) -> list[Word]:
    if round(degrees) % 360 == 270:
        made = []
        for word in words:
            ((x, y),) = outlines.turned([(word.x, word.y)], box, 270)
            made.append(replace(word, x=x, y=y, turned=True))
        return made
    drawing.says("text in a turned shape: drawn level")
    return list(words)


def _geometry(element: Any) -> tuple[str, dict[str, float]]:
    preset = element.find(f"{P}spPr/{A}prstGeom")
    if preset is None:
        return ("custom" if element.find(f"{P}spPr/{A}custGeom") is not None else "rect"), {}
    guides = {}
    for guide in preset.iterfind(f"{A}avLst/{A}gd"):
        value = str(guide.get("fmla", "")).removeprefix("val ")
        if value.lstrip("-").isdigit():
            guides[str(guide.get("name"))] = int(value) / 100_000
    return str(preset.get("prst", "rect")), guides


def _outline(drawing: _Drawing, element: Any, others: Sequence[Any], box: Box, degrees: float, owner: str) -> None:
    fill, opacity = _fill(drawing, element, others)
    line, width = _line(drawing, element, others)
    if fill is None and line is None:
        return
    kind, adjustments = _geometry(element)
    points, is_known = _custom(element, box) if kind == "custom" else outlines.outline(kind, box, adjustments)
    if not is_known:
        drawing.says(f"a shape of the kind {kind}: drawn as a rectangle")
    if degrees:
        points = outlines.turned(points, box, degrees)
    drawing.marks.append(Surface(points=points, owner=owner, fill=fill, line=line, width=width, opacity=opacity))


def _custom(element: Any, box: Box) -> tuple[tuple[Point, ...], bool]:
    path = element.find(f"{P}spPr/{A}custGeom/{A}pathLst/{A}path")
    if path is None or not int(path.get("w", "0")) or not int(path.get("h", "0")):
        return corners(box), False
    across, down = (box[2] - box[0]) / int(path.get("w")), (box[3] - box[1]) / int(path.get("h"))
    points = []
    for point in path.iter(f"{A}pt"):
        x, y = str(point.get("x")), str(point.get("y"))
        if not (x.lstrip("-").isdigit() and y.lstrip("-").isdigit()):
            return corners(box), False
        points.append((box[0] + int(x) * across, box[1] + int(y) * down))
    straight = all(etree.QName(node).localname in ("moveTo", "lnTo", "close") for node in path)
    return (tuple(points), straight) if len(points) > 2 else (corners(box), False)


def _fill(drawing: _Drawing, element: Any, others: Sequence[Any]) -> tuple[Colour | None, float]:
    for holder in (element, *others):
        properties = holder.find(f"{P}spPr")
        if properties is None:
            continue
        if properties.find(f"{A}noFill") is not None:
            return None, 1.0
        solid = drawing.theme.of(properties.find(f"{A}solidFill"))
        if solid is not None:
            return solid
        gradient = properties.find(f"{A}gradFill")
        if gradient is not None:
            drawing.says("a shape filled with a gradient: drawn in its middle colour")
            return _between(_stops(drawing.theme, gradient), 0.5), 1.0
        for kind in ("pattFill", "blipFill"):
            if properties.find(f"{A}{kind}") is not None:
                drawing.says(f"a shape filled with a {'pattern' if kind == 'pattFill' else 'picture'}: drawn grey")
                return (200, 200, 200), 1.0
    reference = element.find(f"{P}style/{A}fillRef")
    if reference is not None and reference.get("idx") != "0":
        found = drawing.theme.of(reference)
        if found is not None:
            return found
    return None, 1.0


def _line(drawing: _Drawing, element: Any, others: Sequence[Any]) -> tuple[Colour | None, float]:
    for holder in (element, *others):
        line = holder.find(f"{P}spPr/{A}ln")
        if line is None:
            continue
        if line.find(f"{A}noFill") is not None:
            return None, 0.0
        found = drawing.theme.of(line.find(f"{A}solidFill"))
        if line.find(f"{A}prstDash") is not None and line.find(f"{A}prstDash").get("val") != "solid":
            drawing.says("a broken line: drawn unbroken")
        if found is not None:
            return found[0], int(line.get("w", "9525")) / EMU
        if line.get("w") is not None:
            referred = _referred(drawing, element)
            return referred, int(line.get("w")) / EMU
    return _referred(drawing, element), 2.0


def _referred(drawing: _Drawing, element: Any) -> Colour | None:
    reference = element.find(f"{P}style/{A}lnRef")
    if reference is None or reference.get("idx") == "0":
        return None
    found = drawing.theme.of(reference)
    return found[0] if found is not None else None


def _picture(drawing: _Drawing, element: Any, frame: _Frame) -> None:
    _, others, _ = _placeholders(drawing, element)
    xfrm = _xfrm(element, others)
    box = frame.box(xfrm) if xfrm is not None else None
    if box is None:
        return
    owner = drawing.named(element, box)
    blip = element.find(f"{P}blipFill/{A}blip")
    relation = blip.get(f"{R}embed") if blip is not None else None
    if relation is None or relation not in drawing.part.rels:
        drawing.says("a picture that is not in the file")
        return
    crop = element.find(f"{P}blipFill/{A}srcRect")
    sides = [int(crop.get(side, "0")) / 100_000 for side in "ltrb"] if crop is not None else [0.0] * 4
    if int(xfrm.get("rot", "0")):
        drawing.says("a turned picture: drawn level")
    if element.find(f"{P}spPr/{A}effectLst/*") is not None:
        drawing.says("effects of a picture, such as its shadow")
    data = drawing.part.rels[relation].target_part.blob
    drawing.marks.append(Inset(box=box, data=data, owner=owner, crop=(sides[0], sides[1], sides[2], sides[3])))
    line, width = _line(drawing, element, ())
    if line is not None:
        drawing.marks.append(Surface(points=corners(box), owner=owner, line=line, width=width))


def _connector(drawing: _Drawing, element: Any, frame: _Frame) -> None:
    xfrm = element.find(f"{P}spPr/{A}xfrm")
    box = frame.box(xfrm) if xfrm is not None else None
    if box is None:
        return
    owner = drawing.named(element, box)
    colour, width = _line(drawing, element, ())
    left, top, right, bottom = box
    if xfrm.get("flipH") in ("1", "true"):
        left, right = right, left
    if xfrm.get("flipV") in ("1", "true"):
        top, bottom = bottom, top
    kind, _ = _geometry(element)
    middle = (left + right) / 2
    points: tuple[Point, ...] = ((left, top), (right, bottom))
    if kind.startswith("bentConnector"):
        points = ((left, top), (middle, top), (middle, bottom), (right, bottom))
    elif kind not in ("line", "straightConnector1"):
        drawing.says(f"a connector of the kind {kind}: drawn straight")
    if any(element.find(f"{P}spPr/{A}ln/{A}{end}") is not None for end in ("headEnd", "tailEnd")):
        drawing.says("arrowheads of lines")
    drawing.marks.append(Stroke(points=points, owner=owner, colour=colour or (0, 0, 0), width=width or 1.0))


def _frame(drawing: _Drawing, element: Any, frame: _Frame) -> None:
    xfrm = element.find(f"{P}xfrm")
    box = frame.box(xfrm) if xfrm is not None else None
    if box is None:
        return
    owner = drawing.named(element, box)
    table = element.find(f".//{A}tbl")
    chart = element.find(f".//{{{_CHART}}}chart")
    if table is not None:
        style = Style(theme=drawing.theme, lists=(drawing.defaults,))
        marks, cells = slide_tables.table(table, style, box, owner)
        drawing.marks += marks
        drawing.boxes |= cells
    elif chart is not None and chart.get(f"{R}id") in drawing.part.rels:
        root = etree.fromstring(drawing.part.rels[chart.get(f"{R}id")].target_part.blob)
        drawn = charts.drawn(root, box, owner, drawing.theme, 10.0)
        drawing.marks += drawn.marks
        for what in drawn.unknown:
            drawing.says(what)
    else:
        drawing.says("an embedded object, such as a film or another program's file")


_READERS = {"sp": _shape, "pic": _picture, "cxnSp": _connector, "graphicFrame": _frame}
