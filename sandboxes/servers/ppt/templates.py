"""Tools for slide templates: list and describe them, apply one, build a deck of several, outline a topic.

A template that cannot be applied leaves nothing behind (on the public server a blank slide stays), and a role
that a template does not have is an error that names those it has.

An outline consists of prompts, not facts: headings any talk of that kind has, and figures that say they are samples. It
is meant to be edited afterwards. The same topic gives the same slides.
"""

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from lxml.etree import _Element
from pptx.presentation import Presentation

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import colours, decks
from m3bench.sandboxes.servers.ppt.arguments import choice, slide_at
from m3bench.sandboxes.servers.ppt.blueprints import (
    Blueprint,
    Box,
    ChartElement,
    Element,
    PanelElement,
    PictureElement,
    TableElement,
    TextElement,
    template,
    templates,
)
from m3bench.sandboxes.servers.ppt.builder import build
from m3bench.sandboxes.servers.ppt.registry import failure, message_of, refusal, reworded, tool
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
    template_sequence: list[dict[str, object]],
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


class SequenceResult(TypedDict):
    """What became of the items of a sequence."""

    success: bool
    slides_created: list[dict[str, object]]
    total_slides: int
    color_scheme: str
    errors: NotRequired[list[dict[str, object]]]


def add_sequence(
    presentation: Presentation, workspace: Workspace, sequence: Sequence[Mapping[str, object]], scheme: colours.Scheme
) -> SequenceResult:
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
    result: SequenceResult = {
        "success": not errors,
        "slides_created": slides,
        "total_slides": len(slides),
        "color_scheme": scheme.name,
    }
    if errors:
        result["errors"] = errors
    return result


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
            entries: _Element = self._presentation.slides._sldIdLst
            last = entries.sldId_lst[-1]
            self._presentation.part.drop_rel(last.rId)
            entries.remove(last)


def _elements(applied: dict[str, object]) -> list[object]:
    created = applied["elements_created"]
    assert isinstance(created, list)
    return created


def _item(item: Mapping[str, object]) -> tuple[str, dict[str, str], dict[str, str]]:
    id = item.get("template_id")
    if not isinstance(id, str):
        raise failure("an item needs a 'template_id'", outcome="invalid_arguments")
    return id, _texts(item, "content"), _texts(item, "images")


def _texts(item: Mapping[str, object], name: str) -> dict[str, str]:
    texts = item.get(name) or {}
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise failure(f"'{name}' must be an object of strings", outcome="invalid_arguments")
    return texts


def _describe(element: Element) -> dict[str, object]:
    kinds: dict[type, str] = {
        TextElement: "text",
        PanelElement: "shape",
        PictureElement: "image",
        TableElement: "table",
        ChartElement: "chart",
    }
    return {
        "type": kinds[type(element)],
        "role": element.role,
        "position": _position(element.box),
        "placeholder_text": "" if isinstance(element, PanelElement) else element.sample,
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
        case TextElement():
            flags = {"bold": element.bold, "italic": element.italic, "glow": element.glow}
            style = [element.style] if element.style != "plain" else []
            return ["auto_fit", f"max_font_size_{element.size}", *style, *(name for name, on in flags.items() if on)]
        case PictureElement():
            return ["cropped_to_fill", *(["round_frame"] if element.round else [])]
        case PanelElement():
            return ["soft_shadow"] if element.shadow else []
        case TableElement():
            return ["auto_fit", "striped_rows"]
        case _:
            return ["data_labels"]


def _tip(blueprint: Blueprint) -> str:
    images = blueprint.roles(PictureElement)
    tip = f"content_mapping takes the roles {', '.join(blueprint.roles())}"
    return f"{tip}; image_paths takes {', '.join(images)}" if images else tip


MIN_SLIDES, MAX_SLIDES = 3, 20
MAX_TOPIC = 300


class OutlineSlide(TypedDict):
    """A slide of an outline: a template and what goes into its roles."""

    template_id: str
    content: dict[str, str]


SUBTITLES = {
    "business": "Situation, options and next steps",
    "academic": "Question, method and findings",
    "creative": "Ideas, pictures and possibilities",
}
TOPICS = {
    "business": ("Situation", "Goals", "Options", "Costs and benefits", "Risks", "Plan", "People", "Next steps"),
    "academic": (
        "Background",
        "Question",
        "Related work",
        "Method",
        "Data",
        "Findings",
        "Limits",
        "Conclusions",
    ),
    "creative": ("Spark", "Mood", "Characters", "Story", "Sketches", "Variations", "Feedback", "Next try"),
}
"""The sections of each kind of talk, in order."""


@tool
def auto_generate_presentation(
    context: Context,
    topic: str,
    slide_count: int = 5,
    presentation_type: str = "business",
    color_scheme: str = "modern_blue",
    include_charts: bool = True,
    include_images: bool = False,
    presentation_id: str | None = None,
) -> dict[str, object]:
    subject = " ".join(topic.split())
    if not 1 <= len(subject) <= MAX_TOPIC:
        raise refusal("topic", f"must have between 1 and {MAX_TOPIC} characters")
    if not MIN_SLIDES <= slide_count <= MAX_SLIDES:
        raise failure(f"Slide count must be between {MIN_SLIDES} and {MAX_SLIDES}", outcome="invalid_arguments")
    kind = choice("presentation_type", presentation_type, TOPICS)
    scheme = colours.scheme(color_scheme)
    sequence = outline(subject, slide_count, kind, charts=include_charts, images=include_images)
    with decks.editing(context, presentation_id) as deck:
        result = add_sequence(deck.presentation, context.workspace, sequence, scheme)
    return {
        "message": f"Generated {slide_count} slides on '{subject}'",
        "topic": topic,
        "presentation_type": kind,
        "color_scheme": scheme.name,
        "slide_count": slide_count,
        "generation_result": result,
        "templates_used": [item["template_id"] for item in sequence],
    }


def outline(topic: str, count: int, kind: str, *, charts: bool, images: bool) -> list[OutlineSlide]:
    """The slides of a talk: opening, agenda when there is room, the sections, closing."""
    sections = [_section(topic, name, number) for number, name in enumerate(TOPICS[kind])]
    if charts:
        sections.insert(2, _chart(topic))
    if images:
        sections.insert(1, _image(topic))
    has_agenda = count >= 5
    room = count - 2 - has_agenda
    while len(sections) < room:
        sections.append(_detail(topic, len(sections)))
    chosen = _spread(sections, room, charts)
    opening = _outline_item("title_slide", title=topic, subtitle=SUBTITLES[kind])
    agenda = _outline_item(
        "agenda_slide", title="Agenda", agenda_items="\n".join(_heading(item) for item in chosen[:10])
    )
    closing = _outline_item("thank_you_slide", title="Thank you", subtitle=f"Questions on {topic}?")
    return [opening, *([agenda] if has_agenda else []), *chosen, closing]


def _spread(sections: list[OutlineSlide], room: int, charts: bool) -> list[OutlineSlide]:
    """The first sections, the chart among them where one is wanted and there is room for anything."""
    chosen = sections[:room]
    wanted = [item for item in sections if item["template_id"] == "chart_comparison"]
    if charts and room and not any(item in chosen for item in wanted):
        chosen[-1] = wanted[0]
    return chosen


def _section(topic: str, name: str, number: int) -> OutlineSlide:
    title = f"{name}: {topic}"
    match number % 4:
        case 0:
            return _outline_item(
                "two_column_text",
                title=title,
                header_left="What is known",
                content_left="State the facts\nName the sources\nSay how sure they are",
                header_right="What is open",
                content_right="List the questions\nSay who can answer them\nSet a date",
            )
        case 1:
            return _outline_item(
                "process_flow",
                title=title,
                step_1="Start",
                detail_1="What has to be there first",
                step_2="Check",
                detail_2="How to see that it works",
                step_3="Decide",
                detail_3="Who says go, and when",
            )
        case 2:
            return _outline_item(
                "three_column_layout",
                title=title,
                header_1="First",
                content_1="The simplest way",
                header_2="Second",
                content_2="The usual way",
                header_3="Third",
                content_3="The boldest way",
            )
        case _:
            return _outline_item(
                "before_after_comparison",
                title=title,
                header_before="Today",
                content_before="How it works now\nWhat it costs",
                header_after="Tomorrow",
                content_after="How it could work\nWhat that would bring",
            )


def _chart(topic: str) -> OutlineSlide:
    return _outline_item(
        "chart_comparison",
        title=f"Figures: {topic}",
        header_left="Sample A",
        chart_left="Q1: 12\nQ2: 18\nQ3: 15\nQ4: 21",
        header_right="Sample B",
        chart_right="Q1: 9\nQ2: 11\nQ3: 16\nQ4: 19",
        insight="Sample figures: replace them with your own by update_chart_data",
    )


def _image(topic: str) -> OutlineSlide:
    return _outline_item("text_with_image", title=f"Picture: {topic}", content="What it shows\nWhy it matters")


def _detail(topic: str, number: int) -> OutlineSlide:
    return _outline_item(
        "minimalist_hero", title=f"Point {number + 1}", subtitle=f"One thing to remember about {topic}"
    )


def _heading(item: OutlineSlide) -> str:
    return str(item["content"]["title"]).partition(":")[0]


def _outline_item(template_id: str, **content: str) -> OutlineSlide:
    return {"template_id": template_id, "content": content}
