"""The tool for looks: a themed slide, a theme for the deck, a better-looking slide, the colour schemes."""

from typing import Any

from pptx.dml.color import RGBColor
from pptx.enum.dml import MSO_FILL
from pptx.enum.shapes import MSO_SHAPE
from pptx.presentation import Presentation
from pptx.shapes.autoshape import Shape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.slide import Slide
from pptx.util import Emu, Inches

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import colours, decks
from m3bench.sandboxes.servers.ppt.arguments import choice, slide_at
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.charts import colour_series
from m3bench.sandboxes.servers.ppt.colours import set_theme
from m3bench.sandboxes.servers.ppt.registry import refusal, tool
from m3bench.sandboxes.servers.ppt.shapes import plain_shape
from m3bench.sandboxes.servers.ppt.slides import append, layout_at
from m3bench.sandboxes.servers.ppt.typesetting import Look, clean, format_frame, shrink, text_frame

OPERATIONS = {
    "professional_slide": "slide",
    "slide": "slide",
    "theme": "theme",
    "enhance": "enhance",
    "get_schemes": "get_schemes",
}
WRONG_OPERATION = "Invalid operation: {value}. Must be 'professional_slide', 'theme', 'enhance', or 'get_schemes'"
LAYOUTS = {"title": 0, "title_content": 1, "content": 1, "blank": 6}
"""Kind of slide to the layout it is made on; a deck with fewer layouts gives its last one."""
MAX_LINES = 200


@tool
def apply_professional_design(
    context: Context,
    operation: str,
    slide_index: int | None = None,
    slide_type: str = "title_content",
    color_scheme: str = "modern_blue",
    title: str | None = None,
    content: list[str] | None = None,
    apply_to_existing: bool = True,
    enhance_title: bool = True,
    enhance_content: bool = True,
    enhance_shapes: bool = True,
    enhance_charts: bool = True,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = OPERATIONS[known_operation(operation, OPERATIONS, WRONG_OPERATION)]
    if wanted == "get_schemes":
        return _schemes()
    scheme = colours.scheme(color_scheme)
    if wanted == "slide":
        kind = choice("slide_type", slide_type, LAYOUTS)
        with decks.editing(context, presentation_id) as deck:
            index = _add_slide(deck.presentation, kind, scheme, title, content or [])
        return {
            "message": f"Added professional {kind} slide {index}",
            "slide_index": index,
            "color_scheme": scheme.name,
            "slide_type": kind,
        }
    if wanted == "theme":
        with decks.editing(context, presentation_id) as deck:
            set_theme(deck.presentation, scheme, keep_slides=not apply_to_existing)
        return {
            "message": f"Applied {scheme.name} theme to presentation",
            "color_scheme": scheme.name,
            "applied_to_existing": apply_to_existing,
        }
    with decks.editing(context, presentation_id) as deck:
        if slide_index is None:
            raise refusal("slide_index", "slide_index is required for enhance operation")
        slide = slide_at(deck.presentation, slide_index)
        applied = [
            name
            for name, on, enhance in (
                ("title", enhance_title, _enhance_title),
                ("content", enhance_content, _enhance_content),
                ("shapes", enhance_shapes, _enhance_shapes),
                ("charts", enhance_charts, _enhance_charts),
            )
            if on and enhance(slide, scheme)
        ]
    return {
        "message": f"Enhanced slide {slide_index}",
        "slide_index": slide_index,
        "color_scheme": scheme.name,
        "enhancements_applied": applied,
    }


def _schemes() -> dict[str, object]:
    return {
        "available_schemes": list(colours.SCHEMES),
        "schemes": {
            name: {purpose: list(scheme.colour(purpose)) for purpose in colours.PURPOSES}
            for name, scheme in colours.SCHEMES.items()
        },
        "color_types": list(colours.PURPOSES),
        "description": "RGB values of each colour scheme by what a colour is for",
    }


def _add_slide(
    presentation: Presentation, kind: str, scheme: colours.Scheme, title: str | None, content: list[str]
) -> int:
    if len(content) > MAX_LINES:
        raise refusal("content", f"must have at most {MAX_LINES} lines, not {len(content)}")
    last = len(presentation.slide_layouts) - 1
    slide = append(presentation, layout_at(presentation, min(LAYOUTS[kind], last)))
    if kind == "title":
        colours.shade_background(slide, scheme.primary, colours.blend(scheme.primary, scheme.secondary, 0.4))
    else:
        colours.paint_background(slide, scheme.light)
    if title and slide.shapes.title is not None:
        slide.shapes.title.text_frame.text = clean(title)
        ink = colours.WHITE if kind == "title" else scheme.primary
        format_frame(slide.shapes.title.text_frame, Look(bold=True, color=ink))
        shrink(slide.shapes.title)
        if kind != "title":
            _underline(slide, scheme)
    bodies = [item for item in slide.placeholders if item.placeholder_format.idx == 1 and item.has_text_frame]
    if content and bodies:
        frame = bodies[0].text_frame
        frame.text = "\n".join(clean(line).replace("\n", "\v") for line in content)
        format_frame(frame, Look(color=colours.WHITE if kind == "title" else scheme.text))
        shrink(bodies[0])
    return len(presentation.slides) - 1


def _underline(slide: Slide, scheme: colours.Scheme) -> None:
    """A bar under the title, in the middle as the title is."""
    title: Any = slide.shapes.title
    width = Emu(title.width // 4)
    left, top = Emu(title.left + (title.width - width) // 2), Emu(title.top + title.height)
    bar = plain_shape(slide, MSO_SHAPE.RECTANGLE, (left, top, width, Emu(Inches(0.06))))
    bar.fill.solid()
    bar.fill.fore_color.rgb = scheme.accent1


def _enhance_title(slide: Slide, scheme: colours.Scheme) -> bool:
    title = slide.shapes.title
    if title is None or not title.text_frame.text.strip():
        return False
    format_frame(title.text_frame, Look(bold=True, color=_ink(slide, scheme.primary)))
    shrink(title)
    return True


def _enhance_content(slide: Slide, scheme: colours.Scheme) -> bool:
    title = slide.shapes.title
    done = False
    for shape in slide.shapes:
        own_fill = isinstance(shape, Shape) and not shape.is_placeholder and shape.fill.type == MSO_FILL.SOLID
        is_title = title is not None and shape.shape_id == title.shape_id
        plain = shape.is_placeholder or (isinstance(shape, Shape) and _is_text_box(shape))
        if is_title or own_fill or not plain or not shape.has_text_frame or not text_frame(shape).text.strip():
            continue
        format_frame(text_frame(shape), Look(color=_ink(slide, scheme.text)))
        shrink(shape)
        done = True
    return done


def _enhance_shapes(slide: Slide, scheme: colours.Scheme) -> bool:
    drawn = [
        shape
        for shape in slide.shapes
        if isinstance(shape, Shape) and not shape.is_placeholder and not _is_text_box(shape)
    ]
    for number, shape in enumerate(drawn):
        colour = scheme.series[number % 4]
        shape.fill.solid()
        shape.fill.fore_color.rgb = colour
        shape.line.color.rgb = colours.blend(colour, scheme.text, 0.3)
        shape.shadow.inherit = False
        format_frame(shape.text_frame, Look(color=colours.readable_on(colour, scheme.text)))
    return bool(drawn)


def _enhance_charts(slide: Slide, scheme: colours.Scheme) -> bool:
    charts = [shape for shape in slide.shapes if isinstance(shape, GraphicFrame) and shape.has_chart]
    for shape in charts:
        colour_series(shape.chart, scheme)
        shape.chart.font.color.rgb = _ink(slide, scheme.text)
    return bool(charts)


def _is_text_box(shape: Shape) -> bool:
    return bool(shape._element.xpath("p:nvSpPr/p:cNvSpPr[@txBox='1']"))


def _ink(slide: Slide, dark: RGBColor) -> RGBColor:
    """The colour, or white on a slide whose background is dark."""
    return colours.WHITE if slide._element.xpath("p:clrMapOvr/a:overrideClrMapping[@tx1='lt1']") else dark
