"""Tools that draw: shapes with text in them, and connectors."""

from pptx.dml.color import RGBColor
from pptx.enum.shapes import MSO_CONNECTOR, MSO_SHAPE
from pptx.oxml.ns import qn
from pptx.shapes.autoshape import Shape
from pptx.slide import Slide
from pptx.util import Emu

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import (
    SLIDE_OUT_OF_RANGE,
    drawing_slide,
    frame,
    index_of,
    optional_rgb,
    place,
    points,
)
from m3bench.sandboxes.servers.ppt.colours import readable_on
from m3bench.sandboxes.servers.ppt.registry import failure, tool
from m3bench.sandboxes.servers.ppt.typesetting import ALIGNMENTS, Look, clean, format_frame, shrink

SHAPES = {
    "rectangle": MSO_SHAPE.RECTANGLE,
    "rounded_rectangle": MSO_SHAPE.ROUNDED_RECTANGLE,
    "oval": MSO_SHAPE.OVAL,
    "diamond": MSO_SHAPE.DIAMOND,
    "triangle": MSO_SHAPE.ISOSCELES_TRIANGLE,
    "right_triangle": MSO_SHAPE.RIGHT_TRIANGLE,
    "pentagon": MSO_SHAPE.REGULAR_PENTAGON,
    "hexagon": MSO_SHAPE.HEXAGON,
    "heptagon": MSO_SHAPE.HEPTAGON,
    "octagon": MSO_SHAPE.OCTAGON,
    "star": MSO_SHAPE.STAR_5_POINT,
    "arrow": MSO_SHAPE.RIGHT_ARROW,
    "cloud": MSO_SHAPE.CLOUD,
    "heart": MSO_SHAPE.HEART,
    "lightning_bolt": MSO_SHAPE.LIGHTNING_BOLT,
    "sun": MSO_SHAPE.SUN,
    "moon": MSO_SHAPE.MOON,
    "smiley_face": MSO_SHAPE.SMILEY_FACE,
    "no_symbol": MSO_SHAPE.NO_SYMBOL,
    "flowchart_process": MSO_SHAPE.FLOWCHART_PROCESS,
    "flowchart_decision": MSO_SHAPE.FLOWCHART_DECISION,
    "flowchart_data": MSO_SHAPE.FLOWCHART_DATA,
    "flowchart_document": MSO_SHAPE.FLOWCHART_DOCUMENT,
}
CONNECTORS = {"straight": MSO_CONNECTOR.STRAIGHT, "elbow": MSO_CONNECTOR.ELBOW, "curved": MSO_CONNECTOR.CURVE}
MAX_LINE = 100.0
_DARK_TEXT = RGBColor(0x22, 0x22, 0x22)


@tool
def add_shape(
    context: Context,
    slide_index: int,
    shape_type: str,
    left: float,
    top: float,
    width: float,
    height: float,
    fill_color: list[int] | None = None,
    line_color: list[int] | None = None,
    line_width: float | None = None,
    text: str | None = None,
    font_size: int | None = None,
    font_color: list[int] | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    if shape_type.lower() not in SHAPES:
        raise failure(
            f"Unsupported shape type: '{shape_type[:40]}'. Available shape types: {', '.join(SHAPES)}",
            outcome="invalid_arguments",
        )
    fill = optional_rgb("fill_color", fill_color)
    line = optional_rgb("line_color", line_color)
    look = Look.of(font_size=font_size)
    ink = optional_rgb("font_color", font_color)
    if ink is None and fill is not None:
        ink = readable_on(fill, _DARK_TEXT)
    with decks.editing(context, presentation_id) as deck:
        slide = drawing_slide(deck.presentation, slide_index)
        shape = slide.shapes.add_shape(SHAPES[shape_type.lower()], *frame(left, top, width, height))
        if fill is not None:
            shape.fill.solid()
            shape.fill.fore_color.rgb = fill
        if line is not None:
            shape.line.color.rgb = line
        if line_width is not None:
            shape.line.width = Emu(points("line_width", line_width, 0, MAX_LINE))
        if text:
            shape.text_frame.text = clean(text)
            format_frame(shape.text_frame, Look(size=look.size, color=ink), ALIGNMENTS["center"])
            shrink(shape)
        index = index_of(slide, shape)
    return {"message": f"Added {shape_type} shape to slide {slide_index}", "shape_index": index}


@tool
def add_connector(
    context: Context,
    slide_index: int,
    connector_type: str,
    start_x: float,
    start_y: float,
    end_x: float,
    end_y: float,
    line_width: float = 1.0,
    color: list[int] | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    if connector_type.lower() not in CONNECTORS:
        raise failure(f"Invalid connector type. Use: {list(CONNECTORS)}", outcome="invalid_arguments")
    colour = optional_rgb("color", color)
    width = points("line_width", line_width, 0, MAX_LINE)
    ends = (
        place("start_x", start_x),
        place("start_y", start_y),
        place("end_x", end_x),
        place("end_y", end_y),
    )
    with decks.editing(context, presentation_id, decks.NOT_FOUND) as deck:
        slide = drawing_slide(deck.presentation, slide_index, SLIDE_OUT_OF_RANGE)
        connector = slide.shapes.add_connector(CONNECTORS[connector_type.lower()], *ends)
        connector.line.width = Emu(width)
        if colour is not None:
            connector.line.color.rgb = colour
        index = index_of(slide, connector)
    return {
        "message": f"Added {connector_type} connector to slide {slide_index}",
        "connector_type": connector_type,
        "start_point": [start_x, start_y],
        "end_point": [end_x, end_y],
        "shape_index": index,
    }


def plain_shape(slide: Slide, kind: MSO_SHAPE, box: tuple[Emu, Emu, Emu, Emu]) -> Shape:
    """A shape without the outline and the shadow that the theme would give it."""
    shape = slide.shapes.add_shape(kind, *box)
    shape.line.fill.background()
    shape.shadow.inherit = False
    shape._element.remove(shape._element.find(qn("p:style")))
    return shape
