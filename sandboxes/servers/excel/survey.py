"""What a spreadsheet file would cost to open, found out before openpyxl opens it.

The zip guard bounds bytes; this bounds what those bytes make a spreadsheet library build: cells (also those
that one merged or linked range stands for), elements and characters. It runs the same XML parser over every
part in one pass and keeps nothing. Parts that are no XML are left to whoever wants to read them.
"""

from pathlib import Path
from xml.parsers.expat import ExpatError, ParserCreate, XMLParserType

from m3bench.sandboxes.archives import pieces
from m3bench.sandboxes.servers.excel.references import area
from m3bench.sandboxes.workspace import Limits
from m3bench.tasks.errors import LimitError, ToolError

MAX_CELLS = 100_000
"""Cells of a workbook, all sheets together: a few seconds to read and to write, more on a busy machine."""
MAX_ELEMENTS = 2_000_000


def survey(path: Path, limits: Limits, name: str) -> None:
    """Raise `LimitError` when a workbook is too large to open, `ToolError` when it is none.

    Args:
        path: The file.
        limits: Those of the workspace.
        name: What messages call the file.
    """
    count = _Count(name, limits)
    current, parser, dead = "", count.parser(), False
    for part, piece in pieces(path, limits, name):
        if part != current:
            current, parser, dead = part, count.parser(), False
        if dead:
            continue
        try:
            parser.Parse(piece, False)
        except ExpatError:
            dead = True


class _Count:
    """The sums over all parts of one file."""

    def __init__(self, name: str, limits: Limits) -> None:
        self._name = name
        self._limits = limits
        self._cells = 0
        self._elements = 0
        self._characters = 0

    def parser(self) -> XMLParserType:
        """A fresh parser that adds to the sums."""
        parser = ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._element
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._document_type
        return parser

    def _element(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise LimitError(f"{self._name!r} holds more than the {MAX_ELEMENTS} XML elements allowed")
        local = name.rpartition(":")[2]
        if local == "c":
            self._add_cells(1)
        elif local in ("mergeCell", "hyperlink") and "ref" in attributes:
            self._add_cells(area(attributes["ref"], problem=f"{self._name!r} is damaged").size)

    def _add_cells(self, count: int) -> None:
        self._cells += count
        if self._cells > MAX_CELLS:
            raise LimitError(f"{self._name!r} holds more than the {MAX_CELLS} cells allowed in a workbook")

    def _text(self, text: str) -> None:
        self._characters += len(text)
        if self._characters > self._limits.text:
            raise LimitError(f"{self._name!r} holds more than the {self._limits.text} characters of text allowed")

    def _document_type(self, *_: object) -> None:
        raise ToolError(
            f"{self._name!r} declares a document type, which office files never do", outcome="invalid_arguments"
        )
