"""Arguments as python-pptx wants them: lengths, sizes, colours, choices, slides and shapes by index.

Each function takes the parameter's name, because its error names it. Inches come in, EMU go out.
"""

from collections.abc import Iterable

from pptx.dml.color import RGBColor
from pptx.presentation import Presentation
from pptx.shapes.base import BaseShape
from pptx.slide import Slide
from pptx.util import Emu, Inches, Pt

from m3bench.sandboxes.servers.ppt.registry import failure, refusal

MAX_INCHES = 56.0
"""PowerPoint's largest slide."""

MAX_SHAPES = 500
"""Shapes on one slide."""

INVALID_SLIDE = "Invalid slide index: {index}. Available slides: {available}"
SLIDE_OUT_OF_RANGE = "Slide index {index} out of range. Available slides: {available}"
INVALID_SHAPE = "Invalid shape index: {index}. Available shapes: {available}"
SHAPE_OUT_OF_RANGE = "Shape index {index} out of range. Available shapes: {available}"


def place(parameter: str, inches: float) -> Emu:
    """A position; it may lie outside the slide, within reason."""
    if abs(inches) > MAX_INCHES:
        raise refusal(parameter, f"must be between -{MAX_INCHES:g} and {MAX_INCHES:g} inches, not {inches}")
    return Emu(Inches(inches))


def extent(parameter: str, inches: float) -> Emu:
    """A width or height."""
    if not 0.01 <= inches <= MAX_INCHES:
        raise refusal(parameter, f"must be a positive number of inches up to {MAX_INCHES:g}, not {inches}")
    return Emu(Inches(inches))


def frame(left: float, top: float, width: float, height: float) -> tuple[Emu, Emu, Emu, Emu]:
    """The four parameters of a box, in the order python-pptx takes them."""
    return place("left", left), place("top", top), extent("width", width), extent("height", height)


def points(parameter: str, value: float, low: float = 1, high: float = 400) -> Pt:
    """A font size or line width."""
    if not low <= value <= high:
        raise refusal(parameter, f"must be between {low:g} and {high:g} points, not {value}")
    return Pt(value)


def between(parameter: str, value: float, low: float, high: float) -> float:
    """A number inside a range."""
    if not low <= value <= high:
        raise refusal(parameter, f"must be between {low:g} and {high:g}, not {value}")
    return value


def number(parameter: str, value: object) -> float:
    """A number inside a structure whose schema does not say so."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(parameter, f"must be a number, not {value!r}")
    return value


def rgb(parameter: str, value: object) -> RGBColor:
    """A colour from three numbers."""
    if not isinstance(value, list | tuple) or len(value) != 3 or not all(_is_byte(part) for part in value):
        raise refusal(parameter, "must be a valid RGB list [R, G, B] with values 0-255")
    red, green, blue = (int(part) for part in value)
    return RGBColor(red, green, blue)


def optional_rgb(parameter: str, value: object) -> RGBColor | None:
    """A colour that may be left out."""
    return None if value is None else rgb(parameter, value)


def choice(parameter: str, value: str, options: Iterable[str]) -> str:
    """One of some words, in any case."""
    known = list(options)
    if value.lower() not in known:
        raise refusal(parameter, f"{value[:40]!r} is not known. Use one of: {', '.join(known)}")
    return value.lower()


def operation(value: str, known: Iterable[str], wording: str) -> str:
    """The operation of a tool that has several; `wording` is its error with `{value}` in it."""
    if value.lower() not in known:
        raise failure(wording.format(value=value[:40]), outcome="invalid_arguments")
    return value.lower()


def slide_at(presentation: Presentation, index: int, wording: str = INVALID_SLIDE) -> Slide:
    """A slide by its 0-based index."""
    count = len(presentation.slides)
    if count == 0:
        raise failure(wording.format(index=index, available="none (call add_slide first)"))
    if not 0 <= index < count:
        raise failure(wording.format(index=index, available=f"0-{count - 1}"))
    slide: Slide = presentation.slides[index]
    return slide


def drawing_slide(presentation: Presentation, index: int, wording: str = INVALID_SLIDE) -> Slide:
    """A slide by its index that has room for another shape."""
    slide = slide_at(presentation, index, wording)
    if len(slide.shapes) >= MAX_SHAPES:
        raise failure(f"Slide {index} has {MAX_SHAPES} shapes, the most it may have", outcome="invalid_arguments")
    return slide


def shape_at(slide: Slide, index: int | None, wording: str = INVALID_SHAPE) -> BaseShape:
    """A shape by its 0-based index on the slide."""
    count = len(slide.shapes)
    if index is None or not 0 <= index < count:
        available = f"0-{count - 1}" if count else "none (the slide is empty)"
        raise failure(wording.format(index=index, available=available))
    return slide.shapes[index]


def index_of(slide: Slide, shape: BaseShape) -> int:
    """A shape's 0-based index on the slide."""
    return [item.shape_id for item in slide.shapes].index(shape.shape_id)


def mapping(parameter: str, value: object) -> dict[str, object]:
    """An object inside a structure whose schema does not say so."""
    if not isinstance(value, dict):
        raise refusal(parameter, f"must be an object, not {value!r}")
    return value


def _is_byte(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value <= 255 and value == int(value)
