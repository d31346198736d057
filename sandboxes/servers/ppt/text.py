"""Tools for text boxes: add, format, set run by run, check whether the text fits, tidy a slide, manage hyperlinks.

`auto_fit`, `bg_color` and `vertical_alignment` do what they say (the public server only accepts them), and
wrapping is switched on rather than imitated with line breaks inside the text.

For hyperlinks, runs are counted through all paragraphs of a shape, so that whatever `list` shows can be changed (the
public server reaches the first paragraph only, where the numbers are the same). `add` links words that already stand in
the shape where they are, and writes them at the end otherwise.
"""

import copy
import re
from typing import Any

from pptx.enum.text import MSO_AUTO_SIZE
from pptx.presentation import Presentation
from pptx.shapes.base import BaseShape
from pptx.text.text import TextFrame, _Run
from pptx.util import Pt

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import decks, typesetting
from m3bench.sandboxes.servers.ppt.arguments import (
    SHAPE_OUT_OF_RANGE,
    SLIDE_OUT_OF_RANGE,
    between,
    drawing_slide,
    frame,
    index_of,
    mapping,
    number,
    operation,
    optional_rgb,
    shape_at,
    slide_at,
)
from m3bench.sandboxes.servers.ppt.arguments import operation as known_operation
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.servers.ppt.typesetting import (
    Look,
    alignment,
    anchor,
    clean,
    format_frame,
    inherited_size,
    inner_size,
    measured,
    shrink,
    text_frame,
)

LINK_OPERATIONS = ("add", "remove", "list", "update")
WRONG_LINK_OPERATION = "Unsupported operation: {value}. Use 'add', 'remove', 'list', or 'update'"
SCHEMES = ("http", "https", "mailto", "ftp", "tel", "file")
MAX_URL = 2000

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*):")


@tool
def manage_hyperlinks(
    context: Context,
    operation: str,
    slide_index: int,
    shape_index: int | None = None,
    text: str | None = None,
    url: str | None = None,
    run_index: int = 0,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = known_operation(operation, LINK_OPERATIONS, WRONG_LINK_OPERATION)
    if wanted == "list":
        presentation = decks.reading(context, presentation_id, decks.NOT_FOUND).presentation
        slide = slide_at(presentation, slide_index, SLIDE_OUT_OF_RANGE)
        found = [entry for index, shape in enumerate(slide.shapes) for entry in _links(index, shape)]
        return {"message": f"Found {len(found)} hyperlinks on slide {slide_index}", "hyperlinks": found}
    with decks.editing(context, presentation_id, decks.NOT_FOUND) as deck:
        slide = slide_at(deck.presentation, slide_index, SLIDE_OUT_OF_RANGE)
        shape = shape_at(slide, shape_index, SHAPE_OUT_OF_RANGE)
        if not shape.has_text_frame:
            raise failure("Shape does not contain text", outcome="invalid_arguments")
        if wanted == "add":
            return _add(shape, shape_index, text, url)
        run = _run(text_frame(shape), run_index)
        old = run.hyperlink.address
        if wanted == "update":
            if not url:
                raise failure("URL is required for updating hyperlinks", outcome="invalid_arguments")
            set_link(run, "url", url)
            message = f"Updated hyperlink from '{old}' to '{url}'"
            return {"message": message, "old_url": old, "new_url": url, "text": run.text}
        if old is None:
            raise failure(f"Run {run_index} has no hyperlink: call list to see where there are some")
        run.hyperlink.address = None
        return {
            "message": f"Removed hyperlink '{old}' from text '{run.text}'",
            "removed_url": old,
            "text": run.text,
        }


def set_link(run: _Run, parameter: str, url: object) -> None:
    """Link a run to an address."""
    if not isinstance(url, str) or not url.strip() or len(url) > MAX_URL or re.search(r"\s", url):
        raise refusal(parameter, f"must be an address without white space of at most {MAX_URL} characters")
    scheme = _SCHEME.match(url)
    if scheme is not None and scheme[1].lower() not in SCHEMES:
        raise refusal(parameter, f"{scheme[1]!r} addresses are not allowed. Use one of: {', '.join(SCHEMES)}")
    run.hyperlink.address = url


def _links(index: int, shape: BaseShape) -> list[dict[str, object]]:
    if not shape.has_text_frame:
        return []
    found: list[dict[str, object]] = []
    number = 0
    for paragraph_index, paragraph in enumerate(text_frame(shape).paragraphs):
        for run in paragraph.runs:
            if run.hyperlink.address:
                found.append(
                    {
                        "shape_index": index,
                        "paragraph_index": paragraph_index,
                        "run_index": number,
                        "text": run.text,
                        "url": run.hyperlink.address,
                    }
                )
            number += 1
    return found


def _add(shape: BaseShape, shape_index: int | None, text: str | None, url: str | None) -> dict[str, object]:
    if not text or not url:
        raise failure("Both 'text' and 'url' are required for adding hyperlinks", outcome="invalid_arguments")
    frame = text_frame(shape)
    run = _cut_out(frame, text)
    if run is None:
        run = _appended(frame)
        run.text = clean(text).replace("\n", "\v")
    set_link(run, "url", url)
    shrink(shape)
    return {"message": f"Added hyperlink '{text}' -> '{url}' to shape {shape_index}", "text": text, "url": url}


def _appended(frame: TextFrame) -> _Run:
    """A new run after the first paragraph's text, looking like what stands before it."""
    paragraph = frame.paragraphs[0]
    before = [run for run in paragraph.runs if not run.hyperlink.address]
    run = paragraph.add_run()
    if before and before[-1]._r.rPr is not None:
        run._r.insert(0, copy.deepcopy(before[-1]._r.rPr))
    return run


def _cut_out(frame: TextFrame, text: str) -> _Run | None:
    """The first place where the text stands without a link, as a run of its own."""
    for paragraph in frame.paragraphs:
        for run in paragraph.runs:
            before, found, after = run.text.partition(text)
            if not found or run.hyperlink.address:
                continue
            element = run._r
            for place, part in (("before", before), ("after", after)):
                if part:
                    twin = copy.deepcopy(element)
                    element.addprevious(twin) if place == "before" else element.addnext(twin)
                    _Run(twin, run._parent).text = part
            run.text = text
            return run
    return None


def _run(frame: TextFrame, index: int) -> _Run:
    runs = [run for paragraph in frame.paragraphs for run in paragraph.runs]
    if not 0 <= index < len(runs):
        available = f"0-{len(runs) - 1}" if runs else "none (the shape has no text)"
        raise failure(f"Run index {index} out of range. Available runs: {available}")
    return runs[index]


OPERATIONS = ("add", "format", "validate", "format_runs")
WRONG_OPERATION = "Invalid operation: {value}. Must be 'add', 'format', 'validate', or 'format_runs'"
MAX_RUNS = 500
FONT_SIZES = (1, 400)
SPACING = 1.1
"""Line spacing where a text has room to spare."""


@tool
def manage_text(
    context: Context,
    slide_index: int,
    operation: str,
    left: float = 1.0,
    top: float = 1.0,
    width: float = 4.0,
    height: float = 2.0,
    text: str = "",
    shape_index: int | None = None,
    text_runs: list[dict[str, object]] | None = None,
    font_size: int | None = None,
    font_name: str | None = None,
    bold: bool | None = None,
    italic: bool | None = None,
    underline: bool | None = None,
    color: list[int] | None = None,
    bg_color: list[int] | None = None,
    alignment: str | None = None,
    vertical_alignment: str | None = None,
    auto_fit: bool = True,
    validation_only: bool = False,
    min_font_size: int = 8,
    max_font_size: int = 72,
    presentation_id: str | None = None,
) -> dict[str, object]:
    wanted = _operation(operation)
    look = Look.of(font_size=font_size, font_name=font_name, bold=bold, italic=italic, underline=underline, color=color)
    styling = _Styling(look, alignment, vertical_alignment, bg_color)
    sizes = _size_range(min_font_size, max_font_size)
    if wanted == "validate" and validation_only:
        shape = _text_shape(decks.reading(context, presentation_id).presentation, slide_index, shape_index)
        return _judge(shape, text, font_size, sizes).report()
    with decks.editing(context, presentation_id) as deck:
        if wanted == "add":
            slide = drawing_slide(deck.presentation, slide_index)
            box = slide.shapes.add_textbox(*frame(left, top, width, height))
            box.text_frame.text = clean(text)
            styling.apply(box)
            _fit(box, auto_fit)
            return {
                "message": f"Added text box to slide {slide_index}",
                "shape_index": index_of(slide, box),
                "text": text,
            }
        shape = _text_shape(deck.presentation, slide_index, shape_index)
        if wanted == "format":
            styling.apply(shape)
            _fit(shape, auto_fit)
            return {"message": f"Formatted text in shape {shape_index} on slide {slide_index}"}
        if wanted == "validate":
            return _repair(shape, _judge(shape, text, font_size, sizes))
        runs = _set_runs(shape, text_runs)
        _fit(shape, auto_fit)
    return {
        "message": f"Formatted {len(runs)} text runs in shape {shape_index} on slide {slide_index}",
        "slide_index": slide_index,
        "shape_index": shape_index,
        "formatted_runs": runs,
    }


@tool
def optimize_slide_text(
    context: Context,
    slide_index: int,
    auto_resize: bool = True,
    auto_wrap: bool = True,
    optimize_spacing: bool = True,
    min_font_size: int = 8,
    max_font_size: int = 36,
    presentation_id: str | None = None,
) -> dict[str, object]:
    sizes = _size_range(min_font_size, max_font_size)
    applied = []
    with decks.editing(context, presentation_id) as deck:
        for index, shape in enumerate(slide_at(deck.presentation, slide_index).shapes):
            if not shape.has_text_frame or not text_frame(shape).text.strip():
                continue
            done = []
            if auto_wrap and text_frame(shape).word_wrap is not True:
                text_frame(shape).word_wrap = True
                done.append("word wrap on")
            if auto_resize:
                done += _resize(shape, sizes)
            if optimize_spacing:
                done += _space(shape)
            if done:
                applied.append({"shape_index": index, "optimizations": done})
    return {
        "message": f"Optimized {len(applied)} text elements on slide {slide_index}",
        "slide_index": slide_index,
        "optimizations_applied": applied,
        "settings": {
            "auto_resize": auto_resize,
            "auto_wrap": auto_wrap,
            "optimize_spacing": optimize_spacing,
            "font_size_range": f"{min_font_size}-{max_font_size}",
        },
    }


class _Styling:
    """The formatting arguments of a call, judged before anything is changed."""

    def __init__(self, look: Look, horizontal: str | None, vertical: str | None, ground: list[int] | None) -> None:
        self._look = look
        self._alignment = alignment(horizontal)
        self._anchor = anchor(vertical)
        self._ground = optional_rgb("bg_color", ground)

    def apply(self, shape: BaseShape) -> None:
        frame = text_frame(shape)
        format_frame(frame, self._look, self._alignment)
        if self._anchor is not None:
            frame.vertical_anchor = self._anchor
        if self._ground is not None:
            fill = shape.fill  # type: ignore[attr-defined]
            fill.solid()
            fill.fore_color.rgb = self._ground


class _Verdict:
    """Whether a text fits its shape, and what would make it fit."""

    def __init__(
        self, *, text: str | None, size: float, suggested: float, needed: float, room: tuple[float, float] | None
    ) -> None:
        self.text = text
        self.suggested = suggested
        self.fits = room is None or needed <= room[1]
        self._size = size
        self._needed = needed
        self._room = room

    def report(self) -> dict[str, object]:
        warnings = []
        suggestion = None
        if not self.fits and self._room is not None:
            missing = (self._needed - self._room[1]) / 72
            warnings.append(f"Text needs about {missing:.2f} inches more height at {self._size:g} pt")
            suggestion = {"width": round(self._room[0] / 72, 2), "height": round(self._needed / 72 + 0.1, 2)}
        return {
            "message": "Text fits its shape" if self.fits else "Text does not fit its shape",
            "fits": self.fits,
            "estimated_overflow": not self.fits,
            "current_font_size": self._size,
            "suggested_font_size": self.suggested,
            "suggested_dimensions": suggestion,
            "warnings": warnings,
            "needs_optimization": not self.fits,
        }


def _operation(value: str) -> str:
    return operation(value, OPERATIONS, WRONG_OPERATION)


def _size_range(low: int, high: int) -> tuple[int, int]:
    between("min_font_size", low, *FONT_SIZES)
    between("max_font_size", high, *FONT_SIZES)
    if low > high:
        raise refusal("min_font_size", f"must not be larger than max_font_size, but {low} > {high}")
    return low, high


def _text_shape(presentation: Presentation, slide_index: int, shape_index: int | None) -> BaseShape:
    slide = slide_at(presentation, slide_index)
    if shape_index is None:
        raise refusal("shape_index", "is required for this operation")
    shape = shape_at(slide, shape_index)
    if not shape.has_text_frame:
        raise failure(f"Shape at index {shape_index} has no text", outcome="invalid_arguments")
    return shape


def _fit(shape: BaseShape, auto_fit: bool) -> None:
    text_frame(shape).word_wrap = True
    if auto_fit:
        shrink(shape)
    else:
        text_frame(shape).auto_size = MSO_AUTO_SIZE.NONE


def _set_runs(shape: BaseShape, text_runs: list[dict[str, object]] | None) -> list[dict[str, object]]:
    if not text_runs or len(text_runs) > MAX_RUNS:
        raise refusal("text_runs", f"must have between 1 and {MAX_RUNS} runs for format_runs")
    frame = text_frame(shape)
    frame.clear()
    paragraph = frame.paragraphs[0]
    formatted = []
    for index, entry in enumerate(text_runs):
        where = f"text_runs[{index}]"
        content = mapping(where, entry).get("text")
        if not isinstance(content, str):
            raise refusal(where, "must have a 'text' that is a string")
        look = _run_look(where, entry)
        for line_number, line in enumerate(clean(content).split("\n")):
            if line_number:
                paragraph = frame.add_paragraph()
            run = paragraph.add_run()
            run.text = line
            look.apply(run.font)
            if entry.get("hyperlink"):
                set_link(run, f"{where}.hyperlink", entry["hyperlink"])
        formatted.append({"index": index, **entry})
    return formatted


def _run_look(where: str, entry: dict[str, Any]) -> Look:
    for flag in ("bold", "italic", "underline"):
        if not isinstance(entry.get(flag), bool | None):
            raise refusal(f"{where}.{flag}", "must be true or false")
    if not isinstance(entry.get("font_name"), str | None):
        raise refusal(f"{where}.font_name", "must be a string")
    if entry.get("font_size") is not None:
        number(f"{where}.font_size", entry["font_size"])
    names = ("font_size", "font_name", "bold", "italic", "underline", "color")
    return Look.of(**{name: entry.get(name) for name in names})


def _judge(shape: BaseShape, text: str, font_size: int | None, sizes: tuple[int, int]) -> _Verdict:
    """The verdict on the shape's text, or on another text in its place."""
    frame = text_frame(shape)
    paragraphs = measured(shape, frame)
    if text:
        size = max((item.size for item in paragraphs), default=inherited_size(shape))
        paragraphs = [typesetting.Paragraph(text=line, size=size) for line in clean(text).split("\n")]
    if font_size is not None:
        paragraphs = _resized(paragraphs, font_size)
    room = inner_size(shape, frame)
    largest = max(item.size for item in paragraphs)
    suggested = largest
    if room is not None and typesetting.text_height(paragraphs, room[0]) > room[1]:
        suggested = _best_size(paragraphs, room, (sizes[0], int(min(max(largest, sizes[0]), sizes[1]))))
    needed = 0.0 if room is None else typesetting.text_height(paragraphs, room[0])
    return _Verdict(text=text or None, size=largest, suggested=suggested, needed=needed, room=room)


def _repair(shape: BaseShape, verdict: _Verdict) -> dict[str, object]:
    """Report, after the suggested size was set when the text did not fit."""
    report = verdict.report()
    if verdict.text is not None:
        text_frame(shape).text = clean(verdict.text)
    if not verdict.fits:
        format_frame(text_frame(shape), Look(size=Pt(verdict.suggested)))
        text_frame(shape).word_wrap = True
    return {**report, "optimizations_applied": [] if verdict.fits else [f"font size {verdict.suggested:g} pt"]}


def _resize(shape: BaseShape, sizes: tuple[int, int]) -> list[str]:
    frame = text_frame(shape)
    room = inner_size(shape, frame)
    if room is None:
        return []
    paragraphs = measured(shape, frame)
    largest = max(item.size for item in paragraphs)
    best = _best_size(paragraphs, room, (sizes[0], int(min(max(largest, sizes[0]), sizes[1]))))
    frame.auto_size = MSO_AUTO_SIZE.NONE
    if best == largest:
        return []
    for paragraph, item in zip(frame.paragraphs, paragraphs, strict=True):
        for run in paragraph.runs:
            own = run.font.size.pt if run.font.size is not None else item.size
            run.font.size = Pt(max(round(own * best / largest), 1))
    return [f"font size {largest:g} pt to {best:g} pt"]


def _space(shape: BaseShape) -> list[str]:
    frame = text_frame(shape)
    room = inner_size(shape, frame)
    if room is None:
        return []
    roomy = typesetting.text_height(measured(shape, frame), room[0]) * SPACING <= room[1]
    spacing = SPACING if roomy and len(frame.text) > 80 else 1.0
    for paragraph in frame.paragraphs:
        paragraph.line_spacing = spacing
    return [f"line spacing {spacing:g}"]


def _best_size(paragraphs: list[typesetting.Paragraph], room: tuple[float, float], sizes: tuple[int, int]) -> float:
    """The largest whole size in the range at which the text fits; the smallest when none does."""
    largest = max(item.size for item in paragraphs)
    steps = [size / largest for size in range(sizes[0], max(sizes) + 1)]
    return round(typesetting.largest_scale(paragraphs, room[0], room[1], steps) * largest)


def _resized(paragraphs: list[typesetting.Paragraph], size: float) -> list[typesetting.Paragraph]:
    return [
        typesetting.Paragraph(text=item.text, size=size, bold=item.bold, indent=item.indent, before=item.before)
        for item in paragraphs
    ]
