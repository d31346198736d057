"""The tool that fills a deck with a plain outline of a topic, to be edited afterwards.

What it writes are prompts, not facts: headings any talk of that kind has, and figures that say they are
samples. The same topic gives the same slides.
"""

from typing import Any

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import colours, decks
from m3bench.sandboxes.servers.ppt.arguments import choice
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.servers.ppt.templates import add_sequence

MIN_SLIDES, MAX_SLIDES = 3, 20
MAX_TOPIC = 300

Item = dict[str, Any]

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


def outline(topic: str, count: int, kind: str, *, charts: bool, images: bool) -> list[Item]:
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
    opening = _item("title_slide", title=topic, subtitle=SUBTITLES[kind])
    agenda = _item("agenda_slide", title="Agenda", agenda_items="\n".join(_heading(item) for item in chosen[:10]))
    closing = _item("thank_you_slide", title="Thank you", subtitle=f"Questions on {topic}?")
    return [opening, *([agenda] if has_agenda else []), *chosen, closing]


def _spread(sections: list[Item], room: int, charts: bool) -> list[Item]:
    """The first sections, the chart among them where one is wanted and there is room for anything."""
    chosen = sections[:room]
    wanted = [item for item in sections if item["template_id"] == "chart_comparison"]
    if charts and room and not any(item in chosen for item in wanted):
        chosen[-1] = wanted[0]
    return chosen


def _section(topic: str, name: str, number: int) -> Item:
    title = f"{name}: {topic}"
    match number % 4:
        case 0:
            return _item(
                "two_column_text",
                title=title,
                header_left="What is known",
                content_left="State the facts\nName the sources\nSay how sure they are",
                header_right="What is open",
                content_right="List the questions\nSay who can answer them\nSet a date",
            )
        case 1:
            return _item(
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
            return _item(
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
            return _item(
                "before_after_comparison",
                title=title,
                header_before="Today",
                content_before="How it works now\nWhat it costs",
                header_after="Tomorrow",
                content_after="How it could work\nWhat that would bring",
            )


def _chart(topic: str) -> Item:
    return _item(
        "chart_comparison",
        title=f"Figures: {topic}",
        header_left="Sample A",
        chart_left="Q1: 12\nQ2: 18\nQ3: 15\nQ4: 21",
        header_right="Sample B",
        chart_right="Q1: 9\nQ2: 11\nQ3: 16\nQ4: 19",
        insight="Sample figures: replace them with your own by update_chart_data",
    )


def _image(topic: str) -> Item:
    return _item("text_with_image", title=f"Picture: {topic}", content="What it shows\nWhy it matters")


def _detail(topic: str, number: int) -> Item:
    return _item("minimalist_hero", title=f"Point {number + 1}", subtitle=f"One thing to remember about {topic}")


def _heading(item: Item) -> str:
    return str(item["content"]["title"]).partition(":")[0]


def _item(template_id: str, **content: str) -> Item:
    return {"template_id": template_id, "content": content}
