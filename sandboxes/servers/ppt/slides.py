"""Tools for slides and their placeholders: add, describe, read the text, fill.

Bullets start in the first paragraph (the public server leaves an empty one before them), `solid` backgrounds
are painted (there they are ignored), and a title is read once, not twice.
"""

from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.presentation import Presentation
from pptx.shapes.base import BaseShape
from pptx.slide import Slide, SlideLayout

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import backgrounds, colours, decks
from m3bench.sandboxes.servers.ppt.arguments import choice, rgb, slide_at
from m3bench.sandboxes.servers.ppt.reading import kind, slide_text
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.servers.ppt.typesetting import TITLES, bullet, clean, shrink, text_frame

MAX_SLIDES = 500
MAX_BULLETS = 200
BACKGROUNDS = ("solid", "gradient", "professional_gradient")


@tool
def add_slide(
    context: Context,
    layout_index: int = 1,
    title: str | None = None,
    background_type: str | None = None,
    background_colors: list[list[int]] | None = None,
    gradient_direction: str = "horizontal",
    color_scheme: str = "modern_blue",
    presentation_id: str | None = None,
) -> dict[str, object]:
    with decks.editing(context, presentation_id) as deck:
        presentation = deck.presentation
        layout = layout_at(presentation, layout_index)
        slide = append(presentation, layout)
        if background_type:
            _paint(slide, background_type, background_colors, gradient_direction, color_scheme)
        if title is not None and slide.shapes.title is not None:
            slide.shapes.title.text_frame.text = clean(title)
            shrink(slide.shapes.title)
        index = len(presentation.slides) - 1
    return {
        "message": f"Added slide {index} with layout {layout_index}",
        "slide_index": index,
        "layout_name": layout.name,
    }


@tool
def get_slide_info(context: Context, slide_index: int, presentation_id: str | None = None) -> dict[str, object]:
    slide = slide_at(decks.reading(context, presentation_id).presentation, slide_index)
    placeholders = [
        {"idx": item.placeholder_format.idx, "type": str(item.placeholder_format.type), "name": item.name}
        for item in slide.placeholders
    ]
    shapes = [
        {
            "index": index,
            "name": shape.name,
            "shape_type": kind(shape),
            "left": shape.left,
            "top": shape.top,
            "width": shape.width,
            "height": shape.height,
        }
        for index, shape in enumerate(slide.shapes)
    ]
    return {
        "slide_index": slide_index,
        "layout_name": slide.slide_layout.name,
        "placeholder_count": len(placeholders),
        "placeholders": placeholders,
        "shape_count": len(shapes),
        "shapes": shapes,
    }


@tool
def extract_slide_text(context: Context, slide_index: int, presentation_id: str | None = None) -> dict[str, object]:
    slide = slide_at(decks.reading(context, presentation_id).presentation, slide_index)
    found = slide_text(slide)
    return {
        "success": True,
        "text_content": found.content(),
        "total_text_shapes": found.shape_count,
        "has_title": bool(found.title),
        "has_tables": bool(found.tables),
        "slide_index": slide_index,
    }


@tool
def extract_presentation_text(
    context: Context, presentation_id: str | None = None, include_slide_info: bool = True
) -> dict[str, object]:
    deck = decks.reading(context, presentation_id)
    slides = list(deck.presentation.slides)
    texts = [slide_text(slide) for slide in slides]
    entries = []
    for index, (slide, text) in enumerate(zip(slides, texts, strict=True)):
        entry: dict[str, object] = {"slide_index": index, "text_content": text.content()}
        if include_slide_info:
            entry["layout_name"] = slide.slide_layout.name
            entry["total_text_shapes"] = text.shape_count
            entry["has_title"] = bool(text.title)
            entry["has_tables"] = bool(text.tables)
        entries.append(entry)
    return {
        "success": True,
        "presentation_id": deck.id,
        "total_slides": len(texts),
        "slides_with_text": sum(bool(text.combined) for text in texts),
        "total_text_shapes": sum(text.shape_count for text in texts),
        "slides_with_titles": sum(bool(text.title) for text in texts),
        "slides_with_tables": sum(bool(text.tables) for text in texts),
        "slides_text": entries,
        "all_presentation_text_combined": "\n\n".join(
            f"=== SLIDE {number} ===\n{text.combined}" for number, text in enumerate(texts, 1) if text.combined
        ),
    }


@tool
def populate_placeholder(
    context: Context, slide_index: int, placeholder_idx: int, text: str, presentation_id: str | None = None
) -> dict[str, object]:
    with decks.editing(context, presentation_id) as deck:
        slide = slide_at(deck.presentation, slide_index)
        placeholder = _placeholder(slide, placeholder_idx, "Failed to populate placeholder")
        text_frame(placeholder).text = clean(text)
        shrink(placeholder)
    return {"message": f"Populated placeholder {placeholder_idx} on slide {slide_index}"}


@tool
def add_bullet_points(
    context: Context,
    slide_index: int,
    placeholder_idx: int,
    bullet_points: list[str],
    presentation_id: str | None = None,
) -> dict[str, object]:
    if not 1 <= len(bullet_points) <= MAX_BULLETS:
        raise refusal("bullet_points", f"must have between 1 and {MAX_BULLETS} lines, not {len(bullet_points)}")
    with decks.editing(context, presentation_id) as deck:
        slide = slide_at(deck.presentation, slide_index)
        placeholder = _placeholder(slide, placeholder_idx, "Failed to add bullet points")
        frame = text_frame(placeholder)
        frame.clear()
        # Only the body of a slide has bullets by itself.
        bare = placeholder.placeholder_format.type in (*TITLES, PP_PLACEHOLDER.SUBTITLE)
        for number, line in enumerate(bullet_points):
            paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
            paragraph.text = clean(line).replace("\n", "\v")
            if bare:
                bullet(paragraph)
        shrink(placeholder)
    return {
        "message": f"Added {len(bullet_points)} bullet points to placeholder {placeholder_idx} on slide {slide_index}"
    }


def layout_at(presentation: Presentation, index: int) -> SlideLayout:
    """A layout by its 0-based index."""
    count = len(presentation.slide_layouts)
    if not 0 <= index < count:
        raise failure(f"Invalid layout index: {index}. Available layouts: 0-{count - 1}", outcome="invalid_arguments")
    return presentation.slide_layouts[index]


def append(presentation: Presentation, layout: SlideLayout) -> Slide:
    """A new slide at the end."""
    if len(presentation.slides) >= MAX_SLIDES:
        raise failure(
            f"The presentation has {MAX_SLIDES} slides, the most it may have: start another one",
            outcome="invalid_arguments",
        )
    slide: Slide = presentation.slides.add_slide(layout)
    return slide


def _placeholder(slide: Slide, idx: int, wording: str) -> BaseShape:
    found: dict[int, BaseShape] = {item.placeholder_format.idx: item for item in slide.placeholders}
    if idx not in found:
        raise failure(f"{wording}: slide has no placeholder with idx {idx}. It has {sorted(found)}")
    if not found[idx].has_text_frame:
        raise failure(f"{wording}: placeholder {idx} holds {kind(found[idx])}, not text", outcome="invalid_arguments")
    return found[idx]


def _paint(
    slide: Slide, background_type: str, given: list[list[int]] | None, direction: str, color_scheme: str
) -> None:
    wanted = choice("background_type", background_type, BACKGROUNDS)
    angle = choice("gradient_direction", direction, backgrounds.ANGLES)
    scheme = colours.scheme_or_default(color_scheme)
    custom = [rgb("background_colors", colour) for colour in given or []]
    if wanted == "solid":
        backgrounds.paint(slide, custom[0] if custom else scheme.light)
    elif wanted == "professional_gradient":
        backgrounds.shade(slide, scheme.primary, colours.blend(scheme.primary, scheme.secondary, 0.55), angle)
    elif len(custom) == 1:
        raise refusal("background_colors", "a gradient needs two colours: [[R, G, B], [R, G, B]]")
    else:
        first, second = custom[:2] if custom else (scheme.light, colours.blend(scheme.light, scheme.secondary, 0.45))
        backgrounds.shade(slide, first, second, angle)
