"""Tools for slide templates: list and describe them, apply one, build a deck of several.

A template that cannot be applied leaves nothing behind (on the public server a blank slide stays), and a role
that a template does not have is an error that names those it has.
"""

from collections.abc import Mapping
from typing import Any

from pptx.presentation import Presentation

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import colours, decks
from m3bench.sandboxes.servers.ppt.arguments import slide_at
from m3bench.sandboxes.servers.ppt.blueprints import Blueprint, Box, Element, Grid, Panel, Picture, Plot, Text
from m3bench.sandboxes.servers.ppt.builder import build
from m3bench.sandboxes.servers.ppt.gallery import template, templates
from m3bench.sandboxes.servers.ppt.registry import failure, message_of, reworded, tool
from m3bench.sandboxes.servers.ppt.slides import append, layout_at
from m3bench.sandboxes.workspace import Workspace
from m3bench.tasks.errors import ToolError

MAX_SEQUENCE = 50
DEFAULT_LAYOUT = 1
_INCHES = (10.0, 7.5)
"""The slide on which places are told."""


@tool
def list_slide_templates() -> dict[str, object]:
    return {
        "available_templates": [
            {
                "id": blueprint.id,
                "name": blueprint.name,
                "description": blueprint.description,
                "layout_type": blueprint.kind,
                "element_count": len(blueprint.laid_out()),
            }
            for blueprint in templates().values()
        ],
        "total_templates": len(templates()),
        "usage_examples": {
            "create_slide_from_template": {
                "template_id": "title_slide",
                "color_scheme": colours.DEFAULT,
                "content_mapping": {"title": "Quarterly review", "subtitle": "July to September"},
            },
            "create_presentation_from_templates": {
                "template_sequence": [
                    {"template_id": "title_slide", "content": {"title": "Quarterly review"}},
                    {"template_id": "key_metrics_dashboard", "content": {"metric_1": "42 %", "label_1": "Growth"}},
                ]
            },
        },
        "message": "Use get_template_info to see the roles of a template",
    }


@tool
def get_template_info(template_id: str) -> dict[str, object]:
    blueprint = template(template_id)
    elements = blueprint.laid_out()
    return {
        "template_id": blueprint.id,
        "name": blueprint.name,
        "description": blueprint.description,
        "layout_type": blueprint.kind,
        "elements": [_describe(element) for element in elements],
        "element_count": len(elements),
        "has_background": True,
        "background_type": "gradient" if blueprint.background == "gradient" else "solid",
        "color_schemes": list(colours.SCHEMES),
        "usage_tip": _tip(blueprint),
    }


@tool
def apply_slide_template(
    context: Context,
    slide_index: int,
    template_id: str,
    color_scheme: str = "modern_blue",
    content_mapping: dict[str, str] | None = None,
    image_paths: dict[str, str] | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    with decks.editing(context, presentation_id) as deck:
        slide = slide_at(deck.presentation, slide_index)
        with reworded("Failed to apply template"):
            blueprint = template(template_id)
            scheme = colours.scheme(color_scheme)
            applied = build(
                deck.presentation, slide, blueprint, scheme, context.workspace, content_mapping, image_paths
            )
    return {
        "message": f"Applied template '{template_id}' to slide {slide_index}",
        "slide_index": slide_index,
        "template_applied": applied,
    }


@tool
def create_slide_from_template(
    context: Context,
    template_id: str,
    color_scheme: str = "modern_blue",
    content_mapping: dict[str, str] | None = None,
    image_paths: dict[str, str] | None = None,
    layout_index: int = 1,
    presentation_id: str | None = None,
) -> dict[str, object]:
    with decks.editing(context, presentation_id) as deck:
        layout_at(deck.presentation, layout_index)
        with reworded("Failed to apply template to new slide"):
            index, applied = add_from_template(
                deck.presentation,
                context.workspace,
                template_id,
                colours.scheme(color_scheme),
                content_mapping,
                image_paths,
                layout_index,
            )
    return {
        "message": f"Created slide {index} using template '{template_id}'",
        "slide_index": index,
        "template_applied": applied,
    }


@tool
def create_presentation_from_templates(
    context: Context,
    template_sequence: list[dict[str, Any]],
    color_scheme: str = "modern_blue",
    presentation_title: str | None = None,
    presentation_id: str | None = None,
) -> dict[str, object]:
    if not template_sequence:
        raise failure("Template sequence cannot be empty", outcome="invalid_arguments")
    if len(template_sequence) > MAX_SEQUENCE:
        raise failure(
            f"Template sequence has {len(template_sequence)} items, more than the {MAX_SEQUENCE} allowed",
            outcome="invalid_arguments",
        )
    scheme = colours.scheme(color_scheme)
    with decks.editing(context, presentation_id) as deck:
        if presentation_title:
            deck.presentation.core_properties.title = presentation_title[:255]
        result = add_sequence(deck.presentation, context.workspace, template_sequence, scheme)
        total = len(deck.presentation.slides)
    count = len(result["slides_created"])
    summary = f"Created presentation with {count} slides"
    told = {"message": summary} if result["success"] else {"warning": f"{summary}, {len(result['errors'])} failed"}
    return {**told, "presentation_id": deck.id, "creation_result": result, "total_slides": total}


def add_sequence(
    presentation: Presentation, workspace: Workspace, sequence: list[dict[str, Any]], scheme: colours.Scheme
) -> dict[str, Any]:
    """Append a slide per item; an item that cannot be made is told, the others stay. All failing is an error."""
    slides: list[dict[str, object]] = []
    errors: list[dict[str, object]] = []
    for position, item in enumerate(sequence):
        try:
            id, content, images = _item(item)
            with _Undo(presentation):
                index, applied = add_from_template(presentation, workspace, id, scheme, content, images)
            slides.append({"slide_index": index, "template_id": id, "elements": len(_elements(applied))})
        except ToolError as error:
            errors.append({"position": position, "error": message_of(error)})
    if not slides:
        raise failure(f"No slide could be created: {errors[0]['error']}", outcome="invalid_arguments", errors=errors)
    result: dict[str, Any] = {
        "success": not errors,
        "slides_created": slides,
        "total_slides": len(slides),
        "color_scheme": scheme.name,
    }
    return {**result, "errors": errors} if errors else result


def add_from_template(
    presentation: Presentation,
    workspace: Workspace,
    id: str,
    scheme: colours.Scheme,
    content: Mapping[str, str] | None = None,
    images: Mapping[str, str] | None = None,
    layout_index: int | None = None,
) -> tuple[int, dict[str, object]]:
    """Append a slide made from a template; its index and what was drawn."""
    blueprint = template(id)
    if layout_index is None:
        layout_index = min(DEFAULT_LAYOUT, len(presentation.slide_layouts) - 1)
    slide = append(presentation, layout_at(presentation, layout_index))
    applied = build(presentation, slide, blueprint, scheme, workspace, content, images)
    return len(presentation.slides) - 1, applied


class _Undo:
    """Takes back the slide that was appended inside a block which fails."""

    def __init__(self, presentation: Presentation) -> None:
        self._presentation = presentation
        self._count = len(presentation.slides)

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is not None and len(self._presentation.slides) > self._count:
            entries: Any = self._presentation.slides._sldIdLst
            last = entries.sldId_lst[-1]
            self._presentation.part.drop_rel(last.rId)
            entries.remove(last)


def _elements(applied: dict[str, object]) -> list[object]:
    created = applied["elements_created"]
    assert isinstance(created, list)
    return created


def _item(item: dict[str, Any]) -> tuple[str, dict[str, str], dict[str, str]]:
    id, content, images = item.get("template_id"), item.get("content") or {}, item.get("images") or {}
    if not isinstance(id, str):
        raise failure("an item needs a 'template_id'", outcome="invalid_arguments")
    for name, texts in (("content", content), ("images", images)):
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise failure(f"'{name}' must be an object of strings", outcome="invalid_arguments")
    return id, content, images


def _describe(element: Element) -> dict[str, object]:
    kinds: dict[type, str] = {Text: "text", Panel: "shape", Picture: "image", Grid: "table", Plot: "chart"}
    return {
        "type": kinds[type(element)],
        "role": element.role,
        "position": _position(element.box),
        "placeholder_text": "" if isinstance(element, Panel) else element.sample,
        "styling_options": _options(element),
    }


def _position(box: Box) -> dict[str, float]:
    wide, high = _INCHES
    left, top, width, height = box
    return {
        "left": round(left * wide / 100, 2),
        "top": round(top * high / 100, 2),
        "width": round(width * wide / 100, 2),
        "height": round(height * high / 100, 2),
    }


def _options(element: Element) -> list[str]:
    match element:
        case Text():
            flags = {"bold": element.bold, "italic": element.italic, "glow": element.glow}
            style = [element.style] if element.style != "plain" else []
            return ["auto_fit", f"max_font_size_{element.size}", *style, *(name for name, on in flags.items() if on)]
        case Picture():
            return ["cropped_to_fill", *(["round_frame"] if element.round else [])]
        case Panel():
            return ["soft_shadow"] if element.shadow else []
        case Grid():
            return ["auto_fit", "striped_rows"]
        case _:
            return ["data_labels"]


def _tip(blueprint: Blueprint) -> str:
    images = blueprint.roles(Picture)
    tip = f"content_mapping takes the roles {', '.join(blueprint.roles())}"
    return f"{tip}; image_paths takes {', '.join(images)}" if images else tip
