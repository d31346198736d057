"""What differs between the arguments of two matched calls.

Objects are compared field by field, at any depth; everything else, arrays included, as a whole. The values are those
the profile compares, so an argument left at its default is not reported as missing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from m3bench.tasks.json_types import JsonObject
from m3bench.tasks.trajectory import JSON

Kind: TypeAlias = Literal["missing", "extra", "changed"]


@dataclass(frozen=True, kw_only=True)
class DifferingArgument:
    """One argument that is not the same on both sides."""

    argument: str
    """Name; fields of an object are joined with dots."""
    kind: Kind
    reference: JSON = None
    """The reference's value; `None` when the argument is extra."""
    actual: JSON = None
    """The actual value; `None` when the argument is missing."""

    def to_json(self) -> JsonObject:
        """A dict that `json.dumps` takes."""
        entry: JsonObject = {"argument": self.argument, "kind": self.kind}
        if self.kind != "extra":
            entry["reference"] = self.reference
        if self.kind != "missing":
            entry["actual"] = self.actual
        return entry


def differences(reference: JSON, actual: JSON) -> tuple[DifferingArgument, ...]:
    """All differences, in the reference's order, then what is extra. `None` arguments count as no arguments."""
    return tuple(_walk(reference or {}, actual or {}, ""))


def _walk(reference: JSON, actual: JSON, path: str) -> Iterator[DifferingArgument]:
    if isinstance(reference, Mapping) and isinstance(actual, Mapping):
        for name, value in reference.items():
            place = f"{path}.{name}" if path else name
            if name in actual:
                yield from _walk(value, actual[name], place)
            else:
                yield DifferingArgument(argument=place, kind="missing", reference=value)
        for name, value in actual.items():
            if name not in reference:
                yield DifferingArgument(argument=f"{path}.{name}" if path else name, kind="extra", actual=value)
    elif not _same(reference, actual):
        yield DifferingArgument(argument=path, kind="changed", reference=reference, actual=actual)


def _same(one: JSON, other: JSON) -> bool:
    """Equality as JSON has it: true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    return one == other
