"""Reads text elements of a DICOM file: enough for names and descriptions, not for pictures.

Knows explicit and implicit value representation, both byte orders, and sequences of undefined length, which are
stepped over. A file may come without its preamble. Anything else is refused with a sentence.
"""

import struct
from collections.abc import Collection, Mapping

Tag = tuple[int, int]

PREAMBLE = 128
_UNDEFINED = 0xFFFFFFFF
_LONG = frozenset(["OB", "OD", "OF", "OL", "OV", "OW", "SQ", "SV", "UC", "UN", "UR", "UT", "UV"])
_TRANSFER_SYNTAX: Tag = (0x0002, 0x0010)
_IMPLICIT, _DEFLATED, _BIG_ENDIAN = "1.2.840.10008.1.2", "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.2"
_PIXELS: Tag = (0x7FE0, 0x0010)
_ITEM, _ITEM_END, _SEQUENCE_END = (0xFFFE, 0xE000), (0xFFFE, 0xE00D), (0xFFFE, 0xE0DD)
_DEEPEST = 16


class NotDicomError(ValueError):
    """The bytes are not a DICOM file that can be read here."""


def read(data: bytes, wanted: Collection[Tag]) -> Mapping[Tag, str]:
    """The texts of the wanted elements that are there.

    Raises:
        NotDicomError: The file is damaged, compressed as a whole, or no DICOM at all.
    """
    if data[PREAMBLE : PREAMBLE + 4] == b"DICM":
        start = PREAMBLE + 4
    elif data[:2] in (b"\x02\x00", b"\x08\x00") and len(data) > 8:
        start = 0
    else:
        raise NotDicomError("DICM prefix not found at location 132 - this is not a valid DICOM P10 file.")
    try:
        return _elements(data, start, wanted)
    except (struct.error, IndexError) as error:
        raise NotDicomError("the file ends in the middle of an element") from error


def _elements(data: bytes, at: int, wanted: Collection[Tag]) -> Mapping[Tag, str]:
    found: dict[Tag, str] = {}
    reader = _Reader(data, implicit=data[:2] == b"\x08\x00" and not data[4:6].isupper())
    while at + 8 <= len(data):
        tag, length, value = reader.element(at)
        if tag[0] > 2 and not reader.in_body:
            reader.enter_body(found.get(_TRANSFER_SYNTAX, ""))
            continue
        if tag >= _PIXELS:
            break
        if length == _UNDEFINED:
            at = reader.after_sequence(value, 0)
            continue
        if value + length > len(data):
            raise NotDicomError("the file ends in the middle of an element")
        if tag == _TRANSFER_SYNTAX or tag in wanted:
            text = data[value : value + length]
            found[tag] = text.decode("utf-8", "replace").strip(" \0")
        at = value + length
    return found


class _Reader:
    """Reads element heads; what stands after the file's own group may be written in another way."""

    def __init__(self, data: bytes, *, implicit: bool) -> None:
        self.data = data
        self.implicit = implicit
        self.order = "<"
        self.in_body = False

    def enter_body(self, syntax: str) -> None:
        if syntax == _DEFLATED:
            raise NotDicomError("deflated files are not supported")
        self.in_body = True
        self.implicit = self.implicit or syntax == _IMPLICIT
        self.order = ">" if syntax == _BIG_ENDIAN else "<"

    def element(self, at: int) -> tuple[Tag, int, int]:
        """Tag, length and the place of the value."""
        group, number = struct.unpack_from(f"{self.order}HH", self.data, at)
        tag = (group, number)
        if self.implicit or group == _ITEM[0]:
            return tag, struct.unpack_from(f"{self.order}I", self.data, at + 4)[0], at + 8
        kind = self.data[at + 4 : at + 6].decode("latin-1")
        if kind in _LONG:
            return tag, struct.unpack_from(f"{self.order}I", self.data, at + 8)[0], at + 12
        return tag, struct.unpack_from(f"{self.order}H", self.data, at + 6)[0], at + 8

    def after_sequence(self, at: int, depth: int) -> int:
        """Where a sequence or item of undefined length ends."""
        if depth > _DEEPEST:
            raise NotDicomError("sequences are nested too deeply")
        while True:
            tag, length, value = self.element(at)
            if tag in (_SEQUENCE_END, _ITEM_END):
                return value
            at = self.after_sequence(value, depth + 1) if length == _UNDEFINED else value + length
