"""Hyperlinks in text: list, add, change, remove.

Runs are counted through all paragraphs of a shape, so that whatever `list` shows can be changed (the public
server reaches the first paragraph only, where the numbers are the same). `add` links words that already stand
in the shape where they are, and writes them at the end otherwise.
"""

import copy
import re

from pptx.shapes.base import BaseShape
from pptx.text.text import TextFrame, _Run

from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt import decks
from m3bench.sandboxes.servers.ppt.arguments import (
    SHAPE_OUT_OF_RANGE,
    SLIDE_OUT_OF_RANGE,
    shape_at,
    slide_at,
)
from m3bench.sandboxes.servers.ppt.arguments import (
    operation as known_operation,
)
from m3bench.sandboxes.servers.ppt.registry import failure, refusal, tool
from m3bench.sandboxes.servers.ppt.typesetting import clean, shrink, text_frame

OPERATIONS = ("add", "remove", "list", "update")
WRONG_OPERATION = "Unsupported operation: {value}. Use 'add', 'remove', 'list', or 'update'"
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
    wanted = known_operation(operation, OPERATIONS, WRONG_OPERATION)
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
