"""Tools for slides: add, describe, read the text, fill placeholders, list masters, set transitions.

Bullets start in the first paragraph (the public server leaves an empty one before them), `solid` backgrounds
are painted (there they are ignored), and a title is read once, not twice.

Transitions are really written into the slide (the public server only says it would), twice, as PowerPoint does: once
with the duration in milliseconds for programs that know it, once with one of three speeds for those that do not.
"""

from typing import Any

from lxml import etree
from lxml.etree import _Element
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.oxml import parse_xml
from pptx.oxml.ns import qn
from pptx.presentation import Presentation
from pptx.shapes.base import BaseShape
from pptx.slide import Slide, SlideLayout, SlideMaster

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import colours, decks
from m3bench.sandboxes.servers.ppt.arguments import SLIDE_OUT_OF_RANGE, between, choice, rgb, slide_at
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.decks import kind, slide_text
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
    angle = choice("gradient_direction", direction, colours.GRADIENT_ANGLES)
    scheme = colours.scheme_or_default(color_scheme)
    custom = [rgb("background_colors", colour) for colour in given or []]
    if wanted == "solid":
        colours.paint_background(slide, custom[0] if custom else scheme.light)
    elif wanted == "professional_gradient":
        colours.shade_background(slide, scheme.primary, colours.blend(scheme.primary, scheme.secondary, 0.55), angle)
    elif len(custom) == 1:
        raise refusal("background_colors", "a gradient needs two colours: [[R, G, B], [R, G, B]]")
    else:
        first, second = custom[:2] if custom else (scheme.light, colours.blend(scheme.light, scheme.secondary, 0.45))
        colours.shade_background(slide, first, second, angle)


WRONG_MASTER_OPERATION = "Unsupported operation: {value}. Use 'list', 'get_layouts', or 'get_info'"


@tool
def manage_slide_masters(
    context: Context,
    operation: str,
    master_index: int = 0,
    layout_index: int | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, ("list", "get_layouts", "get_info"), WRONG_MASTER_OPERATION)
    masters = list(decks.reading(context, presentation_id, decks.NOT_FOUND).presentation.slide_masters)
    if wanted == "list":
        return {
            "message": f"Found {len(masters)} slide masters",
            "masters": [
                {"index": index, "layout_count": len(master.slide_layouts), "name": _name(master, index)}
                for index, master in enumerate(masters)
            ],
            "total_masters": len(masters),
        }
    if not 0 <= master_index < len(masters):
        raise failure(f"Master index {master_index} out of range. Available masters: 0-{len(masters) - 1}")
    master = masters[master_index]
    layouts = list(master.slide_layouts)
    if wanted == "get_layouts":
        return {
            "message": f"Master {master_index} has {len(layouts)} layouts",
            "master_index": master_index,
            "layouts": [
                {"index": index, "name": layout.name, "placeholder_count": len(layout.placeholders)}
                for index, layout in enumerate(layouts)
            ],
        }
    if layout_index is None:
        return {
            "message": f"Master {master_index} information",
            "master_index": master_index,
            "layout_count": len(layouts),
            "name": _name(master, master_index),
        }
    if not 0 <= layout_index < len(layouts):
        raise failure(f"Layout index {layout_index} out of range. Available layouts: 0-{len(layouts) - 1}")
    return {
        "message": f"Layout info for master {master_index}, layout {layout_index}",
        "master_index": master_index,
        "layout_index": layout_index,
        "layout_name": layouts[layout_index].name,
        "placeholders": _placeholders(layouts[layout_index]),
    }


def _name(master: SlideMaster, index: int) -> str:
    return master.name or f"Master {index}"


def _placeholders(layout: SlideLayout) -> list[dict[str, object]]:
    found: Any = layout.placeholders
    return [
        {"idx": item.placeholder_format.idx, "type": str(item.placeholder_format.type), "name": item.name}
        for item in found
    ]


WRONG_TRANSITION_OPERATION = "Unsupported operation: {value}. Use 'set', 'remove', or 'get'"
MAX_SECONDS = 59.0

KINDS = {
    "blinds": 'blinds dir="vert"',
    "checkerboard": 'checker dir="horz"',
    "circle": "circle",
    "comb": 'comb dir="horz"',
    "cover": 'cover dir="l"',
    "cut": "cut",
    "diamond": "diamond",
    "dissolve": "dissolve",
    "fade": "fade",
    "newsflash": "newsflash",
    "plus": "plus",
    "push": 'push dir="l"',
    "random": "random",
    "random_bars": 'randomBar dir="vert"',
    "split": 'split orient="vert" dir="out"',
    "strips": 'strips dir="ld"',
    "uncover": 'pull dir="l"',
    "wedge": "wedge",
    "wheel": 'wheel spokes="4"',
    "wipe": 'wipe dir="l"',
    "zoom": 'zoom dir="in"',
}
"""Names and the element that stands for them."""

_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_P14 = "http://schemas.microsoft.com/office/powerpoint/2010/main"
_MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
_SPEEDS = {"fast": 0.5, "med": 0.75, "slow": 1.0}
"""What the three speeds mean in seconds."""


@tool
def manage_slide_transitions(
    context: Context,
    slide_index: int,
    operation: str,
    transition_type: str | None = None,
    duration: float = 1.0,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, ("set", "remove", "get"), WRONG_TRANSITION_OPERATION)
    if wanted == "get":
        deck = decks.reading(context, presentation_id, decks.NOT_FOUND)
        kind, seconds = _read(slide_at(deck.presentation, slide_index, SLIDE_OUT_OF_RANGE))
        return {
            "message": f"Transition of slide {slide_index}: {kind or 'none'}",
            "slide_index": slide_index,
            "note": "Read from the slide",
            "transition_type": kind,
            "duration": seconds,
        }
    between("duration", duration, 0.01, MAX_SECONDS)
    with decks.editing(context, presentation_id, decks.NOT_FOUND) as deck:
        slide = slide_at(deck.presentation, slide_index, SLIDE_OUT_OF_RANGE)
        if wanted == "remove" or (transition_type or "").lower() == "none":
            removed = _remove(slide)
            return {
                "message": f"Removed transition from slide {slide_index}",
                "slide_index": slide_index,
                "note": "The slide appears without a transition" if removed else "The slide had no transition",
            }
        if not transition_type:
            raise refusal("transition_type", f"is required for set. Use one of: {', '.join(KINDS)}")
        kind = choice("transition_type", transition_type.replace(" ", "_"), KINDS)
        _remove(slide)
        _write(slide, KINDS[kind], duration)
    return {
        "message": f"Set {kind} transition on slide {slide_index}",
        "slide_index": slide_index,
        "note": "Written into the slide; it shows in the slide show",
        "transition_type": kind,
        "duration": duration,
    }


def _read(slide: Slide) -> tuple[str | None, float | None]:
    found = slide._element.xpath(".//p:transition")
    if not found:
        return None, None
    transition = found[0]
    exact = transition.get(f"{{{_P14}}}dur")
    seconds = int(exact) / 1000 if exact else _SPEEDS.get(transition.get("spd", "fast"), _SPEEDS["fast"])
    names = {tag.partition(" ")[0]: name for name, tag in KINDS.items()}
    inner = [etree.QName(child).localname for child in transition if isinstance(child.tag, str)]
    kinds = [names.get(name, name) for name in inner if name not in ("sndAc", "extLst")]
    return (kinds[0] if kinds else "cut"), seconds


def _remove(slide: Slide) -> bool:
    tree: _Element = slide._element
    holders = (qn("p:transition"), f"{{{_MC}}}AlternateContent")
    found = [child for child in tree if child.tag in holders and next(child.iter(qn("p:transition")), None) is not None]
    for element in found:
        tree.remove(element)
    return bool(found)


def _write(slide: Slide, kind: str, seconds: float) -> None:
    speed = next((name for name, limit in _SPEEDS.items() if seconds <= limit), "slow")
    element = parse_xml(
        f'<mc:AlternateContent xmlns:mc="{_MC}" xmlns:p="{_P}">'
        f'<mc:Choice xmlns:p14="{_P14}" Requires="p14">'
        f'<p:transition spd="{speed}" p14:dur="{round(seconds * 1000)}"><p:{kind}/></p:transition></mc:Choice>'
        f'<mc:Fallback><p:transition spd="{speed}"><p:{kind}/></p:transition></mc:Fallback></mc:AlternateContent>'
    )
    slide._element.insert_element_before(element, "p:timing", "p:hf", "p:extLst")
