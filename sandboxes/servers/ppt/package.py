"""Presentations as bytes: what is read is judged first, what is written depends on the content alone.

python-pptx would put the time of day into the zip it writes and press pictures a second time; writing the
package here costs a few milliseconds and gives the same deck the same bytes. Knows files, not slides: how
decks are kept is the business of `decks`.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC
from io import BytesIO
from pathlib import Path
from xml.sax.saxutils import quoteattr
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import pptx
from pptx.opc.constants import RELATIONSHIP_TYPE
from pptx.opc.package import Part
from pptx.presentation import Presentation

from m3bench.sandboxes.archives import RATIO_FLOOR, pieces
from m3bench.sandboxes.servers.ppt.reading import examine
from m3bench.sandboxes.servers.ppt.registry import failure
from m3bench.sandboxes.workspace import Limits
from m3bench.sandboxes.world.clock import NOW
from m3bench.tasks.errors import LimitError, ToolError

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


def load(path: Path, limits: Limits) -> Presentation:
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


def _check_xml(path: Path, limits: Limits) -> None:
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
