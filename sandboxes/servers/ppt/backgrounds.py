"""Slide backgrounds that are backgrounds: no picture is laid behind the shapes, and no shape index shifts.

A dark background also turns the slide's colour mapping around, so that text nobody coloured is light.
"""

from pptx.dml.color import RGBColor
from pptx.oxml.ns import qn
from pptx.slide import Slide

from m3bench.sandboxes.servers.ppt.colours import blend, is_dark

ANGLES = {"horizontal": 0.0, "vertical": 270.0, "diagonal": 315.0}
"""python-pptx counts against the clock: these run left to right, top to bottom, corner to corner."""

_SAME = [f"accent{number}" for number in range(1, 7)] + ["hlink", "folHlink"]
_DARK = {"bg1": "dk1", "tx1": "lt1", "bg2": "dk2", "tx2": "lt2", **{name: name for name in _SAME}}


def paint(slide: Slide, colour: RGBColor) -> None:
    """A background of one colour."""
    fill = slide.background.fill
    fill.solid()
    fill.fore_color.rgb = colour
    _map_colours(slide, is_dark(colour))


def shade(slide: Slide, first: RGBColor, second: RGBColor, direction: str = "diagonal") -> None:
    """A background that runs from one colour to another."""
    fill = slide.background.fill
    fill.gradient()
    fill.gradient_angle = ANGLES[direction]
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
