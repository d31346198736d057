"""The open decks of a workspace, which one is current, and their files.

A deck lies in the state folder as a .pptx and is written after every change, so that a host that starts again
goes on where the last one stopped. Every change starts from that file, so that neither a restart nor a look
changes a byte and a change that fails half-way leaves nothing behind; only looks are served from memory.

A file is examined before it is opened, and the bytes written depend on the content alone: python-pptx would put the
time of day into the zip and compress pictures a second time. Writing the package here costs a few milliseconds.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pptx
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.presentation import Presentation
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide
from pptx.table import Table
from pptx.text.text import TextFrame

from m3bench.sandboxes.archives import RATIO_FLOOR, pieces
from m3bench.sandboxes.context import Context
from m3bench.sandboxes.servers.ppt.registry import failure, refusal
from m3bench.sandboxes.workspace import WorkspaceLimits
from m3bench.sandboxes.world.clock import NOW
from m3bench.tasks.atomic_files import write_atomically
from m3bench.tasks.errors import LimitError, ToolError

Entry = dict[str, object]


@dataclass
class SlideText:
    """The text of a slide by where it stands."""

    title: str = ""
    placeholders: list[Entry] = field(default_factory=list)
    others: list[Entry] = field(default_factory=list)
    tables: list[Entry] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def combined(self) -> str:
        """Everything, in the order of the shapes."""
        return "\n".join(self.lines)

    @property
    def shape_count(self) -> int:
        """How many shapes, tables aside, carry text."""
        return len(self.placeholders) + len(self.others)

    def content(self) -> Entry:
        """The text as the tools show it."""
        return {
            "slide_title": self.title,
            "placeholders": self.placeholders,
            "text_shapes": self.others,
            "table_text": self.tables,
            "all_text_combined": self.combined,
        }


def kind(shape: BaseShape) -> str:
    """The kind of a shape in PowerPoint's words, such as `PICTURE (13)`."""
    try:
        return str(shape.shape_type)
    except NotImplementedError:
        return "unknown"


def slide_text(slide: Slide) -> SlideText:
    """All text of a slide, also what stands inside groups."""
    found = SlideText()
    title = slide.shapes.title
    if title is not None:
        found.title = title.text_frame.text.strip()
    for index, shape in _with_index(slide.shapes):
        if isinstance(shape, GraphicFrame):
            if shape.has_table:
                _add_table(found, index, shape.name, shape.table)
            continue
        frame = getattr(shape, "text_frame", None)
        text = frame.text.strip() if isinstance(frame, TextFrame) else ""
        if not text:
            continue
        found.lines.append(text)
        entry: Entry = {"shape_index": index, "shape_name": shape.name, "shape_type": kind(shape), "text": text}
        if shape.is_placeholder:
            entry["placeholder_type"] = str(shape.placeholder_format.type)
            entry["placeholder_idx"] = shape.placeholder_format.idx
            found.placeholders.append(entry)
        else:
            found.others.append(entry)
    return found


def examine(presentation: Presentation) -> None:
    """Read whatever the tools rely on, so that a damaged file shows now and not in the middle of a change.

    Raises anything: python-pptx reads lazily and trusts what it finds.
    """
    for master in presentation.slide_masters:
        master.part.part_related_by(RELATIONSHIP_TYPE.THEME)
        for layout in master.slide_layouts:
            places: Any = layout.placeholders
            seen = [layout.name, *((item.placeholder_format.type, item.left, item.width) for item in places)]
            assert seen[0] is not None
    for slide in presentation.slides:
        slide_text(slide)
        assert slide.slide_layout.slide_master is not None
        for _, shape in _with_index(slide.shapes):
            _examine_shape(shape)


def _examine_shape(shape: Any) -> None:
    seen = [kind(shape), shape.name, shape.left, shape.top, shape.width, shape.height]
    if isinstance(shape, Shape):
        seen.append(shape.fill.type)
    if isinstance(shape, GraphicFrame) and shape.has_chart:
        seen.append(shape.chart.part)
    if shape.has_text_frame:
        frame = shape.text_frame
        seen += [frame.margin_left, frame.margin_top, frame.word_wrap, frame.auto_size, frame.vertical_anchor]
        for paragraph in frame.paragraphs:
            seen += [paragraph.level, paragraph.alignment, paragraph.line_spacing]
            # Asking a run for its font would add an empty one to the file.
            formatted = [run for run in paragraph.runs if run._r.rPr is not None]
            seen += [(run.font.size, run.font.bold, run.hyperlink.address) for run in formatted]


def _with_index(shapes: Iterable[BaseShape]) -> Iterator[tuple[int, BaseShape]]:
    """Every shape with the index of the one on the slide that it is or belongs to."""
    for index, shape in enumerate(shapes):
        for inner in _flat(shape):
            yield index, inner


def _flat(shape: BaseShape) -> Iterator[BaseShape]:
    if isinstance(shape, GroupShape):
        for inner in shape.shapes:
            yield from _flat(inner)
    else:
        yield shape


def _add_table(found: SlideText, index: int, name: str, table: Table) -> None:
    rows: list[Entry] = []
    for number, row in enumerate(table.rows):
        cells = [text for cell in row.cells if (text := cell.text_frame.text.strip())]
        found.lines += cells
        if cells:
            rows.append({"row": number, "cells": cells})
    if rows:
        found.tables.append({"shape_index": index, "shape_name": name, "table_content": rows})


MAX_XML_BYTES = 24 * 1024 * 1024
"""All XML of a file together: parsed, it takes some ten times as much memory."""

_CONTENT_TYPES = "[Content_Types].xml"
_TEMPLATE_TYPE = b"presentationml.template.main+xml"
_PRESENTATION_TYPE = b"presentationml.presentation.main+xml"
_BEFORE_MARKUP = b" \t\r\n\x00\xef\xbb\xbf\xff\xfe"
_WORKBOOK_DATE = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")


def blank() -> Presentation:
    """A new presentation of the default design: 4:3, eleven layouts, no slide, made now."""
    presentation = pptx.Presentation()
    core = presentation.core_properties
    core.created = NOW
    core.comments = ""
    core.last_modified_by = ""
    _drop_leftovers(presentation)
    return presentation


def load(path: Path, limits: WorkspaceLimits) -> Presentation:
    """The presentation or template in a client's file; raises `ToolError` when it is none or too large."""
    _check_xml(path, limits)
    try:
        presentation = pptx.Presentation(BytesIO(_as_presentation(path)))
        _find_properties(presentation)
        examine(presentation)
        dump(presentation)
    except (MemoryError, ToolError):
        raise
    except Exception as error:
        # On a broken file the library raises nearly anything: KeyError, AttributeError, XMLSyntaxError.
        raise failure(
            f"{path.name!r} is a zip archive but not a readable PowerPoint presentation", outcome="invalid_arguments"
        ) from error
    return presentation


def dump(presentation: Presentation) -> bytes:
    """The presentation as a .pptx file."""
    core = presentation.core_properties
    core.modified = NOW
    if core.created is None or core.created.replace(tzinfo=UTC) > NOW:
        core.created = NOW
    return pack(_entries(presentation))


def pack(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """A zip archive with frozen dates; what is packed already, or so large that it might look like a zip bomb
    when packed, is stored as it is."""
    stream = BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, content in entries:
            entry = ZipInfo(name, date_time=NOW.timetuple()[:6])
            entry.create_system = 0
            packed = name.endswith((".xml", ".rels", ".bin", ".vml")) and len(content) < RATIO_FLOOR
            entry.compress_type = ZIP_DEFLATED if packed else ZIP_STORED
            archive.writestr(entry, content)
    return stream.getvalue()


def frozen_workbook(workbook: bytes) -> bytes:
    """A chart's workbook without the time of day that its writer puts into it."""
    now = NOW.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with ZipFile(BytesIO(workbook)) as archive:
        contents = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    return pack((name, _WORKBOOK_DATE.sub(rb"\g<1>" + now, content)) for name, content in contents)


def _entries(presentation: Presentation) -> Iterator[tuple[str, bytes]]:
    package = presentation.part.package
    parts = list(package.iter_parts())
    if len({part.partname for part in parts}) < len(parts):
        raise failure("The presentation is damaged: two of its parts have the same name", outcome="invalid_arguments")
    yield _CONTENT_TYPES, _content_types(parts)
    yield "_rels/.rels", package._rels.xml
    for part in parts:
        yield part.partname.membername, part.blob
        if len(part.rels):
            yield part.partname.rels_uri.membername, part.rels.xml


def _content_types(parts: Iterable[Part]) -> bytes:
    defaults = {"rels": "application/vnd.openxmlformats-package.relationships+xml", "xml": "application/xml"}
    overrides: dict[str, str] = {}
    for part in parts:
        if part.content_type.startswith("image/"):
            defaults[part.partname.ext] = part.content_type
        else:
            overrides[str(part.partname)] = part.content_type
    lines = ['<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n']
    lines += ['<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">']
    lines += [
        f"<Default Extension={quoteattr(extension)} ContentType={quoteattr(kind)}/>"
        for extension, kind in sorted(defaults.items())
    ]
    lines += [
        f"<Override PartName={quoteattr(name)} ContentType={quoteattr(kind)}/>"
        for name, kind in sorted(overrides.items())
    ]
    return "".join([*lines, "</Types>"]).encode()


def _check_xml(path: Path, limits: WorkspaceLimits) -> None:
    total, current, counted = 0, "", False
    for name, piece in pieces(path, limits):
        if name != current:
            # Names do not tell: what is parsed is up to the file's own list of types.
            current, counted = name, piece.lstrip(_BEFORE_MARKUP).startswith(b"<")
        if counted:
            total += len(piece)
        if total > MAX_XML_BYTES:
            raise LimitError(f"{path.name!r} holds more than {MAX_XML_BYTES} bytes of XML, the most a deck may have")


def _as_presentation(path: Path) -> bytes:
    """The file's bytes; those of a template (.potx) changed so that python-pptx takes it."""
    content = path.read_bytes()
    with ZipFile(BytesIO(content)) as archive:
        if _TEMPLATE_TYPE not in archive.read(_CONTENT_TYPES):
            return content
        contents = [(entry.filename, archive.read(entry)) for entry in archive.infolist()]
    return pack(
        (name, content.replace(_TEMPLATE_TYPE, _PRESENTATION_TYPE) if name == _CONTENT_TYPES else content)
        for name, content in contents
    )


def _find_properties(presentation: Presentation) -> None:
    """Some programs name the link to the document's properties a little differently; a deck has them once."""
    package = presentation.part.package
    for key, relationship in list(package._rels.items()):
        kind = relationship.reltype
        if kind.endswith("/core-properties") and kind != RELATIONSHIP_TYPE.CORE_PROPERTIES:
            package._rels.pop(key)
            package.relate_to(relationship.target_part, RELATIONSHIP_TYPE.CORE_PROPERTIES)


def _drop_leftovers(presentation: Presentation) -> None:
    """The default file carries a preview of some other deck and the settings of someone's printer."""
    for owner in (presentation.part.package._rels, presentation.part.rels):
        for key, relationship in list(owner.items()):
            if relationship.reltype in (RELATIONSHIP_TYPE.THUMBNAIL, RELATIONSHIP_TYPE.PRINTER_SETTINGS):
                owner.pop(key)


NO_DECK = "No presentation is currently loaded or the specified ID is invalid"
NOT_FOUND = "Presentation not found"

MAX_DECKS = 100
MAX_ID = 200
MAX_CACHED = 4
"""Decks kept in memory at once."""

_INDEX = "decks.json"


@dataclass(frozen=True)
class OpenDeck:
    """An open presentation."""

    id: str
    presentation: Presentation


@dataclass
class _Index:
    """What the state folder says."""

    current: str | None = None
    files: dict[str, str] = field(default_factory=dict)
    """Deck id to file name, in the order the decks were opened."""


@dataclass(frozen=True)
class _Cached:
    signature: tuple[int, ...]
    presentation: Presentation


def reading(context: Context, id: str | None, wording: str = NO_DECK) -> OpenDeck:
    """A deck to look at: by id, else the current one."""
    index = _read_index(context)
    found = _find(index, id, wording)
    return OpenDeck(found, _load(context, index.files[found]))


@contextmanager
def editing(context: Context, id: str | None, wording: str = NO_DECK) -> Iterator[OpenDeck]:
    """A deck to change: kept when the block ends well, untouched when it raises."""
    index = _read_index(context)
    found = _find(index, id, wording)
    file = _folder(context) / index.files[found]
    deck = OpenDeck(found, pptx.Presentation(str(file)))
    yield deck
    _store(context, file.name, deck.presentation)


def content(context: Context, id: str | None) -> bytes:
    """A deck as a file."""
    index = _read_index(context)
    return (_folder(context) / index.files[_find(index, id, NO_DECK)]).read_bytes()


def add(context: Context, id: str | None, presentation: Presentation) -> OpenDeck:
    """Keep a new deck and make it the current one; one of the same id is replaced."""
    index = _read_index(context)
    if id is None:
        id = next(name for count in range(1, MAX_DECKS + 2) if (name := f"presentation_{count}") not in index.files)
    if not id.strip() or len(id) > MAX_ID:
        raise refusal("id", f"must have between 1 and {MAX_ID} characters")
    if id not in index.files and len(index.files) >= MAX_DECKS:
        raise failure(
            f"{MAX_DECKS} presentations are open, the most a workspace keeps: reuse one of their ids",
            outcome="invalid_arguments",
        )
    name = index.files.setdefault(id, f"{len(index.files) + 1}.pptx")
    _store(context, name, presentation)
    index.current = id
    _write_index(context, index)
    return OpenDeck(id, presentation)


def switch(context: Context, id: str) -> str | None:
    """Make a deck the current one; the id of the one before."""
    index = _read_index(context)
    if id not in index.files:
        raise failure(f"Presentation '{id}' not found. Available presentations: {list(index.files)}")
    previous, index.current = index.current, id
    _write_index(context, index)
    return previous


def current(context: Context) -> str | None:
    """The id of the current deck."""
    return _read_index(context).current


def ids(context: Context) -> list[str]:
    """The ids of the open decks, oldest first."""
    return list(_read_index(context).files)


def _find(index: _Index, id: str | None, wording: str) -> str:
    wanted = id or index.current
    if wanted is not None and wanted in index.files:
        return wanted
    if not index.files:
        raise failure(f"{wording}: none is open, call create_presentation or open_presentation first")
    raise failure(f"{wording}: {wanted!r} is not among {list(index.files)}")


def _load(context: Context, name: str) -> Presentation:
    cache = _cache(context)
    file = _folder(context) / name
    cached = cache.get(name)
    if cached is None or cached.signature != _signature(file):
        cache.pop(name, None)
        cached = cache[name] = _Cached(_signature(file), pptx.Presentation(str(file)))
    while len(cache) > MAX_CACHED:
        del cache[next(iter(cache))]
    return cached.presentation


def _store(context: Context, name: str, presentation: Presentation) -> None:
    data = dump(presentation)
    folder = _folder(context)
    limits = context.workspace.limits
    if len(data) > limits.file_bytes:
        raise LimitError(f"the deck would have {len(data)} bytes, more than the {limits.file_bytes} allowed")
    others = sum(file.stat().st_size for file in folder.iterdir() if file.name != name)
    if others + len(data) > limits.bytes:
        raise LimitError(f"the open decks would take more than the {limits.bytes} bytes allowed")
    write_atomically(folder / name, data)


def _signature(file: Path) -> tuple[int, ...]:
    info = file.stat()
    return info.st_mtime_ns, info.st_size, info.st_ino


def _read_index(context: Context) -> _Index:
    file = _folder(context) / _INDEX
    if not file.exists():
        return _Index()
    data: dict[str, Any] = json.loads(file.read_bytes())
    return _Index(current=data["current"], files=data["files"])


def _write_index(context: Context, index: _Index) -> None:
    text = json.dumps({"current": index.current, "files": index.files}, ensure_ascii=False, indent=1)
    write_atomically(_folder(context) / _INDEX, text.encode())


def _folder(context: Context) -> Path:
    return context.workspace.state("ppt")


def _cache(context: Context) -> dict[str, _Cached]:
    cache: dict[str, _Cached] = context.memory.setdefault("ppt", {})
    return cache
