"""The `studio` server: drafts of pages that are opened, rendered, looked at and revised element by element.

It is offered only with tasks that need it. Drafts come with the scene of a run's picture and become files of the
workspace when they are opened; everything else works on those files. Slides and worksheets are rendered and read here,
and changed with the tools of the servers for presentations and workbooks.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from m3bench.sandboxes.content import ImageBlock
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.toolserver import ToolServer
from m3bench.tasks.catalog import did_you_mean
from m3bench.tasks.errors import ToolError
from m3bench.tasks.lazy_modules import LazyModule
from m3bench.tasks.scene import Draft
from m3bench.tasks.studio import rendering
from m3bench.tasks.studio.page import Element, Page, PageError, described, element, pages, read
from m3bench.tasks.studio.rendering import box_of, overlap

if TYPE_CHECKING:
    from m3bench.tasks.office import marks, picture, reading
else:
    marks = LazyModule("m3bench.tasks.office.marks")
    picture = LazyModule("m3bench.tasks.office.picture")
    reading = LazyModule("m3bench.tasks.office.reading")

server = ToolServer("studio")

MOST_SCALE = 3.0
MOST_LINES = 400
"""Of a listing."""
OFFICE = (".pptx", ".xlsx")


@server.tool
def list_drafts(context: Context) -> str:
    return "\n".join(f"{draft.name}: {draft.title}" for draft in _drafts(context))


@server.tool
def open_draft(context: Context, name: str) -> str:
    drafts = _drafts(context)
    wanted = name.strip().casefold().removeprefix("./")
    draft = next(
        (candidate for candidate in drafts if wanted in (candidate.name.casefold(), candidate.title.casefold())), None
    )
    if draft is None:
        hint = did_you_mean(name, [draft.name for draft in drafts]) or " list_drafts shows which there are."
        raise ToolError(f"There is no draft {name!r}.{hint}", outcome="not_found")
    with context.workspace.writing(draft.name) as place:
        place.write_bytes(draft.data)
    if _is_office(draft.name):
        return f"{draft.title} is now ./{draft.name}\n\n{_sheet_listing(_office(draft.name, draft.data, 1))}"
    first = _pages(draft.name, draft.data)[0]
    return f"{draft.title} is now ./{draft.name}\n\n{_listing(first, first.elements)}"


@server.tool
def read_page(context: Context, path: str, page: int = 1) -> str:
    if _is_office(path):
        return _sheet_listing(_office(path, context.workspace.existing(path).read_bytes(), page))
    found, sheet = _sheet(context, path, page)
    return _listing(found, _on(found, sheet))


@server.tool
def render_page(context: Context, path: str, page: int = 1, scale: float = 1.0) -> list[object]:
    if not 0 < scale <= MOST_SCALE:
        raise ToolError(f"scale must be above 0 and at most {MOST_SCALE:g}", outcome="invalid_arguments")
    if _is_office(path):
        return _rendered(_office(path, context.workspace.existing(path).read_bytes(), page), scale)
    found, sheet = _sheet(context, path, page)
    seen = found.sheet(sheet)
    wide, high = rendering.size(seen, scale)
    return [f"Rendered at {wide} × {high} pixels; fingerprint {seen.digest}", ImageBlock(rendering.png(seen, scale))]


@server.tool
def change_element(
    context: Context, path: str, element: str, attributes: Mapping[str, object] | None = None, text: str | None = None
) -> str:
    if not attributes and text is None:
        raise ToolError("Nothing is to be changed: give attributes or text", outcome="invalid_arguments")
    page = _svg(context, path)
    return _put(context, path, page, _of(_named(page, element).changed, attributes or {}, text))


@server.tool
def move_element(context: Context, path: str, element: str, dx: float, dy: float) -> str:
    page = _svg(context, path)
    return _put(context, path, page, _of(_named(page, element).moved, dx, dy))


@server.tool
def add_element(
    context: Context, path: str, element: str, kind: str, attributes: Mapping[str, object], text: str = ""
) -> str:
    page = _svg(context, path)
    if element in page:
        raise ToolError(f"There is an element {element!r} already: use change_element", outcome="invalid_arguments")
    return _put(context, path, page, _of(_new, kind, element, attributes, text))


@server.tool
def remove_element(context: Context, path: str, element: str) -> str:
    page = _svg(context, path)
    _save(context, path, page.without([_named(page, element).name]))
    return f"Removed {element}"


_new = element


def _of(make: Callable[..., Element], *given: object) -> Element:
    try:
        return make(*given)
    except PageError as error:
        raise ToolError(_sentence(error), outcome="invalid_arguments") from error


def _put(context: Context, path: str, page: Page, new: Element) -> str:
    try:
        _save(context, path, page.with_element(new))
    except PageError as error:
        raise ToolError(_sentence(error), outcome="invalid_arguments") from error
    return described(new)


def _save(context: Context, path: str, page: Page) -> None:
    with context.workspace.writing(path) as place:
        place.write_text(page.svg(), encoding="utf-8")


def _svg(context: Context, path: str) -> Page:
    """A page whose elements can be changed here."""
    file = context.workspace.existing(path)
    if file.suffix.casefold() != ".svg":
        raise ToolError(f"{path!r} has tools of its own kind: only .svg is changed here", outcome="invalid_arguments")
    try:
        return read(file.read_bytes())
    except PageError as error:
        raise ToolError(f"{path!r} cannot be used: {error}", outcome="invalid_arguments") from error


def _sheet(context: Context, path: str, number: int) -> tuple[Page, int]:
    """What clients call a page of a file: a page, and which of its sheets."""
    file = context.workspace.existing(path)
    found = [(page, sheet) for page in _pages(path, file.read_bytes()) for sheet in range(1, page.sheets + 1)]
    if not 1 <= number <= len(found):
        raise ToolError(f"There is no page {number}: {path!r} has {len(found)}", outcome="not_found")
    return found[number - 1]


def _on(page: Page, sheet: int) -> Sequence[Element]:
    """What can be seen on a sheet, at least in part."""
    if page.sheets == 1:
        return page.elements
    high = page.height / page.sheets
    around = (0.0, high * (sheet - 1) + 0.5, page.width, high * sheet - 0.5)
    # A line across has no height and is seen all the same.
    return [element for element in page.elements if overlap(box_of(element, page), around, -0.01)]


def _is_office(path: str) -> bool:
    return PurePosixPath(path).suffix.casefold() in OFFICE


def _office(path: str, data: bytes, number: int) -> "marks.PrintedSheet":
    """One slide or worksheet of a file."""
    try:
        found = reading.sheets(path, data)
    except marks.OfficeError as error:
        raise ToolError(f"{path!r} cannot be shown: {error}", outcome="invalid_arguments") from error
    if not 1 <= number <= len(found):
        raise ToolError(f"There is no page {number}: {path!r} has {len(found)}", outcome="not_found")
    return found[number - 1]


def _rendered(sheet: "marks.PrintedSheet", scale: float) -> list[object]:
    try:
        wide, high = picture.size(sheet, scale)
        content = picture.png(sheet, scale)
    except marks.OfficeError as error:
        raise ToolError(f"This page cannot be shown: {error}", outcome="invalid_arguments") from error
    said = f"Rendered {sheet.name} at {wide} × {high} pixels"
    if sheet.unknown:
        said += "; not drawn as in the file: " + "; ".join(sheet.unknown)
    return [said, ImageBlock(content)]


def _sheet_listing(sheet: "marks.PrintedSheet") -> str:
    """What is on a slide or worksheet, without telling where its words come to lie."""
    texts: dict[str, list[str]] = {}
    for word in sheet.words():
        texts.setdefault(word.owner, []).append(word.text)
    lines = [f"{sheet.name}: {sheet.width:.0f} × {sheet.height:.0f} pixels"]
    for name, (left, top, right, bottom) in sheet.boxes.items():
        box = f"{name}: x={left:.0f} y={top:.0f} width={right - left:.0f} height={bottom - top:.0f}"
        lines.append(box + (f" “{' '.join(texts[name])}”" if name in texts else ""))
    return "\n".join(lines[:MOST_LINES])


def _pages(path: str, data: bytes) -> Sequence[Page]:
    try:
        return pages(path, data)
    except PageError as error:
        raise ToolError(f"{path!r} cannot be shown: {error}", outcome="invalid_arguments") from error


def _named(page: Page, name: str) -> Element:
    if name not in page:
        hint = did_you_mean(name, [element.name for element in page.elements]) or " read_page lists them."
        raise ToolError(f"There is no element {name!r}.{hint}", outcome="not_found")
    return page[name]


def _listing(page: Page, elements: Sequence[Element]) -> str:
    high = page.height / page.sheets
    several = f", that is {page.sheets} pages of {high:g} pixels one below the other" if page.sheets > 1 else ""
    head = f"{page.width:g} × {page.height:g} pixels{several}, from the back to the front:"
    return "\n".join((head, *map(described, elements)))


def _drafts(context: Context) -> tuple[Draft, ...]:
    found = tuple(draft for scene in context.scenes for draft in scene.drafts)
    if not found:
        raise ToolError("The studio is empty: there is no draft in this run", outcome="not_found")
    return found


def _sentence(error: PageError) -> str:
    said = str(error)
    return said[:1].upper() + said[1:]
