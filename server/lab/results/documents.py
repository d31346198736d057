"""The base of everything that is shown or written as JSON: frozen dataclasses whose fields are the entries, in order.

Pages, `--json`, CSV and LaTeX are made of such documents. Values from outside are bounded before they get into one.
`file_name` names their files after sets, runs and tasks: a name of plain letters stays, another one is made plain and
gets a few digits of its hash, so that no two names meet in one file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from typing import ClassVar, Protocol, runtime_checkable

from m3bench.tasks.json_types import JsonObject, JsonValue


@dataclass(frozen=True, kw_only=True)
class JsonDocument:
    """A part of a document; a field whose name Python needs itself ends in an underscore here and not in the JSON."""

    left_out: ClassVar[frozenset[str]] = frozenset()
    """Fields that are not in the JSON when they are None; others are null then."""

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        values = {part.name: getattr(self, part.name) for part in fields(self)}
        return {
            name.rstrip("_"): plain(value)
            for name, value in values.items()
            if value is not None or name not in self.left_out
        }


@runtime_checkable
class _WritesJson(Protocol):
    def to_json(self) -> object:
        """As plain data."""


def plain(value: object) -> JsonValue:
    """A value of a document as JSON.

    Raises:
        TypeError: It has no form in JSON.
    """
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, _WritesJson):
        return plain(value.to_json())
    raise TypeError(f"{type(value).__name__} has no form in JSON")


_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,79}")
_MADE = re.compile(r"-[0-9a-f]{16}$")
"""How a made name ends; a name that ends so is no plain one, or it could be chosen to be that of another."""
_OTHER = re.compile(r"[^a-z0-9_]+")


def file_name(name: str) -> str:
    """A name for a file, without its ending."""
    if _PLAIN.fullmatch(name) and not _MADE.search(name):
        return name
    digest = sha256(name.encode(errors="replace")).hexdigest()[:16]
    return f"{_OTHER.sub('-', name.lower())[:60].strip('-') or 'page'}-{digest}"
